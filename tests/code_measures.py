"""Measures of how plain the code of a package is, read from its source; nothing is imported.

    python tests/code_measures.py [FOLDER] [--names]

FOLDER is the folder of a package, by default biasbook beside this one. --names lists what was counted. The numbers are for
orientation: they say where to look, and are no limits. Those of two versions can be compared; files that nbdev writes for
itself are left out."""
import argparse
import ast
import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise)
OPTION_TESTS = (ast.In, ast.NotIn)
SENTENCES = {'method', 'query', 'metric', 'n', 'note', 'label'} # fields of a result that are texts for people
CUTTING = {'split', 'rsplit', 'partition', 'rpartition', 'removeprefix', 'removesuffix', 'startswith', 'endswith', 'replace'}


class Module(NamedTuple):
    "One file of the package."
    name: str # with dots, such as "biasbook.foundations.data"
    path: Path
    text: str
    tree: ast.Module
    package: str # what a relative import starts from


def read_package(folder):
    "The modules of a package, by their names."
    folder = Path(folder).resolve()
    modules = {}
    for path in sorted(folder.rglob('*.py')):
        if path.name == '_modidx.py':
            continue
        parts = [folder.name, *path.relative_to(folder).with_suffix('').parts]
        is_package = parts[-1] == '__init__'
        name = '.'.join(parts[:-1] if is_package else parts)
        package = name if is_package else name.rpartition('.')[0]
        text = path.read_text(encoding='utf-8')
        modules[name] = Module(name, path, text, ast.parse(text), package)
    return modules


def short(module):
    "The name of a module without that of the package."
    return module.name.partition('.')[2] or module.name


def place(module, node):
    return f'{short(module)}:{node.lineno}'


def is_private(name):
    return name.startswith('_') and not name.startswith('__')


# -- statements ---------------------------------------------------------------------------------------------------------

def own_expressions(statement):
    "How many expressions a statement has, without those of the statements inside it."
    count, waiting = 0, list(ast.iter_child_nodes(statement))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.stmt, ast.excepthandler)):
            continue
        count += isinstance(node, ast.expr)
        waiting += ast.iter_child_nodes(node)
    return count


def is_text_alone(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def simple_statements(modules):
    "(module, statement) for each assignment, call, return and raise inside a function; no docstrings."
    for module in modules:
        inside = set()
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside |= {child for child in ast.walk(node) if child is not node}
        for node in ast.walk(module.tree):
            if node in inside and isinstance(node, SIMPLE) and not is_text_alone(node):
                yield module, node


def functions(modules):
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield module, node


# -- imports ------------------------------------------------------------------------------------------------------------

def imported_from(module, node):
    "The module that a `from … import` names, with dots."
    if not node.level:
        return node.module or ''
    base = module.package.split('.')
    base = base[:len(base) - (node.level - 1)]
    return '.'.join([*base, *(node.module or '').split('.')]).rstrip('.')


def type_checking_nodes(tree):
    "Everything under `if TYPE_CHECKING`, which never runs."
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and 'TYPE_CHECKING' in ast.unparse(node.test):
            for statement in node.body:
                found |= set(ast.walk(statement))
    return found


def private_imports(modules):
    "(module, name) for each name with a leading underscore that comes from another module of the package."
    for module in modules.values():
        root = module.name.partition('.')[0]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and (node.level or imported_from(module, node).startswith(root)):
                for alias in node.names:
                    if is_private(alias.name):
                        yield module, node, alias.name


def import_graph(modules, at_call_time):
    "module -> modules of the package that it imports; at_call_time adds the imports inside functions."
    graph = defaultdict(set)
    for module in modules.values():
        never = type_checking_nodes(module.tree)
        inside = set()
        for _, function in functions([module]):
            inside |= set(ast.walk(function))
        for node in ast.walk(module.tree):
            if node in never or node in inside and not at_call_time:
                continue
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                source = imported_from(module, node)
                names = [source, *(f'{source}.{alias.name}' for alias in node.names)]
            for name in names:
                if name in modules and name != module.name and '.' in name:      # the package itself is no circle
                    graph[module.name].add(name)
    return graph


def circles(modules, at_call_time):
    "Groups of modules each of which reaches all others of the group through its imports."
    graph = import_graph(modules, at_call_time)

    def reached_from(start):
        seen, waiting = set(), list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph[name]
        return seen

    reach = {name: reached_from(name) for name in list(modules)}
    groups = {frozenset(other for other in reach[name] if name in reach[other]) for name in modules if name in reach[name]}
    return sorted(sorted(group) for group in groups)


# -- habits -------------------------------------------------------------------------------------------------------------

def is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_condition(node):
    "A comparison, `not`, `and`, `or`, or a call that gives true or false; a name alone is not told from a number."
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ('bool', 'callable', 'isinstance', 'any', 'all', 'hasattr')
    return isinstance(node, (ast.Compare, ast.BoolOp)) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def texts_times_conditions(modules):
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                if is_text(node.left) and is_condition(node.right) or is_text(node.right) and is_condition(node.left):
                    yield module, node


def steps_by_condition(modules):
    "Slices whose step depends on a condition, as in [::-1 if up else 1]."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Slice) and isinstance(node.step, ast.IfExp):
                yield module, node


