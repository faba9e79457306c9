"""Audits of a language model behind a server, by the command line."""
import json
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasbook.auditing.cli import main
from biasbook.auditing.run import NoSubject, audit
from biasbook.core.answers import N_CHECKED
from biasbook.core.store import Store
from biasbook.embedders.load import load_embedder
from biasbook.models.load import load_model
from biasbook.testing.completions_server import CompletionsServer
from biasbook.testing.fake_server import FakeServer, hash_vectors

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


def test_kinds_can_be_mixed_and_a_repeated_audit_sends_three_texts(box, model):
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
        assert len(prompts_since(server, n)) == 1 + N_CHECKED                          # one by which the model is recognised
        assert values_of('two') == values
        for option in ('--fresh', '--ask-again'):
            n = len(server.log)
            run('audit', subjects[0], *SMALL, '--out', option.strip('-'), option)
            assert len(prompts_since(server, n)) == 1 + N_TEXTS
    page = Path('one/report.html').read_text(encoding='utf-8')
    assert '127.0.0.1' in page                                                         # which server it was


def test_the_store_of_a_served_subject_is_closed(box, model, monkeypatch):
    opened = []
    closed = []
    monkeypatch.setattr(Store, '__init__', _noting(opened, Store.__init__))
    monkeypatch.setattr(Store, 'close', _noting(closed, Store.close))
    with CompletionsServer(model) as server:
        audit(f'{server.name()}?{TOKENIZER}', study='study.yaml')
        for subject, measures in ((server.name('no-echo'), None), (server.name(), 'weat')):        # weat takes no language models
            with pytest.raises(NoSubject):
                audit(f'{subject}?{TOKENIZER}', measures, study=None if measures else 'study.yaml')
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
        assert len(prompts_since(server, 0)) == N_PROBES + N_TEXTS - n_stored + min(N_CHECKED, n_stored)
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


class SwappedServer(CompletionsServer):
    "A server whose model, once it `is_swapped`, takes *She* for *He* and *He* for *She*."
    is_swapped = False

    def _values(self, ids):
        if not self.is_swapped:
            return super()._values(ids)
        he, she = (self.model.tokenizer(word, add_special_tokens=False)['input_ids'][0] for word in ('He', 'She'))
        other = {he: she, she: he}
        after = super()._values([other.get(token, token) for token in ids]).clone()
        after[:, [he, she]] = after[:, [she, he]]
        return after


PAIRS_OF_TWO = """
name: two words
pairs:
- name: tears
  sentences:
  - [She cried all night., He cried all night.]
  - [She was in tears., He was in tears.]
  - [She was afraid., He was afraid.]
  - [She was brave., He was brave.]
"""


def test_a_served_model_that_swaps_two_words_is_found(box, model):
    Path('study.yaml').write_text(PAIRS_OF_TWO, encoding='utf-8')
    with SwappedServer(model) as server:
        subject = f'{server.name()}?{TOKENIZER}'
        assert run('audit', subject, *SMALL, '--out', 'one')[0] == 0
        server.is_swapped = True
        code, said = run('audit', subject, *SMALL, '--out', 'two')
        said = ' '.join(said.split())
        assert code == 3 and 'is another model' in said and 'with --ask-again' in said and 'ask_again=' not in said, said
        code, said = run('audit', subject, *SMALL, '--out', 'three', '--ask-again')
        assert code == 0, said
        new = values_of('three')
        assert new['m', 'tears'] != values_of('one')['m', 'tears']
        assert run('audit', subject, *SMALL, '--out', 'four')[0] == 0
        assert values_of('four') == new
        n = len(server.log)
        assert run('audit', subject, *SMALL, '--out', 'five', '--fresh')[0] == 0
        assert len(prompts_since(server, n)) == 1 + N_TEXTS and values_of('five') == new


def test_a_served_model_that_is_gone(box, model):
    with CompletionsServer(model) as server:
        subject = f'{server.name()}?{TOKENIZER}&retries=0'
        assert run('audit', subject, *SMALL, '--out', 'one')[0] == 0
    code, said = run('audit', subject, *SMALL, '--out', 'two')
    assert code == 0 and said.count('Warning: the answers of m at http') == 1 and 'could not be checked' in said, said
    assert values_of('two') == values_of('one')
    code, said = run('audit', subject, *SMALL, '--out', 'three', '--ask-again')
    assert code == 3 and 'check the connection' in ' '.join(said.split())
    assert run('audit', subject, *SMALL, '--out', 'four')[0] == 0              # nothing was lost
    assert values_of('four') == values_of('one')


def another_model(texts):
    return hash_vectors([text[::-1] for text in texts])


def embedder_of(server):
    return f'openai-compatible:m@{server.url("openai-compatible")}?retries=0'


SEAT = ('--measure', 'seat', '--only', 'seat[67]', '--no-placebo')


@pytest.mark.parametrize('jobs', [(), ('--jobs', '2')])
def test_an_embedder_that_changes_is_found(box, jobs):
    with FakeServer() as server:
        assert run('audit', embedder_of(server), *SEAT, *jobs, '--out', 'one')[0] == 0
        n = len(server.log)
        assert run('audit', embedder_of(server), *SEAT, *jobs, '--out', 'two')[0] == 0
        checked = [len(entry['body']['input']) for entry in server.log[n:]]
        assert checked and set(checked) == {N_CHECKED} and len(checked) <= 1 + len(jobs) and values_of('two') == values_of('one')
        server.vectors = another_model
        code, said = run('audit', embedder_of(server), *SEAT, *jobs, '--out', 'three')
        said = ' '.join(said.split())
        assert code == 3 and 'm of openai-compatible at http' in said and 'has the cosine' in said and 'with --ask-again' in said, said
        assert run('audit', embedder_of(server), *SEAT, *jobs, '--out', 'four', '--ask-again')[0] == 0
        new = values_of('four')
        assert all(value != new[name] for name, value in values_of('one').items())
        assert run('audit', embedder_of(server), *SEAT, '--out', 'five')[0] == 0
        assert values_of('five') == new
        server.vectors = None
        Path('audit.yaml').write_text(f'subjects: ["{embedder_of(server)}"]\nmeasures: seat\nonly: "seat[67]"\nplacebo: false\nask_again: true\n')
        assert run('audit', '--config', 'audit.yaml', '--out', 'six')[0] == 0
        assert values_of('six') == values_of('one')


def test_an_embedder_that_is_gone(box):
    with FakeServer() as server:
        subject = embedder_of(server)
        assert run('audit', subject, *SEAT, '--out', 'one')[0] == 0
    code, said = run('audit', subject, *SEAT, '--out', 'two')
    assert code == 0 and said.count('Warning: the answers of m of openai-compatible at http') == 1, said
    assert values_of('two') == values_of('one')


def test_an_embedder_that_was_opened_before_is_checked_in_each_audit(box):
    options = dict(only=['seat6', 'seat7'], placebo=False)
    with FakeServer() as server:
        embedder = load_embedder('openai-compatible:m', base_url=server.url('openai-compatible'))
        old = audit(embedder, 'seat', **options)
        server.vectors = another_model
        changed = audit(embedder, 'seat', **options)
        assert not changed.results and all('is another model' in failure['error'] for failure in changed.failures)
        new = audit(embedder, 'seat', ask_again=True, **options)
        assert [r.value for r in new.results] != [r.value for r in old.results]
        assert [r.value for r in audit(embedder, 'seat', **options).results] == [r.value for r in new.results]
