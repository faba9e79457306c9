"""A reader changes words on a page and chooses "Run all": no cell stops, whatever the numbers are now.

Cells flagged `check` run only in the tests, so they are left out here, as Jupyter leaves them out. One page is tried by default,
the others with `--flags slow`."""
import json
import os
import re
from pathlib import Path

import pytest

from biasbook.core.needs import cell_flags
from conftest import server

nbs = Path(__file__).parent.parent / 'nbs'
# page -> words of its lists, and what a reader writes in their place
CHANGED = {
    'start_here.ipynb': {'nurse': 'cook', 'carpenter': 'butcher', 'she': 'lady'},
    '00_weat.ipynb': {'artist': 'singer', 'chef': 'butcher', 'lion': 'bear', 'duke': 'baron', 'weat7': 'weat8', 'beach': 'island'},
    '01_projection.ipynb': {'nurse': 'teacher', 'surgeon': 'lawyer', 'receptionist': 'secretary', 'football': 'baseball'},
    '02_maskfill.ipynb': {'nurse': 'cook', 'soldier': 'sailor', 'father': 'uncle'},
    '03_sas_pairs.ipynb': {'caring': 'gentle', 'doctors': 'lawyers', 'divers': 'farmers', 'wise': 'clever'},
    '04_embedding_api.ipynb': {'career': 'leadership'},
}


def with_other_words(page):
    "The page with other words in the cells before its tests, and without the cells that only tests run."
    notebook = json.loads((nbs / page).read_text(encoding='utf-8'))
    cells = []
    in_tests = False
    for cell in notebook['cells']:
        text = ''.join(cell['source'])
        in_tests = in_tests or cell['cell_type'] == 'markdown' and text.startswith('## Tests')
        if cell['cell_type'] == 'code' and 'check' in cell_flags(text):
            continue
        is_export = re.search(r'^#\| *export', text, re.M)
        if cell['cell_type'] == 'code' and not is_export and not in_tests:
            for word, other in CHANGED[page].items():
                text = re.sub(rf"(?<=')({word})(?=')", other, text)
        cells.append({**cell, 'source': text.splitlines(keepends=True)})
    return {**notebook, 'cells': cells}


def data_flags():
    "The flag `data` where the files are, as the pages are run."
    return ['data'] if Path(os.environ.get('BIASBOOK_DATA_DIR') or '-').is_dir() else []


def run(page, folder):
    "Run a changed page; what it printed if a cell stopped, else None."
    changed = folder / page
    changed.write_text(json.dumps(with_other_words(page)), encoding='utf-8')
    failed, said = server(with_models=True).run(path=str(changed), flags=data_flags(), save=False, cache=str(folder), cell_times=None)
    return said if failed else None


def test_a_changed_word_stops_no_cell(tmp_path):
    assert not run('start_here.ipynb', tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize('page', list(CHANGED)[1:])
def test_a_changed_word_stops_no_cell_of_a_chapter(page, tmp_path):
    assert not run(page, tmp_path)


@pytest.mark.parametrize('page', CHANGED)
def test_the_words_are_on_the_page(page):
    text = (nbs / page).read_text(encoding='utf-8')
    assert [word for word in CHANGED[page] if f"'{word}'" not in text] == []
