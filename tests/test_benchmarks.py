"""Benchmarks run by hand, so a renamed option would only be found at the next run. Here their calls are read, not run."""
import ast
import inspect
from importlib import import_module
from pathlib import Path

import biasbook as bb
import pytest
from execnb.nbio import read_nb

PAGES = sorted((Path(__file__).parent.parent / 'nbs' / 'benchmarks').glob('*.ipynb'))


def parsed(code):
    "The syntax tree of a text; None for a text that is no Python code."
    try:
        return ast.parse(code)
    except SyntaxError:
        return None


def trees(page):
    "The syntax trees of the code cells of a page, and of the programs that they hold as strings."
    for cell in read_nb(page).cells:
        if cell.cell_type != 'code':
            continue
        lines = [line for line in cell.source.splitlines() if not line.lstrip().startswith(('%', '!'))]
        tree = parsed('\n'.join(lines))
        if tree is None:
            continue
        yield tree
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and '(' in node.value:
                program = parsed(node.value)
                if program is not None:
                    yield program


def imported(tree):
    "Name -> what is imported from biasbook under this name."
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('biasbook'):
            for alias in node.names:
                found[alias.asname or alias.name] = getattr(import_module(node.module), alias.name)
    return found


def called(call, names):
    "The function of biasbook that is called, or None."
    if isinstance(call.func, ast.Name):
        return names.get(call.func.id)
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == 'bb':
        return getattr(bb, call.func.attr)
    return None


def wrong_options(all_trees):
    "The options that calls of biasbook have and its functions have not."
    names = {}
    for tree in all_trees:
        names |= imported(tree)
    wrong = []
    for tree in all_trees:
        for call in ast.walk(tree):
            function = called(call, names) if isinstance(call, ast.Call) else None
            if not callable(function):
                continue
            parameters = inspect.signature(function).parameters
            takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
            for keyword in call.keywords:
                if keyword.arg and keyword.arg not in parameters and not takes_any:
                    wrong.append(f'{function.__name__}({keyword.arg}=…)')
    return wrong


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_options_exist(page):
    assert not wrong_options(list(trees(page)))


def test_a_wrong_option_is_found():
    program = 'from biasbook.chapters.weat import weat\nr = weat(v, "weat1", {}=False)'
    assert wrong_options([ast.parse(program.format('placebos'))]) == ['weat(placebos=…)']
    assert wrong_options([ast.parse(program.format('placebo'))]) == []
    assert wrong_options([ast.parse('bb.weat(v, "weat1", placebos=False)')]) == ['weat(placebos=…)']
