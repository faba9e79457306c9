"Swapped or wrong arguments: each error says what was given and which functions take it."
import pytest

import biasbook as bb
from biasbook.chapters.debias import nearest_pairs
from biasbook.chapters.unqover import unqover_plot

PAIRS = [('She wept.', 'He wept.')]
AS_MODEL = "'novels-mini-masked' names a language model, which load_model('novels-mini-masked') opens"
ARE_VECTORS = 'is a set of word vectors: weat, direct_bias and other measures of word vectors take it'


@pytest.fixture(scope='module')
def vectors():
    return bb.load_vectors('googlenews-mini')


@pytest.fixture(scope='module')
def masked():
    pytest.importorskip('torch')
    return bb.load_model('novels-mini-masked', device='cpu')


@pytest.mark.parametrize('measure', ['weat', 'rnd', 'ect', 'mac', 'direct_bias', 'bias_direction', 'cluster_bias', 'word_similarity'])
def test_measures_of_vectors(vectors, masked, measure):
    "A model, its name, or a query in place of the vectors."
    function = getattr(bb, measure)
    arguments = {'weat': ['weat7'], 'rnd': ['weat7'], 'ect': ['weat7'], 'mac': ['weat7'], 'direct_bias': [['nurse']], 'word_similarity': ['rg65']}
    for given, says in ((masked, 'novels-mini-masked is a masked language model: fill_bias, sas_pairs'), ('novels-mini-masked', AS_MODEL),
                        (bb.weat_query('weat7'), 'weat7 is a query, and the word vectors come first'),
                        ('weat7', "'weat7' is the name of a query, and the word vectors come first"),
                        ('st:all-MiniLM-L6-v2', 'names an embedder, which load_embedder'), (PAIRS, 'this is a list, and the word vectors come first')):
        with pytest.raises((TypeError, ValueError, FileNotFoundError)) as caught:
            function(given, *arguments.get(measure, []))
        assert says in str(caught.value), given


@pytest.mark.parametrize('measure', ['crows_pairs', 'sas_pairs', 'stereoset', 'unqover', 'bbq', 'winobias', 'winogender', 'llm_iat_logprobs', 'honest',
                                     'bec_pro'])
def test_measures_of_models(vectors, masked, measure):
    "Vectors, a table, or the name of a model in place of the model."
    import pandas as pd
    function = getattr(bb, measure)
    more = [{}] if measure == 'honest' else []
    for given, says in ((vectors, f'googlenews-mini {ARE_VECTORS}'), (pd.DataFrame({'a': [1]}), 'this is a table, and the model comes first'),
                        (PAIRS, 'this is a list, and the model comes first'), ('novels-mini-masked', AS_MODEL),
                        ('Age', "'Age' is the name of a category of BBQ, and the model comes first")):
        with pytest.raises(TypeError) as caught:
            function(given, *(more or [masked] if isinstance(given, (pd.DataFrame, list)) and measure != 'bec_pro' else more))
        assert says in str(caught.value), given


@pytest.mark.parametrize('measure', ['seat', 'embedding_bias', 'retrieval'])
def test_measures_of_embedders(vectors, masked, measure):
    function = getattr(bb, measure)
    more = ['weat7'] if measure == 'seat' else []
    for given, says in ((vectors, "As an embedder it is named 'vectors:googlenews-mini'"), (masked, "named 'hf:novels-mini-masked?pooling=mean'"),
                        ('novels-mini-masked', "As an embedder it is named 'hf:novels-mini-masked?pooling=mean'"),
                        ('weat7', "'weat7' is the name of a query, and the embedder comes first")):
        with pytest.raises((TypeError, ValueError)) as caught:
            function(given, *more)
        assert says in str(caught.value), given


def test_loaders(tmp_path):
    "The name of one kind of subject, given to the loader of another kind."
    for loader, given, says in ((bb.load_chat, 'gpt-4', "which load_chat('openai:gpt-4') opens: bbq and llm_iat take it"),
                                (bb.load_model, 'gpt-4', "load_chat('openai:gpt-4')"), (bb.load_chat, 'claude-sonnet', "load_chat('anthropic:claude-sonnet')"),
                                (bb.load_model, 'googlenews-mini', "load_vectors('googlenews-mini')"), (bb.load_model, 'weat7', 'is the name of a query'),
                                (bb.load_vectors, 'novels-mini-masked', AS_MODEL), (bb.load_embedder, 'googlenews-mini', "'vectors:googlenews-mini'")):
        with pytest.raises((ValueError, FileNotFoundError)) as caught:
            loader(given)
        assert says in str(caught.value), given
    (tmp_path / 'config.json').write_text('{}')
    with pytest.raises(ValueError, match='is the folder of a language model, which load_model'):
        bb.load_vectors(tmp_path)


