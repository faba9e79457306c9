"""Intervals and tests of WinoBias: simulated preferences of occupations that have nothing to do with the stereotype."""
import sys
from pathlib import Path

import numpy as np
import pytest

import biasbook as bb
from biasbook.stats.permutation import permutation_pvalue

sys.path.insert(0, str(Path(__file__).parent))
from simulations import Simulation                           # noqa: E402

ITEMS = bb.load_winobias()
OCCUPATIONS = sorted(set(ITEMS['occupation']))
REFERRED_TO = ITEMS['occupation'].map(OCCUPATIONS.index).to_numpy()
OF_LIST = ITEMS.groupby(REFERRED_TO)['stereotype'].first().to_numpy()
OTHER = ITEMS['other'].map(OCCUPATIONS.index).to_numpy()
TOWARD_MALE = np.where(ITEMS['stereotype'] == 'male', 1, -1)


def simulated(rng, of_referent, of_other, prior=1.):
    "Log-odds pro − anti: each occupation draws the pronoun toward one gender, where it is meant and where it is the other person."
    toward_he = (prior + rng.normal(0, of_referent, len(OCCUPATIONS))[REFERRED_TO] + rng.normal(0, of_other, len(OCCUPATIONS))[OTHER]
                 + rng.normal(0, 1, len(ITEMS)))
    return TOWARD_MALE * toward_he


def result_of(log_odds):
    return bb.winobias_scores(ITEMS, log_odds, np.zeros(len(ITEMS)))


def pvalue_of_means(log_odds):
    "p if means over the sentences of an occupation are exchanged."
    toward_he = TOWARD_MALE * log_odds
    means = np.array([toward_he[REFERRED_TO == number].mean() for number in range(len(OCCUPATIONS))])
    return permutation_pvalue(means[OF_LIST == 'male'], means[OF_LIST == 'female']).pvalue


def sample(of_referent, of_other):
    "What is computed for a sample of preferences with these standard deviations."
    def compute(rng):
        log_odds = simulated(rng, of_referent, of_other)
        r = result_of(log_odds)
        return {'p': r.pvalue, 'low': r.low, 'high': r.high, 'p of paired t': r.estimate('paired t').pvalue,
                'p of exchange': r.estimate('occupations exchanged').pvalue, 'p of means': pvalue_of_means(log_odds)}
    return compute


ONE, BOTH, OTHER_MORE = SIMULATIONS = [Simulation(f'winobias, referent {of_referent}, other {of_other}', sample(of_referent, of_other), 40, 0)
                                       for of_referent, of_other in ((1, 0), (1, 1), (1, 2))]


@pytest.mark.parametrize('simulation', [ONE, BOTH], ids=lambda simulation: simulation.name)
def test_false_alarms(simulation):
    "Without a relation to the stereotype, p is below .05 in about 5 % of the samples, and as often the interval excludes 0."
    table = simulation.saved()
    alarms = (table['p'] < .05).sum()
    misses = ((table['low'] > 0) | (table['high'] < 0)).sum()
    assert alarms == misses <= 6
    assert (table['p of paired t'] < .05).sum() >= 15


@pytest.mark.parametrize('simulation', SIMULATIONS, ids=lambda simulation: simulation.name)
def test_exchange_of_occupations_is_level(simulation):
    "Also where the other person in the sentence matters. Exchanging means over the sentences of an occupation is not level there."
    assert (simulation.saved()['p of exchange'] < .05).mean() <= .15


def test_exchange_of_occupations_finds_a_stereotype():
    noise = np.random.default_rng(1).normal(0, .1, len(ITEMS))
    strong = result_of(TOWARD_MALE * (TOWARD_MALE * 1. + noise))
    assert strong.estimate('occupations exchanged').pvalue < 1e-9


@pytest.mark.parametrize('simulation', SIMULATIONS[1:], ids=lambda simulation: simulation.name)
def test_first_sample_is_the_saved_one(simulation):
    simulation.check(1)


@pytest.mark.slow
@pytest.mark.parametrize('simulation', SIMULATIONS, ids=lambda simulation: simulation.name)
def test_samples_are_the_saved_ones(simulation):
    simulation.check()


def test_means_of_occupations_are_not_level():
    "The reason for least squares: the other people of a sentence about one list are all of the other list."
    assert (OTHER_MORE.saved()['p of means'] < .05).sum() >= 8


def test_a_constant_preference_cancels():
    "An answerer that always prefers he has no stereotype, in any group of sentences."
    r = result_of(2. * TOWARD_MALE)
    for name in ('type 1', 'type 2', 'he/she', 'him/her', 'his/her'):
        assert abs(r.estimate(name).value) < 1e-12
    assert abs(r.value) < 1e-12 and r.estimate('general preference').value == pytest.approx(2)
