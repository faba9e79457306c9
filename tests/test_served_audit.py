"""Audits of a language model behind a server, by the command line."""
import json
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasbook.auditing.cli import main
from biasbook.auditing.run import audit
from biasbook.core.store import Store
from biasbook.models.load import load_model
from biasbook.testing.completions_server import CompletionsServer

pytest.importorskip('torch')
TOKENIZER = 'tokenizer=novels-mini-causal'
STUDY = """
name: small
queries:
- {name: math, X: [math, algebra, geometry, calculus], Y: [poetry, art, dance, novel], A: [male, man, boy, he], B: [female, woman, girl, she]}
pairs:
- name: tears
  sentences:
  - [She cried all night., He cried all night.]
  - [The woman was in tears., The man was in tears.]
  - [The girl was afraid., The boy was afraid.]
  - [He was a brave man., She was a brave woman.]
"""
SMALL = ('--study', 'study.yaml', '--no-placebo')
N_TEXTS = 8
N_PROBES = 11 # prompts that the first opening of a server sends to /completions


@pytest.fixture(scope='module')
def model():
    return load_model('novels-mini-causal')


@pytest.fixture
def box(tmp_path, monkeypatch):
    "An empty folder to be in, with an empty cache beside it."
    (tmp_path / 'here').mkdir()
    monkeypatch.chdir(tmp_path / 'here')
    monkeypatch.setenv('BIASBOOK_CACHE_DIR', str(tmp_path / 'cache'))
    Path('study.yaml').write_text(STUDY, encoding='utf-8')
    return tmp_path


def run(*args):
    "Exit code, and everything that was printed."
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def results_of(folder):
    return json.loads(Path(folder, 'results.json').read_text(encoding='utf-8'))


def values_of(folder):
    "The value of each result, by subject and test."
    return {(r['subject'], r['meta']['unit']): r['value'] for r in results_of(folder)['results']}


def prompts_since(server, n):
    "The prompts that were sent after the first n requests."
    bodies = [entry['body'] for entry in server.log[n:] if entry['path'] == '/v1/completions']
    return [ids for body in bodies for ids in body['prompt']]


def test_kinds_can_be_mixed_and_a_repeated_audit_sends_no_text(box, model):
    Path('toy.txt').write_text('he 1 0\nshe 0 1\nman .9 .2\nwoman .1 .8\n', encoding='utf-8')
    with CompletionsServer(model) as server:
        subjects = (f'{server.name()}?{TOKENIZER}', 'novels-mini-causal', 'googlenews-mini', 'toy.txt')
        code, said = run('audit', *subjects, *SMALL, '--out', 'one')
        assert code == 3 and 'Not measured: toy' in said, said                         # too few words
        values = values_of('one')
        assert values['m', 'tears'] == values['novels-mini-causal', 'tears'] and ('googlenews-mini', 'math') in values
        assert len(prompts_since(server, 0)) == N_PROBES + N_TEXTS
        about = results_of('one')['about']['subjects']['m']
        assert about['server'] == 'vllm' and about['answered_as'] == 'm' and about['server_version'] == '0.0.loopback'
        n = len(server.log)
        run('audit', *subjects, *SMALL, '--out', 'two')
        assert len(prompts_since(server, n)) == 1                                      # by which the model is recognised
        assert values_of('two') == values
        n = len(server.log)
        run('audit', subjects[0], *SMALL, '--out', 'fresh', '--fresh')
        assert len(prompts_since(server, n)) == 1                                      # its scores are in the store
    page = Path('one/report.html').read_text(encoding='utf-8')
    assert '127.0.0.1' in page                                                         # which server it was


def test_the_store_of_a_served_subject_is_closed(box, model, monkeypatch):
    opened = []
    closed = []
    monkeypatch.setattr(Store, '__init__', _noting(opened, Store.__init__))
    monkeypatch.setattr(Store, 'close', _noting(closed, Store.close))
    with CompletionsServer(model) as server:
        audit(f'{server.name()}?{TOKENIZER}', study='study.yaml')
        audit(f'{server.name("no-echo")}?{TOKENIZER}', study='study.yaml')
        audit(f'{server.name()}?{TOKENIZER}', 'weat')                                 # takes no language models
    assert len(opened) == 6 and set(map(id, opened)) == set(map(id, closed))


