"""Fuzz a reader of the package, or replay the inputs that are kept.

    pip install --no-deps --target .fuzz -r tests/fuzz/requirements.txt     # atheris, in a folder of its own
    PYTHONPATH=.fuzz python tests/fuzz/run.py queries --seconds 60          # one reader
    PYTHONPATH=.fuzz python tests/fuzz/run.py all --seconds 600 --jobs 2    # every reader, two at a time, and a table
    python tests/fuzz/run.py all --replay                                   # the corpus once more; needs no atheris

Findings are written to a folder (--findings, by default fuzz-findings): the smallest input of each kind, and what it did. The
exit code is 1 if there is one. New inputs that reach new code are forgotten at the end, unless --keep names a folder.
"""
import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from inputs import LARGEST, named_as_read                        # noqa: E402
from readers import MOST_MIB, MOST_SECONDS, READERS, check, check_apart, check_each      # noqa: E402

CORPUS = HERE / 'corpus'
HARD_SECONDS = 3 * MOST_SECONDS         # libFuzzer kills an input after this time; an input that is only too slow is reported when it ends
HARD_MIB = 3 * MOST_MIB
SHORTER = 20_000                        # bytes that repeated parts are cut to, unless --whole is given


def corpus(name):
    "The inputs of a reader that are kept, by file name."
    return {p.name: p.read_bytes() for p in sorted((CORPUS / name).iterdir())}


# -- findings ---------------------------------------------------------------------------------------------------------

def written(finding, folder):
    "Write a finding, unless one of its kind with a smaller input is there."
    mark = hashlib.sha256('|'.join(finding.key).encode()).hexdigest()[:8]
    path = folder / f'{finding.reader}-{re.sub("[^A-Za-z]+", "-", finding.what)[:30]}-{mark}.json'
    if path.exists() and json.loads(path.read_text())['bytes'] <= len(finding.data):
        return
    folder.mkdir(parents=True, exist_ok=True)
    shown = {'reader': finding.reader, 'what': finding.what, 'where': finding.where, 'said': finding.said, 'bytes': len(finding.data),
             'input': repr(finding.data[:2000]), 'base64': base64.b64encode(finding.data).decode()}
    path.write_text(json.dumps(shown, indent=1))


def smaller(name, data, key, tries=400):
    "A smaller input that does the same, by leaving parts out of the contents."
    named = named_as_read(data, READERS[name].names)
    found, seconds, _ = check(name, named, SHORTER)
    if not found or found.key != key or seconds > 1:
        return data
    data, size = named, len(named) // 2
    while size and tries > 0:
        i = data.find(b'\n') + 1
        while i < len(data) and tries > 0:
            shorter = data[:i] + data[i + size:]
            tries -= 1
            found, seconds, _ = check(name, shorter, SHORTER)
            if seconds > 1:
                tries -= 100
            if found and found.key == key:
                data = shorter
            else:
                i += size
        size //= 2
    return data


def shrink(name, path, folder):
    "Make the input of a finding smaller. An input that libFuzzer stopped is run again: on a busy machine it may only have been slow."
    if path.suffix == '.json':
        found = json.loads(path.read_text())
        if found['where'] and not found.get('small'):
            data = smaller(name, base64.b64decode(found['base64']), (name, found['what'], found['where']))
            found |= {'bytes': len(data), 'input': repr(data[:2000]), 'base64': base64.b64encode(data).decode(), 'small': True}
            path.write_text(json.dumps(found, indent=1))
    else:
        found, _, _ = check_apart(name, path.read_bytes(), SHORTER, 4 * HARD_SECONDS)
        path.unlink()
        if found:
            written(found, folder)


def adopt(folder):
    "Add the inputs of findings to the corpus, so that the ordinary tests read them from now on."
    for path in sorted(folder.glob('*.json')):
        found = json.loads(path.read_text())
        data = named_as_read(base64.b64decode(found['base64']), READERS[found['reader']].names)
        name = 'found_' + re.sub('[^a-z]+', '_', found['what'].lower())[:30] + '_' + hashlib.sha256(data).hexdigest()[:6]
        (CORPUS / found['reader'] / name).write_bytes(data)
        print(f'{found["reader"]}/{name}: {len(data)} bytes')


# -- one reader, in this process --------------------------------------------------------------------------------------

def fuzz_here(name, seconds, folder, keep):
    "Run libFuzzer on a reader; ends the process."
    import atheris
    from mutate import mutator
    reader, seen = READERS[name], {}
    with atheris.instrument_imports(include=['biasbook']):
        for file, data in corpus(name).items():         # imports everything that it needs
            if not re.search('large|bomb', file):
                check(name, data, SHORTER)

    def one(data):
        found, _, _ = check(name, data, SHORTER)
        if found and len(found.data) < seen.get(found.key, 1 << 30):
            seen[found.key] = len(found.data)
            written(found, folder)

    def by_bytes(data, max_size):
        return atheris.Mutate(data, max_size)           # looked up late: Fuzz() puts another function under this name

    options = [f'-max_total_time={seconds}', f'-timeout={HARD_SECONDS}', f'-rss_limit_mb={HARD_MIB}', '-report_slow_units=10000', f'-max_len={reader.max_len}',
               f'-artifact_prefix={folder}/{name}-hard-', '-print_final_stats=1', '-len_control=0', '-detect_leaks=0']
    atheris.Setup([sys.argv[0], *options, str(keep), str(CORPUS / name)], one, custom_mutator=mutator(reader, by_bytes))
    atheris.Fuzz()


