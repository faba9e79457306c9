"""Write the numbers of WEFE that test_associations.py compares with: `BIASBOOK_PEERS=PYTHON python tests/wefe_values.py`.

PYTHON is the interpreter of an environment with `pip install wefe==1.0.1`, which needs an older NumPy than this package. WEFE runs there on
the bundled vectors, as they are (all of length 1) and with each row times 1 + (its number mod 7) / 2, so that lengths matter.

The second part, `corners`, has random vectors and random queries: 1 to 4 sets of 1 to 12 words, missing words, words that occur twice in a set
or in two sets, words in capitals, other options, and queries that WEFE refuses."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import biasbook as bb

VALUES = Path(__file__).parent / 'wefe_values.json'

WEFE = """
import json, logging, sys
logging.disable()
import numpy as np
from gensim.models import KeyedVectors
from wefe.metrics import ECT, MAC, RIPA, RND, RNSB
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel

folder = sys.argv[1]
inputs = json.load(open(folder + '/inputs.json'))
rows = []
for kind in ('unit', 'raw'):
    keyed = KeyedVectors(300)
    keyed.add_vectors(inputs['words'], np.load(f'{folder}/{kind}.npy'))
    model = WordEmbeddingModel(keyed, kind)

    def add(measure, name, result, words=None, **options):
        value = float(result[measure])
        rows.append({'measure': measure, 'sets': name, 'vectors': kind, 'options': options,
                     'value': None if np.isnan(value) else value, 'words': words or {}})

    for name, (targets, attributes) in inputs['sets'].items():
        if len(targets) == 2 and len(attributes) == 1:
            query = Query(targets, attributes)
            for distance in ('norm', 'cos'):
                result = RND().run_query(query, model, distance=distance)
                add('rnd', name, result, {w: float(x) for w, x in list(result['distance_by_word'].items())[:2]}, distance=distance)
            add('ect', name, ECT().run_query(query, model))
            try:
                result = RIPA().run_query(query, model)
                values = result['word_values'] if isinstance(result['word_values'], dict) else {}
                add('ripa', name, result, {w: float(x['mean']) for w, x in list(values.items())[:2]})
            except IndexError:
                rows.append({'measure': 'ripa', 'sets': name, 'vectors': kind, 'options': {}, 'error': 'IndexError'})
        if len(attributes) >= 2:
            add('mac', name, MAC().run_query(Query(targets, attributes), model))
            for seed in (0, 42):
                query = Query(targets, attributes[:2])
                add('rnsb', name, RNSB().run_query(query, model, random_state=seed), seeds=[seed])

METRICS = {'rnd': RND, 'ect': ECT, 'ripa': RIPA, 'mac': MAC, 'rnsb': RNSB}
corners = []
for number, words in enumerate(inputs['random words']):
    table = np.load(f'{folder}/random-{number}.npy')
    keyed = KeyedVectors(table.shape[1])
    keyed.add_vectors(words, table)
    model = WordEmbeddingModel(keyed, f'random {number}')
    for measure, targets, attributes, options in inputs['random queries'][number]:
        try:
            result = METRICS[measure]().run_query(Query(targets, attributes), model, **options)
            value = float(result[measure])
            corners.append(None if np.isnan(value) else value)
        except Exception as error:
            corners.append(type(error).__name__)
