"""What no notebook can test: the built package, what an import loads, which floor imports which, and the README."""
import ast
import gzip
import hashlib
import importlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
root = Path(__file__).parent.parent
package = root / 'biasbook'


def python(*args, **options):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True, **options).stdout


# -- the built package ------------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    "The wheel that is built from the sdist, unpacked in a folder of its own, as pip does it with a wheel of Python files."
    tmp = tmp_path_factory.mktemp('dist')
    python('-m', 'build', '--no-isolation', '--outdir', str(tmp / 'out'), str(root))           # a wheel from the sdist
    wheel, = (tmp / 'out').glob('*.whl')
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp / 'site')
    return tmp / 'site'


def test_wheel_has_every_data_file(installed):
    have = {p.relative_to(package).as_posix(): p.read_bytes() for p in (package / 'data').rglob('*') if p.is_file()}
    assert len(have) >= 4
    for name, content in have.items():
        assert (installed / 'biasbook' / name).read_bytes() == content, name


def test_wheel_loads_its_data(installed):
    code = """
import biasbook, pathlib, sys, yaml
assert pathlib.Path(biasbook.__file__).is_relative_to(sys.argv[1]), biasbook.__file__
from biasbook.core.registry import registry
from biasbook.stimuli.words import weat_queries
from biasbook.vectors.wordvectors import load_vectors
for path in pathlib.Path(biasbook.__file__).parent.joinpath("data").rglob("*.yaml"):
    assert yaml.safe_load(path.read_text(encoding="utf-8")), path
print(len(registry()), len(weat_queries()), len(load_vectors("googlenews-mini")))
"""
    out = python('-c', code, str(installed), cwd=installed, env={**os.environ, 'PYTHONPATH': str(installed), 'BIASBOOK_DATA_DIR': ''})
    n = [int(x) for x in out.split()]
    assert n[0] >= 10 and n[1:] == [10, 6300]


def test_wheel_metadata(installed):
    meta, = installed.glob('biasbook-*.dist-info')
    text = (meta / 'METADATA').read_text(encoding='utf-8')
    assert {'lm', 'local', 'debias', 'cluster', 'dev'} <= set(re.findall(r'^Provides-Extra: (\w+)', text, re.M))
    assert '@' not in re.sub(r'(?s)\n\n.*', '', text), 'an address in the metadata'
    assert 'biasbook = biasbook.auditing.cli:main' in (meta / 'entry_points.txt').read_text()


# -- types ------------------------------------------------------------------------------------------------------------

def test_wheel_is_typed(installed):
    assert (installed / 'biasbook' / 'py.typed').is_file()


STRICT = ['biasbook.core.*', 'biasbook.measuring.*', 'biasbook.stimuli.study_checks'] # their functions are annotated
STRICT_STATS = ['contrasts', 'effects', 'intervals', 'multilevel', 'multiplicity', 'permutation', 'power', 'preferences', 'studentized'] # of biasbook.stats
STRICT_FLAGS = """\
disallow_untyped_defs = True
disallow_incomplete_defs = True
disallow_untyped_decorators = True
disallow_any_generics = True
disallow_subclassing_any = True
warn_unused_ignores = True
no_implicit_reexport = True
strict_equality = True
extra_checks = True
"""
# In stats, a sum or a product of arrays is Any to mypy, and stats.estimate has functions without types: two flags are not set there.
MYPY = f"""
[mypy]
check_untyped_defs = True
ignore_missing_imports = True
warn_redundant_casts = True
[mypy-{",".join(STRICT)}]
{STRICT_FLAGS}disallow_untyped_calls = True
warn_return_any = True
[mypy-{",".join(f"biasbook.stats.{module}" for module in STRICT_STATS)}]
{STRICT_FLAGS}"""
# Reading the code of large libraries takes most of the time. Without them, what they return is not checked.
LARGE = ('torch', 'transformers', 'sentence_transformers', 'tokenizers', 'accelerate', 'safetensors', 'matplotlib', 'sklearn', 'scipy', 'pandas',
         'click', 'jinja2', 'pooch', 'httpx2', 'dask', 'distributed', 'nltk', 'concept_erasure', 'IPython')
