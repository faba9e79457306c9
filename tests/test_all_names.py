"""`__all__` has what other modules, pages and readers use. A cell whose names only its own module uses is `#| exporti`.

`python tests/test_all_names.py` also prints the names in cells of which another name is used: the cell could be split."""
import ast
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import biasbook as bb

root = Path(__file__).parent.parent
package = root / 'biasbook'
DECLARATIONS = {'Measure', 'Metric', 'PairedChange', 'PlaceboKind', 'ItemSchema'}        # found by the index, whatever their names are
STILL_TO_DO = { # pages with such cells
    'chapters.ceat', 'chapters.crows_pairs', 'chapters.honest', 'chapters.retrieval', 'results.readings',
    'stats.placebos', 'vectors.topics'}
EXCEPTIONS = { # 'module.name' -> why a name stays in `__all__` that nothing else uses
    **dict.fromkeys(['chapters.projection.direct_bias_score', 'chapters.projection.indirect_bias_score', 'chapters.what_remains.neighbor_shares',
                     'stats.effects.equivalence_pvalue', 'stats.multiplicity.decisions', 'stats.intervals.variance_with_shared_words', 'stats.multilevel.restricted_log_likelihood',
                     'stats.multilevel.PooledTests', 'stats.multilevel.pool_tests', 'stats.preferences.ClusterVariance',
                     'stats.preferences.two_way_variance', 'vectors.directions.principal_direction', 'vectors.directions.mean_direction'],
                    'the formula of a paper on arrays, for readers who have numbers of their own'),
    **dict.fromkeys(['chapters.agreement.agreement_plot', 'chapters.model_comparison.differences_plot', 'chapters.ranking.rank_plot'],
                    'the figure of a table that a reader has'),
    **dict.fromkeys(['models.chat.ChatClient', 'models.chat.LocalChat', 'models.served.ServedCheckpoint'], 'a class of what load_chat or load_model returns'),
}


@cache
def sources():
    "The source of each module, by its dotted name without `biasbook.`."
    paths = {'.'.join(path.relative_to(package).with_suffix('').parts): path for path in sorted(package.rglob('*.py')) if path.name[0] != '_'}
    return {module: path.read_text(encoding='utf-8') for module, path in paths.items()}


@cache
def tree_of(module):
    return ast.parse(sources()[module])


@cache
def all_of(module):
    "The names in `__all__` of a module."
    [value] = [node.value for node in tree_of(module).body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == '__all__']
    return ast.literal_eval(value)


@cache
def code_cells():
    "(module of the page or None, source) of each code cell."
    found = []
    for path in sorted((root / 'nbs').rglob('*.ipynb')):
        if '.ipynb_checkpoints' in path.parts:
            continue
        texts = [''.join(cell['source']) for cell in json.loads(path.read_text(encoding='utf-8'))['cells'] if cell['cell_type'] == 'code']
        modules = [named[1] for text in texts if (named := re.match(r'#\| *default_exp (\S+)', text))]
        found += [(modules[0] if modules else None, text) for text in texts]
    return found


def parsed(cell):
    "The syntax tree of a cell without its magics; nothing if that is no Python."
    try:
        return ast.parse(re.sub(r'^\s*[%!].*$', 'pass', cell, flags=re.M))
    except SyntaxError:
        return ast.parse('')


def names_used_by(tree, module=None):
    "(module, name) of what code takes from modules of the package. `module`: where the code is, for its relative imports."
    folder = ['biasbook', *module.split('.')[:-1]] if module else ['biasbook']
    modules = {}                                # what the code calls a module -> its dotted name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = folder[:len(folder) - node.level + 1] if node.level else []
            base = '.'.join([*above, *([node.module] if node.module else [])])
            if base.split('.')[0] != 'biasbook':
                continue
            for alias in node.names:
                yield base[9:], alias.name
                modules[alias.asname or alias.name] = f'{base}.{alias.name}'[9:]
        elif isinstance(node, ast.Import):
            modules.update({alias.asname or alias.name: alias.name[9:] for alias in node.names if alias.name.startswith('biasbook.')})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node.value)) in modules:
            yield modules[name], node.attr


