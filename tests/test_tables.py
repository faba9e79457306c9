"Tables of items from users: a wrong cell is named with its row and column, and what a function made can be read again."
import warnings
from io import StringIO

import pandas as pd
import pytest

import biasbook as bb
from biasbook.chapters.bec_pro import bec_pro_scores, bec_pro_table
from biasbook.chapters.unqover import unqover_comparisons

BEC_PRO = bb.bec_pro_items({'female': ['nurse', 'maid'], 'male': ['soldier', 'clerk']}, {'female': ['she'], 'male': ['he']}, '{Person} was a {profession}.')
BEC_PRO_OF_FOUR = bb.bec_pro_items({'female': ['nurse', 'maid'], 'male': ['soldier', 'clerk']}, {'female': ['she', 'my sister'], 'male': ['he', 'my brother']},
                                   '{Person} was a {profession}.')
HONEST = bb.honest_items({'female': ['the woman'], 'male': ['the man']}, ['{identity} was very [M].', '{identity} was a [M].'])
BBQ = bb.load_bbq('example')
UNQOVER = bb.unqover_items(subjects={'women': ['Mary'], 'men': ['John']}, attributes='was a senator', templates='{first} met {second}. [MASK] {plain}.')
SENTENCES = pd.DataFrame({'stereotype': ['She was kind.', 'She was mild.'], 'antistereotype': ['He was kind.', 'He was mild.']})
CROWS = pd.DataFrame({'sent_more': ['She was kind.', 'She was mild.'], 'sent_less': ['He was kind.', 'He was mild.'], 'stereo_antistereo': 'stereo',
                      'bias_type': 'gender', 'anon_writer': 'a'})
STEREOSET = pd.DataFrame([{'task': 'intrasentence', 'type': 'gender', 'target': name, 'context': f'My {name} is BLANK.', 'stereotype': f'My {name} is kind.',
                           'antistereotype': f'My {name} is cruel.', 'unrelated': f'My {name} is wooden.'} for name in ('mother', 'sister')])
RETRIEVAL = pd.DataFrame({'query': 'tax help', 'version': ['female', 'male'], 'document': ['Ask her.', 'Ask him.'], 'title': 'Tax', 'relevant': 1})
PROFESSIONS = pd.DataFrame({'profession': ['nurse', 'mason'], 'group': ['female', 'male']})
ANSWERS = pd.DataFrame({'answer': ['Ben - home', 'Ben - work'], 'iteration': [0, 1]})
SUBJECTS = pd.DataFrame({'subject': ['Mary', 'John'], 'group': ['women', 'men']})
ATTRIBUTES = pd.DataFrame({'attribute': ['was kind', 'was mild'], 'negated': ['was never kind', 'was never mild']})
LETTERS = bb.from_callable(lambda texts: [[len(text), text.count('e') + 1.] for text in texts], 'letters')

