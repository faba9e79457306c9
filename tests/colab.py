"""Run chapters as Colab does: `python tests/colab.py [PAGE ...]`, such as `python tests/colab.py 00_weat.ipynb`.

For each page an environment is made that has Jupyter's kernel and nothing else. The page is run in it, from its install cell to
its end, in an empty folder and, after the installation, without a network. The checkout stands in for the address of the
repository. Pages with the same install cell share an environment. Without PAGE all chapters are run.

`--turn N` runs two chapters, others for each N. `--write` writes the install cell of each page anew, which is needed after a
change of the version in settings.ini, or to give a page other extras. `--slow` runs cells with the flag `slow`, too."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from configparser import ConfigParser
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from biasbook.core.needs import cell_flags

root = Path(__file__).resolve().parent.parent
nbs = root / 'nbs'
REPOSITORY = 'git+https://github.com/biasbook/biasbook'
IN_COLAB = 'COLAB_RELEASE_TAG'      # an environment variable of Colab
WITH_CHECKOUT = ['cite.ipynb']      # pages that read files of the repository which are not in the package
SECONDS = 900                       # for one cell; an installation may take minutes
CONTENTS = {'lm': ['torch', 'transformers'], 'local': ['sentence-transformers', 'the model all-MiniLM-L6-v2'],
            'debias': ['concept-erasure'], 'cluster': ['dask']}          # of the extras
WITH_TORCH = {'lm', 'local', 'debias'}


def version():
    config = ConfigParser(delimiters=['='])
    config.read(root / 'settings.ini', encoding='utf-8')
    return config['DEFAULT']['version']


def requirement(extras):
    "What pip installs: the tag of this version, never the newest commit, so that a page finds the code it was written for."
    address = f'{REPOSITORY}@v{version()}'
    return f'biasbook[{",".join(extras)}] @ {address}' if extras else f'biasbook @ {address}'


def install_cell(extras, with_checkout=False):
    "The source of the install cell of a page."
    names = [f'biasbook {version()}'] + [name for extra in extras for name in CONTENTS[extra]]
    listed = f'{", ".join(names[:-1])} and {names[-1]}' if len(names) > 1 else names[0]
    duration = 'one to three minutes' if WITH_TORCH & set(extras) else 'about a minute'
    lines = ['#| hide', '#| eval: false', f'# In Colab, this cell installs {listed}.',
             f'# That takes {duration}. Elsewhere, it prints how to install biasbook if that is missing.',
             'import os', 'from importlib.util import find_spec', f"requirement = '{requirement(extras)}'", f"if '{IN_COLAB}' in os.environ:", '    %pip install -q "{requirement}"']
    if with_checkout:
        clone = REPOSITORY.removeprefix('git+')
        lines.append(f'    !git clone -q --depth 1 --branch v{version()} {clone}')
    lines += ["elif not find_spec('biasbook'):", "    print(f'pip install \"{requirement}\"')"]
    return '\n'.join(lines)


def find_install_cell(cells):
    "The install cell of a page, or None: the home page has none."
    found = [cell for cell in cells if cell['cell_type'] == 'code' and REPOSITORY in ''.join(cell['source'])]
    if len(found) > 1:
        raise ValueError(f'{len(found)} cells install biasbook')
    return found[0] if found else None


def extras_of(source):
    "The extras that an install cell asks for."
    match = re.search(r'biasbook\[([\w,]+)\]', source)
    return match[1].split(',') if match else []


def pages():
    return sorted(path.relative_to(nbs).as_posix() for path in nbs.rglob('*.ipynb') if '.ipynb_checkpoints' not in path.parts)


def chapters():
    "The numbered pages of the book."
    return [page for page in pages() if re.match(r'\d\d[a-z]?_', page)]


def two_in_turn(turn):
    "Two chapters, others for each number; all of them in as many turns as there are halves."
    names = chapters()
    return [names[(2 * turn + k) % len(names)] for k in range(2)]


def write_install_cells():
    "Write the install cell of each page anew; returns the pages that changed. Nothing else of a page is touched."
    changed = []
    for page in pages():
        path = nbs / page
        text = path.read_text(encoding='utf-8')
        notebook = json.loads(text)
        cell = find_install_cell(notebook['cells'])
        if cell is None:
            continue
        new = install_cell(extras_of(''.join(cell['source'])), page in WITH_CHECKOUT)
        cell['source'] = new.splitlines(keepends=True)
        new_text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + '\n'
        if new_text != text:
            path.write_text(new_text, encoding='utf-8')
            changed.append(page)
    return changed


# -- running a page ---------------------------------------------------------------------------------------------------

def make_environment(folder):
    "A virtual environment with Jupyter's kernel, as Colab has it; returns its Python."
    venv.create(folder, with_pip=True)
    python = folder / 'bin' / 'python'
    constraints = root / 'constraints.txt'          # the page installs with them, too: a package that the kernel has loaded stays
    subprocess.run([python, '-m', 'pip', 'install', '-q', '-c', constraints, 'ipykernel'], check=True, env=clean_environment())
    return python


def clean_environment():
    "The variables of this process, without variables that would let the page find this checkout, its tools or keys."
    hidden = {'PYTHONPATH', 'MPLBACKEND', 'BIASBOOK_DATA_DIR', 'VIRTUAL_ENV'}
    return {name: value for name, value in os.environ.items() if name not in hidden and not name.endswith('_API_KEY')}


# Run in the kernel after the installation: nothing listens at this address, so that each request fails at once.
WITHOUT_NETWORK = """
import os
for name in ('http_proxy', 'https_proxy', 'all_proxy'):
    os.environ[name] = os.environ[name.upper()] = 'http://127.0.0.1:9'
