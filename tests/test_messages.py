"Names of functions and classes in the messages of errors can be reached: as bb.NAME, or with the module that has them."
import ast
import builtins
import re
from functools import cache
from pathlib import Path

import biasbook as bb

ROOT = Path(bb.__file__).parent
CALLED = re.compile(r'(?<![\w.])([a-z]\w{2,})(?=\()|`([a-zA-Z]\w+)(?:\(\))?`') # name( or `name`
OF_LIMITS = {'abs'} # functions in the language of limits


@cache
def trees():
    "(path, syntax tree) of each module."
    return [(path, ast.parse(path.read_text(encoding='utf-8'))) for path in sorted(ROOT.rglob('*.py'))]


def text_of(node):
    "The constant text of an expression, with the parts of an f-string that are computed left out."
    return ''.join(part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def definitions():
    "The names that each module defines, by name."
    found = {}
    for path, tree in trees():
        module = '.'.join(['biasbook', *path.relative_to(ROOT).with_suffix('').parts])
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith('_'):
                found.setdefault(node.name, set()).add(module)
    return found


def raised():
    "(place, names of the functions around, text) of each error that is raised."
    for path, tree in trees():
        around: dict = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and node.exc is not None:
                around.setdefault(node, set())
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Raise) and inner.exc is not None:
                        around.setdefault(inner, set()).add(node.name)
        for node, names in around.items():
            yield f'{path.relative_to(ROOT)}:{node.lineno}', names, text_of(node.exc)


def unreachable(own, text, defined):
    "The names in a message that a reader cannot look up."
    names = {one or other for one, other in CALLED.findall(text)}
    names |= {word for word in re.findall(r'(?<![\w.])[A-Za-z]\w*(?![\w=])', text) if '_' in word and word in defined}
    known = {*bb.__all__, *dir(builtins), *OF_LIMITS, *own}             # the function that was called knows its own name
    return [name for name in sorted(names - known) if not any(f'{module}' in text for module in defined.get(name, ()))]


def test_names_in_messages_can_be_reached():
    defined = definitions()
    assert unreachable(set(), 'see as_vectors', defined) == ['as_vectors'] and unreachable(set(), '`registry()` lists', defined) == ['registry']
    assert unreachable(set(), 'see biasbook.vectors.wordvectors.as_vectors', defined) == []
    found = [(place, unreachable(own, text, defined)) for place, own, text in raised()]
    assert len(found) > 500 and [(place, names) for place, names in found if names] == []
