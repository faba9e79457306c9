"""Measures on models of a language of which the truth is known: do they return it, and nothing on the twin?"""
from functools import cache

import numpy as np
import pytest

import biasbook as bb
from biasbook.testing.planted_tasks import load_task_grammar

pytest.importorskip('torch')
pytest.importorskip('transformers')

TRUTH = load_task_grammar()
ITEMS = TRUTH.bbq_items()


@pytest.fixture(scope='module')
def models():
    "Opens a causal model by the name of its language, once."
    return cache(lambda name: bb.load_model(f'{name}-tasks-causal', device='cpu'))


@pytest.mark.parametrize('name, scoring', [('planted', 'mean'), *(pytest.param(*case, marks=pytest.mark.slow)
                                           for case in (('planted', 'sum'), ('unbiased', 'sum'), ('unbiased', 'mean')))])
def test_bbq_returns_the_truth(models, name, scoring):
    """Accuracy and score of both conditions: by choice to 1 %, by probability to 3 %.

    test_study_benchmarks.py has the scores by the sum for both models."""
    true = load_task_grammar(name == 'planted').bbq_truth(scoring)
    for result, condition in zip(bb.bbq(models(name), ITEMS, scoring=scoring, placebo=False), ('ambig', 'disambig')):
        row = true.loc[condition]
        assert abs(result.value - row['score by choice']) < 1
        assert abs(result.estimate('accuracy').value - row['accuracy by choice']) < 1
        assert abs(result.estimate('by probability').value - row['score by probability']) < 3


def test_bbq_scores_of_true_choices_are_the_truth():
    "The array core, given the choices of the language itself: the same numbers as the formula on the page, to rounding."
    true = TRUTH.bbq_truth('sum')
    choices = TRUTH.bbq_probabilities(ITEMS, 'sum').argmax(1)
    for result, condition in zip(bb.bbq_scores(ITEMS, choices), ('ambig', 'disambig')):
        np.testing.assert_allclose(result.value, true.loc[condition, 'score by choice'])
        np.testing.assert_allclose(result.estimate('accuracy').value, true.loc[condition, 'accuracy by choice'])
