"Causal models whose tokenizer has no BOS token, such as those of Qwen: every measure scores them, and takes `bos`."
import inspect
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import biasbook as bb
from biasbook.core.registry import data_path

END = '<|endoftext|>'
PAIRS = [('The nurse said that she was tired.', 'The nurse said that he was tired.'), ('My mother cooks.', 'My father cooks.')]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    "A small trained model whose tokenizer has an end-of-text token, and no BOS."
    folder = tmp_path_factory.mktemp('models') / 'without-bos'
    folder.mkdir()
    for file in data_path('models/novels-mini-causal').iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    path = folder / 'tokenizer_config.json'
    options = json.loads(path.read_text(encoding='utf-8'))
    assert options.pop('bos_token') == options['eos_token'] == END
    path.write_text(json.dumps(options), encoding='utf-8')
    return folder


@pytest.fixture(scope='module')
def model(folder):
    return bb.load_model(folder, device='cpu')


@pytest.fixture(scope='module')
def with_bos():
    return bb.load_model('novels-mini-causal', device='cpu')


def measures():
    "A small input for every measure that scores a causal model: name -> function of a model and options."
    import pandas as pd
    names = 'task', 'type', 'target', 'context', 'stereotype', 'antistereotype', 'unrelated'
    example = ('intrasentence', 'gender', 'mother', 'My mother is BLANK.', 'My mother is kind.', 'My mother is cruel.', 'My mother is wooden.')
    items = bb.unqover_items(subjects={'f': ['Mary', 'Anna'], 'm': ['John', 'George']}, attributes=['was a nurse', 'was a captain'])
    terms = pd.DataFrame({'identity': ['women', 'men'], 'stereotype': ['caring', 'brave'], 'antistereotype': ['uncaring', 'timid']})
    questions = bb.load_bbq('example').head(8)
    words = bb.Query('jobs', ['office', 'work'], ['home', 'family'], ['John', 'Paul'], ['Mary', 'Anna'], min_words=2)
    winobias, winogender = bb.load_winobias(), bb.load_winogender()
    few = {'placebo': False, 'on_missing': 'drop'}
    return {
        'crows_pairs': partial(bb.crows_pairs, data=PAIRS, placebo=False),
        'sas_pairs': partial(bb.sas_pairs, pairs=terms, placebo=False, baseline=None),
        'stereoset': partial(bb.stereoset, data=pd.DataFrame([example], columns=names), placebo=False),
        'unqover': partial(bb.unqover, items=items, placebo=False),
        'llm_iat_logprobs': partial(bb.llm_iat_logprobs, query=words, placebo=False),
        'bbq': lambda model, **options: bb.bbq(model, questions, **few, **options)[0],
        'winobias': partial(bb.winobias, items=winobias[winobias['line'] <= 2], baseline=False, **few),
        'winogender': partial(bb.winogender, items=winogender[(winogender['other'] == 'someone') & (winogender['line'] < 100)], n_resamples=99, **few)}


def test_the_end_of_text_comes_first(model, with_bos):
    "The scores are those of the same model with this token as BOS, and a note of the result says so."
    for name, measure in measures().items():
        found, right = measure(model), measure(with_bos)
        assert found.value == right.value, name
        [said] = [a_note for a_note in found.notes if a_note.code == 'no BOS token']
        assert said.data == {'token': END, 'what': 'end-of-text token'} and found.meta['checkpoint']['bos'] == END, name
        assert all(a_note.code != 'no BOS token' for a_note in right.notes), name
    assert f'its end-of-text token {END} comes before each text' in str(bb.crows_pairs(model, PAIRS, placebo=False))


def test_bos_in_every_measure(model, folder):
    "`bos` in a measure does what `bos` in load_model does."
    opened = {bos: bb.load_model(folder, device='cpu', bos=bos) for bos in ('Ġthe', None)}
    for name, measure in measures().items():
        values = []
        for bos, of_model in opened.items():
            values.append(measure(model, bos=bos).value)
            assert values[-1] == measure(of_model).value, (name, bos)
        if name in ('winobias', 'llm_iat_logprobs'):        # values that are no shares
            assert values[0] != values[1], name
        with pytest.raises(ValueError, match='is not a token of without-bos'):
            measure(model, bos='<go>')
    answers = [bb.unqover_answers(model, bb.unqover_items(subjects=['Mary', 'John'], attributes='was a nurse'), bos=bos)['score1'] for bos in opened]
    assert not np.array_equal(answers[0], answers[1])


