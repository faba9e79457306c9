"Swapped or wrong arguments: each error says what was given and which functions take it."
import pytest

import biasbook as bb

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
        (bb.sas_by_type, ([],), 'result must be a Result of sas_pairs'), (bb.unqover_plot, ([],), 'result must be a Result of unqover')]
    for function, arguments, says in comes_first:
        with pytest.raises((TypeError, ValueError, FileNotFoundError)) as caught:
            function(*arguments)
        assert says in str(caught.value), function