def _noting(seen, method):
    "A method that notes its objects."
    def noted(self, *args, **options):
        seen.append(self)
        return method(self, *args, **options)
    return noted


def test_keys(box, model, monkeypatch):
    monkeypatch.setenv('RIGHT_KEY', 'right-key-of-mine')
    monkeypatch.setenv('WRONG_KEY', 'wrong-key-of-mine')
    with CompletionsServer(model, key='right-key-of-mine') as server:
        subject = f'{server.name()}?{TOKENIZER}'
        code, said = run('audit', subject, *SMALL, '--out', 'out')
        assert code == 3 and 'with --key-env NAME' in said
        code, said = run('audit', subject, *SMALL, '--out', 'out', '--key-env', 'WRONG_KEY')
        assert code == 3 and 'the key in WRONG_KEY was not accepted' in said
        code, said = run('audit', subject, *SMALL, '--out', 'out', '--key-env', 'NO_SUCH_KEY')
        assert code == 3 and 'NO_SUCH_KEY is not set' in said
        for command in (('audit', subject), ('check', 'study.yaml', subject)):
            code, said = run(*command, '--key-env', 'sk-canary')
            assert code == 2 and 'NAME of an environment variable' in said and 'canary' not in said
        code, said = run('audit', subject, *SMALL, '--out', 'out', '--key-env', 'RIGHT_KEY')
        assert code == 0, said
        code, said = run('check', 'study.yaml', subject, '--key-env', 'RIGHT_KEY')
        assert code == 0 and 'need a score, in' in said and 'the time of a server is not estimated' in said, said
    everything = [path.read_bytes() for path in box.rglob('*') if path.is_file()]
    assert not any(b'key-of-mine' in content for content in everything)


def test_server_that_dies_and_comes_back(box, model):
    server = CompletionsServer(model, seconds_per_text=.05)

    def stop_in_the_middle():
        while server.texts_scored < N_PROBES + 3:
            time.sleep(.005)
        server.fault = 'reset'
        server.close()

    stopping = threading.Thread(target=stop_in_the_middle)
    stopping.start()
    code, said = run('audit', f'{server.name()}?{TOKENIZER}&retries=1&batch=1&workers=1', *SMALL, '--out', 'one')
    stopping.join()
    words_said = ' '.join(said.split())
    assert code == 3 and 'check the connection' in words_said, said
    with Store(box / 'cache/store.sqlite') as store:
        n_stored, _ = store.kinds()['scores']
    assert 2 <= n_stored < N_TEXTS
    assert f'The scores of {n_stored} of {N_TEXTS} texts are stored; the next run asks for the others only' in words_said, said
    with CompletionsServer(model) as server:
        code, said = run('audit', f'{server.name()}?{TOKENIZER}', *SMALL, '--out', 'two')
        assert len(prompts_since(server, 0)) == N_PROBES + N_TEXTS - n_stored
    assert code == 0, said
    here = audit('novels-mini-causal', study='study.yaml', resume=False)
    assert values_of('two')['m', 'tears'] == here.results[0].value


def test_check_without_a_server(box):
    code, said = run('check', 'study.yaml', f'vllm:m@http://127.0.0.1:1/v1?{TOKENIZER}&retries=0')
    assert code == 2 and 'ConnectError' in said and 'check the connection and the base URL' in said.replace('\n', ' ')


def test_workers_open_the_server_themselves(box, model):
    with CompletionsServer(model) as server:
        code, said = run('audit', f'{server.name()}?{TOKENIZER}', *SMALL, '--out', 'out', '--jobs', 2)
    assert code == 0, said
    assert ('m', 'tears') in values_of('out')
