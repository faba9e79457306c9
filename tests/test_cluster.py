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
TESTS = '--only=weat7', '--only=weat8', '--only=maskfill/parents', '--no-placebo'
PARENTS = 'audit', 'novels-mini-masked', '--only=maskfill/parents', '--no-placebo'
WRONG = '10.0.0.1:8786', 'local:0', 'local:many', 'tcp:8786'
SILENT = 'tcp://127.0.0.1:9'


def environment(folder, threads):
    """The environment of a process with a cache of its own, whose libraries may use so many threads.

    No thread waits in a loop. Dask says nothing of heartbeats that come late on a busy machine."""
    number = str(threads)
    return {**os.environ, 'BIASBOOK_CACHE_DIR': str(folder), 'BIASBOOK_DATA_DIR': '', 'OMP_NUM_THREADS': number,
            'OPENBLAS_NUM_THREADS': number, 'MKL_NUM_THREADS': number, 'OMP_WAIT_POLICY': 'PASSIVE', 'DASK_LOGGING__DISTRIBUTED': 'critical'}


def results(folder):
    return json.loads(Path(folder, 'results.json').read_text(encoding='utf-8'))


@pytest.fixture(scope='module')
def scheduler(tmp_path_factory):
    "The address of a scheduler with a worker of two threads. The audit on this machine (`local:2`) has two workers."
    folder = tmp_path_factory.mktemp('cluster')
    file = folder / 'scheduler.json'
    start = lambda module, *options: subprocess.Popen(
        [sys.executable, '-m', f'distributed.cli.{module}', '--scheduler-file', str(file), '--no-dashboard', *options], cwd=folder,
        env=environment(folder / 'cache', 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    processes = [start('dask_scheduler', '--host', '127.0.0.1', '--port', '0')]
    try:
        processes += [start('dask_worker', '--no-nanny', '--nthreads', '2')]
        deadline = time.monotonic() + 600
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(.1)
        yield json.loads(file.read_text())['address']
    finally:
        for process in processes:
            process.kill()                # a worker that is asked to end may wait for its scheduler
        for process in processes:
            process.wait(600)


IN_ONE_PROCESS = """
import json, os, sys
from biasbook.auditing.cli import main
for folder, args in json.loads(sys.argv[1]):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    os.environ['BIASBOOK_CACHE_DIR'] = os.path.join(folder, 'cache')
    try:
        main(args, prog_name='biasbook')
    except SystemExit as end:
        print('ended with', end.code, file=sys.stderr)
"""


def run_in_one_process(commands, folder):
    """What each command writes to standard error, and behind it the exit code.

    A command is the name of a folder, which has a cache of its own, and the arguments. They share the imports, and may use two threads."""
    given = json.dumps([(str(folder / name), args) for name, args in commands])
    done = subprocess.run([sys.executable, '-c', IN_ONE_PROCESS, given], capture_output=True, text=True, timeout=600, cwd=folder,
                          env=environment(folder / 'cache', 2))
    assert done.returncode == 0 and 'Traceback' not in done.stderr, done.stderr
    parts = re.split(r'(?<=ended with \d)\n', done.stderr)
    assert len(parts) == len(commands) + 1, done.stderr
    return parts[:-1]


@pytest.fixture(scope='module')
def done(scheduler, tmp_path_factory):
    "The folder of the audits, and what each command wrote."
    folder = tmp_path_factory.mktemp('audits')
    audit = ('audit', *SUBJECTS, *TESTS)
    commands = {'here': ('here', (*audit, '--quiet')), 'one thread': ('here', (*PARENTS, '--out=one')),
                'two threads': ('here', (*PARENTS, '--threads=2', '--out=two')),
                'two threads again': ('here', (*PARENTS, '--threads=2', '--out=two', '--overwrite')),
                'local': ('local', ('audit', 'googlenews-mini', *TESTS[:2], '--no-placebo', '--cluster', 'local:2', '--quiet')),
                'cluster': ('cluster', (*audit, '--cluster', scheduler)), 'after the cluster': ('cluster', (*audit, '--overwrite')),
                **{address: ('wrong', ('audit', 'googlenews-mini', '--cluster', address)) for address in (*WRONG, SILENT)}}
    return folder, dict(zip(commands, run_in_one_process(list(commands.values()), folder)))


def test_scheduler_and_workers(done):
    folder, said = done
    assert said['here'] == 'ended with 0'
    assert said['cluster'].endswith('ended with 0') and ('units in workers' in said['cluster'] or 'computed in' in said['cluster'])
    for name in ('results.json', 'results.csv', 'results.md', 'report.html'):
        assert (folder / 'cluster/biasbook-audit' / name).read_bytes() == (folder / 'here/biasbook-audit' / name).read_bytes(), name
    assert said['after the cluster'] == 'audit: 3 units reused, nothing to compute\nended with 0'         # kept here, whoever computed it


def test_local_processes(done):
    folder, said = done
    expected = [r for r in results(folder / 'here/biasbook-audit')['results'] if r['subject'] == 'googlenews-mini']
    assert said['local'].endswith('ended with 0') and len(expected) == 2 and results(folder / 'local/biasbook-audit')['results'] == expected


def test_threads_are_part_of_the_key(done):
    "The audit before had one thread."
    _, said = done
    for name, line in (('one thread', '1 unit reused, nothing to compute'), ('two threads', '1 unit computed'),
                       ('two threads again', '1 unit reused, nothing to compute')):
        assert f'audit: {line}' in said[name] and said[name].endswith('ended with 0')


def test_wrong_addresses(done):
    _, said = done
    for address in WRONG:
        text = said[address]
        assert text.endswith('ended with 2') and 'the address of a Dask scheduler' in text and 'local:N' in text
    assert said[SILENT].endswith('ended with 1') and f'no Dask scheduler answers at {SILENT}' in said[SILENT]