os.environ['no_proxy'] = os.environ['NO_PROXY'] = '127.0.0.1,localhost'
del os, name
"""


def copy_checkout(folder):
    "Copy the files of the repository as they are now, so that building the package leaves nothing in the checkout."
    listed = subprocess.run(['git', 'ls-files', '-z'], cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split('\0')):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)
    return folder


def stand_in(source, checkout):
    "The install cell with a copy of the checkout in place of the address of the repository."
    source = source.replace(f'{REPOSITORY}@v{version()}', checkout.as_uri())
    return re.sub(r'git clone .* https://\S+', f'cp -r {checkout} biasbook', source)


def notebook_for_colab(page, checkout, slow):
    "The page as it is run: the install cell with the checkout, then no network, and no slow cells unless asked for."
    import nbformat                             # late: a test that imports this module needs no nbformat, which takes a second
    notebook = nbformat.read(nbs / page, 4)
    install = find_install_cell(notebook.cells)
    if install is None:
        raise ValueError(f'{page} has no install cell')
    install.source = stand_in(install.source, checkout)
    for cell in notebook.cells:
        if cell.cell_type == 'code' and 'slow' in cell_flags(cell.source) and not slow:
            cell.source = ''
    at = notebook.cells.index(install) + 1
    notebook.cells.insert(at, nbformat.v4.new_code_cell(WITHOUT_NETWORK))
    return notebook


def run_page(page, python, checkout, folder, slow=False):
    "Run a page in an empty folder by the kernel of another Python. CellExecutionError: a cell ended with an error."
    from nbclient import NotebookClient
    kernels = folder / 'kernels'
    (kernels / 'colab').mkdir(parents=True)
    spec = {'argv': [str(python), '-m', 'ipykernel_launcher', '-f', '{connection_file}'], 'display_name': 'Colab', 'language': 'python'}
    (kernels / 'colab' / 'kernel.json').write_text(json.dumps(spec))
    content = folder / 'content'
    content.mkdir()
    specs = KernelSpecManager(kernel_dirs=[str(kernels)], ensure_native_kernel=False)
    kernel = AsyncKernelManager(kernel_name='colab', kernel_spec_manager=specs)
    notebook = notebook_for_colab(page, checkout, slow)
    client = NotebookClient(notebook, km=kernel, timeout=SECONDS, resources={'metadata': {'path': str(content)}})
    variables = {name: str(folder / name) for name in ('BIASBOOK_CACHE_DIR', 'HF_HOME', 'IPYTHONDIR')}
    variables['PIP_CONSTRAINT'] = str(root / 'constraints.txt')     # Colab has torch; here pip must not fetch its builds for GPUs
    path = f'{python.parent}{os.pathsep}{os.environ["PATH"]}'
    client.execute(env={**clean_environment(), **variables, 'PATH': path, IN_COLAB: 'a stand-in'}, cleanup_kc=True)


def run_pages(names, slow=False):
    "Run pages, those with the same install cell in one environment; returns the pages that failed."
    import nbformat
    from nbclient.exceptions import CellExecutionError
    by_extras = {}
    for page in names:
        cell = find_install_cell(nbformat.read(nbs / page, 4).cells)
        by_extras.setdefault(tuple(extras_of(cell['source'])), []).append(page)
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        checkout = copy_checkout(Path(temporary) / 'checkout')
        for extras, group in sorted(by_extras.items()):
            environment = Path(temporary) / 'environment'
            python = make_environment(environment)
            for page in group:
                started = time.monotonic()
                folder = Path(temporary) / 'page'
                folder.mkdir()
                outcome = 'runs'
                try:
                    run_page(page, python, checkout, folder, slow)
                except CellExecutionError as error:
                    outcome = f'FAILS\n{str(error)[-3000:]}'
                    failed.append(page)
                shutil.rmtree(folder)
                print(f'{page} [{",".join(extras)}] {time.monotonic() - started:.0f} s: {outcome}', flush=True)
            shutil.rmtree(environment)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('pages', nargs='*')
    parser.add_argument('--turn', type=int)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--slow', action='store_true')
    options = parser.parse_args()
    if options.write:
        print(*write_install_cells() or ['every install cell is as it should be'], sep='\n')
        return
    names = options.pages or (chapters() if options.turn is None else two_in_turn(options.turn))
    sys.exit(bool(run_pages(names, options.slow)))


if __name__ == '__main__':
    main()