def assignment_expressions(modules):
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.NamedExpr):
                yield module, node


def nested_comprehensions(modules):
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, kinds) and any(isinstance(child, kinds) for child in ast.walk(node) if child is not node):
                yield module, node


def deep_unpackings(modules):
    "Targets with a tuple inside a tuple inside a tuple."
    def depth(node):
        if not isinstance(node, (ast.Tuple, ast.List)):
            return 0
        return 1 + max([depth(child) for child in node.elts], default=0)

    for module in modules:
        for node in ast.walk(module.tree):
            targets = getattr(node, 'targets', [getattr(node, 'target', None)])
            if isinstance(node, (ast.Assign, ast.For, ast.comprehension)) and max(map(depth, targets)) > 1:
                at = node if hasattr(node, 'lineno') else node.target
                yield module, at


# -- classes and names --------------------------------------------------------------------------------------------------

def base_names(node):
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return [base.id if isinstance(base, ast.Name) else getattr(base, 'attr', '') for base in bases]


def imported_names(modules, module):
    "name in this module: (module, name) that it was imported from, within the package."
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            source = imported_from(module, node)
            if source in modules:
                found |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return found


def cut_classes(modules):
    "(module, class) for each private class that exactly one class has as its base: one class in two parts."
    classes = {(module.name, node.name): (module, node) for module in modules.values() for node in ast.walk(module.tree)
               if isinstance(node, ast.ClassDef)}
    subclasses = Counter()
    for module, node in classes.values():
        imported = imported_names(modules, module)
        for name in base_names(node):
            subclasses[imported.get(name, (module.name, name))] += 1
    for key, (module, node) in classes.items():
        if is_private(node.name) and subclasses[key] == 1:
            yield module, node


def mentions(modules):
    "How often each name is used, apart from where it is defined or imported."
    count = Counter()
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name):
                count[node.id] += 1
            elif isinstance(node, ast.Attribute):
                count[node.attr] += 1
    return count


def top_level_names(modules):
    "name -> modules that define a function or class of this name at the top."
    found = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found[node.name].append(short(module))
    return found


def same_bodies(modules):
    "Groups of functions in different modules whose bodies are the same code."
    groups = defaultdict(list)
    for module, node in functions(modules):
        body = [s for s in node.body if not is_text_alone(s)]
        if body:
            groups['\n'.join(map(ast.unparse, body))].append(f'{short(module)}.{node.name}')
    return [places for code, places in groups.items() if len(places) > 1 and len(code) > 40]


# -- helpers that are written again and again ---------------------------------------------------------------------------

def joined_text(node):
    "An f-string as text, with {} for what is filled in."
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ''.join(part.value if isinstance(part, ast.Constant) else '{}' for part in node.values)
    return ''


def and_more(modules):
    "Texts such as 'and 3 more'."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.JoinedStr) and re.search(r'(\band|…) \{\} (more|others)', joined_text(node)):
                yield module, node


def t_quantiles(modules):
    "Calls for a quantile of Student's t."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                if re.search(r'\b(t|student)\.(ppf|isf|interval)$|\bstdtrit$', ast.unparse(node.func)):
                    yield module, node


def row_norms(modules):
    "Calls of norm over rows."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith('linalg.norm'):
                if len(node.args) > 1 or any(k.arg == 'axis' for k in node.keywords):
                    yield module, node


def option_checks(modules):
    "`if x not in (…): raise ValueError`."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.If) and any(isinstance(s, ast.Raise) for s in node.body):
                tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
                if any(isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) for test in tests):
                    yield module, node


def type_checks(modules):
    "`if not isinstance(…): raise`."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.If) and any(isinstance(s, ast.Raise) for s in node.body):
                if 'isinstance(' in ast.unparse(node.test):
                    yield module, node


def parsed_sentences(modules):
    "Places that cut a text for people, such as a method or a note, or look for words in it."
    def is_sentence(node):
        if isinstance(node, ast.Name):
            return node.id in ('method', 'note')
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and node.slice.value in ('method', 'note')
        return isinstance(node, ast.Attribute) and node.attr in SENTENCES

    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CUTTING:
                if is_sentence(node.func.value):
                    yield module, node
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], OPTION_TESTS):
                if is_sentence(node.comparators[0]) and is_text(node.left):
                    yield module, node


def broad_excepts(modules):
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler):
                caught = 'everything' if node.type is None else ast.unparse(node.type)
                if caught in ('everything', 'Exception', 'BaseException'):
                    yield module, node


# -- the table ----------------------------------------------------------------------------------------------------------