json.dump({'rows': rows, 'corners': corners}, open(folder + '/rows.json', 'w'))
"""


def inputs():
    "The sets of words: the ten published tests, gendered pairs, three target sets, and tests with missing words."
    sets = {}
    for query in bb.weat_queries():
        sets[query.name] = [query.X, query.Y], [query.A, query.B]
        sets[f'{query.name}, A'] = [query.X, query.Y], [query.A]
    seven, six = bb.weat_query('weat7'), bb.weat_query('weat6')
    pairs = [list(side) for side in zip(*bb.gender_pairs())]
    sets['pairs'] = pairs, [six.A]
    sets['three'] = [seven.X[:3], seven.Y[:5], bb.weat_query('weat8').X[:4]], [six.A, six.B[:5], seven.A[:2]]
    for name, n_left in (('one in five lost', 4), ('one in four lost', 3)):
        short = [*seven.X[:n_left], 'not-a-word']
        sets[name] = [short, seven.Y], [seven.A, seven.B]
        sets[f'{name}, A'] = [short, seven.Y], [seven.A]
    return sets


SIZES = [(40, 5), (60, 20), (80, 50), (120, 100), (200, 8)] # words and dimensions of the random vectors
QUERIES = 140 # of each of them


def random_words(number):
    "The words of random vectors: some in capitals in four of the five, none in the fifth."
    n = SIZES[number][0]
    has_capitals = number < 4
    return [f'W{k}' if has_capitals and k % 5 == 0 else f'w{k}' for k in range(n)]


def random_vectors(number):
    "Vectors of uneven lengths with something in common."
    n, dim = SIZES[number]
    generator = np.random.default_rng(number)
    rows = generator.standard_normal((n, dim)) + .5 * generator.standard_normal(dim)
    return bb.WordVectors(random_words(number), (rows * generator.uniform(.3, 4, (n, 1))).astype(np.float32), f'random {number}')


def random_queries(number):
    "Measure, target sets, attribute sets and options of each query, from a fixed seed."
    generator = np.random.default_rng(100 + number)
    words = random_words(number)
    n_targets, n_attributes = {'rnd': 2, 'ect': 2, 'ripa': 2, 'mac': None, 'rnsb': None}, {'rnd': 1, 'ect': 1, 'ripa': 1, 'mac': None, 'rnsb': 2}
    queries = []
    for k in range(QUERIES):
        measure = ('rnd', 'ect', 'ripa', 'mac', 'rnsb')[k % 5]
        counts = []
        for usual in (n_targets[measure], n_attributes[measure]):
            other = int(generator.integers(1, 5))
            counts.append(usual if usual and generator.random() < .9 else other)
        size = int(generator.integers(2, 13))                               # RIPA needs sets of one size
        same_size = measure == 'ripa' and generator.random() < .8
        sets = []
        for _ in range(sum(counts)):
            n = size if same_size else int(generator.integers(1, 13))
            chosen = generator.choice(words, n, replace=bool(generator.random() < .08)).tolist()
            if generator.random() < .12:
                chosen[int(generator.integers(n))] = 'lost'
            if generator.random() < .06:
                chosen[int(generator.integers(n))] = chosen[0].swapcase()       # another spelling, which WEFE takes as another word
            sets.append(chosen)
        options = {}
        if generator.random() < .4:
            options['normalize'] = True
        if generator.random() < .4:
            options['lost_vocabulary_threshold'] = [.0, .1, .5, .9][int(generator.integers(4))]
        if measure == 'rnd' and generator.random() < .5:
            options['distance'] = 'cos'
        if measure == 'rnsb':
            options['random_state'] = int(generator.integers(100))
            if generator.random() < .4:
                options['holdout'] = False
        queries.append([measure, sets[:counts[0]], sets[counts[0]:], options])
    return queries


def vectors():
    "The bundled vectors as they are, and with rows of seven lengths."
    unit = bb.load_vectors('googlenews-mini')
    lengths = (1 + np.arange(len(unit.words)) % 7 / 2).astype(np.float32)
    return {'unit': unit, 'raw': bb.WordVectors(unit.words, unit.vectors * lengths[:, None], 'raw')}


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        sets = inputs()
        for kind, of_kind in vectors().items():
            np.save(f'{folder}/{kind}.npy', of_kind.vectors)
        for number in range(len(SIZES)):
            np.save(f'{folder}/random-{number}.npy', random_vectors(number).vectors)
        random = {'random words': [random_words(number) for number in range(len(SIZES))],
                  'random queries': [random_queries(number) for number in range(len(SIZES))]}
        Path(folder, 'inputs.json').write_text(json.dumps({'words': of_kind.words, 'sets': sets, **random}))
        subprocess.run([os.environ['BIASBOOK_PEERS'], '-c', WEFE, folder], check=True)
        found = json.loads(Path(folder, 'rows.json').read_text())
    lines = ',\n'.join(json.dumps(row) for row in found['rows'])
    corners = ',\n'.join(json.dumps(value) for value in found['corners'])
    VALUES.write_text(f'{{"source": "WEFE 1.0.1, run by tests/wefe_values.py", "rows": [\n{lines}\n], "corners": [\n{corners}\n]}}\n')
    print(len(found['rows']), 'numbers, and', len(found['corners']), 'of random queries')