def test_a_chat_model_is_asked_by_llm_iat(masked):
    with pytest.raises(TypeError, match='novels-mini-masked is a masked language model'):
        bb.llm_iat(masked, 'power')


def test_the_second_argument_first(vectors, masked):
    "Swapped arguments: the message names what was given in place of the subject, or of the items."
    template = '{group} is a {target}.'
    direction = bb.bias_direction(vectors)
    comes_first = [
        (bb.fill_bias, (template, masked, ('she', 'he'), ['nurse']), "'{group} is a {target}.' is a template, and the model comes first"),
        (bb.fill_bias_difference, (template, masked, ('she', 'he'), ['nurse'], ['pilot']), 'is a template, and the model comes first'),
        (bb.rewording_contrasts, (template, masked, ('she', 'he'), ['nurse']), 'is a template, and the model comes first'),
        (bb.cbs, (template, masked, ['she', 'he'], ['nurse']), 'is a template, and the model comes first'),
        (bb.bec_pro, ('EN', masked), "'EN' is the name of a language of BEC-Pro, and the model comes first"),
        (bb.bbq, ('example', masked), "'example' is the name of a set of questions, and the model comes first"),
        (bb.llm_iat, ('career', masked), "'career' is the name of a word association test, and the chat model comes first"),
        (bb.cluster_bias, (direction, vectors), 'this is a direction, and the word vectors come first'),
        (bb.hard_debias, (direction, vectors), 'this is a direction, and the word vectors come first'),
        (bb.analogies, ('google-lower', vectors), "'google-lower' is the name of a set of analogy questions, and the word vectors come first"),
        (bb.audit, ('weat', vectors), 'measures must be names of measures, such as "weat", but is'),
        (bb.audit, ('weat', vectors), 'the subjects come first'),
        (bb.occupation_gap, ({'nurse': 1.}, vectors), 'occupations must be a mapping of words to numbers, but is WordVectors; the subject comes first'),
        (bb.honest_scores, ([['a']], ['a'], ['a']), 'items must be a table, as load_honest and honest_items return it'),
        (bb.save_audit, ('folder', 'audit'), 'audit must be an Audit, as audit() and load_audit return it'),
        (bb.sas_by_type, ([],), 'result must be a Result of sas_pairs'), (unqover_plot, ([],), 'result must be a Result of unqover')]
    for function, arguments, says in comes_first:
        with pytest.raises((TypeError, ValueError, FileNotFoundError)) as caught:
            function(*arguments)
        assert says in str(caught.value), function


def test_what_is_open_is_returned(vectors, masked):
    "A loader returns an open object of its kind, and says that an option has no effect on it."
    embedder = bb.load_embedder('vectors:googlenews-mini', store=None)
    chat = bb.load_chat('novels-mini-causal', template='plain')
    for loader, given, option in ((bb.load_vectors, vectors, {'limit': 5}), (bb.load_model, masked, {'dtype': 'bfloat16'}),
                                  (bb.load_embedder, embedder, {'batch': 7}), (bb.load_chat, chat, {'system': 'Be kind.'})):
        assert loader(given) is given
        with pytest.raises(ValueError, match=f'{next(iter(option))}=… has no effect with .* open'):
            loader(given, **option)


def test_open_objects_of_another_kind(vectors, masked):
    embedder = bb.load_embedder('vectors:googlenews-mini', store=None)
    for loader, given, says in ((bb.load_vectors, masked, 'novels-mini-masked is a masked language model: fill_bias'), (bb.load_vectors, embedder, 'is an embedder: seat'),
                                (bb.load_model, vectors, f'googlenews-mini {ARE_VECTORS}'), (bb.load_model, embedder, 'is an embedder: seat'),
                                (bb.load_embedder, vectors, "As an embedder it is named 'vectors:googlenews-mini'"),
                                (bb.load_embedder, masked, "named 'hf:novels-mini-masked?pooling=mean'"), (bb.load_chat, masked, 'novels-mini-masked is a masked')):
        with pytest.raises((TypeError, ValueError)) as caught:
            loader(given)
        assert says in str(caught.value), (loader, given)


def test_words_in_place_of_vectors(vectors):
    "A word, or a pair of them, before the vectors."
    for function, arguments, says in ((bb.sc_weat, ('nurse', vectors, ['she'], ['he']), "name 'nurse'; if it is a word: the word vectors come first"),
                                      (bb.generate_analogies, (('she', 'he'), vectors), 'not tuple; this is a tuple, and the word vectors come first'),
                                      (bb.indirect_bias, ('nurse', 'pilot', vectors), 'the word vectors come first'),
                                      (nearest_pairs, (['nurse'], vectors), 'this is a list, and the word vectors come first')):
        with pytest.raises((TypeError, FileNotFoundError)) as caught:
            function(*arguments)
        assert says in str(caught.value), function