def measured(modules):
    "(what, value, what was counted) for each measure."
    files = list(modules.values())
    lines = {short(m): m.text.count('\n') for m in files}
    sizes = [own_expressions(statement) for _, statement in simple_statements(files)]
    longest = [(own_expressions(node), place(module, node)) for module, node in simple_statements(files)]
    all_functions = list(functions(files))
    lengths = [(node.end_lineno - node.lineno + 1, f'{short(m)}.{node.name}') for m, node in all_functions]
    imports = list(private_imports(modules))
    names = Counter(name for *_, name in imports)
    sources = {(imported_from(m, node), name) for m, node, name in imports}
    cut = list(cut_classes(modules))
    used = mentions(files)
    alone = [(m, node) for m, node in cut if used[node.name] == 1]
    defined = top_level_names(files)
    private = {name: places for name, places in defined.items() if is_private(name) and len(places) > 1}
    public = {name: places for name, places in defined.items() if not name.startswith('_') and len(places) > 1}
    full = [name for name, n in lines.items() if n == 250]
    callable_names = [name for name in defined if any(short(m).rpartition('.')[2] == name for m in files)]

    def at(found):
        return [place(module, node) for module, node in found]
    def many(groups):
        return [f'{name}: {", ".join(places)}' for name, places in sorted(groups.items(), key=lambda x: -len(x[1]))]

    yield 'modules', len(files), []
    yield 'lines', sum(lines.values()), [f'{n} {name}' for name, n in sorted(lines.items(), key=lambda x: -x[1])]
    yield 'modules of exactly 250 lines', len(full), full
    yield 'modules of 240 to 250 lines', sum(240 <= n <= 250 for n in lines.values()), [k for k, n in lines.items() if 240 <= n <= 250]
    yield 'functions', len(all_functions), []
    yield 'lines of a function, median', statistics.median(n for n, _ in lengths), []
    yield 'lines of a function, longest', max(lengths)[0], [f'{n} {name}' for n, name in sorted(lengths, reverse=True)[:20]]
    yield 'expressions per statement, median', statistics.median(sizes), []
    yield 'expressions per statement, 90 % point', statistics.quantiles(sizes, n=10)[8], []
    yield 'statements of more than 40 expressions', sum(n > 40 for n in sizes), [f'{n} {p}' for n, p in sorted(longest, reverse=True)[:40]]
    yield 'imports of underscore names', len(imports), [f'{n} × {name}' for name, n in names.most_common()]
    yield 'underscore names that are imported', len(sources), []
    yield 'texts times a condition', *counted(at(texts_times_conditions(files)))
    yield 'slices with a conditional step', *counted(at(steps_by_condition(files)))
    yield 'assignment expressions', *counted(at(assignment_expressions(files)))
    yield 'comprehensions inside comprehensions', *counted(at(nested_comprehensions(files)))
    yield 'unpackings of more than one level', *counted(at(deep_unpackings(files)))
    yield 'private classes with one subclass', len(cut), [f'{short(m)}.{node.name}' for m, node in cut]
    yield '  whose name is used nowhere else', len(alone), [f'{n} {name}' for name, n in Counter(short(m) for m, _ in alone).most_common()]
    yield 'private names in several modules', len(private), many(private)
    yield '  the most frequent one is in so many', max(map(len, private.values()), default=0), many(private)[:12]
    yield 'public names in several modules', len(public), many(public)
    yield 'modules with a function of their name', len(callable_names), callable_names
    yield 'functions with the same body elsewhere', *counted([', '.join(places) for places in same_bodies(files)])
    yield 'texts such as "and 3 more"', *counted(at(and_more(files)))
    yield 'quantiles of t', *counted(at(t_quantiles(files)))
    yield 'norms of rows', *counted(at(row_norms(files)))
    yield 'option checks (not in …: raise)', *counted(at(option_checks(files)))
    yield 'type checks (isinstance: raise)', *counted(at(type_checks(files)))
    yield 'texts for people that are parsed', *counted(at(parsed_sentences(files)))
    yield 'except Exception', *counted(at(broad_excepts(files)))
    for when, at_call_time in (('as modules load', False), ('with calls', True)):
        groups = circles(modules, at_call_time)
        yield f'import circles, {when}', len(groups), [' ↔ '.join(name.partition('.')[2] for name in g) for g in groups]
        yield f'modules in circles, {when}', sum(map(len, groups)), []


def counted(found):
    return len(found), found


def main():
    here = Path(__file__).resolve().parent.parent / 'biasbook'
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', nargs='?', default=here, help='the folder of a package')
    parser.add_argument('--names', action='store_true', help='list what was counted')
    options = parser.parse_args()
    modules = read_package(options.folder)
    if not modules:
        raise SystemExit(f'{options.folder} has no Python files')
    for what, value, found in measured(modules):
        print(f'{what:<42} {value:>8g}')
        if options.names:
            for line in found:
                print(f'        {line}')


if __name__ == '__main__':
    main()
