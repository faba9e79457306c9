"""The promises of the page nbs/reliability.ipynb: each names a test that is there, and the first of them is tested here."""
import io
import json
import pickle
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent / 'fuzz'))
import readers                                                # noqa: E402

root = Path(__file__).parent.parent
PAGE = root / 'nbs' / 'reliability.ipynb'
BLOB = 'https://github.com/biasbook/biasbook/blob/main/'


# -- the page ---------------------------------------------------------------------------------------------------------

def sources(notebook, kind):
    return [''.join(c['source']) for c in json.loads(notebook.read_text(encoding='utf-8'))['cells'] if c['cell_type'] == kind]


def promises():
    "(promise, [(text, address) of each test]) of each row of the page's table."
    table, = [text for text in sources(PAGE, 'markdown') if text.startswith('| Promise')]
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in table.strip().split('\n')[2:]]
    return [(promise, re.findall(r'\[([^\]]+)\]\(([^)]+)\)', tests)) for promise, tests in rows]


def anchor(heading):
    return re.sub(r'[^\w-]+', '', heading.strip().lower().replace(' ', '-'))


def section(notebook, wanted):
    "The code cells of a notebook under a heading, up to the next heading of its level or above."
    found, level = [], 0
    for cell in json.loads(notebook.read_text(encoding='utf-8'))['cells']:
        text = ''.join(cell['source'])
        m = re.match(r'(#+) (.+)', text) if cell['cell_type'] == 'markdown' else None
        if m and level and len(m[1]) <= level:
            break
        if m and anchor(m[2]) == wanted:
            level = len(m[1])
        if level and cell['cell_type'] == 'code':
            found.append(text)
    return '\n'.join(found)


@pytest.mark.parametrize('promise, tests', promises())
def test_promise_names_tests_that_are_there(promise, tests):
    assert tests, promise
    for text, address in tests:
        if address.startswith(BLOB):
            code = (root / address.removeprefix(BLOB)).read_text(encoding='utf-8')
            assert re.search(rf'^def {re.escape(text)}\(', code, re.M), f'{address} has no {text}'
        else:
            notebook, _, heading = address.partition('#')
            code = section(root / 'nbs' / notebook, heading)
            assert re.search(r'\bassert\b|test_\w+\(|expect_fail|raises\(|ExceptionExpected', code), f'{address} has no tests'


def test_page_states_the_limits_that_the_tests_use():
    text = '\n'.join(sources(PAGE, 'markdown'))
    assert f'{readers.MOST_SECONDS} s of processor time' in text
    assert f'{readers.MOST_MIB // 1024} GiB of memory' in text
    assert f'{readers.MOST_CHARACTERS:,} characters'.replace(',', ' ') in text


# -- no file runs code ------------------------------------------------------------------------------------------------

class Touch:
    "Makes a file when it is unpickled."
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def with_objects(mark):
    "An .npz and an .npy whose arrays are pickles."
    array = io.BytesIO()
    np.save(array, np.array([Touch(mark)], dtype=object), allow_pickle=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, 'w') as z:
        for name in ('words', 'vectors', 'about'):
            z.writestr(f'{name}.npy', array.getvalue())
    return packed.getvalue(), array.getvalue()


def test_no_file_runs_code(tmp_path):
    mark = tmp_path / 'code-was-run'
    pickled = pickle.dumps(Touch(mark))
    npz, npy = with_objects(mark)
    tagged = f'!!python/object/apply:shutil.copyfile [{__file__}, {mark}]\n'
    unsafe_readers = [lambda: pickle.loads(pickled), lambda: np.load(io.BytesIO(npz), allow_pickle=True)['vectors'],
                      lambda: np.load(io.BytesIO(npy), allow_pickle=True), lambda: yaml.unsafe_load(tagged)]
    for read in unsafe_readers:                 # each of these files does run code in a reader that allows it
        read()
        assert mark.exists()
        mark.unlink()
    files = {'glove_text': {'vectors.kv': pickled}, 'word2vec_binary': {'vectors.bin': pickled}, 'npz': {'vectors.npz': npz},
             'npy': {'vectors.npy': npy, 'vectors.words': b'a\n'}, 'kept_vectors': {'kept.npz': npz},
             'words': {'words.yaml': f'- {tagged}'.encode()}, 'queries': {'queries.yaml': tagged.encode()},
             'study': {'study.yaml': f'targets: {tagged}'.encode()}, 'configuration': {'audit.yaml': f'out: {tagged}'.encode()},
             'safetensors': {'vectors.safetensors': pickled}}
    for name, content in files.items():
        folder = tmp_path / name
        folder.mkdir()
        for file, data in content.items():
            (folder / file).write_bytes(data)
        with pytest.raises(ValueError):
            readers.READERS[name].read(folder, folder / next(iter(content)))
        assert not mark.exists(), name


def test_no_model_runs_code(tmp_path):
    pytest.importorskip('transformers')
    from biasbook import load_model
    mark, code = tmp_path / 'code-was-run', tmp_path / 'own' / 'modeling_own.py'
    pickles, own = tmp_path / 'pickles', tmp_path / 'own'
    for folder in (pickles, own):
        folder.mkdir()
        (folder / 'tokenizer.json').write_text(readers.TOKENIZER)
    (pickles / 'config.json').write_text('{"model_type": "bert"}')
    (pickles / 'pytorch_model.bin').write_bytes(pickle.dumps(Touch(mark)))
    code.write_text(f'from pathlib import Path\nPath({str(mark)!r}).touch()\n')
    names = {k: 'modeling_own.Own' for k in ('AutoConfig', 'AutoModelForMaskedLM', 'AutoModelForCausalLM')}
    (own / 'config.json').write_text(json.dumps({'model_type': 'own', 'auto_map': names}))
    (own / 'tokenizer_config.json').write_text(json.dumps({'auto_map': {'AutoTokenizer': ['modeling_own.Own', None]}}))
    (own / 'model.safetensors').write_bytes(b'\2\0\0\0\0\0\0\0{}')
    for folder in (pickles, own):
        with pytest.raises(ValueError, match=folder.name):
            load_model(folder, device='cpu')
        assert not mark.exists(), folder.name
