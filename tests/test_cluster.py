"""An audit on a Dask cluster whose scheduler and workers are processes of their own has the same bytes as an audit here."""
import json
import os
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
    p = subprocess.run([sys.executable, '-m', 'biasbook', *args], capture_output=True, text=True, timeout=300, cwd=folder,
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
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(.1)
        yield json.loads(file.read_text())['address']
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


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
    code, out, err = biasbook('audit', *SUBJECTS, *TESTS, '--cluster', 'local:2', '--quiet', folder=tmp_path)
    assert code == 0 and results(tmp_path / 'biasbook-audit') == results(here)


def test_threads_are_part_of_the_key(tmp_path):
    one = 'novels-mini-masked', '--only=stereotype pairs'
    for threads, line in ((1, '1 unit computed'), (2, '1 unit computed'), (2, '1 unit reused, nothing to compute')):
        err = biasbook('audit', *one, f'--threads={threads}', folder=tmp_path, threads=2)[2]
        assert f'audit: {line}' in err


def test_wrong_addresses(tmp_path):
    for address in ('10.0.0.1:8786', 'local:0', 'local:many', 'tcp:8786'):
        code, out, err = biasbook('audit', 'googlenews-mini', '--cluster', address, folder=tmp_path)
        assert code == 2 and 'the address of a Dask scheduler' in err and 'local:N' in err, address
    code, out, err = biasbook('audit', 'googlenews-mini', '--cluster', 'tcp://127.0.0.1:9', folder=tmp_path)
    assert code == 1 and 'no Dask scheduler answers at tcp://127.0.0.1:9' in err
