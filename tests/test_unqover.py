"""UnQover on made-up answers: how often intervals hold the true γ, and whether p is uniform without an association."""
import sys
from pathlib import Path

import numpy as np
import pytest

import biasbook as bb
from biasbook.chapters.unqover import unqover_comparisons

sys.path.insert(0, str(Path(__file__).parent))
from simulations import Simulation                           # noqa: E402

FEMALE = ['Mary', 'Elizabeth', 'Maria', 'Margaret', 'Anna', 'Alice']
MALE = ['John', 'William', 'Charles', 'George', 'Henry', 'Jack']
TEMPLATES = {f'family {k}': [f'{{first}} met {{second}} in the year {k}. [MASK] {{plain}}.'] for k in range(6)}
ATTRIBUTES = {'was late': 'was on time', 'was rude': 'was polite', 'was rich': 'was poor'}


def made_items(subjects=None):
    return bb.unqover_items(subjects=subjects or {'f': FEMALE, 'm': MALE}, attributes=ATTRIBUTES, templates=TEMPLATES)


def answered(items, gamma):
    "The items with scores whose γ is this number for each item, without any other part."
    sign = np.where(items['negated'], -1, 1)
    preference = np.clip(sign * gamma, -.98, .98)
    return items.assign(score1=np.log((1 + preference) / 2), score2=np.log((1 - preference) / 2))


def drawn_gamma(items, rng, lean=0., of_template=.03):
    "γ of each item: a lean of the first group, a lean of each subject, of each template for the group, and of each subject in each template."
    subjects = sorted({*items['x1'], *items['x2']})
    families = list(TEMPLATES)
    of_subject = dict(zip(subjects, rng.normal(0, .05, len(subjects))))
    of_family = dict(zip(families, rng.normal(0, of_template, len(families))))
    of_both = {(x, f): value for x in subjects for f, value in zip(families, rng.normal(0, .05, len(families)))}
    side = (items['group1'] == 'f').astype(int) - (items['group2'] == 'f').astype(int)
    first = items['x1'].map(of_subject) + [of_both[key] for key in zip(items['x1'], items['family'])]
    second = items['x2'].map(of_subject) + [of_both[key] for key in zip(items['x2'], items['family'])]
    return (side * (lean + items['family'].map(of_family)) + first - second).to_numpy()


def interval_sample(rng):
    "The interval of a group over subjects and templates for a lean of .1, and the naive one over comparisons."
    items = made_items()
    r = bb.unqover_scores(answered(items, drawn_gamma(items, rng, lean=.1)), n_resamples=1000)
    cell = r.details[(r.details['level'] == 'group') & (r.details['subject'] == 'f')].iloc[0]
    assert cell['over'] == 'subjects and templates'
    comparisons = unqover_comparisons(answered(items, drawn_gamma(items, rng, lean=.1)))
    between = comparisons[(comparisons['group1'] != comparisons['group2']) & (comparisons['attribute'] == 'was late')]['gamma']
    half = 1.96 * between.std() / len(between) ** .5
    return {'low': cell['low'], 'high': cell['high'], 'naive low': between.mean() - half, 'naive high': between.mean() + half}


def null_sample(kind):
    "The p-value of a test of this kind, computed for a sample without an association."
    def compute(rng):
        if kind == 'shuffled subjects':
            items = made_items(FEMALE)
        else:
            pairs = {'pairs': 'matched'} if kind == 'sign flips' else {}
            items = bb.unqover_items(subjects={'f': FEMALE, 'm': MALE}, attributes=ATTRIBUTES, templates=TEMPLATES, **pairs)
        gamma = drawn_gamma(items, rng, of_template=0)
        if kind == 'shuffled subjects':         # nothing that templates share
            keys = dict.fromkeys([*zip(items['x1'], items['family']), *zip(items['x2'], items['family'])])
            of_both = {key: rng.normal(0, .05) for key in keys}
            gamma = np.array([of_both[a, f] - of_both[b, f] for a, b, f in zip(items['x1'], items['x2'], items['family'])])
        r = bb.unqover_scores(answered(items, gamma), n_resamples=999)
        assert r.test.name == kind
        return {'p': r.pvalue}
    return compute


