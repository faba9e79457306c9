"""What a number must not depend on: threads, the size of the vectors, the order of rows, the seed of a placebo."""
import hashlib
import json
import math
import os
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from biasbook.chapters.quality import analogy_answers
from biasbook.chapters.what_remains import cluster_bias
from biasbook.chapters.weat import D_AT_ITS_BOUND_WITHOUT_A_WORD, weat_arrays
from biasbook.chapters.debias import hard_debias, inlp, leace
from biasbook.vectors.directions import bias_direction, professions, random_directions
from biasbook.results.result import Result
from biasbook.stats.estimate import Interval
from biasbook.vectors.wordvectors import WordVectors, load_vectors
from biasbook.chapters.generated_analogies import generate_analogies
from biasbook.chapters.projection import indirect_bias
from biasbook.chapters.what_remains import bias_correlation, neighbor_bias
from biasbook.chapters.occupation_gap import occupation_gap
from biasbook.chapters.what_remains import label_sides, probe_accuracy
from biasbook.chapters.projection import direct_bias
from biasbook.chapters.quality import word_similarity
from biasbook.chapters.weat import weat


@pytest.fixture(scope='module')
def news():
    return load_vectors('googlenews-mini')


# -- threads ----------------------------------------------------------------------------------------------------------

def digests():
    "The checksum of what each measure says, by name. Few draws: each is a product of matrices, which BLAS divides among its threads."
    v = load_vectors('googlenews-mini')
    d = bias_direction(v)
    few = {'n_draws': 5}
    found = {'random directions': random_directions(v, d, 50)[0].tobytes().hex(),
             'weat': weat(v, 'weat7').to_json(), 'occupation gap': occupation_gap(v, n_resamples=99, placebo=False).to_json(),
             'direct bias': direct_bias(v, n_draws=50).to_json(), 'indirect bias': indirect_bias(v, 'nurse', 'doctor', n_draws=50).to_json(),
             'clusters': cluster_bias(v, method='pca-kmeans', **few).to_json(), 'k-means': cluster_bias(v, **few).to_json(),
             'neighbors': neighbor_bias(v, n_draws=20).to_json(), 'probe': probe_accuracy(v, **few).to_json(),
             'similarity': word_similarity(v, 'ws353').to_json(),
             'generated': generate_analogies(v, n=20, words=v.words[:2000]).to_json(double_precision=15),
             'nearest': repr(v.neighbors(v.words[:100], k=20)),
             'hard debiasing': hard_debias(v, on_missing='drop').fingerprint,
             'INLP': inlp(v, label_sides(v), iterations=3).fingerprint}
    if find_spec('concept_erasure'):
        found['LEACE'] = leace(v, label_sides(v)).fingerprint
    rng = np.random.default_rng(0)
    words = [f'w{i}' for i in range(20_000)]
    for k in range(4):                                        # long sums: numpy's @ splits those of more than 10 000 numbers
        many = WordVectors(words, rng.normal(size=(20_000, 10)))
        one = bias_direction(many, [(words[2 * i], words[2 * i + 1]) for i in range(5)])
        found[f'direct bias of many words, {k}'] = direct_bias(many, None, one, n_draws=0).to_json()
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in found.items()}


def test_the_bytes_of_a_result_are_the_same_for_any_number_of_threads():
    "One thread here, and four in a process whose libraries start with them."
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        here = digests()
    env = {**os.environ, **dict.fromkeys(('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'), '4'), 'OMP_WAIT_POLICY': 'PASSIVE'}
    code = 'import json, test_numbers\nprint(json.dumps(test_numbers.digests()))'
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], env=env, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert not done.returncode, done.stderr
    with_four = json.loads(done.stdout)
    assert with_four.keys() == here.keys()
    assert not [name for name in here if here[name] != with_four[name]]


# -- the size of the numbers --------------------------------------------------------------------------------------------

def measured(vectors):
    "What each measure of vectors says, in numbers."
    few = {'n_draws': 3}
    questions = [('man', 'woman', 'king', 'queen'), ('boy', 'girl', 'son', 'daughter'), ('he', 'she', 'his', 'her')]
    gap, near = occupation_gap(vectors, placebo=False, n_resamples=999), neighbor_bias(vectors, on_missing='drop', n_resamples=999, **few)
    w = weat(vectors, 'weat7')
    return {'weat': [w.value, w.low, w.high, *(e.pvalue for e in w.also if e.name.startswith('placebo'))],
            'occupation gap': [gap.value, gap.low, gap.high],
            'direct bias': [direct_bias(vectors, professions(), on_missing='drop', **few).value, direct_bias(vectors, **few).null],
            'indirect bias': [indirect_bias(vectors, 'nurse', 'doctor', **few).value],
            'neighbors': [near.value, near.low, near.estimate('median of random directions').value],
            'clusters': [cluster_bias(vectors, **few).value], 'probe': [probe_accuracy(vectors, **few).value],
            'similarity': [word_similarity(vectors, 'ws353').value],
            'analogies': analogy_answers(vectors, questions)['answer'].tolist(),
            'generated': generate_analogies(vectors, n=20, words=vectors.words[:1500])['score'].tolist(),
            'bias correlation': [bias_correlation(vectors, vectors, **few).value]}


