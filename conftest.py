"""Run every notebook under pytest by nbdev's rules, each in a process of its own.

- `pytest` tests; `pytest --save` also writes the fresh outputs into the notebooks.
- `pytest --quick` takes a minute: the interface, the layout, the sentences, the examples of all measures, a page of each folder.
- `pytest --flags "slow live"` also runs the cells and tests that have these flags. tests/slow.py runs all that are slow.
- `pytest --cell-times FILE` appends the seconds of each cell to a file.

The flags of cells are those of core/04_needs, listed in `tst_flags` of settings.ini, except `env`. `check` cells always run here. Cells flagged `data`
run where the folder that BIASBOOK_DATA_DIR names has their files, and `env` cells where their variables are set. What else a cell
needs is not looked at here: a cell that lacks it fails. Tests have the flags `slow` and `real` as markers, such as `@pytest.mark.slow`.

Pages share one store, of sentence vectors and of the audit that many pages show. A run of many pages makes it once, and each page
begins with a copy of it.
"""
import atexit
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

import pytest

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(name, '1')            # as many processes as cores: threads beside them only wait for each other

BENCHMARKS = 'benchmarks'                       # their outputs are times: run by hand, never in the suite
MARKERS = ('slow', 'real')                      # flags that tests can have, too
QUICK = ['tests/test_help.py', 'tests/test_interface.py', 'tests/test_layout.py', 'tests/test_sentences.py',
         'nbs/00_weat.ipynb', 'nbs/auditing/12_main.ipynb', 'nbs/core/00_checks.ipynb', 'nbs/embedders/03_cache.ipynb',
         'nbs/making/planted_models.ipynb', 'nbs/measuring/00_measure.ipynb', 'nbs/models/08_fill_results.ipynb', 'nbs/results/00a_sentences.ipynb', 'nbs/stats/02_effects.ipynb',
         'nbs/stimuli/02_templates.ipynb', 'nbs/testing/04_table_model.ipynb', 'nbs/vectors/04_case.ipynb']


def pytest_addoption(parser):
    parser.addoption('--quick', action='store_true', help='run only what takes a minute: a page of each folder, and a few tests')
    parser.addoption('--flags', default='', help='test flags whose cells and tests are to run, e.g. --flags "slow data"')
    parser.addoption('--save', action='store_true', help='write the outputs into the notebooks')
    parser.addoption('--cell-times', default='', metavar='FILE', help='append the seconds of each cell to this file, a line of JSON each')


def is_worker(config):
    "Is this a process of pytest-xdist that runs tests for the one that was started?"
    return hasattr(config, 'workerinput')


def pytest_configure(config):
    """Begin to make the store that the pages share, if this run has many of them.

    A shell starts what runs in the background (`pytest &`) so that Ctrl-C is ignored, also by processes that tests start."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    has_many = len(config.args) > 10 or any(Path(argument).is_dir() for argument in config.args)
    if not is_worker(config) and has_many and not config.getoption('quick') and not config.getoption('collectonly'):
        config.shared_store = SharedStore()


def pytest_sessionfinish():
    "The processes that run notebooks end, and their CPU seconds count as those of this run."
    for each in Server.started:
        each.process.stdin.close()
        each.process.wait()


def pytest_unconfigure(config):
    if hasattr(config, 'shared_store'):
        config.shared_store.remove()


def pytest_ignore_collect(collection_path, config):
    "With --quick, only the files of QUICK."
    if config.getoption('quick') and collection_path.is_file():
        return collection_path.relative_to(config.rootpath).as_posix() not in QUICK or None
    return None


def pytest_collection_modifyitems(config, items):
    """Leave out tests with a flag that is not asked for. The longest first (scripts, the audits, then pages by size), so that no
    process is left alone with one at the end."""
    left_out = set(MARKERS) - set(config.getoption('flags').split())
    deselected = [item for item in items if any(item.get_closest_marker(name) for name in left_out)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in set(deselected)]
    items.sort(key=lambda item: (item.path.suffix == '.ipynb', 'auditing' not in item.path.parts, -item.path.stat().st_size, item.path))


def pytest_collect_file(file_path, parent):
    hidden = {'.ipynb_checkpoints', '_proc', BENCHMARKS}
    asked = any(str(file_path) == str(Path(a).resolve()) for a in parent.config.args)
    if file_path.suffix == '.ipynb' and (asked or not hidden & set(file_path.parts)):
        return Notebook.from_parent(parent, path=file_path)


MAKE_STORE = """
from importlib.util import find_spec
import biasbook as bb
from biasbook.core.store import Store
if find_spec('sentence_transformers'):
    bb.audit('st:all-MiniLM-L6-v2', resume=True)
    with Store() as store:
        store.clear('audit unit')           # results: what a page computes, it computes itself
        store.clear('audit subject')
