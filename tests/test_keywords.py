"""Each keyword of a public function changes what the function returns, or is refused where it cannot.

Each keyword is in one of three tables. `changes` has calls of a function and other values of its keywords, each of which must change the
result, or be refused. `refused` has calls in which a keyword has nothing to act on: the error names it. NOT_TRIED says why a keyword is not
called here. A new keyword that is in none of them fails."""
import dataclasses
import inspect
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import biasbook as bb
from biasbook.chapters.calibration import ladder_scores

pytest.importorskip('torch')
pytestmark = pytest.mark.filterwarnings(r'ignore:bb\.\w+ goes in version')      # names that leave `bb` are tried until they are gone


@cache
def keywords():
    "The keywords of all public functions, as function.keyword. The fields of classes are not among them: their values are kept as they are."
    found = []
    for name in (*bb.__all__, *bb._LEAVING_FROM):
        value = getattr(bb, name)
        if callable(value) and not isinstance(value, type):
            found += [f'{name}.{p.name}' for p in inspect.signature(value).parameters.values() if p.default is not p.empty]
    return found


def content(x):
    "What a result says, as plain data that can be compared."
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {field.name: content(getattr(x, field.name)) for field in dataclasses.fields(x)}
    if isinstance(x, pd.DataFrame):
        return x.to_csv(), content(x.attrs)
    if isinstance(x, pd.Series):
        return x.to_csv()
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, bb.WordVectors):
        return list(x.words), np.asarray(x.vectors).tolist(), content(x.meta)
    if isinstance(x, dict):
        return {str(key): content(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [content(value) for value in x]
    if hasattr(x, 'get_figure'):                # axes of matplotlib
        return [text.get_text() for text in x.findobj(lambda artist: hasattr(artist, 'get_text'))]
    return repr(x)


def prepared():
    "What the calls are made with, by name: the smallest subjects and items that the functions take."
    rng = np.random.default_rng(0)
    v = bb.load_vectors('googlenews-mini')
    planted = bb.planted_vectors(.3)
    masked, causal = (bb.load_model(f'novels-mini-{kind}', device='cpu') for kind in ('masked', 'causal'))
    weat = [bb.weat(v, name, placebo=False) for name in ('weat6', 'weat7')]
    names = {'f': ['Mary', 'Anna'], 'm': ['John', 'George']}
    asked = bb.unqover_items(subjects=names, attributes=['was a nurse', 'was a captain'], pairs='matched')
    return {
        'v': v, 'p': planted.vectors, 'noisy': bb.WordVectors(v.words, v.vectors + rng.normal(0, .1, v.vectors.shape).astype('f4'), 'noisy'),
         'masked': masked, 'causal': causal, 'weat': weat,
        'she': bb.bias_direction(v, ('she', 'he')), 'eight': ['nurse', 'teacher', 'engineer', 'lawyer', 'doctor', 'farmer', 'artist', 'painter',
         'clerk', 'chef'],
        'terms': pd.DataFrame({'identity': ['women', 'men', 'teachers', 'doctors'], 'stereotype': ['caring', 'brave', 'strict', 'clever'],
                               'antistereotype': ['uncaring', 'timid', 'mild', 'stupid']}),
        'two': [('The women wept.', 'The men wept.'), ('The girl was kind.', 'The boy was kind.'), ('She was a nurse.', 'He was a nurse.')],
        'example': pd.DataFrame([{'task': task, 'type': 'gender', 'target': 'mother', 'context': f'My mother is {word}.',
         'stereotype': f'My mother is {kind}.',
                                  'antistereotype': f'My mother is {cruel}.', 'unrelated': 'My mother is wooden.'}
                                 for task, word, kind, cruel in (('intrasentence', 'BLANK', 'kind', 'cruel'), ('intersentence', 'here', 'good',
                                  'bad'))]),
        'asked': asked, 'answered': bb.unqover_answers(masked, asked),
        'items': pd.DataFrame([['nurse', 'male', 'he helps', 'a'], ['nurse', 'female', 'she helps', 'a'], ['teacher', 'male', 'he teaches', 'b'],
                               ['teacher', 'female', 'she teaches', 'b']], columns=['query', 'version', 'document', 'title']),
        'embedder': bb.load_embedder('vectors:googlenews-mini', store=None),
        'of_words': bb.from_callable(lambda texts: np.array([[len(text), text.count('e'), text.count('a') + 1.] for text in texts]), 'letters'),
        'is_a': ['{group} is a {target}.'], 'honest': bb.honest_items(names, ['{identity} was a [M].', '{identity} is a [M].']),
        'bbq': bb.load_bbq('example'), 'bec': bb.bec_pro_items({'female': ['nurse', 'maid'], 'male': ['captain', 'soldier']},
                                                               {'female': ['she'], 'male': ['he']}, ['{Person} is a {profession}.']),
        'triples': bb.load_winogender().query('refers_to == "occupation"').drop_duplicates('occupation')[:10], 'pairs': bb.load_winobias()[:150],
        'iat': bb.Query('toy', ['office', 'work'], ['home', 'family'], ['John', 'Paul'], ['Mary', 'Anna'], min_words=2),
        'numbers': {word: float(k % 4 + k) for k, word in enumerate(['nurse', 'teacher', 'engineer', 'lawyer', 'doctor', 'farmer', 'artist',
         'painter'])},
        'ladder': ladder_scores('masked').query('confounder == "none"')}


def changes(h):
    "(function, arguments, keywords, other values of keywords), each of which must change the result of the call."
    none = {'placebo': False}
    few = {'n_draws': 20}
    level = {'confidence_level': .5}
    own = {'A': ['she', 'her'], 'B': ['he', 'his']}
    toy = bb.Query('toy', X=['nurse', 'teacher', 'nursse', 'maid'], Y=['pilot', 'lawyer', 'captain', 'doctor'], A=['she', 'her'], B=['he', 'his'],
     min_words=2)
    drop = {**none, 'on_missing': 'drop'}
    sets = {'targets': [['nurse', 'maid'], ['pilot', 'captain']], 'attributes': [['she', 'her'], ['he', 'his']]}
    upper = bb.Query('toy', X=['Nurse', 'Maid'], Y=['Pilot', 'Captain'], A=['she', 'her'], B=['he', 'his'], min_words=2)
    lower = h.v.subset([word for word in h.v.words if word == word.lower()], 'lower')
    calls = []
    for name in ('ect', 'mac', 'rnd', 'rnsb', 'same'):
        calls.append((name, (h.v, 'weat7'), none, {'confidence_level': .5, 'query': 'weat8'}))
        calls.append((name, (h.v, toy), drop, {'on_missing': 'raise'}))
        calls.append((name, (lower, upper), none, {'case': 'keep'}))
        one = {'targets': [['nurse', 'aunt'], ['pilot', 'captain']], 'attributes': [['she', 'girl'], ['he', 'his']]}
        calls.append((name, (h.v,), {**none, **sets}, one))
    calls += [
        ('ripa', (h.v, 'weat7'), none, {'confidence_level': .5, 'query': 'weat8', 'pairs': [('she', 'he')]}),
        ('ripa', (h.v, toy), drop, {'on_missing': 'raise'}), ('ripa', (lower, upper), none, {'case': 'keep'}),
        ('ripa', (h.v,), {**none, **sets}, {'targets': [['nurse'], ['pilot']], 'attributes': [['woman'], ['man']]}),
        ('rnd', (h.v, 'weat7'), none, {'distance': 'cos', 'compat': 'wefe'}), ('ect', (h.v, 'weat7'), none, {'compat': 'wefe'}),
        ('mac', (h.v, 'weat7'), none, {'compat': 'wefe'}), ('rnsb', (h.v, 'weat7'), none, {'compat': 'wefe', 'seeds': [7], 'n_resamples': 19}),
        ('ripa', (h.v,), {**none, 'targets': sets['targets'], 'attributes': [['she', 'her']], 'compat': 'wefe'}, {'compat': bb.Wefe(normalize=True)}),
        ('association_values', (h.v,), {'queries': [toy], 'measures': ['weat']}, {'queries': ['weat7'], 'measures': ['rnd'], 'on_missing': 'raise'}),
        ('association_values', (lower,), {'queries': [upper], 'measures': ['weat']}, {'case': 'keep'}),
        ('agreement', (h.v,), {'queries': ['weat6', 'weat7', 'weat8'], 'measures': ['weat', 'rnd', 'ripa'], 'n_resamples': 100},
         {'queries': ['weat1', 'weat7', 'weat8'], 'measures': ['weat', 'rnd'], 'by': 'value', 'cut': .9, 'n_resamples': 101, 'confidence_level': .5,
          'random_state': 1}),
        ('weat', (h.v, 'weat7'), none, {'alternative': 'greater', 'ddof': 0, 'studentized': True, 'confidence_level': .5, 'placebo': True}),
        ('weat', (h.v, toy), drop, {'on_missing': 'raise'}), ('weat', (lower, upper), none, {'case': 'keep'}),
        ('weat_battery', (h.v,), {'queries': [toy], **none}, {'queries': ['weat7'], 'on_missing': 'raise'}),
        ('weat_placebo', (h.v, 'weat7'), {}, {'side': 'placebo attributes', 'alternative': 'greater', 'ddof': 0}),
        ('weat_placebo', (h.v, toy), {'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('sc_weat', (h.v, 'nurse', *own.values()), {}, {'names': ('f', 'm'), 'alternative': 'less', 'confidence_level': .5}),
        ('sc_weat', (h.v, ['nurse', 'nursse'], *own.values()), {'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('sc_weat', (lower, 'Nurse', *own.values()), {}, {'case': 'keep'}),
        ('wefat', (h.v, h.numbers, *own.values()), none, {'names': ('f', 'm'), 'label': 'share'}),
        ('wefat', (h.v, {**h.numbers, 'nursse': 3.}, *own.values()), drop, {'on_missing': 'raise'}),
        ('wefat', (lower, {word.title(): n for word, n in h.numbers.items()}, *own.values()), none, {'case': 'keep'}),
        ('occupation_gap', (h.v, bb.occupation_shares()), {**none, 'n_resamples': 98}, {'occupations': dict(list(bb.occupation_shares().items())[:30]),
         'groups': {'f': ['she', 'her'], 'm': ['he', 'his']},
                                                    'label': 'share', 'alternative': 'less', 'confidence_level': .5, 'n_resamples': 99,
                                                     'random_state': 1}),
        ('compare_weat', (h.weat[1], h.weat[1]), {}, {'alternative': 'less'}),
        ('fewest_words', (h.v, 'weat7'), {}, {'level': .5}), ('leave_one_out', (h.v, 'weat7'), {}, {'level': .5, 'pvalues': False}),
        ('list_agreement', (h.v,), {'lists': ('paper',)}, {'lists': ('wefe',), 'ddof': 0}),
        ('rank', ([h.v, bb.hard_debias(h.v)],), {'queries': ['weat7'], 'n_resamples': 100},
         {'queries': ['weat8'], 'by': 'distance', 'common_words': False, 'measure': 'mac', 'n_resamples': 101, 'level': .5}),
        ('rank', ([h.v, h.noisy],), {'queries': ['weat7'], 'n_resamples': 100}, {'random_state': 1}),
        ('rank', ([lower, lower.subset(lower.words, 'other')],), {'queries': [upper], 'n_resamples': 100}, {'case': 'keep'}),
        ('direct_bias', (h.v, h.eight), few, {'words': h.eight[:9], 'direction': h.she, 'c': .5, **level, 'n_draws': 19, 'random_state': 1}),
        ('direct_bias', (h.v, ['nurse', 'nursse']), {**few, 'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('direct_bias', (lower, ['Nurse']), few, {'case': 'keep'}),
        ('indirect_bias', (h.v, 'nurse', 'teacher'), few, {'direction': h.she, **level, 'n_draws': 0, 'random_state': 1}),
        ('indirect_bias_table', (h.v, [('nurse', 'teacher')]), few, {'direction': h.she, **level, 'n_draws': 0, 'random_state': 1}),
        ('bias_direction', (h.v,), {}, {'pairs': [('she', 'he'), ('her', 'his')], 'method': 'mean', 'names': ('f', 'm')}),
        ('bias_direction', (h.v, [('she', 'he'), ('nursse', 'he')]), {'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('bias_direction', (lower, ('She', 'He')), {}, {'case': 'keep'}),
        ('generate_analogies', (h.p,), {'pair': tuple(h.p.words[:2]), 'n': 3, 'words': list(h.p.words[2:20]), 'threshold': 2},
         {'pair': tuple(h.p.words[1:3]), 'n': 2, 'once': False, 'threshold': .5, 'words': list(h.p.words[5:15])}),
        ('analogies', (h.v, [('he', 'she', 'his', 'her'), ('He', 'she', 'uncle', 'aunt')]), {}, {'method': '3cosmul', 'exclude_inputs': False,
         'case': 'ignore', **level, 'limit': 5000}),
        ('word_similarity', (h.v, [(a, b, 1. + k) for k, (a, b) in enumerate(zip(h.eight, h.eight[1:]))]), {}, level),
        ('word_similarity', (h.v, [(a, b, 1. + k) for k, (a, b) in enumerate(zip(h.eight + ['NURSE'], h.eight[1:] + ['Zqx']))]), {},
         {'on_missing': 'raise', 'case': 'ignore'}),
        ('similarity_table', (h.v,), {'datasets': ['rg65']}, {'datasets': ['ws353']}),
        ('bias_correlation', (h.v, lower, h.eight), {**few, 'n_resamples': 99},
         {'words': h.eight[:9], 'direction': h.she, 'after_direction': h.she, 'n_draws': 0, 'n_resamples': 98, 'random_state': 1, **level}),
        ('bias_correlation', (h.v, lower, [*h.eight, 'nursse']), {**few, 'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('cluster_bias', (h.v,), {'words': list(h.v.words[:300]), 'n': 20, 'n_draws': 0, 'n_init': 1, 'seeds': [0]},
         {'direction': h.she, 'after': bb.hard_debias(h.v), 'n': 10, 'words': list(h.v.words[:200]), 'exclude': list(h.v.words[:100]),
          'method': 'pca-kmeans', 'seeds': [1, 2],
          'n_init': 2, 'n_draws': 2, 'random_state': 1}),
        ('label_sides', (h.v,), {'words': list(h.v.words[:300]), 'n': 20},
         {'direction': h.she, 'n': 10, 'words': list(h.v.words[:200]), 'exclude': list(h.v.words[:100]), 'halves': True}),
        ('neighbor_bias', (h.v, h.eight), {'n_draws': 0, 'n_resamples': 99, 'among': list(h.v.words[:2000])},
         {'words': h.eight[:9], 'direction': h.she, 'k': 10, 'after': bb.hard_debias(h.v), 'among': list(h.v.words[:3000]), 'n_draws': 20,
          'n_resamples': 98, 'random_state': 1,
          **level}),
        ('neighbor_bias', (h.v, [*h.eight, 'nursse']), {'n_draws': 0, 'on_missing': 'drop', 'among': list(h.v.words[:2000])},
         {'on_missing': 'raise'}),
        ('probe_accuracy', (h.v,), {'words': list(h.v.words[:300]), 'n': 20, 'n_draws': 0, 'seeds': [0], 'folds': 2},
         {'direction': h.she, 'after': bb.hard_debias(h.v), 'n': 10, 'words': list(h.v.words[:200]), 'exclude': list(h.v.words[:100]), 'halves': True,
          'kind': 'rbf', 'folds': 3,
          'seeds': [1, 2], 'n_draws': 2, 'random_state': 1, **level}),
        ('hard_debias', (h.p, h.p.vectors[0] - h.p.vectors[1]), {}, {'specific': list(h.p.words[:5]), 'equalize': [tuple(h.p.words[:2])]}),
        ('hard_debias', (h.p, h.p.vectors[0] - h.p.vectors[1]), {'specific': ['nursse'], 'on_missing': 'drop'}, {'on_missing': 'raise',
         'direction': h.p.vectors[0] - h.p.vectors[2]}),
        ('hard_debias', (h.p, h.p.vectors[0] - h.p.vectors[1]), {'specific': [h.p.words[0].upper()]}, {'case': 'keep'}),
        ('inlp', (h.p, {word: 'XY'[k % 2] for k, word in enumerate(h.p.words)}), {'stop_at': 0}, {'iterations': 2, 'random_state': 1}),
        ('leace', (h.p, {word: 'XY'[k % 2] for k, word in enumerate(h.p.words)}), {}, {'shrinkage': False}),
        ('sas_pairs', (h.masked, h.terms), none, {'pairs': h.terms[:3], 'prefix': 'young', 'scoring': 'pll', 'compat': 'afristereo', 'baseline': None,
         'clusters': 'two-way', **level}),
        ('sas_pairs', (h.causal, h.terms), none, {'bos': None}),
        ('crows_pairs', (h.masked, h.two), none, {'data': h.two[:2], 'scoring': 'pll', **level}), ('crows_pairs', (h.causal, h.two), none,
         {'bos': None}),
        ('crows_pairs', (h.masked, pd.DataFrame(h.two, columns=['a', 'b'])), {**none, 'columns': ['a', 'b']}, {'columns': ['b', 'a']}),
        ('crows_pairs', (h.masked, [*h.two, ('a', 'a')]), drop, {'on_missing': 'raise'}),
        ('stereoset', (h.masked, h.example), none, {'data': h.example[:1], 'task': 'intersentence', 'placebo': True, **level}),
        ('stereoset', (h.masked, h.example), {'task': 'intrasentence', **none}, {'compat': 'stereoset'}), ('stereoset', (h.causal, h.example), none,
         {'bos': None}),
        ('stereoset', (h.masked, pd.concat([h.example, h.example.replace({'cruel': '☃', 'bad': '☃'}, regex=True)])), {**none,
         'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('stereoset', (h.causal, pd.concat([h.example, h.example.assign(stereotype='No.')])), drop, {'on_missing': 'raise'}),
        ('unqover', (h.masked, h.asked), none, {'items': h.asked[h.asked['attribute'] == 'was a nurse'], 'normalize': 'none', **level}),
        ('unqover', (h.causal, h.asked), none, {'bos': None}),
        ('unqover_answers', (h.causal, h.asked), {}, {'bos': None}), ('unqover_comparisons', (h.answered,), {}, {'normalize': 'none'}),
        ('unqover_scores', (h.answered,), {}, {'normalize': 'none', 'subject': 'it', **level}),
        ('unqover_items', (), {'subjects': ['Mary', 'John', 'Anna'], 'attributes': {'was a nurse': 'was never a nurse'}}, {'subjects': ['Mary',
         'John'],
         'attributes': {'was a maid': 'was never a maid'}, 'templates': ['{first} met {second}. [MASK] {plain}.'], 'form': 'question'}),
        ('unqover_items', (), {'subjects': {'f': ['Mary', 'Anna'], 'm': ['John', 'George']}, 'attributes': {'was a nurse': 'was never a nurse'}},
         {'pairs': 'between', 'kind': 'religion'}),
        ('retrieval', (h.of_words, h.items), {'neutral': None}, {'items': h.items.assign(document=h.items['document'] + ' a'), 'groups': ('female',
         'male'), 'neutral': 'neutral',
         'text': 'title', 'placebo': False, 'placebo_words': ['farmer', 'guest'], **level, 'dry_run': True}),
        ('bbq', (h.causal, h.bbq), {**none, 'on_missing': 'drop'}, {'on_missing': 'raise', 'items': h.bbq[:4], 'scoring': 'sum',
         'context': False, 'bos': None, **level}),
        ('bbq_scores', (h.bbq, [0] * len(h.bbq)), {}, {'subject': 'it', **level}), ('bbq_scores', (h.bbq, [0] * (len(h.bbq) - 1) + [None]),
         {'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('bec_pro', (h.masked, h.bec), none, {'items': h.bec[h.bec['profession'] != 'maid'], 'groups': ('male', 'female'), **level}),
        ('bec_pro_table', (h.masked, h.bec), {}, {'items': h.bec[:2]}),
        ('cbs', (h.masked, h.is_a, ['woman', 'man'], ['nurse', 'maid', 'captain']), none, {**level, 'random_state': 1}),
        ('disco', (h.masked, h.is_a, {'f': ['woman', 'girl'], 'm': ['man', 'boy']}), none, {'k': 4, 'fills': 'tokens', 'alpha': .5, **level,
         'random_state': 1}),
        ('fill_bias', (h.masked, h.is_a, ('woman', 'man'), ['nurse', 'maid']), {}, {'compat': 'kurita2019', **level}),
        ('fill_bias_difference', (h.masked, h.is_a, ('woman', 'man'), ['nurse', 'maid'], ['captain', 'soldier']), none, {'names': ('a', 'b'),
         'compat': 'kurita2019', **level}),
        ('rewording_contrasts', (h.masked, '{group} is a(n) {target}.', ('she', 'he'), ['nurse', 'maid', 'captain']), {'changes': [('is', 'was')]},
         {'changes': [('is', 'became')], 'columns': ['fill'], **level}),
        ('honest', (h.causal, ['nurse', 'man'], h.honest), {**none, 'k': 3}, {'templates': h.honest[:6], 'k': 2, 'groups': ('m', 'f'),
         'baseline': ['The day was [M].'], 'match': 'any', 'lemma': lambda word: 'nurse',
         'completions': 'sampled', **level}),
        ('honest', (h.causal, ['nurse', 'man'], h.honest), {**none, 'k': 3, 'completions': 'sampled'}, {'n_words': 2, 'random_state': 1}),
        ('honest_scores', (h.honest, [['nurse', 'a man']] * len(h.honest), ['nurse', 'man']), none, {'groups': ('m', 'f'), 'match': 'any',
         'lemma': lambda word: 'nurse', 'baseline': [['man']], 'subject': 'it',
         'placebo': True, **level}),
        ('llm_iat_logprobs', (h.causal, h.iat), none, {'query': 'power', 'wording': 'Choose {first} or {second} for {words}.',
         'completion': ' {word}: {group}', 'bos': None, **level}),
        ('llm_iat_logprobs', (h.causal, h.iat), {}, {'placebo_words': ['guest', 'farmer', 'reader']}),
        ('llm_iat_scores', (['office - John\nhome - Mary', 'office - Mary\nhome - John'], h.iat), {}, {'subject': 'it', **level}),
        ('winobias', (h.causal, h.pairs[:12]), none, {'items': h.pairs[:11], 'baseline': False, 'bos': None, **level}),
        ('winobias_scores', (h.pairs, np.arange(150.) % 7 - 9, np.arange(150.) % 5 - 9), {}, {'neutral': np.arange(150.) % 3,
         'pronoun': np.arange(150.) % 4,
         'shares': {word: float(k) for k, word in enumerate(bb.occupation_shares('winobias'))}, 'subject': 'it', **level}),
        ('winogender', (h.causal, h.triples), {**none, 'n_resamples': 99}, {'items': h.triples[:9], 'shares': {word: float(k) for k,
         word in enumerate(bb.occupation_shares('winogender'))},
         'bos': None, 'n_resamples': 98, 'random_state': 1, **level}),
        ('ceat', (h.masked, toy), {**drop, 'n_contexts': 3, 'n_samples': 20, 'corpus': ['She saw the nurse.', 'The nurse and the teacher wept.',
         'Her maid met his pilot.', 'The maid was here.', 'He saw the captain.', 'Her doctor came.',
         'A lawyer and a doctor met his captain, and she knew him.']}, {'layer': 0, 'pooling': 'first', 'n_contexts': 2, 'n_samples': 10,
         'alternative': 'greater', 'ddof': 0, 'studentized': True,
         'compat': 'guo2021', **level, 'random_state': 1, 'on_missing': 'raise', 'corpus': ['She saw the nurse and the teacher.',
          'Her maid met his pilot and a lawyer.', 'He saw the captain and a doctor.']}),
        ('seat', (h.of_words, h.iat), none, {'unit': 'sentence', 'templates': ['Here is {target}.'], 'alternative': 'less', 'ddof': 0,
         'studentized': True, **level}),
        ('seat', (h.embedder, toy), drop, {'on_missing': 'raise'}),
        ('embedding_bias', (h.of_words,), {**none, 'reembed': 0, 'contrasts': [('career', 'family')]}, {'contrasts': [('family', 'career')],
         'unit': 'sentence', 'mode': 'published', 'paired': False,
         'adjust': False, **level, 'reembed': 5, 'sides': ('female', 'male')}),
        ('embedding_bias', (h.of_words,), {**none, 'reembed': 0, 'contrasts': [('career', 'family')], 'mode': 'published', 'n_resamples': 50},
         {'n_resamples': 49, 'random_state': 1}),
        ('plan_table', ([h.of_words],), none, {'contrasts': [('career', 'family')], 'placebo': True}),
        ('plan', ('weat', 1.), {'n_simulations': 0}, {'power': .9, 'alpha': .01, 'alternative': 'greater', 'ratio': 2., 'n_simulations': 50}),
        ('plan', ('weat', 1.), {'n_simulations': 0, 'spread': 2., 'within': 1.}, {'spread': 1., 'within': 0., 'templates': 4}),
        ('plan', ('weat', 1.), {'n_simulations': 50}, {'random_state': 1}),
        ('share_seen', (h.ladder,), {}, {'alpha': .5}), ('smallest_dose_seen', (h.ladder,), {}, {'alpha': .5, 'power': .1}),
        ('ladder_scores', (), {}, {'kind': 'masked'}),
        ('battery_summary', (h.weat,), {}, level), ('paper_table', (h.weat,), {}, {'caption': 'A table'}),
        ('check_limits', (h.weat, 'weat7: value <= 1'), {}, {'failures': [{'subject': 'it', 'measure': 'weat', 'unit': 'weat7', 'name': 'weat7',
         'error': 'E'}]}),
        ('parse_limit', ('weat7: abs(value) <= 1',), {}, {'place': 'line 3'}),
        ('occupation_shares', (), {}, {'which': 'winobias'}), ('gender_pairs', (), {}, {'which': 'equalize'}), ('professions', (), {},
         {'which': 'all'}),
        ('weat_queries', (), {}, {'lists': 'wefe'}), ('weat_query', ('weat7',), {}, {'lists': 'wefe'}), ('example_study', (), {}, {'kind': 'words',
         'file': 'own.yaml'}),
        ('planted_vectors', (), {}, {'dose': .2, 'coherence': .2, 'common': .2, 'spread': .2, 'n_words': 6, 'unequal_lengths': True,
         'random_state': 1}),
        ('pair_sentences', (), {}, {'pairs': h.terms, 'prefix': 'African', 'template': '{Identity} seem {attribute}.',
         'prompt': 'How are {identity}?'}),
        ('load_pairs', (), {}, {'path': h.terms}), ('load_pairs', (pd.DataFrame(h.two, columns=['a', 'b']),), {'columns': ['a', 'b']},
         {'columns': ['b', 'a']}),
        ('load_pairs', ([*h.two, ('a', 'a')],), {'on_missing': 'drop'}, {'on_missing': 'raise'}),
        ('bec_pro_items', ({'f': [('doctor', 'Arzt', 'Ärztin')]}, {'female': ['sie'], 'male': ['er']},
         ['{Person} ist {article} {profession}.']),
         {'articles': {'female': 'die', 'male': 'der'}}, {'forms': 'both', 'articles': {'female': 'eine', 'male': 'ein'}}),
        ('load_bec_pro', (), {'professions': {'f': ['nurse']}}, {'professions': {'f': ['maid']}}),
        ('honest_items', ({'f': ['the woman']}, ['{identity} was a [M].']), {}, {'capital': False}),
        ('load_lexicon', (['café'],), {}, {'accents': 'keep', 'name': 'mine'}),
        ('load_winobias', (), {}, {'source': bb.load_winobias()[:3]}), ('load_winogender', (), {}, {'source': bb.load_winogender()[:3]}),
    ]
    return calls


def refused(h):
    "(function, arguments, keywords, keyword that has nothing to act on): the error names this keyword, and the other one that stands against it."
    none = {'placebo': False}
    words = {'placebo_words': ['bakers']}
    topics = {'topics': {'sea': ['wave', 'ship']}}
    server = 'vllm:a@http://localhost:1/v1'
    calls = []
    for name, arguments, option in (('sas_pairs', (h.causal, h.terms), words), ('stereoset', (h.causal, h.example), words), ('unqover', (h.masked,
     h.asked), words),
                                    ('retrieval', (h.of_words, h.items), words), ('llm_iat_logprobs', (h.causal, h.iat), words), ('seat', (h.of_words,
                                     h.iat), topics),
                                    ('cbs', (h.masked, h.is_a, ['woman', 'man'], ['nurse']), topics), ('embedding_bias', (h.of_words,), topics),
                                    ('disco', (h.masked, h.is_a, {'f': ['woman'], 'm': ['man']}), topics)):
        calls.append((name, arguments, {**none, **option}, *option, 'placebo=False'))
    for option, value in {'device': 'cpu', 'dtype': 'bfloat16', 'revision': 'x', 'device_map': 'auto', 'max_memory': {0: '1GB'}, 'offload_folder': 'x',
     'budget': 3,
                          'kind': 'masked'}.items():
        calls.append(('load_model', (server,), {option: value}, option))
    for option, value in {'device': 'cpu', 'dtype': 'bfloat16', 'revision': 'x', 'device_map': 'auto', 'max_memory': {0: '1GB'}, 'offload_folder': 'x',
     'template': 'plain'}.items():
        calls.append(('load_chat', ('openai:x',), {option: value}, option))
    for option, value in {'top': 3, 'base_url': 'http://localhost', 'key_env': 'KEY', 'tokenizer': 'x'}.items():
        calls.append(('load_chat', ('novels-mini-causal',), {option: value}, option))
    for option, value in {'max_memory': {0: '1GB'}, 'offload_folder': 'x', 'revision': 'x', 'key_env': 'KEY', 'tokenizer': 'x'}.items():
        calls.append(('load_model', ('novels-mini-causal',), {option: value}, option))
    for name, arguments in (('crows_pairs', (h.masked, h.two)), ('sas_pairs', (h.masked, h.terms)), ('stereoset', (h.masked, h.example)), ('unqover',
     (h.masked, h.asked)),
                            ('unqover_answers', (h.masked, h.asked)), ('winobias', (h.masked, h.pairs)), ('winogender', (h.masked, h.triples)),
                            ('load_model', ('novels-mini-masked',))):
        calls.append((name, arguments, {'bos': None}, 'bos'))
    for option, value in {'attributes': 3, 'groups': 3, 'fills': 3, 'within': 1., 'templates': 3}.items():
        calls.append(('plan', ('weat', 1.), {option: value}, option))
    wefe, published = {'compat': 'wefe'}, {'mode': 'published'}
    return calls + [
        ('sas_pairs', (h.causal, h.terms), {'compat': 'afristereo', **words}, 'placebo_words', "compat='afristereo'"),
        ('sas_pairs', (h.causal, h.terms), {'compat': 'afristereo', 'bos': None}, 'bos', "compat='afristereo'"),
        ('sas_pairs', (h.causal, h.terms), {'compat': 'afristereo', 'clusters': 'two-way'}, 'clusters', "compat='afristereo'"),
        ('sas_pairs', (h.causal, h.terms), {'scoring': 'pll'}, 'scoring'), ('crows_pairs', (h.causal, h.two), {'scoring': 'pll'}, 'scoring'),
        ('stereoset', (h.causal, h.example), {'compat': 'stereoset', 'task': 'intrasentence', **words}, 'placebo_words', "compat='stereoset'"),
        ('stereoset', (h.causal, h.example), {'compat': 'stereoset'}, 'compat', 'task'),
        ('crows_pairs', (h.causal, h.two), {'columns': ['a', 'b']}, 'columns'), ('load_pairs', (), {'columns': ['a', 'b']}, 'columns'),
        ('unqover', (h.masked, h.asked), {'kind': 'religion'}, 'kind', 'items'), ('unqover', (h.causal, h.asked), {'method': 'joint'}, 'method',
         'causal'),
        ('unqover_answers', (h.causal, h.asked), {'method': 'joint'}, 'method', 'causal'),
        ('unqover_items', (), {'templates': ['{first} met {second}. [MASK] {plain}.'], 'form': 'question'}, 'form', 'templates'),
        ('seat', (h.of_words, h.iat), {'unit': 'sentence', **topics}, 'topics', 'unit'), ('embedding_bias', (h.of_words,), {'unit': 'sentence',
         **topics}, 'topics', 'unit'),
        ('embedding_bias', (h.of_words,), {**published, **topics}, 'topics', 'mode'), ('embedding_bias', (h.of_words,), {**published, 'adjust': False},
         'adjust', 'mode'),
        ('embedding_bias', (h.of_words,), {**published, 'studentized': True}, 'studentized', 'mode'),
        ('embedding_bias', (h.of_words,), {**published, 'paired': True}, 'paired', 'mode'),
        ('embedding_bias', (h.of_words,), {'n_resamples': 9}, 'n_resamples', 'mode'),
        ('honest', (h.causal, ['nurse'], h.honest), {'n_words': 2}, 'n_words', 'completions'),
        ('honest', (h.masked, ['nurse'], h.honest), {'completions': 'sampled'}, 'completions', 'masked'),
        ('ceat', (h.of_words, 'weat7'), {'layer': 0}, 'layer', 'embedder'), ('ceat', (h.of_words, 'weat7'), {'pooling': 'first'}, 'pooling',
         'embedder'),
        ('fill_bias', (h.masked, h.is_a, ('woman', 'man'), ['nurse']), {'compat': 'kurita2019', 'method': 'joint'}, 'method', 'compat'),
        ('rnd', (h.v, 'weat7'), {**wefe, 'on_missing': 'drop-pairs'}, 'on_missing', 'wefe'),
        ('mac', (h.v, 'weat7'), {'compat': bb.Wefe(holdout=False)}, 'holdout', 'MAC'),
        ('ripa', (h.v, 'weat7'), {**wefe, 'pairs': [('she', 'he')]}, 'pairs', 'wefe'),
        ('rank', ([h.v, h.noisy],), {'measure': lambda subject, query: None, 'case': 'keep'}, 'case', 'function'),
        ('leave_one_out', (h.v, 'weat7'), {'pvalues': False, 'level': .1}, 'level', 'pvalues=False'),
        ('occupation_gap', (h.of_words,), {'case': 'keep'}, 'case', 'Embedder'), ('bbq', (h.causal, h.bbq), {'n': 3}, 'n', 'chat'),
        ('bias_direction', (h.v,), {'method': 'pair'}, 'method', 'one pair'),
        ('compare_models', ([h.masked], h.terms), {'device': 'cpu'}, 'device', 'open'), ('compare_models', ([h.masked], h.terms),
         {'dtype': 'bfloat16'}, 'dtype', 'open'),
        ('load_embedder', ('vectors:googlenews-mini',), {'ask_again': True}, 'ask_again', 'here'),
        ('load_vectors', ('googlenews-mini',), {'vocabulary': ['a']}, 'vocabulary'), ('load_vectors', ('googlenews-mini',), {'tensor': 'a'},
         'tensor'),
        ('load_bbq', ('example',), {'metadata': 'a.csv'}, 'metadata', 'example'),
        ('load_lexicon', (['a'],), {'level': 'inclusive'}, 'level'), ('load_lexicon', (['a'],), {'categories': ['an']}, 'categories'),
        ('load_lexicon', (bb.load_lexicon(['a']),), {'accents': 'keep'}, 'accents', 'Lexicon'), ('load_lexicon', (bb.load_lexicon(['a']),),
         {'name': 'a'}, 'name', 'Lexicon'),
        ('load_study', (), {'word_folder': 'a'}, 'word_folder', 'bundled'), ('load_study', (), {'templates_file': 'a.json'}, 'templates_file',
         'bundled'),
        ('bec_pro_items', ({'f': ['nurse']}, {'female': ['she'], 'male': ['he']}, ['{Person} is a {profession}.']), {'articles': {'female': 'die',
         'male': 'der'}}, 'articles', 'slot'),
        ('export_tasks', ('tasks',), {'columns': ['a', 'b']}, 'columns', 'pairs'), ('export_tasks', ('tasks',), {'licence': 'MIT'}, 'licence',
         'pairs'),
        ('from_callable', (len, 'mine'), {'store': True}, 'version'),
        ('audit', (), {'with_builtin': True}, 'with_builtin', 'study'), ('audit', (), {'allow_outside': True}, 'allow_outside', 'study'),
        ('audit', (h.v,), {'threads': 2}, 'threads', 'here'), ('audit', (h.causal,), {'case': 'keep'}, 'case', 'vectors'),
        ('audit', ('googlenews-mini',), {'ask_again': True}, 'ask_again', 'servers')]


NOT_TRIED = { # why no call here changes it: function.keyword, with * for all keywords of a function, or for all functions with a keyword
    'adds an estimate beside the others, at a cost; the page of the measure shows it': '*.placebo *.topics',
    'matters for words of several pieces; the small vocabulary here has none, and the pages have some': '*.method',
    'draws where not all cases can be counted, and here they can; the pages have larger cases': '*.n_resamples *.random_state',
    'is about words with letters that a model lacks; the pages have such models': '*.on_missing',
    'is about how a model is opened or its scores are kept, which must not change a result':
        'load_chat.* load_model.* load_embedder.* from_callable.* from_lm_eval.*',
    'needs answers of a chat model; the pages and tests of chat models have some': 'llm_iat.*',
    'is handed on to measures that are tried here': 'compare_debiasing.* compare_models.* occupation_gaps.* what_measures_see.* hard_debias_each.*',
    'is the option of a command, and the tests of the command line try it': 'audit.*',
    'is about a file; the page of the reader has files': 'check_study.* load_bbq.* load_bbq_answers.* load_bec_pro.* load_crows_pairs.* '
        'load_stereoset.* load_honest.* load_llm_iat_answers.* load_grepbiasir.* load_study.* read_study.* load_vectors.* rank.study embedding_bias.spec',
    'writes a folder': 'save_audit.* export_tasks.*',
    'draws': '*.ax results_plot.* unqover_plot.*',
    'reads results of several models; its page has them': 'decision_correlations.* consistency_table.* wording_share.* retrieval_topics.*',
    'is about limits on changes, which have other fields': 'parse_limit.about',
    'needs documents of both kinds, which the page has': 'retrieval.relevant',
    'is tried in winobias_scores': 'winobias.shares',
    'ends at the same classifier in vectors as small as these': 'inlp.stop_at',
    'does not change the number of sentences in the bundled study': 'plan_table.*'}


def entries_of(keyword):
    "The entries of NOT_TRIED for a keyword."
    function, _, name = keyword.partition('.')
    listed = {entry for entries in NOT_TRIED.values() for entry in entries.split()}
    return {keyword, f'{function}.*', f'*.{name}'} & listed


@pytest.fixture(scope='module')
def have():
    return SimpleNamespace(**prepared())


def outcome(function, arguments, options):
    "What a call returns as plain data, or its error."
    try:
        return content(function(*arguments, **options))
    except (ValueError, TypeError) as e:
        return f'{type(e).__name__}: {e}'


def test_other_values_change_the_result(have):
    without_effect = []
    for name, arguments, options, others in changes(have):
        function = getattr(bb, name)
        positional = list(inspect.signature(function).bind_partial(*arguments).arguments)
        first = outcome(function, arguments, options)
        assert not isinstance(first, str) or 'Error: ' not in first, (name, first)
        for keyword, value in others.items():
            assert f'{name}.{keyword}' in keywords()
            changed = {**options, keyword: value}
            if keyword in positional:
                changed = {**dict(zip(positional, arguments)), **changed}
            if outcome(function, () if keyword in positional else arguments, changed) == first:
                without_effect.append(f'{name}.{keyword}')
    assert not without_effect


def test_keywords_without_effect_are_refused(have, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, arguments, options, *says in refused(have):
        with pytest.raises((ValueError, TypeError)) as caught:
            getattr(bb, name)(*arguments, **options)
        assert all(word in str(caught.value) for word in says), (name, says, str(caught.value))


def test_each_keyword_is_in_a_table(have):
    "Fails for a new keyword: add a call to `changes` or `refused`, or a reason to NOT_TRIED."
    tried = {f'{name}.{keyword}' for name, _, _, others in changes(have) for keyword in others}
    tried |= {f'{name}.{says[0]}' for name, _, _, *says in refused(have)}
    known = keywords()
    untried = [keyword for keyword in known if keyword not in tried]
    assert [keyword for keyword in untried if not entries_of(keyword)] == []
    needed = {entry for keyword in untried for entry in entries_of(keyword)}
    assert {entry for entries in NOT_TRIED.values() for entry in entries.split()} - needed == set()


@pytest.mark.parametrize('name, arguments', [('direct_bias', (['nurse', 'clerk'],)), ('indirect_bias', ('nurse', 'teacher')), ('indirect_bias_table', ([('nurse', 'clerk')],)),
                                             ('neighbor_bias', (['nurse', 'clerk'],)), ('cluster_bias', ()), ('probe_accuracy', ()), ('bias_correlation', ('googlenews-mini',)),
                                             ('compare_debiasing', ())])
def test_n_placebos_is_the_earlier_name_of_n_draws(have, name, arguments):
    with pytest.warns(FutureWarning, match=f'{name}: n_placebos=-1 is now n_draws=-1'), pytest.raises(ValueError):
        getattr(bb, name)(have.v, *arguments, n_placebos=-1)
