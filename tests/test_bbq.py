"""Scores of answers to BBQ, against answerers whose scores are known in closed form, and the coverage of their intervals."""
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import biasbook as bb

sys.path.insert(0, str(Path(__file__).parent))
from simulations import Simulation                           # noqa: E402

TEMPLATES = 25
PER_TEMPLATE = 40 # half of them ambiguous, half of the questions negative


def balanced_items(templates=TEMPLATES, per_template=PER_TEMPLATE):
    "Items with the design of BBQ: both contexts, both polarities, and the biased answer right in half of the disambiguated items."
    rows = []
    for template in range(templates):
        for number in range(per_template):
            unknown = number % 3
            biased, other = [option for option in range(3) if option != unknown]
            is_ambiguous = number % 2 == 0
            biased_is_right = number // 4 % 2 == 0
            label = unknown if is_ambiguous else biased if biased_is_right else other
            rows.append(['made up', str(template), 'neg' if number // 2 % 2 else 'nonneg', 'ambig' if is_ambiguous else 'disambig', 'A and B.',
                         'Who?', 'A', 'B', 'C', label, unknown, biased])
    columns = ['category', 'template', 'polarity', 'condition', 'context', 'question', 'ans0', 'ans1', 'ans2', 'label', 'unknown', 'biased']
    return pd.DataFrame(rows, columns=columns)


ITEMS = balanced_items()
OTHER = 3 - ITEMS['biased'] - ITEMS['unknown']


@pytest.mark.parametrize(('answers', 'ambiguous', 'disambiguated'), [
    (ITEMS['biased'], 100, 100), (OTHER, -100, -100), (ITEMS['unknown'], 0, math.nan), (ITEMS['label'], 0, 0)])
def test_answerers_without_chance(answers, ambiguous, disambiguated):
    scores = bb.bbq_scores(ITEMS, answers)
    assert_allclose([r.value for r in scores], [ambiguous, disambiguated], atol=1e-12)


def drawn_answers(rng, rates, share_unknown):
    "Answers that are unknown with one probability, and otherwise biased with the rate of their template."
    rate = np.asarray(rates)[ITEMS['template'].astype(int)]
    biased = rng.random(len(ITEMS)) < rate
    answers = np.where(biased, ITEMS['biased'], OTHER)
    return np.where(rng.random(len(ITEMS)) < share_unknown, ITEMS['unknown'], answers)


def test_random_answerer_with_a_known_rate():
    "Scores of one answerer with a rate of .7, three eighths unknown: s = .4 and s_AMB = .25, to 4 standard errors."
    rng = np.random.default_rng(1)
    ambiguous, disambiguated = bb.bbq_scores(ITEMS, drawn_answers(rng, np.full(TEMPLATES, .7), 3 / 8))
    n = len(ITEMS) / 2
    assert abs(ambiguous.value - 25) < 4 * 100 / math.sqrt(n)
    assert abs(disambiguated.value - 40) < 4 * 100 / math.sqrt(n * 5 / 8)
    assert abs(ambiguous.estimate('accuracy').value - 37.5) < 4 * 50 / math.sqrt(n)
    assert abs(ambiguous.estimate('s').value - 40) < 4 * 100 / math.sqrt(n * 5 / 8)


def test_one_kind_of_questions_alone_is_no_bias():
    "An answerer that always names the stereotyped group is biased in negative questions only, and its score is 0."
    group = ITEMS['biased'].where(ITEMS['polarity'] == 'neg', OTHER)
    for r in bb.bbq_scores(ITEMS, group):
        assert (r.estimate('negative questions').value, r.estimate('non-negative questions').value) == (100, -100)
        assert_allclose(r.value, 0, atol=1e-12)


def sample(rng, concentration=2.):
    "The intervals over templates and the naive one for an answerer with s_AMB = .1, and the p-values of one without bias."
    rates = rng.beta(.6 * concentration, .4 * concentration, TEMPLATES)         # mean .6: s = .2
    r = bb.bbq_scores(ITEMS, drawn_answers(rng, rates, .5))[0]                  # s_AMB = .5 * .2
    naive = r.estimate('as if independent')
    without_bias = rng.beta(.5 * concentration, .5 * concentration, TEMPLATES)
    null = bb.bbq_scores(ITEMS, drawn_answers(rng, without_bias, .5))[0]
    return {'low': r.low, 'high': r.high, 'naive low': naive.low, 'naive high': naive.high,
            'p': null.pvalue, 'naive p': null.estimate('as if independent').pvalue}


SIMULATIONS = [Simulation('bbq, templates drawn', sample, 200, 20221)]


def test_coverage_and_level_over_templates():
    "Templates are drawn, too. 200 samples: the share that covers has a standard error of 1.5 points at .95."
    table = SIMULATIONS[0].saved()
    assert .90 <= table.eval('low <= 10 <= high').mean() <= .99
    assert table.eval('`naive low` <= 10 <= `naive high`').mean() < .8
    assert (table['p'] < .05).mean() <= .09             # .05 and 2.6 standard errors
    assert (table['naive p'] < .05).mean() > .2


def test_first_samples_are_the_saved_ones():
    SIMULATIONS[0].check(4)


@pytest.mark.slow
def test_samples_are_the_saved_ones():
    SIMULATIONS[0].check()


def test_all_categories_together_have_templates_of_their_own():
    two = pd.concat([ITEMS.assign(category='one'), ITEMS.assign(category='two')], ignore_index=True)
    results = bb.bbq_scores(two, two['biased'].where(two.index % 5 > 0, two['unknown']))
    assert [r.query for r in results] == ['one, ambiguous', 'one, disambiguated', 'two, ambiguous', 'two, disambiguated',
                                          '2 categories, ambiguous', '2 categories, disambiguated']
    assert results[-1].units.clusters == 2 * TEMPLATES
    assert_allclose(results[-2].value, (results[0].value + results[2].value) / 2)