@pytest.fixture(scope='module')
def usual(news):
    return measured(news)


def mostly_slow(first, *others):
    "Values of a parameter: all but the first run only with `--flags slow`."
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]


@pytest.mark.parametrize('power', mostly_slow(-1000, -140, -70, 60, 100))
def test_a_power_of_two_changes_no_bit_of_any_measure(news, usual, power):
    assert measured(WordVectors(news.words, np.ldexp(news.vectors.astype(float), power))) == usual


@pytest.mark.parametrize('factor', mostly_slow(1e-300, 1e-44, 1e-22, 1e-21, 1e30))
def test_any_factor_changes_nothing_but_roundings(news, usual, factor):
    other = measured(WordVectors(news.words, news.vectors.astype(float) * factor))
    assert other.pop('analogies') == usual['analogies']
    for name, numbers in other.items():
        assert numbers == pytest.approx(usual[name], rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize('factor', mostly_slow(1e-30, 1e-21, 1e-22))
def test_small_numbers_that_were_float32_all_along(news, usual, factor):
    other = measured(WordVectors(news.words, np.float32(news.vectors.astype(float) * factor)))
    assert other.pop('analogies') == usual['analogies']
    for name, numbers in other.items():
        assert numbers == pytest.approx(usual[name], rel=1e-5, abs=1e-5), name


# -- the order of rows --------------------------------------------------------------------------------------------------

def test_placebos_and_the_order_of_rows(news):
    "Topics are matched in frequency only where the rows are in order of frequency; otherwise their order says nothing."
    def placebos(vectors):
        return [e for e in weat(vectors, 'weat8').also if e.name.startswith('placebo')]

    by_frequency, one, other = placebos(news), *(placebos(shuffled(news, seed)) for seed in (1, 2))
    assert [e.pvalue for e in one] == [e.pvalue for e in other] != [e.pvalue for e in by_frequency]
    def notes_on_the_order(estimates):
        return {n.code for e in estimates for n in e.notes} - {'few topics'}

    assert notes_on_the_order(one) == {'words not in order of frequency'}
    assert not notes_on_the_order(by_frequency)


def test_random_directions_do_not_depend_on_the_order_of_rows(news):
    of_both = [direct_bias(v, professions(), on_missing='drop') for v in (news, shuffled(news, 1))]
    one, other = ([e.pvalue for e in r.also if e.name.startswith('placebo')] for r in of_both)
    assert one == other


def shuffled(vectors, seed):
    return vectors.subset(np.random.default_rng(seed).permutation(vectors.words).tolist())


# -- drawn p-values -----------------------------------------------------------------------------------------------------

def test_seeds_agree_on_the_placebo_p_of_direct_bias(news):
    found = [direct_bias(news, professions(), random_state=seed, on_missing='drop').estimate('placebo directions') for seed in range(5)]
    p = [e.pvalue for e in found]
    assert max(p) - min(p) < .06 and max(e.test.error for e in found) <= .01      # 6 standard errors


def test_a_p_that_is_drawn_too_seldom_says_so(news):
    r = cluster_bias(news, n_draws=200)
    e = r.estimate('placebo directions')
    assert .01 < e.test.error < .04 and '±' in e.p_text
    assert Result.from_json(r.to_json()).estimate('placebo directions').test == e.test


# -- intervals ----------------------------------------------------------------------------------------------------------

def both_or_none(low, high):
    known = [x is not None and math.isfinite(x) for x in (low, high)]
    return all(known) or not any(known)


def test_an_interval_has_both_ends_or_none():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 8, 5))
    constant = {'X': np.tile(A[0], (8, 1)), 'Y': np.tile(B[0], (8, 1))}
    nearly = {'X': np.vstack([constant['X'][:7], B[:1]]), 'Y': constant['Y']}
    free = {'X': constant['X'], 'Y': rng.normal(size=(8, 5))}
    for sets in (constant, nearly, free):
        r = weat_arrays(**sets, A=A, B=B)
        assert both_or_none(r.low, r.high) and all(both_or_none(e.low, e.high) for e in r.also)
    r = weat_arrays(**constant, A=A, B=B)
    assert r.interval is None and r.notes == (D_AT_ITS_BOUND_WITHOUT_A_WORD(),)
    for low, high in ((math.nan, 1.94), (1., math.inf), (None, 1.), (-math.inf, 0.)):
        assert Interval.between(low, high) is None
