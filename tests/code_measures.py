"""Measures of how plain the code of a package is, read from its source; nothing is imported.

    python tests/code_measures.py [FOLDER] [--names]

FOLDER is the folder of a package, by default biasbook beside this one. --names lists what was counted. The numbers show where
to look, and how one version compares with another. They are not limits. Files that nbdev writes for itself are left out."""
import argparse
import ast
import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise)
SENTENCES = {'query', 'metric', 'label', 'direction', 'p_text', 'note'} # fields of a result that are texts for people
SENTENCE_MAKERS = {'number_text', 'percent_text', 'units_text', 'test_text', 'p_sentence', 'interval_text', 'ends_text', 'comparison_text',
                   'note_text', 'notes_text', 'placebo_text', 'result_text', 'subject_result_text', 'format_p', 'format_test_p'}
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


def nodes(modules, *kinds):
    "(module, node) for each node of these kinds."
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, kinds):
                yield module, node


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
        for _, function in functions([module]):
            inside |= {child for child in ast.walk(function) if child is not function}
        for node in ast.walk(module.tree):
            if node in inside and isinstance(node, SIMPLE) and not is_text_alone(node):
                yield module, node


def functions(modules):
    return nodes(modules, ast.FunctionDef, ast.AsyncFunctionDef)


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


class PrivateImport(NamedTuple):
    "A name with a leading underscore that another module imports."
    source: str # the module that it comes from
    name: str


def private_imports(modules):
    "A `PrivateImport` for each name with a leading underscore that comes from another module of the package."
    for module, node in nodes(modules, ast.ImportFrom):
        source = imported_from(module, node)
        root = module.name.partition('.')[0]
        if node.level or source.startswith(root):
            for alias in node.names:
                if is_private(alias.name):
                    yield PrivateImport(source, alias.name)


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
    "A comparison, `not`, `and`, `or`, or a call that returns true or false; a name alone may as well be a number."
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ('bool', 'callable', 'isinstance', 'any', 'all', 'hasattr')
    return isinstance(node, (ast.Compare, ast.BoolOp)) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def texts_times_conditions(modules):
    for module, node in nodes(modules, ast.BinOp):
        sides = [(node.left, node.right), (node.right, node.left)]
        if isinstance(node.op, ast.Mult) and any(is_text(one) and is_condition(other) for one, other in sides):
            yield module, node


def steps_by_condition(modules):
    "Slices whose step depends on a condition, as in [::-1 if up else 1]."
    for module, node in nodes(modules, ast.Slice):
        if isinstance(node.step, ast.IfExp):
            yield module, node


def assignment_expressions(modules):
    return nodes(modules, ast.NamedExpr)


def nested_comprehensions(modules):
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for module, node in nodes(modules, *kinds):
        inside = [child for child in ast.walk(node) if child is not node]
        if any(isinstance(child, kinds) for child in inside):
            yield module, node


def deep_unpackings(modules):
    "Targets with a tuple inside a tuple inside a tuple."
    def depth(node):
        if not isinstance(node, (ast.Tuple, ast.List)):
            return 0
        return 1 + max([depth(child) for child in node.elts], default=0)

    for module, node in nodes(modules, ast.Assign, ast.For, ast.comprehension):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if max(map(depth, targets)) > 1:
            yield module, targets[0]


# -- classes and names --------------------------------------------------------------------------------------------------

def base_names(node):
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return [base.id if isinstance(base, ast.Name) else getattr(base, 'attr', '') for base in bases]


def imported_names(modules, module):
    "For each name that this module imports from the package: (module, name) where it is defined."
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
    for _, node in nodes(modules, ast.Name):
        count[node.id] += 1
    for _, node in nodes(modules, ast.Attribute):
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
    for module, node in nodes(modules, ast.JoinedStr):
        if re.search(r'(\band|…) \{\} (more|others)', joined_text(node)):
            yield module, node


