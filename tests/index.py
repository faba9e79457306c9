"""What is made from the declarations of chapters: `python tests/index.py --write` writes the index of measures (data/measures.json), of
other metrics (data/metrics.json), of the kinds of notes (data/notes.json), and of the names that `bb` shows of them (data/names.json), and
__init__.pyi for type checkers.

Measures keep their place in the index, which is the order of audits; a new one goes to the end."""
import argparse
import ast
import importlib
import json
from importlib import import_module
from pathlib import Path

import biasbook
from biasbook.measuring.index import declared_measures, index_row
from biasbook.measuring.metrics import declared_changes, declared_metrics
from biasbook.stimuli.item_schema import ItemSchema

root = Path(__file__).resolve().parent.parent
INDEX = root / 'biasbook' / 'data' / 'measures.json'
METRICS = root / 'biasbook' / 'data' / 'metrics.json'
NAMES = root / 'biasbook' / 'data' / 'names.json'
NOTES = root / 'biasbook' / 'data' / 'notes.json'
STUB = root / 'biasbook' / '__init__.pyi'


def modules_with(word, folder='chapters'):
    "The modules of a folder that have a word in their source."
    paths = sorted((root / 'biasbook' / folder).glob('*.py'))
    return [import_module(f'biasbook.{folder}.{path.stem}') for path in paths if word in path.read_text(encoding='utf-8')]


def declared():
    "The row of each measure that a chapter declares, by the name of the measure."
    rows = {}
    for module in modules_with('Measure('):
        for measure in declared_measures(module):
            assert measure.name not in rows, f'{measure.name} is declared in {module.__name__} and in {rows[measure.name]["module"]}'
            rows[measure.name] = index_row(module.__name__, measure)
    return rows


def index_text():
    "The index as it should be."
    rows = declared()
    before = [row['name'] for row in json.loads(INDEX.read_text(encoding='utf-8'))] if INDEX.exists() else []
    new = sorted(rows.keys() - set(before), key=lambda name: (rows[name]['page'], name))
    ordered = [rows[name] for name in [*before, *new] if name in rows]
    return '[\n' + ',\n'.join(json.dumps(row, ensure_ascii=False) for row in ordered) + '\n]\n'


def metrics_text():
    "The index of metrics as it should be: those that no measure has, the metrics of functions, and the paired changes."
    of_measures = {metric['name'] for row in declared().values() for metric in row['metrics']}
    metrics, functions, changes = {}, {}, {}
    for module in modules_with('Metric('):
        for metric in declared_metrics(module):
            functions.update(dict.fromkeys(metric.functions, metric.name))
            if metric.name not in of_measures:
                assert metric.name not in metrics, f'{metric.name} is declared in {module.__name__} and in {metrics[metric.name]}'
                metrics[metric.name] = module.__name__
    for module in modules_with('PairedChange('):
        for declared_change in declared_changes(module):
            assert declared_change.metric not in changes, f'{declared_change.metric} has two paired changes'
            changes[declared_change.metric] = module.__name__
    return json.dumps({'metrics': metrics, 'functions': functions, 'changes': changes}, ensure_ascii=False, indent=1) + '\n'


def declared_notes(source):
    "The kinds of notes that the source of a module declares: code -> the name of its constant; '' if it has none."
    names = {}
    for statement in ast.parse(source).body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'NoteKind':
                code = ast.literal_eval(node.args[0])
                assert code not in names, f'two kinds of notes have the code {code!r}'
                is_constant = isinstance(statement, ast.Assign) and statement.value is node
                names[code] = statement.targets[0].id if is_constant else ''
    return names


def package_sources():
    "The sources of the package's modules by their names, such as biasbook.stats.estimate."
    paths = sorted((root / 'biasbook').glob('*/*.py'))
    return {f'biasbook.{path.parent.name}.{path.stem}': path.read_text(encoding='utf-8') for path in paths}


def notes_text(sources=None):
    "The index of notes as it should be: code -> the module that declares its kind."
    modules = {}
    for module, source in (sources or package_sources()).items():
        for code in declared_notes(source):
            assert code not in modules, f'{module} and {modules[code]} declare kinds of notes with the same code, {code!r}'
            modules[code] = module
    return json.dumps(modules, ensure_ascii=False, indent=0) + '\n'


def names_text():
    "The names that measures and the items of benchmarks add to `bb`: topic -> module -> names."
    groups = {'Measure word vectors': {}, 'Measure language models': {}, 'Measure embedders': {}, 'Words, sentences and items': {}}
    for module in modules_with('Measure('):
        for measure in declared_measures(module):
            kind = measure.kinds[0]
            group = {'vectors': 'Measure word vectors', 'embedder': 'Measure embedders'}.get(kind, 'Measure language models')
            same_name = [measure.name] if callable(getattr(module, measure.name, None)) else []
            groups[group].setdefault(module, []).extend([*same_name, *measure.functions])
    for module in modules_with('_SCHEMA', 'stimuli'):
        for schema in vars(module).values():
            if isinstance(schema, ItemSchema) and all(hasattr(module, name) for name in schema.functions):
                groups['Words, sentences and items'].setdefault(module, []).extend(schema.functions)
    texts = {}
    for group, modules in groups.items():
        texts[group] = {module.__name__.removeprefix('biasbook.'): ' '.join(sorted({*names})) for module, names in modules.items() if names}
        for module, names in modules.items():
            for name in names:
                assert callable(getattr(module, name)), f'{module.__name__} declares the function {name}, but has none'
    return json.dumps(texts, ensure_ascii=False, indent=1) + '\n'


def stub_text():
    "The names of `bb` for type checkers and editors, which cannot follow names that are found when they are used."
    init = ast.parse((root / 'biasbook' / '__init__.py').read_text(encoding='utf-8'))
    doc = ast.get_docstring(init)
    lines = [f'"""{doc.splitlines()[0]}"""', '# Made by tests/index.py --write.', 'from pandas import DataFrame', '']
    for name, module in sorted(biasbook._WHERE.items(), key=lambda item: (item[1], item[0])):
        lines.append(f'from biasbook.{module} import {name} as {name}')
    return '\n'.join([*lines, '', '__version__: str', 'measures: DataFrame', '__all__: list[str]', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true', help='write the file')
    if parser.parse_args().write:
        INDEX.write_text(index_text(), encoding='utf-8')
        METRICS.write_text(metrics_text(), encoding='utf-8')
        NOTES.write_text(notes_text(), encoding='utf-8')
        NAMES.write_text(names_text(), encoding='utf-8')
        importlib.reload(biasbook)              # with these names
        STUB.write_text(stub_text(), encoding='utf-8')
    else:
        print(index_text(), metrics_text(), notes_text(), names_text(), stub_text(), end='')


if __name__ == '__main__':
    main()
