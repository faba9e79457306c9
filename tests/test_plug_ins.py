"""A package of somebody else brings a measure and a benchmark: lists, audits, study files, limits, plans and reports take them like those of the book."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / 'plug_in' / 'riddle_bias.py'
POINTS = """[biasbook.measures]
nearness = riddle_bias:NEARNESS
riddles = riddle_bias:RIDDLES
weat = riddle_bias:NEARNESS
broken = riddle_bias:BROKEN
gone = riddle_bias:GONE
"""
FAULTS = { # a declaration that no audit could use -> what the warning says
    "Measure(name='bad', kinds='vectors', units=units, run=run)": "kinds must be a tuple of 'vectors'",
    "Measure(name='bad', kinds=('pictures',), units=units, run=run)": "kinds must be a tuple of 'vectors'",
    "Measure(name='Bad-Name', kinds=('vectors',), units=units, run=run)": 'in lower case',
    "Measure(name='bad', kinds=('vectors',), units=units)": 'no run function',
    "Measure(name='bad', kinds=('vectors',))": 'neither units nor tests',
    "Measure(name='bad', kinds=('vectors',), units=units, run=run, options=('colour',))": 'options must be',
    "Measure(name='bad', kinds=('vectors',), units=units, run=run, papers=('nobody2020',))": 'papers must be',
    "Measure(name='bad', kinds=('vectors',), units=units, run=run, about=None)": 'about must be text',
    "Measure(name='bad', kinds=('vectors',), units=lambda: {'a': {1, 2}}, run=run)": 'not JSON serializable',
    "Measure(name='bad', kinds=('vectors',), units=lambda: {7: {}}, run=run)": 'the name of a unit must be text',
    "Measure(name='bad', kinds=('vectors',), own=own_queries(run_own)._replace())": 'AttributeError',
    "Measure(name='bad', kinds=('causal',), own=replace(own_items(RIDDLE_SCHEMA, run_riddles), part='nonsense'))": 'the part of a study must be',
    "Measure(name='bad', kinds=('causal',), own=replace(own_items(RIDDLE_SCHEMA, run_riddles), schema=None))": 'no schema',
    "Measure(name='bad', kinds=('causal',), own=own_items(RIDDLE_SCHEMA, run_riddles))": 'of another measure',
    'sys.exit(0)': 'SystemExit'}
STUDY = """
name: mine
queries:
- {name: jobs, X: [nurse, teacher, librarian, nanny], Y: [engineer, pilot, mechanic, judge], A: [she, her], B: [he, his]}
benchmarks:
- name: crafts
  measure: riddles
  order: reversed
  items:
  - {riddle: "Who sews?", first: women, second: men}
  - {riddle: "Who sails?", first: women, second: men}
  - {riddle: "Who cooks?", first: women, second: men}
limits:
- 'crafts: abs(value) <= 20'
"""
USE = """
import sys, warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
import biasbook as bb
from biasbook.auditing.catalog import list_measures
from biasbook.measuring.index import measure_names, plug_ins

