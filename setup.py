"""Hands settings.ini, where all metadata stands, to setuptools."""
from configparser import ConfigParser
from pathlib import Path
import shlex

import setuptools

here = Path(__file__).parent
config = ConfigParser(delimiters=['='])
config.read(here / 'settings.ini', encoding='utf-8')
cfg = config['DEFAULT']


def words(key):
    return shlex.split(cfg.get(key, ''))


minor = int(cfg['min_python'].split('.')[1])
statuses = ['0', '1 - Planning', '2 - Pre-Alpha', '3 - Alpha', '4 - Beta', '5 - Production/Stable']
end = '_requirements'
data = here / cfg['lib_path'] / 'data'

setuptools.setup(
    name=cfg['lib_name'], version=cfg['version'], description=cfg['description'],
    long_description=(here / 'README.md').read_text(encoding='utf-8'), long_description_content_type='text/markdown',
    url=cfg['git_url'], author=cfg['author'], license={'apache2': 'Apache-2.0'}[cfg['license']], keywords=cfg['keywords'],
    classifiers=[f"Development Status :: {statuses[int(cfg['status'])]}", f"Intended Audience :: {cfg['audience']}",
                 f"Natural Language :: {cfg['language']}", 'Framework :: Jupyter']
                + [f'Programming Language :: Python :: 3.{n}' for n in range(minor, 14)],
    packages=setuptools.find_packages(include=[cfg['lib_path'], cfg['lib_path'] + '.*']),
    include_package_data=False,
    package_data={cfg['lib_path']: ['py.typed', '__init__.pyi', *(p.relative_to(data.parent).as_posix() for p in sorted(data.rglob('*')) if p.is_file())]},
    python_requires='>=' + cfg['min_python'],
    install_requires=words('requirements'),
    extras_require={key.removesuffix(end): words(key) for key in cfg if key.endswith(end)},
    entry_points={'console_scripts': words('console_scripts'),
                  'nbdev': [f"{cfg['lib_path']}={cfg['lib_path']}._modidx:d"]},
    zip_safe=False)
