"""The install cells of the pages, and two chapters as Colab runs them (with `--flags slow`; colab.py runs all of them)."""
import sys
from datetime import date
from pathlib import Path

import pytest
from execnb.nbio import read_nb
from IPython.core.inputtransformer2 import TransformerManager

sys.path.insert(0, str(Path(__file__).parent))
import colab                                                 # noqa: E402


def install_source(page):
    cell = colab.find_install_cell(read_nb(colab.nbs / page).cells)
    return cell and cell.source


def test_every_page_has_the_install_cell():
    "It is written by `python tests/colab.py --write`."
    for page in colab.pages():
        source = install_source(page)
        if page == 'index.ipynb':
            assert source is None
        else:
            assert source == colab.install_cell(colab.extras_of(source), page in colab.WITH_CHECKOUT), page


def test_install_cell_pins_the_tag_of_the_version():
    source = colab.install_cell(['lm', 'local'])
    assert f"'biasbook[lm,local] @ git+https://github.com/biasbook/biasbook@v{colab.version()}'" in source
    assert 'torch, transformers, sentence-transformers and the model all-MiniLM-L6-v2' in source
    assert colab.extras_of(source) == ['lm', 'local'] and colab.extras_of(colab.install_cell([])) == []


@pytest.fixture
def run_cell(monkeypatch, capsys):
    "Runs an install cell, with and without biasbook, in Colab and elsewhere: what it gave to pip, and what it printed."
    def run(extras, in_colab, is_installed):
        monkeypatch.delenv(colab.IN_COLAB, raising=False)
        if in_colab:
            monkeypatch.setenv(colab.IN_COLAB, 'release')
        monkeypatch.setattr('importlib.util.find_spec', lambda name: is_installed or None)
        asked = []
        code = TransformerManager().transform_cell(colab.install_cell(extras))
        def get_ipython():
            return ShellOfTests(asked)
        exec(code, {'get_ipython': get_ipython})
        return asked, capsys.readouterr().out
    return run


class ShellOfTests:
    "Keeps what is given to magics."
    def __init__(self, asked):
        self.asked = asked

    def run_line_magic(self, name, line):
        self.asked.append((name, line))


def test_install_cell_installs_in_colab_only(run_cell):
    asked, said = run_cell(['lm'], in_colab=True, is_installed=False)
    assert asked == [('pip', 'install -q "{requirement}"')] and said == ''
    asked, said = run_cell(['lm'], in_colab=False, is_installed=False)
    assert asked == [] and said == f'pip install "{colab.requirement(["lm"])}"\n'
    assert run_cell(['lm'], in_colab=False, is_installed=True) == ([], '')


def test_turns_reach_every_chapter():
    turns = range(len(colab.chapters()))
    assert {page for turn in turns for page in colab.two_in_turn(turn)} == set(colab.chapters())


@pytest.mark.slow
def test_two_chapters_run_as_in_colab():
    "Other chapters each day. The package is installed twice."
    assert colab.run_pages(colab.two_in_turn(date.today().toordinal())) == []