WITHOUT_LARGE = f'{MYPY}[{",".join(f"mypy-{name}.*" for name in LARGE)}]\nfollow_imports = skip\n'.replace(',mypy-', ',')


@pytest.mark.parametrize('config', [WITHOUT_LARGE, pytest.param(MYPY, marks=pytest.mark.slow)], ids=['without large libraries', 'all'])
def test_types(config, tmp_path, pytestconfig):
    "mypy keeps what it found out about files that have not changed, so that only the first run takes long."
    kept = pytestconfig.cache.mkdir(f'mypy-{hashlib.sha256(config.encode()).hexdigest()[:8]}')
    code = "import biasbook as bb\nreveal_type(bb.weat('googlenews-mini', 'weat7'))\nreveal_type(bb.audit())\n"
    (tmp_path / 'user.py').write_text(code)
    (tmp_path / 'mypy.ini').write_text(config)
    run = subprocess.run([sys.executable, '-m', 'mypy', '--config-file', str(tmp_path / 'mypy.ini'), '--cache-dir', str(kept),
                          str(tmp_path / 'user.py'), str(package)], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.findall('Revealed type is "(.*)"', run.stdout) == ['biasbook.results.result.Result', 'biasbook.auditing.files.Audit']


# -- the modules and the notebooks ------------------------------------------------------------------------------------

def test_nbdev_update_changes_nothing(tmp_path):
    """`nbdev_update` writes the modules back into the notebooks. It must find the same text there.

    (nbdev turns `from .. import NAME` into another import on the way back, so no module imports from the package itself.)"""
    for folder in ('nbs', 'biasbook'):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns('__pycache__', 'data', 'images', '.ipynb_checkpoints'))
    shutil.copy(root / 'settings.ini', tmp_path)
    python('-c', 'from nbdev.sync import nbdev_update; nbdev_update()', cwd=tmp_path)
    notebooks = sorted(path.relative_to(root) for path in (root / 'nbs').rglob('*.ipynb') if '.ipynb_checkpoints' not in path.parts)
    assert notebooks
    assert [path for path in notebooks if (root / path).read_bytes() != (tmp_path / path).read_bytes()] == []


# -- the names of the package -----------------------------------------------------------------------------------------

def test_names_are_what_they_say():
    import biasbook as bb
    stub = ast.parse((root / 'biasbook' / '__init__.pyi').read_text(encoding='utf-8'))
    typed = {a.asname: n.module for n in stub.body if isinstance(n, ast.ImportFrom) and n.module.startswith('biasbook') for a in n.names}
    assert typed == {name: f'biasbook.{where}' for name, where in bb._WHERE.items()}
    assert set(bb.__all__) - {'__version__', 'measures'} == set(typed) and sorted(bb.__all__) == dir(bb)
    assert all(f' {name} ' in bb.__doc__.replace('\n', ' ') for name in typed)             # the table of contents of help(bb)
    for name, where in typed.items():
        meant, got = getattr(importlib.import_module(where), name), getattr(bb, name)
        assert got is meant and pickle.loads(pickle.dumps(got)) is got, name
    with pytest.raises(AttributeError, match='no attribute .waet.*weat_battery'):
        bb.waet
    for name, where in bb._LEAVING_FROM.items():
        with pytest.warns(DeprecationWarning, match=f'from biasbook.{where} import {name}'):
            assert getattr(bb, name) is getattr(importlib.import_module(f'biasbook.{where}'), name)
    changed = bb.measures.drop('weat')
    assert 'weat' in bb.measures.index and list(bb.measures.index)[1:] == list(changed.index)


