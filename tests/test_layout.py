"""What the layout promises: private names stay in their module, and `biasbook` shows its functions with their parameters."""
import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import biasbook as bb

package = Path(bb.__file__).parent


@cache
def trees():
    "(path in the package, syntax tree) of each module."
    paths = [path for path in sorted(package.rglob('*.py')) if not path.name.startswith('_')]
    return [(path.relative_to(package).as_posix(), ast.parse(path.read_text(encoding='utf-8'))) for path in paths]


def is_private(name):
    return name.startswith('_') and not name.startswith('__')


def test_private_names_stay_in_their_module():
    found = [(module, node.lineno, name.name) for module, tree in trees() for node in ast.walk(tree)
             if isinstance(node, ast.ImportFrom) for name in node.names if is_private(name.name)]
    assert not found


def test_no_name_is_kept_for_old_callers():
    "A private name that is assigned a public one was left behind by a rename."
    found = [(module, node.lineno) for module, tree in trees() for node in tree.body
             if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and isinstance(node.targets[0], ast.Name)
             and is_private(node.targets[0].id) and not is_private(node.value.id)]
    assert not found


def names_defined_by(node):
    "The names that a statement of a module defines. A function that a decorator registers, as one of several, defines none."
    if isinstance(node, ast.ClassDef) or isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def test_no_name_is_defined_twice():
    "A second function of the same name would replace the first one for all that call it."
    for module, tree in trees():
        names = [name for node in tree.body for name in names_defined_by(node)]
        assert len(names) == len(set(names)), (module, [name for name in set(names) if names.count(name) > 1])


SAME_MODULE_NAMES = { # without a plural s -> why modules of two folders have the name
    'benchmark': 'measuring.benchmark has the items of a study file; stimuli.benchmarks reads two published benchmarks',
    'file': 'vectors.files reads files of vectors; auditing.files saves an audit',
    'load': 'the loader of models, and that of embedders',
    'measure': 'measuring.measure says what a measure is; auditing.measures is the table of all of them',
    'reading': 'results.readings has the reading of a result; auditing.readings counts those of an audit',
}


def singular(name):
    "A name without its plural ending."
    return f'{name[:-3]}y' if name.endswith('ies') else name.removesuffix('s')


def test_no_two_folders_have_a_module_of_the_same_name():
    "Nor of nearly the same name: `study` and `studies`."
    stems = [singular(Path(module).stem) for module, _ in trees()]
    assert {stem for stem in stems if stems.count(stem) > 1} == set(SAME_MODULE_NAMES)


def test_imports_over_several_lines_are_as_nbdev_writes_them():
    """nbdev shortens `from biasbook.core.checks import (` to `from ..core.checks import (`, so lines that were aligned with the bracket no longer are.

    The names begin on a line of their own, with a hanging indent. nbdev leaves the module as it is if the last line is shorter than `from` and the
    module; then move names to the last line."""
    found = [(module, node.lineno) for module, tree in trees() for node in tree.body
             if isinstance(node, ast.ImportFrom) and not node.level and node.module.startswith('biasbook')]
    for module, tree in trees():
        lines = (package / module).read_text(encoding='utf-8').splitlines()
        found += [(module, node.lineno) for node in ast.walk(tree)
                  if isinstance(node, ast.ImportFrom) and node.end_lineno > node.lineno and not lines[node.lineno - 1].endswith('(')]
    assert {module for module, _ in found} <= {'chapters/ceat.py'}       # still to do


def test_no_name_is_a_module_and_a_function():
    assert all(not inspect.ismodule(getattr(bb, name)) for name in bb.__all__)


def test_help_explains_every_parameter():
    "help(bb.NAME) has a line for each parameter: each has a comment in the source."
    silent = []
    for name in bb.__all__:
        function = getattr(bb, name)
        if inspect.isfunction(function):
            text = inspect.getdoc(function) or ''
            silent += [f'{name}({parameter})' for parameter in inspect.signature(function).parameters if f'    {parameter}: ' not in text]
    assert not silent


UPPER = ('measuring', 'chapters', 'auditing') # no module below one of them names it


def names_a_module(text, of_folders):
    "Does a text name a module of these folders, such as 'chapters.wefat:wefat_plot'?"
    return bool(re.search(rf'(?:^|\bbiasbook[./]|\.)(?:{"|".join(of_folders)})(?:[./:]\w|$)', text))


def texts_of(tree):
    "The string constants of a module, with their lines; no docstrings."
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}
    return [(node.lineno, node.value) for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings]


def test_lower_modules_do_not_name_upper_ones():
    "Not as text either. What a chapter knows of its metric is found by core.declared."
    found = []
    for module, tree in trees():
        folder, _, file = module.partition('/')
        above = UPPER[UPPER.index(folder) + 1:] if folder in UPPER else UPPER
        if file and above:
            found += [(module, line, text) for line, text in texts_of(tree) if names_a_module(text, above)]
    assert not found


@pytest.mark.parametrize('text, is_found', [('chapters.wefat:wefat_plot', True), ('biasbook.chapters.weat', True), ('auditing', True),
                                            ('biasbook/auditing/run.py', True), ('the chapters of the book', False), ('all chapters', False)])
def test_names_of_upper_modules_are_recognized(text, is_found):
    assert names_a_module(text, UPPER) == is_found


def is_metric(node):
    "Is this `something.metric`?"
    return isinstance(node, ast.Attribute) and node.attr == 'metric'


def is_written_out(node):
    "A literal, or a module's constant, whose content was written down."
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_written_out, node.elts))
    return isinstance(node, ast.Constant | ast.Dict) or isinstance(node, ast.Name) and node.id.isupper()


def asks_which_metric(node):
    "Does this expression compare a metric with a name that is written out?"
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(is_metric, sides)) and any(map(is_written_out, sides))
    if isinstance(node, ast.Subscript):
        return is_metric(node.slice) and is_written_out(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of_text = is_metric(node.func.value) and node.func.attr in ('startswith', 'endswith')
        of_table = node.func.attr == 'get' and is_written_out(node.func.value) and any(map(is_metric, node.args))
        return of_text or of_table
    return False


def test_no_module_but_a_chapter_asks_which_metric_a_result_has():
    "A measure of somebody else's package has another metric, so what depends on it is a fact of the result or is declared."
    found = [(module, node.lineno, ast.unparse(node)) for module, tree in trees() if not module.startswith('chapters/')
             for node in ast.walk(tree) if asks_which_metric(node)]
    assert not found


@pytest.mark.parametrize('source, asks', [("r.metric == 'WEAT d'", True), ("'WEAT d' != r.metric", True), ("r.metric in ('a', 'b')", True),
                                          ('r.metric in WEAT_METRICS', True), ("r.metric.startswith('BBQ ')", True), ('CHANGES.get(r.metric)', True),
                                          ('FIGURES[r.metric]', True), ('a.metric == b.metric', False), ('find_metric(r.metric)', False)])
def test_questions_for_the_metric_are_recognized(source, asks):
    assert asks_which_metric(ast.parse(source, mode='eval').body) == asks