@pytest.mark.parametrize('measure', [lambda m: bb.sas_pairs(m, bos=None), lambda m: bb.crows_pairs(m, PAIRS, bos=None)])
def test_placebos_need_a_token_before_a_text(model, measure):
    "The first word of a text has no probability without one, so the placebos say why they are missing."
    placebos = [e for e in measure(model).also if e.name.startswith('placebo')]
    assert placebos and all(e.test is None and e.notes[0].code == 'no placebo without a start' for e in placebos)


def test_no_measure_is_forgotten():
    "Each function of `bb` that takes a causal model and scores texts takes `bos`."
    of_masked = {'bec_pro', 'cbs', 'disco', 'fill_bias', 'fill_bias_difference', 'maskfill_table', 'rewording_contrasts'}
    without = {'ceat', 'honest'}                    # they read states of words, or generate
    found = set()
    for name in dir(bb):
        function = getattr(bb, name)
        if inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), '') in ('model', 'models'):
            found.add(name)
            assert ('bos' in inspect.signature(function).parameters) == (name not in of_masked | without), name
    assert of_masked | without | set(measures()) <= found


def test_other_kinds_and_contradictions(model):
    masked = bb.load_model('novels-mini-masked', device='cpu')
    with pytest.raises(ValueError, match='is for causal models; leave it out for novels-mini-masked'):
        bb.crows_pairs(masked, PAIRS, bos=None)
    with pytest.raises(ValueError, match='is for causal models'):
        bb.load_model('novels-mini-masked', device='cpu', bos=None)
    with pytest.raises(ValueError, match='is not a token'):
        bb.load_model('novels-mini-causal', device='cpu', bos='<go>')
    with pytest.raises(ValueError, match='contradict each other'):
        bb.sas_pairs(model.with_bos(None), compat='afristereo')


def test_command_line(folder, tmp_path, monkeypatch):
    from click.testing import CliRunner
    from biasbook.auditing.cli import main
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path('study.yaml').write_text(json.dumps({'pairs': [{'name': 'two', 'sentences': PAIRS}]}), encoding='utf-8')
    typed = ['audit', str(folder), '--no-placebo', '--quiet', '--study', 'study.yaml']
    values = {}
    for out, bos in {'usual': (), 'the': ('--bos', 'Ġthe'), 'none': ('--bos', 'none')}.items():
        done = CliRunner().invoke(main, [*typed, *bos, '--out', out])
        assert done.exit_code == 0, done.output
        [result] = json.loads(Path(out, 'results.json').read_text(encoding='utf-8'))['results']
        values[result['meta']['checkpoint']['bos']] = result['value']
    assert list(values) == [END, 'Ġthe', None]


@pytest.mark.parametrize('server_takes', [{'takes': 'ids'}, {'takes': 'text', 'adds_start': False}])
def test_behind_a_server(model, folder, tmp_path, server_takes):
    "A server gives the scores of the model on this machine, also after another token; a store does not mix them up."
    from biasbook.core.store import Store
    from biasbook.testing.completions_server import CompletionsServer
    texts = [text for pair in PAIRS for text in pair]
    with CompletionsServer(model, **server_takes) as server, Store(tmp_path / 'store.sqlite') as store:
        for bos in ('auto', END):
            served = bb.load_model(server.name(scheme='completions'), tokenizer=str(folder), store=store, bos=bos)
            assert served.start() == END and served.fingerprint
            np.testing.assert_allclose(served.log_probability(texts).total, model.log_probability(texts).total, rtol=0, atol=1e-4)
        assert [a_note.code for a_note in served.start_notes()] == []
        if server_takes['takes'] == 'text':
            return
        for bos in ('Ġthe', None):
            right = model.log_probability(texts, bos=bos).total
            for open_served in (lambda: bb.load_model(server.name(scheme='completions'), tokenizer=str(folder), store=store, bos=bos),
                                lambda: served.with_bos(bos)):
                np.testing.assert_allclose(open_served().log_probability(texts).total, right, rtol=0, atol=1e-4)
        plan = served.plan(lambda m: bb.crows_pairs(m, [('She wept.', 'He wept.')], bos=None))
        assert plan.texts == 2
