"""An audit on a Dask cluster whose scheduler and workers are processes of their own has the same bytes as an audit here."""
import json
import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.skipif(not find_spec('distributed'), reason="needs Dask: pip install 'biasbook[cluster]'"),
              pytest.mark.skipif(not find_spec('torch'), reason="needs a language model: pip install 'biasbook[lm]'")]

SUBJECTS = 'googlenews-mini', 'novels-mini-masked'
TESTS = '--only=weat7', '--only=weat8', '--only=stereotype pairs', '--no-placebo'


def environment(folder, threads):
    "The environment of a process with a cache of its own, whose libraries may use so many threads."
    number = str(threads)
    return {**os.environ, 'BIASBOOK_CACHE_DIR': str(folder), 'BIASBOOK_DATA_DIR': '', 'OMP_NUM_THREADS': number,
            'OPENBLAS_NUM_THREADS': number, 'MKL_NUM_THREADS': number}


def biasbook(*args, folder, threads=1):
    "Exit code, standard output, standard error."
    p = subprocess.run([sys.executable, '-m', 'biasbook', *args], capture_output=True, text=True, timeout=600, cwd=folder,
                       env=environment(folder / 'cache', threads))
    assert 'Traceback' not in p.stderr, p.stderr
    return p.returncode, p.stdout, p.stderr


def results(folder):
    return json.loads(Path(folder, 'results.json').read_text(encoding='utf-8'))


@pytest.fixture(scope='module')
def scheduler(tmp_path_factory):
    "The address of a scheduler with two workers."
    folder = tmp_path_factory.mktemp('cluster')
    file = folder / 'scheduler.json'
    start = lambda module, *options: subprocess.Popen(
        [sys.executable, '-m', f'distributed.cli.{module}', '--scheduler-file', str(file), '--no-dashboard', *options], cwd=folder,
        env=environment(folder / 'cache', 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    processes = [start('dask_scheduler', '--host', '127.0.0.1', '--port', '0')]
    try:
        processes += [start('dask_worker', '--nthreads', '1'), start('dask_worker', '--nthreads', '2')]
        deadline = time.monotonic() + 600
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(.1)
        yield json.loads(file.read_text())['address']
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(600)


@pytest.fixture(scope='module')
def here(tmp_path_factory):
    "The folder of the same audit in one process, with two threads."
    folder = tmp_path_factory.mktemp('here')
    assert biasbook('audit', *SUBJECTS, *TESTS, '--quiet', folder=folder, threads=2)[0] == 0
    return folder / 'biasbook-audit'


def test_scheduler_and_workers(scheduler, here, tmp_path):
    code, out, err = biasbook('audit', *SUBJECTS, *TESTS, '--cluster', scheduler, folder=tmp_path)
    assert code == 0 and 'units in workers' in err or 'computed in' in err
    for name in ('results.json', 'results.csv', 'results.md', 'report.html'):
        assert (tmp_path / 'biasbook-audit' / name).read_bytes() == (here / name).read_bytes(), name
    code, out, err = biasbook('audit', *SUBJECTS, *TESTS, folder=tmp_path)                    # kept here, whoever computed it
    assert (code, err.strip()) == (0, 'audit: 3 units reused, nothing to compute')


def test_local_processes(here, tmp_path):
    code, out, err = biasbook('audit', 'googlenews-mini', *TESTS[:2], '--no-placebo', '--cluster', 'local:2', '--quiet', folder=tmp_path)
    expected = [r for r in results(here)['results'] if r['subject'] == 'googlenews-mini']
    assert code == 0 and len(expected) == 2 and results(tmp_path / 'biasbook-audit')['results'] == expected


IN_ONE_PROCESS = """
import json, sys
from biasbook.auditing.cli import main
for args in json.loads(sys.argv[1]):
    try:
        main(args, prog_name='biasbook')
    except SystemExit as end:
        print('ended with', end.code, file=sys.stderr)
"""


def run_in_one_process(commands, folder):
    "What each command writes to standard error, and behind it the exit code. They share the imports, and may use two threads."
    done = subprocess.run([sys.executable, '-c', IN_ONE_PROCESS, json.dumps(commands)], capture_output=True, text=True, timeout=600, cwd=folder,
                          env=environment(folder / 'cache', 2))
    assert done.returncode == 0 and 'Traceback' not in done.stderr, done.stderr
    parts = re.split(r'(?<=ended with \d)\n', done.stderr)
    assert len(parts) == len(commands) + 1, done.stderr
    return parts[:-1]


def test_threads_are_part_of_the_key(tmp_path):
    command = ['audit', 'novels-mini-masked', '--only=stereotype pairs', '--no-placebo']
    said = run_in_one_process([[*command, f'--threads={threads}'] for threads in (1, 2, 2)], tmp_path)
    for text, line in zip(said, ('1 unit computed', '1 unit computed', '1 unit reused, nothing to compute')):
        assert f'audit: {line}' in text and text.endswith('ended with 0')


def test_wrong_addresses(tmp_path):
    addresses = ('10.0.0.1:8786', 'local:0', 'local:many', 'tcp:8786', 'tcp://127.0.0.1:9')
    *wrong, silent = run_in_one_process([['audit', 'googlenews-mini', '--cluster', address] for address in addresses], tmp_path)
    for text in wrong:
        assert text.endswith('ended with 2') and 'the address of a Dask scheduler' in text and 'local:N' in text
    assert silent.endswith('ended with 1') and 'no Dask scheduler answers at tcp://127.0.0.1:9' in silent