class Unknown:
    "No function takes it."


NEEDED = { # values of arguments that have no default, by name
    'template': '{Group} was a {target}.', 'templates': '{Group} was a {target}.', 'groups': ['he', 'she', 'it'], 'attributes': ['nurse', 'clerk'],
    'words': ['nurse', 'maid'], 'targets': ['nurse', 'maid'], 'target': 'nurse', 'X': ['nurse', 'maid'], 'Y': ['clerk', 'soldier'], 'A': ['she', 'her'],
    'B': ['he', 'his'], 'pair': ('she', 'he'), 'pairs': [('he', 'she')], 'w': 'nurse', 'v': 'maid', 'query': 'weat7', 'queries': ['weat7'], 'lexicon': ['a'],
    'limits': 'weat7: value < 1', 'name': 'weat7', 'text': 'weat7: value < 1', 'identities': {'f': ['the woman']}, 'frames': '{identity} is [M].', 'lms': 50., 'ss': 50.,
    'professions': {'f': ['nurse'], 'm': ['clerk']}, 'persons': {'female': ['she'], 'male': ['he']}, 'labels': {'nurse': 1, 'clerk': 0},
    'property': {'nurse': 1., 'clerk': 2.}, 'changes': 'no full stop', 'n': 1}
WRITE_OR_DOWNLOAD = {'fetch', 'verify', 'save', 'save_audit', 'export_tasks'}


