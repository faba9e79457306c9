"""Write the numbers of WEFE that test_associations.py compares with: `BIASBOOK_PEERS=PYTHON python tests/wefe_values.py`.

PYTHON is the interpreter of an environment with `pip install wefe==1.0.1`, which needs an older NumPy than this package. WEFE runs there on
the bundled vectors, as they are (all of length 1) and with each row times 1 + (its number mod 7) / 2, so that lengths matter."""
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
json.dump(rows, open(folder + '/rows.json', 'w'))
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
        Path(folder, 'inputs.json').write_text(json.dumps({'words': of_kind.words, 'sets': sets}))
        subprocess.run([os.environ['BIASBOOK_PEERS'], '-c', WEFE, folder], check=True)
        rows = json.loads(Path(folder, 'rows.json').read_text())
    lines = ',\n'.join(json.dumps(row) for row in rows)
    VALUES.write_text(f'{{"source": "WEFE 1.0.1, run by tests/wefe_values.py", "rows": [\n{lines}\n]}}\n')
    print(len(rows), 'numbers')
