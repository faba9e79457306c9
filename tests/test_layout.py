"""What the layout promises: private names stay in their module, and `biasbook` shows its functions with their parameters."""
import ast
import inspect
from functools import cache
from pathlib import Path

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