TAKES = { # what takes a table: an example of the table, the function, and the columns that may be empty or missing
    'load_bec_pro': (BEC_PRO, bb.load_bec_pro, ['line', 'form_gender']),
    'load_bec_pro, professions': (PROFESSIONS, lambda table: bb.load_bec_pro(professions=table), []),
    'bec_pro_scores': (BEC_PRO.assign(association=range(len(BEC_PRO))), bec_pro_scores, ['line', 'form_gender']),
    'load_honest': (HONEST, bb.load_honest, ['line', 'number', 'type']),
    'honest_scores': (HONEST, lambda table: bb.honest_scores(table, [['a']] * 4, ['a']), ['line', 'number', 'type']),
    'load_bbq': (BBQ, bb.load_bbq, ['line', 'category']),
    'bbq_scores': (BBQ, lambda table: bb.bbq_scores(table, [0] * len(table)), ['line', 'category']),
    'unqover_comparisons': (UNQOVER.assign(score1=-1., score2=-2.), unqover_comparisons, []),
    'unqover_items, subjects': (SUBJECTS, lambda table: bb.unqover_items(subjects=table, attributes='was a senator'), ['group']),
    'unqover_items, attributes': (ATTRIBUTES, lambda table: bb.unqover_items(subjects=['Mary', 'John'], attributes=table), []),
    'load_pairs, sentences': (SENTENCES, bb.load_pairs, []),
    'load_pairs, terms': (bb.load_pairs()[:3], bb.load_pairs, ['attributes', 'type']),
    'load_crows_pairs': (CROWS, bb.load_crows_pairs, []),
    'load_stereoset': (STEREOSET, bb.load_stereoset, []),
    'load_winobias': (bb.load_winobias()[:3], bb.load_winobias, ['split', 'type', 'line', 'form', 'other', 'stereotype', 'neutral_sentence']),
    'load_winogender': (bb.load_winogender()[:3], bb.load_winogender, ['line', 'other', 'refers_to', 'neutral', 'form', 'same_words', 'neutral_sentence']),
    'load_retrieval_items': (RETRIEVAL, bb.load_retrieval_items, ['title', 'relevant']),
    'load_retrieval_items, its own table': (bb.load_retrieval_items(RETRIEVAL), bb.load_retrieval_items, ['place', 'query_id', 'document_id', 'topic', 'title', 'relevant', 'stereotype']),
    'retrieval': (bb.load_retrieval_items(RETRIEVAL), lambda table: bb.retrieval(LETTERS, table, placebo=False), ['place', 'query_id', 'document_id', 'topic', 'title', 'relevant', 'stereotype']),
    'llm_iat_scores': (ANSWERS, lambda table: bb.llm_iat_scores(table, 'career'), ['answer', 'iteration'])}
WHOLE = {'load_winobias': ['other', 'stereotype']} # columns that may be missing, but not empty in some rows only
ODD = {'NaN': float('nan'), 'None': None, 'NA': pd.NA, 'number': 7, 'blank': '', 'list': ['x']}


def with_cell(table, column, value):
    "The table with this value in the second row of a column."
    changed = table.astype({column: object})
    changed.at[table.index[1], column] = value
    return changed


@pytest.mark.parametrize('name', TAKES)
def test_odd_cells(name):
    "Each odd value in each column: no error but one that names the column; an empty cell is refused, with its row, where it is needed."
    table, function, may_be_missing = TAKES[name]
    may_be_empty = [column for column in may_be_missing if column not in WHOLE.get(name, ())]
    function(table)
    place = f'line {table["line"].iloc[1]}' if 'line' in table else f'row {table.index[1]}'
    for column in table.columns:
        for odd, value in ODD.items():
            is_needed = odd in ('NaN', 'None', 'NA', 'blank') and column not in may_be_empty
            try:
                function(with_cell(table, column, value))
                assert not is_needed, (column, odd)
            except ValueError as error:
                assert not is_needed or (column in str(error) and (place in str(error) or 'row 1' in str(error))), (column, odd, error)


@pytest.mark.parametrize('name', TAKES)
def test_missing_columns(name):
    table, function, may_be_empty = TAKES[name]
    for column in table.columns:
        try:
            function(table.drop(columns=column))
            assert column in may_be_empty or name == 'llm_iat_scores', column
        except ValueError as error:
            assert column in str(error), (column, error)


@pytest.mark.parametrize('measure', ['bec_pro_table', 'honest', 'unqover_answers', 'crows_pairs', 'stereoset'])
def test_measures_of_models(measure):
    pytest.importorskip('torch')
    model = bb.load_model('novels-mini-masked', device='cpu')
    function, table, column = {'bec_pro_table': (lambda table: bec_pro_table(model, table), BEC_PRO, 'sentence'),
                               'honest': (lambda table: bb.honest(model, ['kind'], table, k=1), HONEST, 'text'),
                               'unqover_answers': (lambda table: bb.unqover_answers(model, table), UNQOVER, 'answer1'),
                               'crows_pairs': (lambda table: bb.crows_pairs(model, table, placebo=False), CROWS, 'sent_less'),
                               'stereoset': (lambda table: bb.stereoset(model, table, placebo=False), STEREOSET, 'stereotype')}[measure]
    for value in (float('nan'), None, pd.NA, ''):
        with pytest.raises(ValueError, match=f'(row 1|line 2):? .*{column}'):
            function(with_cell(table, column, value))