def test_gap_knows_every_kind():
    "In a process that has imported nothing else, the function of `bb` measures masked models and embedders, too."
    code = ('import biasbook as bb; bb.occupation_gap; from biasbook.chapters.occupation_gap import occupation_associations as known; '
            'print(*sorted(kind.__name__ for kind in known.registry))')
    assert python('-c', code, cwd=root).split() == ['Associations', 'Embedder', 'MaskedScorer', 'object']


# -- what an import costs ---------------------------------------------------------------------------------------------

HEAVY = {'torch', 'transformers', 'sentence_transformers', 'matplotlib', 'sklearn', 'pandas', 'scipy.stats', 'pooch'}


@pytest.mark.parametrize('statement, most', [('import biasbook', 150), ('from biasbook.chapters.weat import weat', 400),
                                             ('import biasbook as bb; bb.weat', 400)])
def test_import_loads_nothing_heavy(statement, most):
    "Modules are counted, not seconds. numpy has about 130 of them, and Python 70."
    loaded = json.loads(python('-c', f'{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))', cwd=root))
    assert not HEAVY & set(loaded) and len(loaded) <= most, len(loaded)


# -- imports ----------------------------------------------------------------------------------------------------------

PACKAGES = ['core', 'stats', 'results', 'stimuli', 'vectors', 'models', 'embedders', 'testing', 'measuring', 'chapters', 'auditing']


def modules():
    "Every module of the package by its dotted name, without `biasbook.` in front."
    for path in sorted(package.rglob('*.py')):
        if not path.name.startswith('_'):
            yield '.'.join(path.relative_to(package).with_suffix('').parts)


def imported(module):
    "The modules of the package that a module imports, as dotted names without the package."
    path = package / (module.replace('.', '/') + '.py')
    here = ['biasbook', *module.split('.')][:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom):
            base = '.'.join([*here[:len(here) - node.level + 1], *([node.module] if node.module else [])]) if node.level else node.module
            for name in [base, *(f'{base}.{a.name}' for a in node.names)]:
                if name.startswith('biasbook.') and (package / (name[9:].replace('.', '/') + '.py')).exists():
                    yield name[9:]
        elif isinstance(node, ast.Import):
            yield from (a.name[9:] for a in node.names if a.name.startswith('biasbook.'))


def circles(edges):
    "Modules that import each other in a loop: what is left when modules that import nothing of the rest are taken out, again and again."
    left = {module: set(targets) for module, targets in edges.items()}
    while done := {module for module, targets in left.items() if not targets & set(left)}:
        left = {module: targets for module, targets in left.items() if module not in done}
    return left


def test_imports_run_downwards():
    """A module imports from its own package and from packages below it, also inside its functions."""
    edges = {module: set(imported(module)) for module in modules()}
    assert len(edges) >= 40
    rank = {name: number for number, name in enumerate(PACKAGES)}
    upward = [(module, other) for module, others in edges.items() for other in others
              if rank[other.split('.')[0]] > rank[module.split('.')[0]]]
    assert not upward
    assert not circles(edges)


# -- the README -------------------------------------------------------------------------------------------------------

def test_readme_is_the_index():
    from readme import render
    for name, content in render().items():
        assert (root / name).read_bytes() == content, f'{name} is not what nbs/index.ipynb gives; run: python tests/readme.py'


def test_no_private_paths():
    files = subprocess.run(['git', 'ls-files'], cwd=root, capture_output=True, text=True, check=True).stdout.split('\n')
    for name in filter(None, files):
        path = root / name
        of_the_fuzzer = name.startswith('tests/fuzz/corpus/')
        if path.suffix in {'.npz', '.png', '.safetensors'} or name == '.ci/run' or of_the_fuzzer or not path.is_file():
            continue
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == '.gz' else content).decode('utf-8')
        assert not re.search(r'(?<![\w.])/(?:home|root|work|tmp|Users)/\w', text), f'{name} has a path of one machine'
