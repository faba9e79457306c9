"""A reader returns a value or raises a `ValueError` that names the file, in bounded time and memory, for every input.

The kept inputs of tests/fuzz/corpus are read in every run. `pytest --flags slow tests/test_fuzz.py` also fuzzes each reader for
60 s; that needs atheris, which is installed into a folder of its own, and is skipped where it cannot be had."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / 'fuzz'))
from readers import MOST_MIB, MOST_SECONDS, READERS          # noqa: E402
from run import corpus, usable                               # noqa: E402

root = Path(__file__).parent.parent
SCRIPT = root / 'tests' / 'fuzz' / 'run.py'
BIGGEST_CORPUS = 40_000                                      # bytes of a reader


def run(*args, **env):
    return subprocess.run([sys.executable, str(SCRIPT), *args], capture_output=True, text=True, cwd=root, env={**os.environ, **env})


@pytest.fixture(scope='module')
def replayed():
    "What each reader did with each input that is kept, in a process of its own, so that its memory is its own too."
    said = run('all', '--replay', '--json')
    assert said.stdout.strip(), said.stderr
    return json.loads(said.stdout)


@pytest.mark.parametrize('name', READERS)
def test_kept_inputs_are_read_or_refused(name, replayed):
    if not usable(name):
        pytest.skip(f'{READERS[name].needs} is not installed')
    rows = [row for row in replayed if row['reader'] == name]
    assert rows
    for row in rows:
        assert not row['what'], f'{row["reader"]}/{row["input"]}: {row["what"]} at {row["where"]}: {row["said"]}'


def test_kept_inputs_stay_within_the_promised_time_and_memory(replayed):
    for row in replayed:
        assert row['seconds'] <= MOST_SECONDS and row['mib'] <= MOST_MIB, row


@pytest.mark.slow
@pytest.mark.parametrize('name', READERS)
def test_a_megabyte_stays_within_the_promised_time_and_memory(name):
    "The large inputs at their full size."
    if not usable(name):
        pytest.skip(f'{READERS[name].needs} is not installed')
    for row in json.loads(run(name, '--replay', '--whole', '--json').stdout):
        assert not row['what'] and row['seconds'] <= MOST_SECONDS and row['mib'] <= MOST_MIB, row


@pytest.mark.parametrize('name', READERS)
def test_corpus_is_small(name):
    assert corpus(name) and sum(map(len, corpus(name).values())) <= BIGGEST_CORPUS


@pytest.fixture(scope='module')
def atheris(tmp_path_factory):
    "A folder with atheris in it; a skip with the reason if it cannot be installed."
    folder = tmp_path_factory.mktemp('atheris')
    pip = [sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--only-binary', ':all:', '--target', str(folder),
           '-r', str(root / 'tests' / 'fuzz' / 'requirements.txt')]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f'atheris cannot be installed here: {(done.stderr.strip().splitlines() or ["no reason given"])[-1]}')
    return folder


@pytest.mark.slow
@pytest.mark.parametrize('name', READERS)
def test_a_minute_of_fuzzing_finds_nothing(name, atheris, tmp_path):
    if not usable(name):
        pytest.skip(f'{READERS[name].needs} is not installed')
    done = run(name, '--seconds', '60', '--findings', str(tmp_path), PYTHONPATH=str(atheris))
    found = '\n'.join(p.read_text(encoding='utf-8') for p in sorted(tmp_path.glob('*.json')))
    assert done.returncode == 0, f'{done.stdout}\n{found}\n{done.stderr[-2000:]}'