def t_quantiles(modules):
    "Calls for a quantile of Student's t."
    for module, node in nodes(modules, ast.Call):
        if re.search(r'\b(t|student)\.(ppf|isf|interval)$|\bstdtrit$', ast.unparse(node.func)):
            yield module, node


def row_norms(modules):
    "Calls of norm over rows."
    for module, node in nodes(modules, ast.Call):
        is_norm = ast.unparse(node.func).endswith('linalg.norm')
        has_axis = len(node.args) > 1 or any(k.arg == 'axis' for k in node.keywords)
        if is_norm and has_axis:
            yield module, node


def ifs_that_raise(modules):
    "`if …: raise …`."
    for module, node in nodes(modules, ast.If):
        if any(isinstance(statement, ast.Raise) for statement in node.body):
            yield module, node


def option_checks(modules):
    "`if x not in (…): raise ValueError`."
    for module, node in ifs_that_raise(modules):
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        if any(isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) for test in tests):
            yield module, node


def type_checks(modules):
    "`if not isinstance(…): raise`."
    for module, node in ifs_that_raise(modules):
        if 'isinstance(' in ast.unparse(node.test):
            yield module, node


def parsed_sentences(modules):
    "Places that cut a text for people, such as a label or the words of a note, or look for words in it."
    def is_sentence(node):
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in SENTENCE_MAKERS
        if isinstance(node, ast.Name):
            return node.id in ('direction', 'note')
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and node.slice.value in ('direction', 'note', 'method')
        return isinstance(node, ast.Attribute) and node.attr in SENTENCES

    def is_cut(node):
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        return is_method and node.func.attr in CUTTING and is_sentence(node.func.value)

    def is_searched(node):
        is_search = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn))
        return is_search and is_text(node.left) and is_sentence(node.comparators[0])

    for module, node in nodes(modules, ast.Call, ast.Compare):
        if is_cut(node) or is_searched(node):
            yield module, node


def broad_excepts(modules):
    for module, node in nodes(modules, ast.ExceptHandler):
        if node.type is None or ast.unparse(node.type) in ('Exception', 'BaseException'):
            yield module, node


# -- the table ----------------------------------------------------------------------------------------------------------

class Measure(NamedTuple):
    "One line of the table."
    what: str
    value: float
    found: list[str] # what was counted


def measured(modules):
    "Each `Measure`, in the order of the table."
    files = list(modules.values())
    yield from sizes(files)
    yield from statement_measures(files)
    yield from import_measures(files)
    yield from habit_measures(files)
    yield from class_measures(modules)
    yield from repetition_measures(files)
    yield from circle_measures(modules)


def counted(what, found):
    "How many (module, node) pairs were found."
    places = [place(module, node) for module, node in found]
    return Measure(what, len(places), places)


def most_first(count_by_name):
    "The names with their counts, the largest count first."
    return [f'{n} {name}' for name, n in sorted(count_by_name.items(), key=lambda item: -item[1])]


def sizes(files):
    lines = {short(module): module.text.count('\n') for module in files}
    exactly_250 = [name for name, n in lines.items() if n == 250]
    nearly_250 = [name for name, n in lines.items() if 240 <= n <= 250]
    all_functions = list(functions(files))
    lengths = [(node.end_lineno - node.lineno + 1, f'{short(module)}.{node.name}') for module, node in all_functions]
    lengths.sort(reverse=True)
    yield Measure('modules', len(files), [])
    yield Measure('lines', sum(lines.values()), most_first(lines))
    yield Measure('modules of exactly 250 lines', len(exactly_250), exactly_250)
    yield Measure('modules of 240 to 250 lines', len(nearly_250), nearly_250)
    yield Measure('functions', len(all_functions), [])
    yield Measure('lines of a function, median', statistics.median(n for n, _ in lengths), [])
    yield Measure('lines of a function, longest', lengths[0][0], [f'{n} {name}' for n, name in lengths[:20]])