@pytest.mark.parametrize('name', [name for name in TAKES if name.startswith('load_')])
def test_what_was_made_is_read_again(name, tmp_path):
    "A table, its CSV file with and without an index, and what pandas reads from that file give the same items."
    table, function, _ = TAKES[name]
    first = function(table)
    path = tmp_path / 'items.csv'
    for index in (True, False):
        table.to_csv(path, index=index)
        for again in (path, pd.read_csv(StringIO(path.read_text()))):
            found = function(again)
            same = [column for column in first if column not in ('line', 'place')]
            assert found[same].astype(str).equals(first[same].astype(str)), again


def test_a_column_that_is_there_twice():
    with pytest.raises(ValueError, match='the table of items has the column sentence twice; keep one'):
        bb.load_bec_pro(BEC_PRO[[*BEC_PRO.columns, 'sentence']])


def test_wrong_rows_are_dropped_on_request():
    model = pytest.importorskip('torch') and bb.load_model('novels-mini-masked', device='cpu')
    for table, function, column in ((BEC_PRO, bb.load_bec_pro, 'sentence'), (HONEST, bb.load_honest, 'text'), (BBQ, bb.load_bbq, 'question'),
                                    (STEREOSET, bb.load_stereoset, 'context'), (BEC_PRO, lambda table, on_missing: bec_pro_table(model, table, on_missing=on_missing), 'form')):
        with pytest.warns(UserWarning, match='1 of .* rows is left out'):
            found = function(with_cell(table, column, None), on_missing='drop')
        assert len(found) == len(table) - 1 and len(found.attrs['left_out']) == 1


MEASURES = { # a measure of a masked ("M") or causal model ("C") or an embedder ("E"), its table, and a column
    'bec_pro': ('M', BEC_PRO_OF_FOUR, 'sentence'), 'honest': ('M', HONEST, 'text'), 'bbq': ('C', BBQ, 'question'), 'crows_pairs': ('C', CROWS, 'sent_less'),
    'stereoset': ('C', STEREOSET, 'context'), 'winobias': ('M', bb.load_winobias()[:3], 'other'), 'sas_pairs': ('M', bb.load_pairs()[:3], 'stereotype'),
    'winogender': ('M', bb.load_winogender().query('other == "someone"')[:40], 'female'),
    'retrieval': ('E', pd.concat([RETRIEVAL, RETRIEVAL.assign(query='law')], ignore_index=True), 'document')}


@pytest.mark.parametrize('name', MEASURES)
def test_measures_drop_wrong_rows_on_request(name):
    "The advice of the error works: the row is left out with a warning, a note says so, and the value is that of the table without the row."
    pytest.importorskip('torch')
    kind, table, column = MEASURES[name]
    subject = {'M': lambda: bb.load_model('novels-mini-masked', device='cpu'), 'C': lambda: bb.load_model('novels-mini-causal', device='cpu'),
               'E': lambda: LETTERS}[kind]()

    def measured(items, on_missing):
        more = [['kind']] if name == 'honest' else []
        found = getattr(bb, name)(subject, *more, items, placebo=False, on_missing=on_missing)
        return found if isinstance(found, list) else [found]

    wrong = with_cell(table, column, None)
    with pytest.raises(ValueError, match=f'{column}'):
        measured(wrong, 'raise')
    with pytest.warns(UserWarning, match='1 of .* rows is left out'):
        found = measured(wrong, 'drop')
    without = table.drop(index=table.index[1])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        assert [r.value for r in found] == [r.value for r in measured(without, 'drop')]
    assert all([note.data['n'] for note in r.notes if note.code == 'rows are left out'] == [1] for r in found)


@pytest.mark.parametrize('name', [name for name in TAKES if name.startswith('load_')] + ['retrieval'])
def test_a_table_without_rows(name):
    table, function, _ = TAKES[name]
    with pytest.raises(ValueError, match='(has|there are) no (items|pairs|rows|examples|templates|professions)'):
        function(table.iloc[:0])


@pytest.mark.parametrize('name', [name for name in TAKES if name.startswith('load_')] + ['retrieval'])
def test_a_table_without_columns(name):
    with pytest.raises(ValueError, match='no columns'):
        TAKES[name][1](pd.DataFrame())
