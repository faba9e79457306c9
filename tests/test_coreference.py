"""Intervals and tests of WinoBias: simulated preferences of occupations that have nothing to do with the stereotype."""
import numpy as np
import pytest

import biasbook as bb
from biasbook.stats.permutation import permutation_pvalue

ITEMS = bb.load_winobias()
OCCUPATIONS = sorted(set(ITEMS['occupation']))
REFERRED_TO = ITEMS['occupation'].map(OCCUPATIONS.index).to_numpy()
OTHER = ITEMS['other'].map(OCCUPATIONS.index).to_numpy()
TOWARD_MALE = np.where(ITEMS['stereotype'] == 'male', 1, -1)


def simulated(rng, of_referent, of_other, prior=1.):
    "Log-odds pro − anti: each occupation draws the pronoun toward one gender, where it is meant and where it is the other person."
    toward_he = (prior + rng.normal(0, of_referent, len(OCCUPATIONS))[REFERRED_TO] + rng.normal(0, of_other, len(OCCUPATIONS))[OTHER]
                 + rng.normal(0, 1, len(ITEMS)))
    return TOWARD_MALE * toward_he


def result_of(log_odds):
    return bb.winobias_scores(ITEMS, log_odds, np.zeros(len(ITEMS)))


@pytest.mark.parametrize('of_referent, of_other', [(1, 0), (1, 1)])
def test_false_alarms(of_referent, of_other):
    "Without a relation to the stereotype, p is below .05 in about 5 % of the samples, and as often the interval excludes 0."
    rng = np.random.default_rng(0)
    samples = 40
    alarms = naive_alarms = misses = 0
    for _ in range(samples):
        r = result_of(simulated(rng, of_referent, of_other))
        alarms += r.pvalue < .05
        naive_alarms += r.estimate('paired t').pvalue < .05
        misses += not r.low <= 0 <= r.high
    assert alarms == misses <= 6
    assert naive_alarms >= 15


@pytest.mark.parametrize('of_referent, of_other', [(1, 0), (1, 1), (1, 2)])
def test_exchange_of_occupations_is_level(of_referent, of_other):
    "Also where the other person in the sentence matters. Exchanging means over the sentences of an occupation is not level there."
    rng = np.random.default_rng(1)
    pvalues = [result_of(simulated(rng, of_referent, of_other)).estimate('occupations exchanged').pvalue for _ in range(40)]
    assert np.mean(np.array(pvalues) < .05) <= .15
    strong = result_of(TOWARD_MALE * (TOWARD_MALE * 1. + rng.normal(0, .1, len(ITEMS))))
    assert strong.estimate('occupations exchanged').pvalue < 1e-9


def test_means_of_occupations_are_not_level():
    "The reason for least squares: the other people of a sentence about one list are all of the other list."
    rng = np.random.default_rng(2)
    of_list = ITEMS.groupby(REFERRED_TO)['stereotype'].first().to_numpy()
    alarms = 0
    for _ in range(40):
        toward_he = TOWARD_MALE * simulated(rng, 1, 2)
        means = np.array([toward_he[REFERRED_TO == number].mean() for number in range(len(OCCUPATIONS))])
        alarms += permutation_pvalue(means[of_list == 'male'], means[of_list == 'female']).pvalue < .05
    assert alarms >= 8


def test_a_constant_preference_cancels():
    "An answerer that always prefers he has no stereotype, in any group of sentences."
    r = result_of(2. * TOWARD_MALE)
    for name in ('type 1', 'type 2', 'he/she', 'him/her', 'his/her'):
        assert abs(r.estimate(name).value) < 1e-12
    assert abs(r.value) < 1e-12 and r.estimate('general preference').value == pytest.approx(2)