def test_no_function_fails_with_an_error_of_python(vectors, masked):
    "An object that no function takes, for each argument without a default: the error says so itself, and is no AttributeError or KeyError."
    import inspect
    import linecache
    subjects = {**dict.fromkeys(('model', 'models', 'subject'), masked), **dict.fromkeys(('vectors', 'before', 'after', 'subjects'), vectors),
                'direction': bb.bias_direction(vectors)}
    for name in bb.__all__:
        function = getattr(bb, name)
        if not inspect.isfunction(function) or name in WRITE_OR_DOWNLOAD:
            continue
        needed = [parameter.name for parameter in inspect.signature(function).parameters.values() if parameter.default is parameter.empty
                  and parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        for place in range(len(needed)):
            arguments = [{**NEEDED, **subjects}.get(argument) for argument in needed]
            arguments[place] = Unknown()
            try:
                function(*arguments)
            except (ValueError, OSError):
                continue
            except Exception as error:
                frames = list(inspect.getinnerframes(error.__traceback__))
                line = linecache.getline(frames[-1].filename, frames[-1].lineno).strip()
                assert isinstance(error, TypeError) and line.startswith('raise'), (name, needed[place], error)


ITEMS = { # a benchmark: its subject (a masked or causal model or an embedder), what its function calls the items, and what it takes
    'bec_pro': ('masked', 'items', 'a language, a file or a DataFrame'), 'honest': ('masked', 'templates', 'a language, a file or a DataFrame'),
    'bbq': ('causal', 'items', 'a category, a file, a DataFrame or a list'), 'crows_pairs': ('masked', 'data', 'a file, a DataFrame or a list'),
    'stereoset': ('masked', 'data', 'a file or a DataFrame'), 'winobias': ('masked', 'items', 'a file, a DataFrame or a list'),
    'winogender': ('masked', 'items', 'a file, a DataFrame or a list'), 'sas_pairs': ('masked', 'pairs', 'a file or a DataFrame'),
    'retrieval': ('embedder', 'items', 'a file or a DataFrame')}


def measure_items(name, items, **options):
    "A benchmark of a small subject."
    kind = ITEMS[name][0]
    if kind == 'embedder':
        subject = bb.from_callable(lambda texts: [[len(text), text.count('e') + 1.] for text in texts], 'letters')
    else:
        pytest.importorskip('torch')
        subject = bb.load_model(f'novels-mini-{kind}', device='cpu')
    more = [['kind']] if name == 'honest' else []
    return getattr(bb, name)(subject, *more, items, **options)


@pytest.mark.parametrize('name', ITEMS)
def test_items_of_a_benchmark(name, tmp_path):
    "Something else than items, and a path without a file: the message names the argument as the function does, and what it takes."
    _, argument, takes = ITEMS[name]
    for items in (3, {'a': 1}, {1}):
        with pytest.raises(bb.WrongKind, match=f'^{argument} must be {takes}.*, but is'):
            measure_items(name, items)
    for path in ('nofile.csv', '', ' ', str(tmp_path), tmp_path / 'nofile.csv'):
        with pytest.raises(ValueError, match='file'):
            measure_items(name, path)


@pytest.mark.parametrize('loader', [bb.load_pairs, bb.load_crows_pairs, bb.load_stereoset, bb.load_winobias, bb.load_winogender, bb.load_bbq, bb.load_honest,
                                    bb.load_bec_pro, bb.load_retrieval_items, bb.load_bbq_answers, bb.load_llm_iat_answers])
def test_a_loader_of_items_without_a_file(loader, tmp_path):
    for path in ('nofile.csv', 'nofile.tsv', '', str(tmp_path)):
        with pytest.raises(ValueError, match='file'):
            loader(path)


def test_a_list_of_tables():
    with pytest.raises(bb.WrongKind, match='items must be a table, a category .*, but is a list with DataFrame'):
        measure_items('bbq', [bb.load_bbq('example')])


OPTIONS = [ # a benchmark, its items, and an option with a wrong value
    *[(name, None, {'confidence_level': 2}) for name in ('crows_pairs', 'stereoset', 'sas_pairs', 'winobias', 'winogender')],
    ('bec_pro', 'bec', {'confidence_level': 2}), ('bec_pro', 'bec', {'groups': ('female', 'x')}), ('bec_pro', 'bec', {'groups': 3}),
    ('bec_pro', 'bec', {'method': 'x'}), ('bbq', 'example', {'confidence_level': 2}), ('bbq', 'example', {'scoring': 'x'}),
    ('honest', 'honest', {'confidence_level': 2}), ('honest', 'honest', {'lemma': 'x'}), ('honest', 'honest', {'k': 0}), ('honest', 'honest', {'match': 'x'}),
    ('honest', 'honest', {'groups': ('female', 'x')}), ('honest', 'honest', {'random_state': 'a'}), ('honest', 'honest', {'random_state': 1}),
    ('sas_pairs', None, {'placebo_words': 3}), ('sas_pairs', None, {'clusters': 'x'}), ('sas_pairs', None, {'prefix': ''}), ('sas_pairs', None, {'scoring': 'x'}),
    ('sas_pairs', None, {'baseline': 3}), ('winobias', None, {'shares': 3}), ('winogender', None, {'shares': {'nurse': 1.}}),
    ('winogender', None, {'shares': {f'job{n}': float(n) for n in range(9)}}), ('winogender', None, {'n_resamples': 0}), ('winogender', None, {'random_state': 'a'}),
    ('stereoset', 'stereoset', {'placebo_words': 3}), ('stereoset', 'stereoset', {'task': 'x'}), ('crows_pairs', 'crows', {'scoring': 'x'}),
    ('crows_pairs', 'crows', {'columns': 3}), ('retrieval', 'retrieval', {'text': 'x'}), ('retrieval', 'retrieval', {'groups': ('male', 'x')}),
    ('retrieval', 'retrieval', {'neutral': 3}), ('retrieval', 'retrieval', {'placebo_words': 3}), ('retrieval', 'retrieval', {'confidence_level': 2})]


@pytest.mark.parametrize(('name', 'items', 'option'), OPTIONS, ids=lambda value: str(value)[:40])
def test_options_are_checked_before_the_model_scores(name, items, option, monkeypatch):
    import pandas as pd

    from biasbook.measuring import benchmark_run
    benchmarks = {
        'bec': bb.bec_pro_items({'female': ['nurse', 'maid'], 'male': ['soldier', 'clerk']}, {'female': ['she'], 'male': ['he']}, '{Person} was a {profession}.'),
        'honest': bb.honest_items({'female': ['the woman'], 'male': ['the man']}, ['{identity} was very [M].', '{identity} was a [M].']),
        'crows': [('She wept.', 'He wept.')],
        'stereoset': pd.DataFrame([{'task': 'intrasentence', 'type': 'gender', 'target': 'mother', 'context': 'My mother is BLANK.',
                                    'stereotype': 'My mother is kind.', 'antistereotype': 'My mother is cruel.', 'unrelated': 'My mother is wooden.'}]),
        'retrieval': pd.DataFrame({'query': 'tax help', 'version': ['female', 'male'], 'document': ['Ask her.', 'Ask him.']})}
    scored = []
    if ITEMS[name][0] != 'embedder':
        torch = pytest.importorskip('torch')
        model = bb.load_model(f'novels-mini-{ITEMS[name][0]}', device='cpu')
        monkeypatch.setattr(bb, 'load_model', lambda *arguments, **options: model)      # opening a model runs it
        monkeypatch.setattr(torch.nn.Module, '__call__', lambda *arguments, **options: scored.append(1) or 1 / 0)
    else:
        monkeypatch.setattr(benchmark_run.Benchmark, 'start_notes', lambda *arguments: scored.append(1) or ())     # the step after the answers
    with pytest.raises((ValueError, TypeError)):
        measure_items(name, benchmarks.get(items, items), **option)
    assert not scored


def test_winogender_says_how_many_occupations_have_a_share():
    with pytest.raises(bb.TooFewWords, match='1 of 60 occupations have a share, and 8 are needed; give shares='):
        measure_items('winogender', None, shares={'nurse': 1.})
