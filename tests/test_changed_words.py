"""A reader changes words on a page and chooses "Run all": no cell stops, whatever the numbers are now.

Cells flagged `check` run only in the tests, so they are left out here, as Jupyter leaves them out. A few pages are tried by default,
the others with `--flags slow`. Chapters without words that a reader would change are not here: 03c, 03d, 04c and 07."""
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
    'bring_your_own.ipynb': {'doctor': 'cook', 'widow': 'ancient', 'soldier': 'merchant', 'tennis': 'baseball'},
    'choosing_a_measure.ipynb': {'soldier': 'butcher', 'dancer': 'widow', 'doctors': 'lawyers'},
    'reading_p_values.ipynb': {'weat7': 'weat8'},
    '00_weat.ipynb': {'artist': 'singer', 'chef': 'butcher', 'lion': 'bear', 'duke': 'baron', 'weat7': 'weat8', 'beach': 'island'},
    '00a_influence.ipynb': {'weat7': 'weat8', 'weat9': 'weat3', 'dance': 'poetry'},
    '00b_wefat.ipynb': {'nurse': 'hairdresser', 'mechanic': 'electrician', 'baker': 'carpenter'},
    '00c_occupation_gap.ipynb': {'nurse': 'clerk', 'mechanic': 'carpenter', 'teenager': 'child', 'retired': 'ancient'},
    '00d_ranking.ipynb': {'weat6': 'weat2', 'weat1': 'weat3'},
    '01_projection.ipynb': {'nurse': 'singer', 'surgeon': 'lawyer', 'receptionist': 'secretary', 'football': 'baseball'},
    '01a_what_remains.ipynb': {'homemaker': 'secretary', 'rookie': 'captain', 'she': 'woman', 'he': 'man'},
    '01b_quality.ipynb': {'nurse': 'cook', 'doctor': 'teacher', 'guitar': 'violin'},
    '01c_generated_analogies.ipynb': {'nurse': 'teacher', 'surgeon': 'lawyer', 'mechanic': 'electrician', 'queen': 'princess'},
    '02_maskfill.ipynb': {'nurse': 'cook', 'soldier': 'sailor', 'son': 'nephew', 'daughter': 'niece'},
    '02a_prior.ipynb': {'nurse': 'teacher', 'dinosaurs': 'sports'},
    '02b_wordings.ipynb': {'violent': 'gentle', 'nurse': 'cook', 'beautiful': 'rude', 'father': 'uncle', 'mother': 'aunt'},
    '02c_cbs.ipynb': {'Dutch': 'Polish', 'sailor': 'miller', 'thief': 'clerk'},
    '02d_disco.ipynb': {'Mary': 'Kate', 'Tom': 'Fred', 'was very': 'seemed'},
    '02e_bec_pro.ipynb': {'nurse': 'widow', 'soldier': 'merchant', 'my aunt': 'my daughter'},
    '02f_honest.ipynb': {'kitchen': 'cottage', 'dining': 'lamp', 'the woman': 'the widow'},
    '03_sas_pairs.ipynb': {'caring': 'gentle', 'doctors': 'lawyers', 'divers': 'farmers', 'wise': 'clever'},
    '03a_crows_pairs.ipynb': {'The poor man stole the bread.': 'The poor man ate the bread.', 'The rich man stole the bread.': 'The rich man ate the bread.',
                              'stole': 'ate', 'captain': 'merchant', 'Men protect women.': 'Men love women.', 'Women protect men.': 'Women love men.'},
    '03b_stereoset.ipynb': {'brave': 'bold', 'timid': 'shy', 'patient': 'kind', 'impatient': 'cruel', 'silence': 'quarrels'},
    '03e_bbq.ipynb': {'The nurse met the officer.': 'The cook met the judge.', 'Who was rude?': 'Who was late?'},
    '03f_unqover.ipynb': {'Mary': 'Jane', 'John': 'Fred', 'was a nurse': 'was a broker', 'my sister': 'my daughter'},
    '03g_coreference.ipynb': {'nurse': 'teacher', 'engineer': 'architect'},
    '03h_implicit.ipynb': {'office': 'business', 'garden': 'marriage', 'salary': 'money'},
    '04_embedding_api.ipynb': {'career': 'leadership'},
    '04a_embedder_comparison.ipynb': {'The others rely on the aunt every day.': 'The others rely on the niece every day.'},
    '04b_seat.ipynb': {'boy': 'gentleman', 'girl': 'lady', 'office': 'salary', 'weat1': 'weat2'},
    '04d_retrieval.ipynb': {'plumber near me': 'doctor near me', 'dad': 'uncle', 'mom': 'aunt'},
    '05_debias.ipynb': {'nurse': 'cook', 'receptionist': 'teacher', 'captain': 'surgeon', 'north': 'river', 'south': 'boat'},
    '06_associations.ipynb': {'algebra': 'equations', 'chemistry': 'astronomy', 'poetry': 'drama'},
    '06a_agreement.ipynb': {'weat8': 'weat1'},
    '06b_ceat.ipynb': {'lily': 'violet', 'wasp': 'ant', 'plumber': 'farmer', 'death': 'grief'},
}
BY_DEFAULT = ['start_here.ipynb', '01c_generated_analogies.ipynb', '02a_prior.ipynb']            # the cheapest


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
                text = re.sub(rf"(?<='){re.escape(word)}(?=')", other, text)
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


PARAMETERS = [pytest.param(page, marks=[] if page in BY_DEFAULT else pytest.mark.slow) for page in CHANGED]


@pytest.mark.parametrize('page', PARAMETERS)
def test_a_changed_word_stops_no_cell(page, tmp_path):
    said = run(page, tmp_path)
    assert not said, said[-6000:]


@pytest.mark.parametrize('page', CHANGED)
def test_the_words_are_on_the_page(page):
    text = (nbs / page).read_text(encoding='utf-8')
    assert [word for word in CHANGED[page] if f"'{word}'" not in text] == []
