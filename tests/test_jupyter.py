"""Pages in a real Jupyter kernel, without a network and without keys: they run to the end and show what is committed.

The tests of the notebooks run in execnb's shell, which has no inline backend: figures that vanish in Jupyter are there.
Seven pages are run here, and all of them with `--flags slow`. Cells flagged `slow` are left out."""
import os
import re
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

nbs = Path(__file__).parent.parent / 'nbs'
CHAPTERS = ['00_weat.ipynb', '01_projection.ipynb', '02_maskfill.ipynb', '03_sas_pairs.ipynb', '04_embedding_api.ipynb']
GUIDES = ['index.ipynb', 'add_a_measure.ipynb']
OTHERS = sorted(page for path in nbs.rglob('*.ipynb') if not {'benchmarks', 'making', '.ipynb_checkpoints'} & set(path.parts)
                for page in [path.relative_to(nbs).as_posix()] if page not in CHAPTERS + GUIDES)
SKIPPED = 'This cell is skipped: '


def flags(cell):
    "The flags at the beginning of a cell, each with the words behind it."
    found = {}
    for line in cell.source.splitlines():
        if line.strip() and not line.startswith('#|'):
            break
        name, *words = line[2:].split() or ['']
        found[name.rstrip(':')] = words
    return found


PAGES_WITH_NEEDS = [page for page in CHAPTERS + OTHERS
                    if any({'data', 'hub', 'live', 'env'} & flags(c).keys() for c in nbformat.read(nbs / page, 4).cells)]


def machine_without_anything(folder):
    """The environment of a kernel on a machine with no network, no keys, and nothing from an earlier run.

    MPLBACKEND is left to Jupyter, which is what the figures are about. Nobody listens at the proxy, so that whatever
    leaves this machine fails at once."""
    env = {name: value for name, value in os.environ.items() if name != 'MPLBACKEND' and not name.endswith('_API_KEY')}
    for name in ('http_proxy', 'https_proxy', 'all_proxy'):
        env[name] = env[name.upper()] = 'http://127.0.0.1:9'
    env['no_proxy'] = env['NO_PROXY'] = '127.0.0.1,localhost'
    for name in ('BIASBOOK_CACHE_DIR', 'HF_HOME', 'IPYTHONDIR'):
        env[name] = str(folder / name)
    return env


def run(notebook, folder, at, **env):
    "Run all cells of a notebook in a kernel of this Python; an error of a cell is raised, but for those that are expected."
    specs = KernelSpecManager(kernel_dirs=[])               # not the kernel that someone installed under the same name
    kernel = AsyncKernelManager(kernel_name='python3', kernel_spec_manager=specs)
    client = NotebookClient(notebook, km=kernel, timeout=900, resources={'metadata': {'path': str(at)}})
    return client.execute(env={**machine_without_anything(folder), **env})


def kinds(outputs):
    """How many outputs of each kind a cell has, as far as execnb and ipykernel agree about them.

    - A stream counts once: ipykernel sends what is printed in pieces, execnb in one.
    - Their order is left out: execnb has streams first, then displays, then the value of the last line.
    - A progress bar is left out: it is a widget in Jupyter only, and there only if something takes more than a second."""
    found = Counter()
    for output in outputs:
        if 'application/vnd.jupyter.widget-view+json' in output.get('data', {}):
            continue
        if output.output_type == 'stream':
            found[f'stream {output.name}'] = 1
        else:
            found[f'{output.output_type} of {", ".join(sorted(output.data))}'] += 1
    return found


def is_skip(outputs):
    "Do the outputs say that the cell was skipped?"
    return len(outputs) == 1 and outputs[0].output_type == 'stream' and outputs[0].text.startswith(SKIPPED)


def differences(page, folder, **env):
    "Run a page; for each cell whose outputs are of other kinds than those committed: the cell, committed, seen."
    committed = nbformat.read(nbs / page, 4)
    notebook = nbformat.read(nbs / page, 4)
    for cell in notebook.cells:
        if cell.cell_type == 'code' and 'slow' in flags(cell):
            cell.source = ''
    run(notebook, folder, (nbs / page).parent, **env)
    have_data = (env.get('BIASBOOK_DATA_DIR', os.environ.get('BIASBOOK_DATA_DIR')) or '') != ''
    found = []
    for before, after in zip(committed.cells, notebook.cells):
        if before.cell_type != 'code' or 'slow' in flags(before):
            continue
        needs = {'data', 'hub', 'live'} & flags(before).keys()
        if needs and not (needs == {'data'} and have_data):
            if not is_skip(after.outputs):
                found.append((before.source, 'skipped', kinds(after.outputs)))
        elif kinds(before.outputs) != kinds(after.outputs):
            found.append((before.source, kinds(before.outputs), kinds(after.outputs)))
    return found


@pytest.mark.parametrize('page', CHAPTERS + GUIDES)
def test_page_in_jupyter(page, tmp_path):
    assert differences(page, tmp_path) == []


@pytest.mark.parametrize('page', OTHERS)
def test_other_page_in_jupyter(page, tmp_path, request):
    if 'slow' not in request.config.getoption('flags').split():
        pytest.skip('runs with --flags slow')
    assert differences(page, tmp_path) == []


@pytest.mark.parametrize('page', PAGES_WITH_NEEDS)
def test_run_all_without_data(page, tmp_path, request):
    if page not in CHAPTERS and 'slow' not in request.config.getoption('flags').split():
        pytest.skip('runs with --flags slow')
    if not os.environ.get('BIASBOOK_DATA_DIR'):
        pytest.skip('the test above had no data either')
    assert differences(page, tmp_path, BIASBOOK_DATA_DIR='') == []
