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
from wefe_values import SIZES, VALUES, inputs, random_queries, random_vectors, vectors   # noqa: E402

FILE = json.loads(VALUES.read_text(encoding='utf-8'))
ROWS = FILE['rows']
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
            assert 'too many words are missing' in [note.code for note in result.notes]
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


def corners():
    "Each random query with its vectors, and the number, None for NaN, or name of an error that WEFE gave."
    queries = [(number, query) for number in range(len(SIZES)) for query in random_queries(number)]
    return zip(queries, FILE['corners'], strict=True)


def of_corner(subject, query):
    "The result of a random query, with the options of WEFE."
    measure, targets, attributes, options = query
    of_wefe = {name: options[name] for name in ('normalize', 'lost_vocabulary_threshold', 'holdout') if name in options}
    more = {'distance': options['distance']} if 'distance' in options else {}
    if measure == 'rnsb':
        more['seeds'] = [options['random_state']]
    return getattr(bb, measure)(subject, targets=targets, attributes=attributes, compat=bb.Wefe(**of_wefe), **more)


@pytest.mark.parametrize('measure', ['rnd', 'mac', 'ect', 'ripa', 'rnsb'])
def test_random_queries(measure):
    "One to four sets, missing and repeated words, words in two sets, both spellings, all options, on five sets of random vectors."
    subjects_of_corners = [random_vectors(number) for number in range(len(SIZES))]
    n_numbers = 0
    for (number, query), expected in corners():
        if query[0] != measure:
            continue
        subject = subjects_of_corners[number]
        if isinstance(expected, str):
            with pytest.raises(ValueError):
                of_corner(subject, query)
            continue
        result = of_corner(subject, query)
        if expected is None:
            assert math.isnan(result.value), query
            assert {note.code for note in result.notes} & {'too many words are missing', 'not a number in WEFE'}, query
        else:
            assert result.value == pytest.approx(expected, rel=2e-6, abs=5e-7), query            # distances of long vectors are larger than 1
            n_numbers += 1
    assert n_numbers > 70
