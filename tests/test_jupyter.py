"""Pages in a real Jupyter kernel, without a network and without keys: they run to the end and show what is committed.

The other tests of the notebooks run in execnb's shell, which has no inline backend, so they do not notice figures that vanish in Jupyter.
One page is run here, without the registered files, and all pages with `--flags slow`. Cells flagged `slow` are skipped with a message, as
cells that lack something; `check` cells do nothing."""
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from execnb.nbio import read_nb
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from biasbook.core.needs import cell_flags
from biasbook.core.registry import registry

nbs = Path(__file__).parent.parent / 'nbs'
PAGES = sorted(path.relative_to(nbs).as_posix() for path in nbs.rglob('*.ipynb') if not {'benchmarks', 'making', '.ipynb_checkpoints'} & set(path.parts))
SHORT_PAGE = '06a_agreement.ipynb' # has figures, tables, and cells with the flags data and slow
SKIPPED = 'This cell is skipped: '


def flags(cell):
    return cell_flags(cell.source)


def cells_with(*names):
    "Pages, and their cells that have one of these flags."
    for page in PAGES:
        notebook = read_nb(nbs / page)
        cells = [cell for cell in notebook.cells if cell.cell_type == 'code' and set(names) & flags(cell).keys()]
        if cells:
            yield page, notebook, cells


PAGES_WITH_DATA = [page for page, _, cells in cells_with('data')]


def machine_without_anything(folder):
    """The environment of a kernel on a machine with no network, no keys, and nothing from an earlier run.

    MPLBACKEND is unset, so that Jupyter chooses its inline backend. No server listens at the proxy address, so every
    request to another machine fails at once."""
    env = {name: value for name, value in os.environ.items() if name != 'MPLBACKEND' and not name.endswith('_API_KEY')}
    for name in ('http_proxy', 'https_proxy', 'all_proxy'):
        env[name] = env[name.upper()] = 'http://127.0.0.1:9'
    env['no_proxy'] = env['NO_PROXY'] = '127.0.0.1,localhost'
    for name in ('BIASBOOK_CACHE_DIR', 'HF_HOME', 'IPYTHONDIR'):
        env[name] = str(folder / name)
    return env


def run(notebook, folder, at, **env):
    "Run all cells of a notebook, in place, in a kernel of this Python. CellExecutionError: a cell ended with an error."
    from nbclient import NotebookClient         # late, like nbformat: each process that collects tests would import it, in a second
    specs = KernelSpecManager(kernel_dirs=[])               # not the kernel that someone installed under the same name
    kernel = AsyncKernelManager(kernel_name='python3', kernel_spec_manager=specs)
    client = NotebookClient(notebook, km=kernel, timeout=900, startup_timeout=300, resources={'metadata': {'path': str(at)}})
    return client.execute(env={**machine_without_anything(folder), **env}, cleanup_kc=True)      # the kernel ends, too


def kinds(outputs):
    """How many outputs of each kind a cell has, as far as execnb and ipykernel agree about them.

    - A stream counts once: ipykernel sends what is printed in pieces, execnb in one.
    - Their order is left out: execnb has streams first, then displays, then the value of the last line.
    - What transformers logs is left out: its logger keeps the stderr that it found on import, which in execnb is not the cell's.
    - A progress bar is left out: it is a widget in Jupyter only, and there only if something takes more than a second."""
    found = Counter()
    for output in outputs:
        if 'application/vnd.jupyter.widget-view+json' in output.get('data', {}):
            continue
        if output.get('name') == 'stderr' and output.text.startswith('[transformers] '):
            continue
        if output.output_type == 'stream':
            found[f'stream {output.name}'] = 1
        else:
            found[f'{output.output_type} of {", ".join(sorted(output.data))}'] += 1
    return found


def is_skip(outputs):
    "Do the outputs say that the cell was skipped?"
    if any(output.output_type != 'stream' for output in outputs):
        return False
    text = ''.join(output.text for output in outputs)           # a kernel may send one print in two parts
    return text.startswith(SKIPPED)


def is_unmet(cell, have_data):
    "Does a cell need something that is not there? The data may be; models of the hub and keys never are."
    needs = {'data', 'hub', 'live'} & flags(cell).keys()
    if needs == {'data'}:
        return not have_data
    return bool(needs)


def differences(page, folder, first=(), **env):
    "Run a page, behind the cells `first`; for each cell whose outputs are of other kinds than those committed: the cell, committed, seen."
    have_data = bool(env.get('BIASBOOK_DATA_DIR', os.environ.get('BIASBOOK_DATA_DIR')))
    import nbformat
    committed = nbformat.read(nbs / page, 4)
    notebook = nbformat.read(nbs / page, 4)
    cells = notebook.cells
    notebook.cells = [*first, *cells]
    run(notebook, folder, (nbs / page).parent, **env)
    found = []
    for before, after in zip(committed.cells, cells, strict=True):
        if before.cell_type != 'code':
            continue
        if 'check' in flags(before):
            if after.outputs:
                found.append((before.source, 'not run', kinds(after.outputs)))
        elif 'slow' in flags(before) or is_unmet(before, have_data):
            if not is_skip(after.outputs):
                found.append((before.source, 'skipped', kinds(after.outputs)))
        elif kinds(before.outputs) != kinds(after.outputs):
            found.append((before.source, kinds(before.outputs), kinds(after.outputs)))
    return found