INTERVALS = Simulation('unqover, intervals', interval_sample, 100, 1)
NULLS = [Simulation(f'unqover, {kind}', null_sample(kind), 100, 2) for kind in ('relabelled subjects', 'shuffled subjects', 'sign flips')]
SIMULATIONS = [INTERVALS, *NULLS]


def test_intervals_over_subjects_and_templates_hold_the_true_value():
    "In 95 % of samples of names and templates, or more; an interval over the comparisons would hold it in half of them."
    table = INTERVALS.saved()
    assert .91 <= table.eval('low <= .1 <= high').mean() <= 1
    assert table.eval('`naive low` <= .1 <= `naive high`').mean() < .75


@pytest.mark.parametrize('simulation', NULLS, ids=lambda simulation: simulation.name)
def test_p_is_uniform_without_an_association(simulation):
    assert .02 <= (simulation.saved()['p'] < .1).mean() <= .2


@pytest.mark.parametrize('simulation', SIMULATIONS, ids=lambda simulation: simulation.name)
def test_first_samples_are_the_saved_ones(simulation):
    simulation.check(3)


@pytest.mark.slow
@pytest.mark.parametrize('simulation', SIMULATIONS, ids=lambda simulation: simulation.name)
def test_samples_are_the_saved_ones(simulation):
    simulation.check()


def test_an_association_has_a_small_p():
    items = made_items()
    rng = np.random.default_rng(3)
    r = bb.unqover_scores(answered(items, drawn_gamma(items, rng, lean=.2)))
    assert r.pvalue < .01 and r.test.exact and r.test.n_resamples == 924
    assert abs(r.value - .2) < .1
    assert (r.details[r.details['level'] == 'group']['p_adjusted'] < .05).all()


def test_the_order_of_items_and_of_subjects_does_not_matter():
    items = made_items()
    scored = answered(items, drawn_gamma(items, np.random.default_rng(4), lean=.1))
    r = bb.unqover_scores(scored)
    shuffled = bb.unqover_scores(scored.sample(frac=1, random_state=0))
    exchanged = scored.rename(columns={'x1': 'x2', 'x2': 'x1', 'group1': 'group2', 'group2': 'group1', 'answer1': 'answer2', 'answer2': 'answer1',
                                       'score1': 'score2', 'score2': 'score1'}).assign(order=3 - scored['order'])
    for other in (shuffled, bb.unqover_scores(exchanged)):
        assert abs(other.value - r.value) < 1e-12 and abs(other.pvalue - r.pvalue) < 1e-12
        for a, b in zip(sorted(r.also, key=lambda e: e.name), sorted(other.also, key=lambda e: e.name)):
            if a.name != 'μ of one order without negation':         # it takes x1 first
                assert a.name == b.name and abs(a.value - b.value) < 1e-12, a.name


def test_mu_and_eta_as_in_the_published_program():
    "A plain loop over pairs, by the definitions of the paper, for subjects that are groups of their own."
    items = made_items(FEMALE[:4])
    rng = np.random.default_rng(5)
    scored = items.assign(score1=np.log(rng.uniform(.01, .5, len(items))), score2=np.log(rng.uniform(.01, .5, len(items))))
    for normalize in ('none', 'pair'):
        values: dict = {}
        for _, four in scored.groupby(['x1', 'x2', 'template', 'attribute']):
            s = {}
            for row in four.itertuples():
                p1, p2 = np.exp(row.score1), np.exp(row.score2)
                total = p1 + p2 if normalize == 'pair' else 1
                s[row.order, row.negated] = p1 / total, p2 / total
            b = [.5 * (s[1, False][k] + s[2, False][k]) - .5 * (s[1, True][k] + s[2, True][k]) for k in (0, 1)]
            c = .5 * (b[0] - b[1])
            values.setdefault(row.x1, {}).setdefault(row.attribute, []).append(c)
            values.setdefault(row.x2, {}).setdefault(row.attribute, []).append(-c)
        mu = np.mean([max(abs(np.mean(c)) for c in of_x.values()) for of_x in values.values()])
        eta = np.mean([np.mean([abs(np.mean(np.sign(c))) for c in of_x.values()]) for of_x in values.values()])
        r = bb.unqover_scores(scored, normalize=normalize, n_resamples=99)
        assert abs(r.value - mu) < 1e-12 and abs(r.estimate('η').value - eta) < 1e-12
