"""Run every notebook under pytest by nbdev's rules, each in a process of its own.

`pytest` tests; `pytest --save` also writes the fresh outputs into the notebooks; `pytest --flags "slow live"` runs the
cells that those test flags (`tst_flags` in settings.ini) skip otherwise. Cells flagged `data` need a registered file that
is not bundled: they run where the environment variable BIASBOOK_DATA_DIR names a folder. What a cell needs is named behind the
flag; here it is not looked at, so that a cell that lacks something fails (in Jupyter it is skipped: core/04_needs).
"""
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(name, '1')            # as many processes as cores: threads beside them only wait for each other

BENCHMARKS = 'benchmarks'                       # their outputs are times: run by hand, never in the suite


def pytest_addoption(parser):
    parser.addoption('--flags', default='', help='test flags whose cells are to run, e.g. --flags "slow data"')
    parser.addoption('--save', action='store_true', help='write the outputs into the notebooks')
    parser.addoption('--cell-times', default='', metavar='FILE', help='append the seconds of each cell to this file, a line of JSON each')


def pytest_collection_modifyitems(items):
    "The longest first (scripts, the audits, then pages by size), so that no process is left alone with one at the end."
    items.sort(key=lambda item: (item.path.suffix == '.ipynb', 'auditing' not in item.path.parts, -item.path.stat().st_size, item.path))


def pytest_collect_file(file_path, parent):
    hidden = {'.ipynb_checkpoints', '_proc', BENCHMARKS}
    asked = any(str(file_path) == str(Path(a).resolve()) for a in parent.config.args)
    if file_path.suffix == '.ipynb' and (asked or not hidden & set(file_path.parts)):
        return Notebook.from_parent(parent, path=file_path)


class Notebook(pytest.File):
    def collect(self):
        yield Run.from_parent(self, name=self.path.stem)


class CellFailed(Exception):
    pass


class Server:
    "A process that has the heavy libraries, and forks for each notebook: they are imported once, not a hundred times."
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

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
        opt = self.config.getoption
        flags = opt('flags').split() + ['data'] * Path(os.environ.get('BIASBOOK_DATA_DIR') or '-').is_dir()
        with tempfile.TemporaryDirectory() as cache_dir:                # nothing from an earlier run, nothing left behind
            failed, said = server().run(path=str(self.path), flags=flags, save=opt('save'), cache=cache_dir, cell_times=opt('cell_times') and str(Path(opt('cell_times')).resolve()))
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


def run_notebook(path, flags, save, cell_times):
    "Run one notebook as nbdev_test does; with `save`, keep the fresh outputs of the cells that ran."
    from execnb.nbio import read_nb, write_nb
    from execnb.shell import CaptureShell
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
                or bool(skip & directives.keys()))

    for cell in nb.cells:                       # a cell that prints nothing any more keeps no old output
        if not skipped(cell) and cell.cell_type == 'code':
            cell.outputs = []
    sys.path.insert(0, str(Path(__file__).parent))
    os.chdir(path.parent)
    import pandas as pd
    pd.set_option('display.width', 200, 'display.max_columns', None)    # the text beside a table in HTML has all columns too
    shell = CaptureShell(path, mpl_format='png')
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
        run_notebook(path, flags, save, cell_times)
        sys.exit()


if __name__ == '__main__':
    for name in ('execnb.shell', 'nbdev.process', 'pandas', 'scipy.stats', 'sklearn.linear_model', 'matplotlib.pyplot', 'torch',
                 'transformers', 'transformers.modeling_utils', 'sentence_transformers'):
        if find_spec(name.partition('.')[0]):
            import_module(name)
    gc.freeze()                                 # what all of them share is not searched for garbage a hundred times
    for line in sys.stdin:
        print(json.dumps(fork(**json.loads(line))), flush=True)