# -- one reader, in a process of its own ------------------------------------------------------------------------------

def ended(command, most_seconds):
    "Run a command, kill it after `most_seconds`, and return what it printed and its exit code."
    env = {**os.environ, 'PYTHONHASHSEED': '0', 'TOKENIZERS_PARALLELISM': 'false'}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', env=env) as process:
        try:
            said = process.communicate(timeout=most_seconds)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0]
    return subprocess.CompletedProcess(command, process.returncode, said, '')


def fuzz(name, seconds, folder, keep=None):
    "Fuzz a reader for some seconds, and return its row of the table. A hang or a crash is a finding; fuzzing then goes on."
    row = {'reader': name, 'seconds': 0., 'executions': 0, 'coverage': 0, 'findings': 0, 'note': ''}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        new = Path(keep or tmp, name)
        new.mkdir(parents=True, exist_ok=True)
        end = time.monotonic() + seconds
        left = seconds
        while left > 2 or not row['seconds']:
            start = time.monotonic()
            run = ended([sys.executable, __file__, name, '--child', '--seconds', str(max(left, 1)), '--findings', str(folder),
                         '--keep', str(new)], max(left, 1) + 3 * HARD_SECONDS)
            row['seconds'] += round(time.monotonic() - start, 1)
            said = run.stdout
            done = re.findall(r'stat::number_of_executed_units: (\d+)', said) or re.findall(r'^#(\d+)\s', said, re.M)
            row['executions'] += int(done[-1]) if done else 0
            row['coverage'] = max([row['coverage'], *map(int, re.findall(r'cov: (\d+)', said))])
            if not done:
                row['note'] = 'did not start: ' + said.strip()[-300:]
                break
            if run.returncode and not list(folder.glob(f'{name}-hard-*')):
                row['note'] = f'ended with {run.returncode}: {said.strip()[-300:]}'
                break
            left = int(end - time.monotonic())
    for path in [*folder.glob(f'{name}-hard-*'), *folder.glob(f'{name}-*.json')]:
        ended([sys.executable, __file__, name, '--shrink', str(path), '--findings', str(folder)], 10 * HARD_SECONDS)
    row['findings'] = len([*folder.glob(f'{name}-*.json'), *folder.glob(f'{name}-hard-*')])
    return row


def table(rows):
    "The rows as a Markdown table."
    head = 'reader', 'seconds', 'executions', 'coverage', 'findings', 'note'
    cells = [head, ('---',) * len(head)] + [tuple(f'{r[k]:,}' if isinstance(r[k], int) else str(r[k]) for k in head) for r in rows]
    return '\n'.join('| ' + ' | '.join(row) + ' |' for row in cells)


# -- replay -----------------------------------------------------------------------------------------------------------

def replay(name, largest):
    "(reader, input, finding or None, seconds, MiB) for each input that is kept."
    check(name, next(iter(corpus(name).values())), SHORTER)            # imports what it needs, once
    kept = corpus(name)
    for file, (found, seconds, mib) in zip(kept, check_each(name, kept.values(), largest, HARD_SECONDS), strict=True):
        yield {'reader': name, 'input': file, 'what': found.what if found else '', 'where': found.where if found else '',
               'said': found.said if found else '', 'seconds': seconds, 'mib': mib}


def usable(name):
    "Is the library there that a reader needs?"
    from importlib.util import find_spec
    return not READERS[name].needs or find_spec(READERS[name].needs) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('reader', nargs='+', choices=[*READERS, 'all'])
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--findings', type=Path, default=Path('fuzz-findings'))
    parser.add_argument('--keep', type=Path)
    parser.add_argument('--replay', action='store_true')
    parser.add_argument('--whole', action='store_true', help='with --replay: large inputs at their full size of 1 MB')
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--adopt', type=Path, help='a folder of findings whose inputs are to be kept in the corpus')
    parser.add_argument('--shrink', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    o = parser.parse_args()
    names = [n for n in (READERS if 'all' in o.reader else o.reader) if usable(n)]
    if o.child:
        fuzz_here(names[0], o.seconds, o.findings.resolve(), o.keep)
    if o.adopt:
        return adopt(o.adopt)
    if o.shrink:
        return shrink(names[0], o.shrink, o.findings)
    if o.replay:
        rows = [row for name in names for row in replay(name, LARGEST if o.whole else SHORTER)]
        if o.json:
            print(json.dumps(rows))
        else:
            for row in rows:
                print(f'{row["reader"]:22} {row["input"]:40} {row["seconds"]:7.3f} s {row["mib"]:6.0f} MiB  {row["what"]} {row["where"]}')
        sys.exit(any(row['what'] for row in rows))
    o.findings.mkdir(parents=True, exist_ok=True)
    def one(name):
        row = fuzz(name, o.seconds, o.findings.resolve(), o.keep)
        print(f'{name}: {row["executions"]:,} executions, {row["findings"]} findings {row["note"]}', file=sys.stderr, flush=True)
        return row
    with ThreadPoolExecutor(o.jobs) as pool:
        rows = list(pool.map(one, names))
    print(table(rows))
    sys.exit(any(row['findings'] or row['note'] for row in rows))


if __name__ == '__main__':
    main()