def main():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        assert list(plug_ins()) == ['broken', 'gone', 'nearness', 'riddles'] and measure_names()[-1] == 'riddles'
        assert 'riddle_bias' not in sys.modules                             # the names are known without the code
        rows = {row['name']: row for row in list_measures()}
    messages = [str(one.message) for one in said]
    print(*messages, sep='\\n')
    assert any('riddle-bias has a measure weat, and so has biasbook' in text for text in messages)
    assert any('measure broken of riddle-bias cannot be loaded' in text and 'not a Measure' in text for text in messages)
    assert any('measure gone of riddle-bias cannot be loaded' in text for text in messages)
    assert rows['nearness']['units'] == 1 and rows['riddles']['study'] == 'benchmarks' and not {'broken', 'gone'} & rows.keys()

    by_name = bb.audit('googlenews-mini', ['weat', 'nearness'], only=['weat7', 'nearness*'], placebo=False, limits=['nearness of math: abs(value) <= 1'])
    assert not by_name.failures, by_name.failures
    assert [r.meta['name'] for r in by_name.results] == ['weat7', 'nearness of math'] and by_name.limits[0].status == 'within'
    again = bb.audit('googlenews-mini', 'nearness', placebo=False)
    assert again.reused == 1 and again.results[0].value == by_name.results[1].value
    try:
        bb.audit('googlenews-mini', 'nearness', limits=['nearness of math: value <= 3'])
        raise AssertionError('a limit beyond the range passed')
    except ValueError as error:
        assert '-2' in str(error) and '2' in str(error), error
    assert bb.plan('nearness', effect=.5).needed > 8

    Path('mine.yaml').write_text(STUDY)
    with ProcessPoolExecutor(1) as workers:
        found = bb.audit(['googlenews-mini', 'novels-mini-causal'], ['weat', 'nearness', 'riddles'], study='mine.yaml', placebo=False, resume=False, executor=workers)
    assert not found.failures, found.failures
    assert [r.meta['name'] for r in found.results] == ['jobs', 'nearness jobs', 'crafts']
    assert found.results[2].meta['options_of_test'] == {'order': 'reversed'} and len(found.results[2].meta['items_sha256']) == 64
    assert found.limits[0].status == 'within'
    found.save('saved')
    report = Path('saved/report.html').read_text()
    assert 'riddle log-odds' in report and 'does not show how the model decides about people' in report
    assert 'measure: riddles' in bb.example_study('benchmarks') and 'riddles' in str(bb.study_schema())
    assert len(bb.read_study('mine.yaml').benchmarks) == 1
    assert bb.check_study('mine.yaml', 'novels-mini-causal') == []

if __name__ == '__main__':
    main()
"""


@pytest.fixture
def package(tmp_path):
    "The package, as pip installs it."
    site = tmp_path / 'site'
    about = site / 'riddle_bias-1.0.dist-info'
    about.mkdir(parents=True)
    (site / 'riddle_bias.py').write_text(PACKAGE.read_text(encoding='utf-8'), encoding='utf-8')
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: riddle-bias\nVersion: 1.0\n')
    (about / 'entry_points.txt').write_text(POINTS)
    return site


def run(code, folder, *paths):
    "The output of a program that can import what is in these folders. An error fails the test."
    script = folder / 'use.py'
    script.write_text(code.replace('STUDY)', f'{STUDY!r})'), encoding='utf-8')
    root = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([*map(str, paths), root]), 'XDG_CACHE_HOME': str(folder / 'cache'), 'BIASBOOK_CACHE': str(folder / 'cache')}
    done = subprocess.run([sys.executable, str(script)], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_measures_of_another_package(package, tmp_path):
    "Names, lists, audits, workers, study files, limits, plans and reports."
    run(USE, tmp_path, package)


def test_wrong_declarations_are_left_out(package, tmp_path):
    "Each with one warning that says why, and the others are measured."
    source = (package / 'riddle_bias.py').read_text(encoding='utf-8')
    points = []
    for number, declaration in enumerate(FAULTS):
        name = 'Bad-Name' if 'Bad-Name' in declaration else f'bad_{number}'
        code = declaration.replace("name='bad'", f'name={name!r}')
        (package / f'bad_{number}.py').write_text(f'import sys\nfrom dataclasses import replace\nfrom riddle_bias import *\nBAD = {code}\n', encoding='utf-8')
        points.append(f'{name} = bad_{number}:BAD')
    assert 'RIDDLES' in source
    (package / 'riddle_bias-1.0.dist-info' / 'entry_points.txt').write_text('[biasbook.measures]\n' + '\n'.join(points) + '\n')
    code = """
import warnings
import biasbook as bb
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    found = bb.audit('googlenews-mini', only='weat7', placebo=False)
assert len(found.results) == 1 and not found.failures
for one in said:
    print(one.message)
"""
    warned = run(code, tmp_path, package).splitlines()
    assert len(warned) == len(FAULTS)
    for number, says in enumerate(FAULTS.values()):
        name = 'Bad-Name' if says == 'in lower case' else f'bad_{number}'
        assert any(f'measure {name} of' in text and says in text for text in warned), (name, says, warned)


def test_a_fault_in_its_code_names_the_measure(package, tmp_path):
    "A check goes on with the other tests; an audit, which cannot know the tests, ends with an error."
    source = (package / 'riddle_bias.py').read_text(encoding='utf-8')
    code = """
