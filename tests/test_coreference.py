"""Intervals and tests of WinoBias: simulated preferences of occupations that have nothing to do with the stereotype."""
import numpy as np
import pytest

import biasbook as bb

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


def test_exact_test_exchanges_occupations():
    "Where the other occupation does not matter, the exact test of one person's occupation is level."
    rng = np.random.default_rng(1)
    pvalues = [result_of(simulated(rng, 1, 0)).estimate('occupations exchanged').pvalue for _ in range(40)]
    assert np.mean(np.array(pvalues) < .05) <= .15
    strong = result_of(TOWARD_MALE * (TOWARD_MALE * 1. + rng.normal(0, .1, len(ITEMS))))
    assert strong.estimate('occupations exchanged').pvalue < 1e-9


def test_a_constant_preference_cancels():
    "An answerer that always prefers he has no stereotype, in any group of sentences."
    r = result_of(2. * TOWARD_MALE)
    for name in ('type 1', 'type 2', 'he/she', 'him/her', 'his/her'):
        assert abs(r.estimate(name).value) < 1e-12
    assert abs(r.value) < 1e-12 and r.estimate('general preference').value == pytest.approx(2)
