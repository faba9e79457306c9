"""The index of measures, biasbook/data/measures.json: `python tests/index.py --write` makes it from what the chapters declare.

Measures keep their place in the index, which is the order of audits; a new one goes to the end."""
import argparse
import json
from importlib import import_module
from pathlib import Path

from biasbook.measuring.index import declared_measures, index_row

root = Path(__file__).resolve().parent.parent
INDEX = root / 'biasbook' / 'data' / 'measures.json'


def declared():
    "The row of each measure that a chapter declares, by the name of the measure."
    rows = {}
    for path in sorted((root / 'biasbook' / 'chapters').glob('*.py')):
        module = f'biasbook.chapters.{path.stem}'
        if 'Measure' not in path.read_text(encoding='utf-8'):
            continue
        for measure in declared_measures(import_module(module)):
            assert measure.name not in rows, f'{measure.name} is declared in {module} and in {rows[measure.name]["module"]}'
            rows[measure.name] = index_row(module, measure)
    return rows


def index_text():
    "The index as it should be."
    rows = declared()
    before = [row['name'] for row in json.loads(INDEX.read_text(encoding='utf-8'))] if INDEX.exists() else []
    new = sorted(rows.keys() - set(before), key=lambda name: (rows[name]['page'], name))
    ordered = [rows[name] for name in [*before, *new] if name in rows]
    return '[\n' + ',\n'.join(json.dumps(row, ensure_ascii=False) for row in ordered) + '\n]\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true', help='write the file')
    if parser.parse_args().write:
        INDEX.write_text(index_text(), encoding='utf-8')
    else:
        print(index_text(), end='')


if __name__ == '__main__':
    main()
