"""The index of measures, biasbook/data/measures.json, and of other metrics, biasbook/data/metrics.json: `python tests/index.py --write`
makes them from what the chapters declare.

Measures keep their place in the index, which is the order of audits; a new one goes to the end."""
import argparse
import json
from importlib import import_module
from pathlib import Path

from biasbook.measuring.index import declared_measures, index_row
from biasbook.measuring.metrics import declared_changes, declared_metrics

root = Path(__file__).resolve().parent.parent
INDEX = root / 'biasbook' / 'data' / 'measures.json'
METRICS = root / 'biasbook' / 'data' / 'metrics.json'


def modules_with(word):
    "The modules of chapters that have a word in their source."
    paths = sorted((root / 'biasbook' / 'chapters').glob('*.py'))
    return [import_module(f'biasbook.chapters.{path.stem}') for path in paths if word in path.read_text(encoding='utf-8')]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true', help='write the file')
    if parser.parse_args().write:
        INDEX.write_text(index_text(), encoding='utf-8')
        METRICS.write_text(metrics_text(), encoding='utf-8')
    else:
        print(index_text(), metrics_text(), end='')


if __name__ == '__main__':
    main()
