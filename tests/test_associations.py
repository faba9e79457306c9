"""The measures of 06_associations with compat='wefe' give the numbers of WEFE 1.0.1, which wefe_values.py has written down.

The tolerance is the precision of the single-precision floats in which WEFE computes."""
import json
import math
import sys
from functools import cache
from pathlib import Path

import pytest

import biasbook as bb

sys.path.insert(0, str(Path(__file__).parent))
from wefe_values import VALUES, inputs, vectors   # noqa: E402

ROWS = json.loads(VALUES.read_text(encoding='utf-8'))['rows']
SETS = inputs()


@cache
def subjects():
    return vectors()


def measured(row):
    "The result of the measure, options, sets and vectors of a row."
    targets, attributes = SETS[row['sets']]
    if row['measure'] == 'rnsb':
        attributes = attributes[:2]
    measure = getattr(bb, row['measure'])
    return measure(subjects()[row['vectors']], targets=targets, attributes=attributes, compat='wefe', **row['options'])


@pytest.mark.parametrize('measure', ['rnd', 'mac', 'ect', 'ripa', 'rnsb'])
def test_the_numbers_of_wefe(measure):
    rows = [row for row in ROWS if row['measure'] == measure and 'error' not in row]
    assert len(rows) > 20
    for row in rows:
        result = measured(row)
        if row['value'] is None:
            assert math.isnan(result.value), row
            assert 'more than a fifth is missing' in [note.code for note in result.notes]
            continue
        assert result.value == pytest.approx(row['value'], rel=0, abs=5e-7), row
        column = {'rnd': 'distance', 'ripa': 'mean'}.get(measure)
        if column and 'word' in result.details:
            of_words = result.details.set_index('word')[column]
            for word, number in row['words'].items():
                assert of_words[word] == pytest.approx(number, rel=0, abs=5e-7), row


def test_pairs_of_unequal_lists():
    "WEFE stops with an IndexError there; here the error says what to do."
    rows = [row for row in ROWS if 'error' in row]
    assert len(rows) >= 2
    for row in rows:
        with pytest.raises(ValueError, match='by their place'):
            measured(row)


def test_a_query_is_measured_as_its_sets():
    "With compat a query stands for its targets X and Y and, where WEFE takes one attribute set, for A."
    seven = bb.weat_query('weat7')
    raw = subjects()['raw']
    for name, attributes in (('rnd', [seven.A]), ('ect', [seven.A]), ('ripa', [seven.A]), ('mac', [seven.A, seven.B]), ('rnsb', [seven.A, seven.B])):
        measure = getattr(bb, name)
        of_sets = measure(raw, targets=[seven.X, seven.Y], attributes=attributes, compat='wefe')
        assert measure(raw, 'weat7', compat='wefe').value == of_sets.value, name