@cache
def used_elsewhere():
    "module -> names that other modules, pages, tests, `bb` or the command line take from it."
    used = defaultdict(set)
    trees = [(tree_of(module), module) for module in sources()]
    trees += [(ast.parse(path.read_text(encoding='utf-8')), None) for path in [root / 'conftest.py', package / '__main__.py', *(root / 'tests').rglob('*.py')]]
    trees += [(parsed(cell), None) for _, cell in code_cells() if not re.match(r'#\| *export', cell)]
    for tree, module in trees:
        for source, name in names_used_by(tree, module):
            used[source].add(name)
    for name, module in {**bb._WHERE, **bb._LEAVING_FROM}.items():
        used[module].add(name)
    [script] = re.findall(r'^console_scripts = biasbook=biasbook\.(\S+):(\w+)', (root / 'settings.ini').read_text(), re.M)
    used[script[0]].add(script[1])
    init = (package / '__init__.py').read_text(encoding='utf-8')
    for module, name in re.findall(r"import_module\(f'\{__name__\}\.([\w.]+)'\)\.(\w+)", init):
        used[module].add(name)
    for module in sources():
        for node in tree_of(module).body:
            value = getattr(node, 'value', None)
            if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and ast.unparse(value.func) in DECLARATIONS:
                used[module].update(ast.unparse(target) for target in node.targets)
    return used


def help_text(node, lines):
    "What readers see of a function or a class: its signature with the comments, its docstring, and the fields and methods of a class."
    if isinstance(node, ast.ClassDef):
        own = [ast.unparse(base) for base in node.bases] + [ast.get_docstring(node) or '']
        fields = ['\n'.join(lines[field.lineno - 1:field.end_lineno]) for field in node.body if isinstance(field, ast.AnnAssign)]
        methods = [help_text(method, lines) for method in node.body if isinstance(method, ast.FunctionDef) and method.name[0] != '_']
        return '\n'.join([*own, *fields, *methods])
    return '\n'.join(lines[node.lineno - 1:node.body[0].lineno - 1]) + (ast.get_docstring(node) or '')


@cache
def used_names(module):
    "Names of a module that are used elsewhere, or that the help of such a name mentions, or that are raised."
    tree, lines = tree_of(module), sources()[module].splitlines()
    used = set(used_elsewhere()[module])
    used |= {ast.unparse(node.exc.func) for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)}
    texts = {node.name: set(re.findall(r'\w+', help_text(node, lines)))
             for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known = set(all_of(module))
    while more := {name for user in used & set(texts) for name in texts[user] & known} - used:
        used |= more
    return used


def exported_names(cell):
    "The public names that a cell defines."
    names = []
    for node in parsed(cell).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]
    return [name for name in names if name[0] != '_']


def internal_cells():
    "(module, names) of each cell that puts names into `__all__`, of which nothing else uses one."
    for module, cell in code_cells():
        if module and re.match(r'#\| *exports?\b', cell):
            names = [name for name in exported_names(cell) if name in all_of(module)]
            if names and not set(names) & used_names(module):
                yield module, names


def test_cells_that_only_their_module_uses_export_no_names():
    found = [(module, name) for module, names in internal_cells() for name in names]
    assert {module for module, _ in found if module in STILL_TO_DO} == STILL_TO_DO, 'these are done; take them off the list'
    assert {f'{module}.{name}' for module, name in found if module not in STILL_TO_DO} == set(EXCEPTIONS)


SAME_NAMES = { # in `__all__` of two modules -> why they keep it
    'audit': 'bb.audit, and the command of the same name',
    'CASES': 'the same choices, written twice because the page of configuration files must not load numpy',
    **dict.fromkeys(['KINDS', 'LEAST_WORDS', 'MOST_DRAWS', 'NUMBERS'], 'a constant that its page explains'),
    **dict.fromkeys(['Agreement', 'Rule', 'count_words'], 'still to be renamed'),
}


def test_no_name_means_two_things():
    modules = defaultdict(list)
    for module in sources():
        for name in all_of(module):
            modules[name].append(module)
    assert {name: found for name, found in modules.items() if len(found) > 1 and name not in SAME_NAMES} == {}
    assert {name for name in SAME_NAMES if len(modules[name]) < 2} == set(), 'these have one meaning now; take them off the list'


if __name__ == '__main__':
    for module in sources():
        unused = [name for name in all_of(module) if name not in used_names(module)]
        if unused:
            print(module, *unused)
