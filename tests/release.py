"""Before a release: `python tests/release.py --write` copies the version of settings.ini into the files that state it, and
`python tests/release.py --tag v0.2.0` checks that a tag, the version, the changelog and the interface agree."""
import argparse
import json
import re
import subprocess
import sys

from interface import root, snapshot_path, version

from colab import write_install_cells


def write():
    "The version into CITATION.cff, .zenodo.json, the package, the install cells of the pages, and the workflows of the bias gate."
    citation = root / 'CITATION.cff'
    text = citation.read_text(encoding='utf-8')
    citation.write_text(re.sub(r'^version: .*$', f'version: {version()}', text, flags=re.M), encoding='utf-8')
    archive = root / '.zenodo.json'
    data = json.loads(archive.read_text(encoding='utf-8'))
    data['version'] = version()
    archive.write_text(json.dumps(data, indent=2, ensure_ascii=False) + '\n', encoding='utf-8')
    write_install_cells()
    gate = root / 'nbs' / 'bias_gate.ipynb'
    page = gate.read_text(encoding='utf-8')
    gate.write_text(re.sub(r'(pip install git\+https://github\.com/biasbook/biasbook@v)[\w.]+(\\n)', rf'\g<1>{version()}\g<2>', page), encoding='utf-8')
    subprocess.run(['nbdev_export'], cwd=root, check=True)


def problems(tag):
    "What is wrong with a tag, as a list of sentences."
    found = []
    if tag != f'v{version()}':
        found.append(f'the tag is {tag}, but settings.ini has the version {version()}')
    changelog = (root / 'CHANGELOG.md').read_text(encoding='utf-8')
    if not re.search(rf'^## \[{re.escape(version())}\] - \d{{4}}-\d\d-\d\d$', changelog, re.M):
        found.append(f'CHANGELOG.md has no section "## [{version()}] - YYYY-MM-DD"')
    if not snapshot_path(version()).exists():
        found.append(f'tests/interface/{version()}.json is missing; run python tests/interface.py --write')
    return found


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument('--write', action='store_true', help='copy the version into the files that state it')
    action.add_argument('--tag', help='check a tag, such as v0.2.0')
    options = parser.parse_args()
    if options.write:
        write()
    else:
        found = problems(options.tag)
        if found:
            sys.exit('\n'.join(found))