def statement_measures(files):
    statements = [(own_expressions(node), place(module, node)) for module, node in simple_statements(files)]
    statements.sort(reverse=True)
    counts = [n for n, _ in statements]
    long = [f'{n} {at}' for n, at in statements if n > 40]
    yield Measure('expressions per statement, median', statistics.median(counts), [])
    yield Measure('expressions per statement, 90 % point', statistics.quantiles(counts, n=10)[8], [])
    yield Measure('statements of more than 40 expressions', len(long), long)


def import_measures(files):
    imports = list(private_imports(files))
    names = Counter(found.name for found in imports)
    yield Measure('imports of underscore names', len(imports), most_first(names))
    yield Measure('underscore names that are imported', len(set(imports)), [])


def habit_measures(files):
    yield counted('texts times a condition', texts_times_conditions(files))
    yield counted('slices with a conditional step', steps_by_condition(files))
    yield counted('assignment expressions', assignment_expressions(files))
    yield counted('comprehensions inside comprehensions', nested_comprehensions(files))
    yield counted('unpackings of more than one level', deep_unpackings(files))


def class_measures(modules):
    files = list(modules.values())
    cut = list(cut_classes(modules))
    used = mentions(files)
    used_once = Counter(short(module) for module, node in cut if used[node.name] == 1)
    in_several = {name: places for name, places in top_level_names(files).items() if len(places) > 1}
    private = {name: places for name, places in in_several.items() if is_private(name)}
    public = {name: places for name, places in in_several.items() if not name.startswith('_')}
    last_parts = {short(module).rpartition('.')[2] for module in files}
    same_name = [name for name in top_level_names(files) if name in last_parts]

    def places_by_name(groups):
        longest_first = sorted(groups.items(), key=lambda item: -len(item[1]))
        return [f'{name}: {", ".join(places)}' for name, places in longest_first]

    yield Measure('private classes with one subclass', len(cut), [f'{short(module)}.{node.name}' for module, node in cut])
    yield Measure('  whose name is used nowhere else', sum(used_once.values()), most_first(used_once))
    yield Measure('private names in several modules', len(private), places_by_name(private))
    most_frequent = max(map(len, private.values()), default=0)
    yield Measure('  the most frequent one is in so many', most_frequent, places_by_name(private)[:12])
    yield Measure('public names in several modules', len(public), places_by_name(public))
    yield Measure('modules with a function of their name', len(same_name), same_name)


def repetition_measures(files):
    same = [', '.join(places) for places in same_bodies(files)]
    yield Measure('functions with the same body elsewhere', len(same), same)
    yield counted('texts such as "and 3 more"', and_more(files))
    yield counted('quantiles of t', t_quantiles(files))
    yield counted('norms of rows', row_norms(files))
    yield counted('option checks (not in …: raise)', option_checks(files))
    yield counted('type checks (isinstance: raise)', type_checks(files))
    yield counted('texts for people that are parsed', parsed_sentences(files))
    yield counted('except Exception', broad_excepts(files))


def circle_measures(modules):
    for when, at_call_time in (('as modules load', False), ('with calls', True)):
        groups = circles(modules, at_call_time)
        members = [' ↔ '.join(name.partition('.')[2] for name in group) for group in groups]
        yield Measure(f'import circles, {when}', len(groups), members)
        yield Measure(f'modules in circles, {when}', sum(map(len, groups)), [])


def main():
    here = Path(__file__).resolve().parent.parent / 'biasbook'
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', nargs='?', default=here, help='the folder of a package')
    parser.add_argument('--names', action='store_true', help='list what was counted')
    options = parser.parse_args()
    modules = read_package(options.folder)
    if not modules:
        raise SystemExit(f'{options.folder} has no Python files')
    for measure in measured(modules):
        print(f'{measure.what:<42} {measure.value:>8g}')
        if options.names:
            for line in measure.found:
                print(f'        {line}')


if __name__ == '__main__':
    main()
