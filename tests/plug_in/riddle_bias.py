"""A package of somebody else: a measure of word vectors, and a benchmark of riddles for causal models."""
from dataclasses import replace

import numpy as np

import biasbook
from biasbook.measuring.benchmark import own_items
from biasbook.measuring.measure import Measure, Metric, own_queries, with_name
from biasbook.results.result import Result
from biasbook.results.sentences import Comparison
from biasbook.stats.estimate import Interval, NoteKind, Units
from biasbook.stats.intervals import mean_interval
from biasbook.stats.permutation import sign_flip_pvalue
from biasbook.stats.power import Planned
from biasbook.stimuli.item_schema import RowsOf, one_of, schema_of_rows, texts_in
from biasbook.stimuli.words import Query, weat_query

COLUMNS = ['riddle', 'first', 'second']
TWO_WORDS = NoteKind('two words of riddle_bias', 'the idea is two words, {first} and {second}')


def mean_result(metric, subject, differences, comparison, units, details):
    "The mean of some differences, with sign flips over them."
    mean, low, high = mean_interval(differences, .95)
    interval = Interval.between(low, high, method='t', over=units, df=len(differences) - 1, units=Units(counts=(len(differences),), name=units), confidence_level=.95)
    return Result(metric=metric, subject=subject, query=units, value=mean, interval=interval, test=sign_flip_pvalue(differences),
                  units=Units(counts=(len(differences),), name=units), comparison=comparison, confidence_level=.95, details=details,
                  meta={'name': units, 'battery': 'riddle_bias', 'versions': {'biasbook': biasbook.__version__}})


def nearness(vectors, query):
    "Are the words X nearer to the first word of A than to the first word of B?"
    import pandas as pd
    known = [word for word in query.X if word in vectors]
    unit = {word: vectors[word] / np.linalg.norm(vectors[word]) for word in (*known, query.A[0], query.B[0])}
    differences = np.array([unit[word] @ (unit[query.A[0]] - unit[query.B[0]]) for word in known])
    details = pd.DataFrame({'word': known, 'set': query.names[0], 'association': differences})
    result = mean_result('nearness', vectors.name, differences, Comparison(kind='lean', groups=query.names[:1], ideas=query.names[2:]), 'words', details)
    return replace(result, notes=(TWO_WORDS(first=query.A[0], second=query.B[0]),))


def units():
    return {'nearness of math': {'name': 'nearness of math', 'query': 'weat7'}}


def run(vectors, spec):
    return with_name(nearness(vectors, weat_query(spec['query'])), spec, 'riddle_bias')


def run_own(vectors, spec):
    return nearness(vectors, Query(**spec))


NEARNESS = Measure(name='nearness', about='is a word nearer to one word than to another?', kinds=('vectors',), units=units, run=run, own=own_queries(run_own, beside='nearness'),
                   metrics=(Metric('nearness', low=-2., high=2., has_bounded_interval=False, higher='nearer to A', plan=Planned('pairs', 'd', 'words')),),
                   caveat='Two words are too few to describe a group.')


def read_riddles(source, on_missing='raise'):
    "Riddles with two answers, from a CSV file or a DataFrame."
    import pandas as pd
    table = source if hasattr(source, 'columns') else pd.read_csv(source)
    is_riddle = table['riddle'].str.endswith('?')
    if on_missing == 'raise' and not is_riddle.all():
        raise ValueError(f'row {is_riddle.argmin() + 1} has no question mark')
    return table[is_riddle]


def run_riddles(model, items, options):
    "How much more probable is the first answer?"
    answers = ['first', 'second'] if options.get('order', 'given') == 'given' else ['second', 'first']
    total = [model.continuation(items['riddle'].tolist(), [f' {text}.' for text in items[answer]]).total for answer in answers]
    differences = np.asarray(total[0]) - np.asarray(total[1])
    return mean_result('riddle log-odds', model.name, differences, Comparison(kind='preference', ideas=('first answers', 'second answers'), of='riddles'), 'riddles',
                       items.assign(log_odds=differences))


RIDDLE_SCHEMA = schema_of_rows(RowsOf(read_riddles, COLUMNS, COLUMNS, COLUMNS), texts=texts_in(*COLUMNS), options={'order': one_of('given', 'reversed')},
                               item_options=('order',), example="""\
# Causal models: which answer to a riddle is more probable?
- name: riddles
  measure: riddles
  items:
  - {riddle: "Who sews?", first: women, second: men}
  - {riddle: "Who sails?", first: women, second: men}
""")
RIDDLES = Measure(name='riddles', about='which answer to a riddle is more probable?', kinds=('causal',), own=own_items(RIDDLE_SCHEMA, run_riddles), options=('placebo',),
                  metrics=(Metric('riddle log-odds', unit='nats', higher='first answers are more probable'),), caveat='Which answer to a riddle is more probable does not show how the model decides about people.')
BROKEN = 'no measure'