import biasbook as bb
riddles = {'name': 'crafts', 'measure': 'riddles', 'items': [{'riddle': 'Who sews?', 'first': 'women', 'second': 'men'}]}
jobs = {'name': 'jobs', 'X': ['nurse', 'teacher', 'nanny', 'maid'], 'Y': ['pilot', 'judge', 'smith', 'miner'], 'A': ['she'], 'B': ['he']}
study = bb.Study([jobs], benchmarks=[riddles])
try:
    print(*bb.check_study(study, 'novels-mini-causal'), sep='\\n')
except ValueError as error:
    print('ValueError', error)
"""
    for broken, says in (('faults=lambda *of: 1 / 0', 'riddles fails as it checks this test: ZeroDivisionError'),
                         ('units=lambda spec: spec[0]', 'ValueError riddles fails as it reads the test')):
        (package / 'riddle_bias.py').write_text(source.replace('own_items(RIDDLE_SCHEMA, run_riddles)', f'own_items(RIDDLE_SCHEMA, run_riddles, {broken})'), encoding='utf-8')
        assert says in run(code, tmp_path, package)


def test_changed_code_is_measured_again(package, tmp_path):
    "A result in the store is used only if the code that computed it is the same, also that of a benchmark with own items."
    code = """
import biasbook as bb
riddles = {'name': 'crafts', 'measure': 'riddles', 'items': [{'riddle': f'Who {verb}?', 'first': 'women', 'second': 'men'} for verb in ('sews', 'sails')]}
jobs = {'name': 'jobs', 'X': ['nurse', 'teacher', 'nanny', 'maid'], 'Y': ['pilot', 'judge', 'smith', 'miner'], 'A': ['she'], 'B': ['he']}
for subject, measure in (('novels-mini-causal', 'riddles'), ('googlenews-mini', 'nearness')):
    found = bb.audit(subject, measure, study=bb.Study([jobs], benchmarks=[riddles]), placebo=False)
    print(measure, found.reused, found.results[0].value)
"""
    first = run(code, tmp_path, package).split()
    again = run(code, tmp_path, package).split()
    assert again == [*first[:1], '1', *first[2:4], '1', first[5]]
    source = (package / 'riddle_bias.py').read_text(encoding='utf-8')
    (package / 'riddle_bias.py').write_text(source.replace('mean, low, high = mean_interval(differences, .95)', 'mean, low, high = mean_interval(2 * differences, .95)'))
    changed = run(code, tmp_path, package).split()
    assert changed[1] == changed[4] == '0'
    assert float(changed[2]) == pytest.approx(2 * float(first[2])) and float(changed[5]) == pytest.approx(2 * float(first[5]))


def test_a_saved_note_of_another_package_finds_its_sentence(package, tmp_path):
    run("import biasbook as bb\nbb.audit('googlenews-mini', 'nearness', placebo=False).save('saved')", tmp_path, package)
    read = "import biasbook as bb\nprint(bb.load_audit('saved').results[0])"
    assert 'The idea is two words, male and female.' in run(read, tmp_path, package)
    assert 'Two words of riddle_bias.' in run(read, tmp_path)


def test_help_runs_no_code_of_plug_ins(package, tmp_path):
    (package / 'riddle_bias.py').write_text('raise SystemExit("this code must not run")')
    code = """
from click.testing import CliRunner
from biasbook.auditing.cli import main
for command in (['--help'], ['audit', '--help'], ['check', '--help']):
    assert CliRunner().invoke(main, command).exit_code == 0
from biasbook.measuring.index import measure_names
assert 'riddles' in measure_names()
"""
    run(code, tmp_path, package)


def test_a_worker_without_the_plug_in_says_so(tmp_path):
    "A worker gets the name of the measure."
    code = """
from biasbook.auditing.run import _work
from biasbook.vectors.wordvectors import load_vectors
outcome = _work('riddles', load_vectors('googlenews-mini'), None, {}, {}, 1, 'auto')
assert 'no measure riddles; install the package' in outcome.error, outcome
"""
    run(code, tmp_path)