bb.audit('googlenews-mini', resume=True)    # but ten pages show the results of this one
"""


class SharedStore:
    """The vectors of the sentences of the bundled study, and the audit of googlenews-mini, made once a run and only read: each page
    has a copy in its cache.

    Keys are those of biasbook.embedders.cache and of biasbook.auditing.run, so a page with another model, another sentence, other
    options or changed code finds nothing here."""
    VARIABLE = 'BIASBOOK_STORE_OF_THE_RUN'          # tells the processes of pytest-xdist where it is

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix='biasbook-store-'))
        os.environ[self.VARIABLE] = str(self.folder)
        environment = {**os.environ, 'BIASBOOK_CACHE_DIR': str(self.folder / 'making'), 'PYTHONPATH': str(Path(__file__).parent)}
        move = f'import os; os.rename({str(self.folder / "making")!r}, {str(self.folder / "made")!r})'
        self.process = subprocess.Popen([sys.executable, '-c', MAKE_STORE + move], env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        (self.folder / 'pid').write_text(str(self.process.pid))

    def remove(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        del os.environ[self.VARIABLE]

    @classmethod
    def copy_to(cls, folder):
        "Copy the store of this run into the cache of a page, if there is one. Waits for it."
        shared = Path(os.environ.get(cls.VARIABLE) or '-')
        if not (shared / 'pid').exists():
            return
        made = shared / 'made/store.sqlite'
        while not made.exists() and is_running(int((shared / 'pid').read_text())):
            time.sleep(.1)
        if made.exists():
            shutil.copyfile(made, Path(folder) / made.name)


def is_running(pid):
    "Is there a process with this number, which has not ended?"
    try:
        return 'zombie' not in Path(f'/proc/{pid}/status').read_text()
    except OSError:
        return False


class Notebook(pytest.File):
    def collect(self):
        yield Run.from_parent(self, name=self.path.stem)


class CellFailed(Exception):
    pass


LIBRARIES = ['execnb.shell', 'nbdev.process', 'pandas', 'scipy.stats', 'sklearn.linear_model', 'matplotlib.pyplot']
MODEL_LIBRARIES = ['torch', 'transformers', 'transformers.models.bert.modeling_bert', 'transformers.models.gpt2.modeling_gpt2', 'sentence_transformers']


class Server:
    "A process that has imported the heavy libraries and the package, and forks for each notebook: all this is read once, not a hundred times."
    started: list = []

    def __init__(self, with_models): # with_models: import torch and what uses it, too
        libraries = LIBRARIES + MODEL_LIBRARIES if with_models else LIBRARIES
        self.process = subprocess.Popen([sys.executable, __file__, *libraries], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.started.append(self)

    def run(self, **job):
        self.process.stdin.write(json.dumps(job) + '\n')
        self.process.stdin.flush()
        if not (answer := self.process.stdout.readline()):
            server.cache_clear()                        # the next notebook starts another
            raise CellFailed(f'the process that runs notebooks ended with status {self.process.wait()}: was it killed?')
        return json.loads(answer)


server = cache(Server)


class Run(pytest.Item):
    def runtest(self):
        option = self.config.getoption
        flags = option('flags').split() + ['check']
        if Path(os.environ.get('BIASBOOK_DATA_DIR') or '-').is_dir():
            flags.append('data')
        cell_times = option('cell_times') and str(Path(option('cell_times')).resolve())
        with tempfile.TemporaryDirectory() as cache_dir:                # nothing from an earlier run, nothing left behind
            SharedStore.copy_to(cache_dir)
            failed, said = server(with_models=not option('quick')).run(path=str(self.path), flags=flags, save=option('save'), cache=cache_dir, cell_times=cell_times)
        if failed:
            raise CellFailed(said[-20_000:])

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, CellFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, str(self.path.relative_to(self.config.rootpath))


def timed(run_cell, path, times):
    "`run_cell`, a method of a shell that takes a cell, which also appends the seconds that each cell took to the file `times`."
    def run(cell, **options):
        wall, before = time.perf_counter(), os.times()
        run_cell(cell, **options)
        cpu = sum(os.times()[:4]) - sum(before[:4])         # with those of processes that the cell started and waited for
        row = {'page': str(path), 'cell': cell.idx_, 'cpu': round(cpu, 2), 'wall': round(time.perf_counter() - wall, 2)}
        with open(times, 'a', encoding='utf-8') as file:
            file.write(json.dumps(row) + '\n')
    return run


def lacks_data(names):
    "Is one of these registered files, or one of a registered folder, not on this machine?"
    from biasbook.core.registry import available, registry_entries
    return not all(available(file) for file in registry_entries() if any(f'{file}/'.startswith(f'{name}/') for name in names))


def run_notebook(path, flags, save, cell_times):
    "Run one notebook as nbdev_test does; with `save`, keep the fresh outputs of the cells that ran."
    from execnb.nbio import read_nb, write_nb
    from execnb.shell import CaptureShell
    from matplotlib_inline.config import InlineBackend
    from nbdev.clean import clean_nb
    from nbdev.config import get_config
    from nbdev.frontmatter import FrontmatterProc
    from nbdev.process import NBProcessor

    path, skip = Path(path), set(get_config().tst_flags.split()) - set(flags)
    nb = NBProcessor(path, procs=FrontmatterProc, process=True).nb
    if str(nb.frontmatter_.get('skip_exec', '')).lower() == 'true':
        return

    def skipped(cell):
        directives = getattr(cell, 'directives_', None) or {}
        return (cell.cell_type != 'code' or directives.get('eval:', [''])[0].lower() == 'false'
                or bool(skip & directives.keys()) or lacks_data(directives.get('data', ()))
                or not all(os.environ.get(name) for name in directives.get('env', ())))

    for cell in nb.cells:                       # a cell that prints nothing any more keeps no old output
        if not skipped(cell) and cell.cell_type == 'code':
            cell.outputs = []
    sys.path.insert(0, str(Path(__file__).parent))
    os.chdir(path.parent)
    import matplotlib.pyplot as plt
    import pandas as pd
    pd.set_option('display.width', 200, 'display.max_columns', None)    # the text beside a table in HTML has all columns too
    shell = CaptureShell(path, mpl_format='png')
    if not save:                                # draw each figure once: nobody looks at it
        shell.events.unregister('post_execute', plt._draw_all_if_interactive)
        InlineBackend.instance().print_figure_kwargs = {'bbox_inches': None}
    if cell_times:
        shell.cell = timed(shell.cell, path.relative_to(Path(__file__).parent), cell_times)
    try:
        shell.run_all(nb, exc_stop=True, preproc=skipped)
    except Exception:                           # whatever a cell raises: show it as the notebook would, and fail
        print(shell.prettytb(fname=path))
        sys.exit(1)
    if save:
        new = read_nb(path)
        for ran, cell in zip(nb.cells, new.cells):
            if cell.cell_type == 'code':
                cell.outputs = ran.get('outputs', [])
        clean_nb(new)
        write_nb(new, path)


def fork(path, flags, save, cache, cell_times):
    "Run a notebook in a process of its own: (its exit status, what it printed)."
    with tempfile.TemporaryFile() as log:
        if pid := os.fork():
            status = os.waitpid(pid, 0)[1]
            log.seek(0)
            return status, log.read().decode('utf-8', 'replace')
        for fd, to in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log.fileno()), (2, log.fileno())):
            os.dup2(to, fd)
        os.environ['BIASBOOK_CACHE_DIR'] = cache
        status = 0
        try:
            run_notebook(path, flags, save, cell_times)
        except SystemExit as error:
            status = int(bool(error.code))
        except BaseException:
            traceback.print_exc()
            status = 1
        atexit._run_exitfuncs()             # such as the removal of temporary folders
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)                    # at once: to take the libraries apart takes longer than a short page


if __name__ == '__main__':
    for name in sys.argv[1:]:
        if find_spec(name.partition('.')[0]):
            import_module(name)
    import biasbook
    from biasbook.core.registry import registry_entries
    for module in walk_packages(biasbook.__path__, 'biasbook.'):
        import_module(module.name)
    registry_entries()
    gc.freeze()                                 # what all of them share is not searched for garbage a hundred times
    for line in sys.stdin:
        print(json.dumps(fork(**json.loads(line))), flush=True)