def test_short_page_has_what_is_tested():
    notebook = read_nb(nbs / SHORT_PAGE)
    code = [cell for cell in notebook.cells if cell.cell_type == 'code']
    assert {'data', 'slow'} <= {flag for cell in code for flag in flags(cell)}
    for kind in ('image/png', 'text/html'):
        assert any(kind in output.get('data', {}) for cell in code if 'data' not in flags(cell) for output in cell.outputs), kind


def test_short_page_in_jupyter(tmp_path):
    "The kernel is the Python of the tests. Cells that need a registered file are skipped, and say so."
    import nbformat
    asked = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell('import sys\nprint(sys.executable)')])
    assert differences(SHORT_PAGE, tmp_path, first=asked.cells, BIASBOOK_DATA_DIR='') == []
    assert asked.cells[0].outputs[0].text == f'{sys.executable}\n'


@pytest.mark.slow
@pytest.mark.parametrize('page', PAGES)
def test_page_in_jupyter(page, tmp_path):
    assert differences(page, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize('page', PAGES_WITH_DATA)
def test_run_all_without_data(page, tmp_path):
    if not os.environ.get('BIASBOOK_DATA_DIR'):
        pytest.skip('BIASBOOK_DATA_DIR is not set: the tests above already ran without data')
    assert differences(page, tmp_path, BIASBOOK_DATA_DIR='') == []


def shows_progress(source, notebook):
    "Does a cell show a bar or print in a loop, or call a function of the page that does?"
    helpers = [name for cell in notebook.cells if 'progress' in cell.source for name in re.findall(r'^def (\w+)', cell.source, re.M)]
    return bool(re.search('|'.join([r'progress', r'^ +.*print\(', *(rf'\b{name}\(' for name in helpers)]), source, re.M))


def seconds(duration):
    "The seconds of `about 4 minutes`; 0 for `a moment`."
    found = re.search(r'(\d+|half a|one|a) (second|minute|s$)', duration)
    if not found:
        return 0
    number = {'half a': .5, 'one': 1, 'a': 1}.get(found[1]) or int(found[1])
    return number * (60 if found[2] == 'minute' else 1)


def test_flagged_cells_name_what_they_need():
    """A flag names what its cell needs, or how long the cell takes; then the cell shows its progress. The page calls skip_flagged_cells before it."""
    assert [seconds(words) for words in ('about 4 minutes', 'about half a minute', '7 s', 'a moment, after the cell above')] == [240, 30, 7, 0]
    registered = registry().index
    for page, notebook, cells in cells_with('slow', 'data', 'hub', 'real', 'live', 'env', 'check'):
        for cell in cells:
            for kind in flags(cell).keys() & {'slow', 'data', 'hub', 'real', 'live', 'env'}:
                names = flags(cell)[kind]
                assert names, f'{page}: name what this cell needs after #| {kind}:\n{cell.source[:200]}'
                if kind == 'slow' and seconds(' '.join(names)) >= 20:
                    assert shows_progress(cell.source, notebook), f'{page}: show how far this cell is, as with_progress does:\n{cell.source[:200]}'
                if kind == 'data':
                    for name in names:
                        assert any(file == name or file.startswith(f'{name}/') for file in registered), f'{page}: {name}'
        calls = [number for number, cell in enumerate(notebook.cells) if 'skip_flagged_cells()     #' in cell.source]
        assert calls and calls[0] < notebook.cells.index(cells[0]), f'{page}: call skip_flagged_cells before the flagged cells'


SETUP = """
import matplotlib.pyplot as plt
from biasbook.vectors.wordvectors import load_vectors
from biasbook.chapters.weat import weat
r = weat(load_vectors('googlenews-mini'), 'weat7', placebo=False)
"""
PLOTS = ['r.plot();', 'plt.plot([1, 2]);']
MAGIC = '%matplotlib inline'


@pytest.mark.parametrize('sources', [[SETUP, *PLOTS, MAGIC, *PLOTS], [MAGIC, SETUP, *PLOTS],
                                     pytest.param([SETUP, MAGIC, *PLOTS], marks=pytest.mark.slow),
                                     pytest.param([SETUP, PLOTS[0], MAGIC, PLOTS[1]], marks=pytest.mark.slow)],
                         ids=['no magic, and magic after plots', 'magic first', 'magic after import', 'magic after r.plot'])
def test_own_plot_after_a_plot_of_the_book(sources, tmp_path):
    "The inline backend is loaded lazily, with the first figure, or by the magic."
    import nbformat
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    run(notebook, tmp_path, tmp_path)
    for cell in notebook.cells:
        figures = [kind for kind in kinds(cell.outputs) if 'image/png' in kind]
        assert figures == (['display_data of image/png, text/plain'] if cell.source in PLOTS else []), cell.source
