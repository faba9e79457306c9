"""What the fuzzer's bytes mean: the files that a reader is given.

An input is one file or a few. Its first line is the name of the first file, and everything after it is the content,
byte for byte. A line `%% NAME` begins another file. So a seed of a text format can be read and edited as it is.

A name may end in two instructions, which keep large inputs small in the corpus:

- `*N` repeats a part: the content is `HEAD<RS>PART<RS>TAIL`, where `<RS>` is the byte 0x1e, and becomes HEAD, N times
  PART, TAIL. In PART the byte 0x1d becomes the number of the repetition. For example `words.txt*20000` with `<RS>a,<RS>b`.
  The result is cut to fewer repetitions if it would be larger than a limit: 1 MB, or less where the caller says so.
- `>gz`, `>bz2`, `>xz` or `>zip` packs the content.

A store is a database, of which the smallest has 64 KB. `store.sql` therefore holds the SQL that makes one, and lines such as
`-- byte 100 255` and `-- cut 500` that damage the file afterwards.
"""
import bz2
import gzip
import io
import lzma
import re
import sqlite3
import zipfile
from contextlib import closing

SEPARATOR = re.compile(rb'\n%% ([^\n]{1,80})\n')
MARK = b'\x1e'
NUMBER = b'\x1d'
LARGEST = 1_000_000                     # bytes of a file, which is what the promise is about
MOST_GROWTH = 20                        # what an input packs is cut to so many times the limit


def read_parts(data):
    "(name with its instructions, content) of each file in an input."
    first, _, rest = data.partition(b'\n')
    pieces = SEPARATOR.split(rest)
    names = [first, *pieces[1::2]]
    return [(name.decode('latin-1'), content) for name, content in zip(names, pieces[::2])]


def write_parts(parts):
    "The bytes of an input, from (name, content) pairs; the inverse of `read_parts`."
    out = b''
    for name, content in parts:
        start = b'\n%% ' if out else b''
        out += start + name.encode('latin-1') + b'\n' + content
    return out


def read_name(name):
    "The name itself, how often a part is repeated, and how the file is packed."
    m = re.fullmatch(r'([^*>]*)(?:\*(\d{1,7}))?(?:>(\w+))?', name)
    if not m:
        return name, 1, ''
    return m[1], int(m[2] or 1), m[3] or ''


def repeated(content, times, largest):
    "The content with its marked part `times` times, or fewer so that it stays below `largest`."
    parts = content.split(MARK)
    if times == 1 or len(parts) != 3:
        return content
    head, part, tail = parts
    numbered = NUMBER in part
    room = (largest - len(head) - len(tail)) // max(len(part) + 6 * part.count(NUMBER), 1)
    times = max(1, min(times, room))
    if not numbered:
        return head + part * times + tail
    return head + b''.join(part.replace(NUMBER, b'%d' % i) for i in range(times)) + tail


def packed(content, how, name):
    "The content packed by gzip, bzip2, xz or zip; as it is for any other `how`."
    if how == 'gz':
        return gzip.compress(content, 6, mtime=0)
    if how == 'bz2':
        return bz2.compress(content)
    if how == 'xz':
        return lzma.compress(content, preset=0)
    if how == 'zip':
        out = io.BytesIO()
        with zipfile.ZipFile(out, 'w') as z:
            z.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return out.getvalue()
    return content


def database(program):
    "The bytes of the SQLite database that these lines of SQL make, with the damage that they ask for."
    lines = program.decode('utf-8', 'replace').split('\n')

    def allowed(action, *_):
        return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK

    with closing(sqlite3.connect(':memory:', isolation_level=None)) as db:
        db.set_authorizer(allowed)
        for line in lines:
            if not line.startswith('-- '):
                try:
                    db.execute(line)
                except (sqlite3.Error, sqlite3.Warning, ValueError):
                    pass                # what SQLite refuses is not in the file
        try:
            content = bytearray(db.serialize())
        except sqlite3.Error:
            return b''
    for line in lines:
        m = re.fullmatch(r'-- (byte|cut) (\d{1,7})(?: (\d{1,3}))?', line)
        if m and m[1] == 'cut':
            content = content[:int(m[2])]
        elif m and int(m[2]) < len(content):
            content[int(m[2])] = int(m[3] or 0) % 256
    return bytes(content)


def meant_name(given, names):
    "The name of a file without its instructions; one of the `names` if it is none of them."
    name, times, how = read_name(given)
    return (name if name in names else names[len(given) % len(names)]), times, how


def named_as_read(data, names):
    "The same input, with the names that its files get."
    parts = []
    for given, content in read_parts(data):
        name, times, how = meant_name(given, names)
        parts.append((name + (f'*{times}' if times > 1 else '') + (f'>{how}' if how else ''), content))
    return write_parts(parts)


def files(data, names, largest=LARGEST):
    "File name -> content of an input. A file that has none of these `names` gets one of them."
    out = {}
    for given, content in read_parts(data):
        name, times, how = meant_name(given, names)
        content = repeated(content, times, MOST_GROWTH * largest if how else largest)
        if name.endswith('.sql'):
            name, content = name.replace('.sql', '.sqlite'), database(content)
        content = packed(content, how, name)
        if how in ('gz', 'bz2', 'xz', 'zip'):
            name = f'{name}.{how}'
        out[name] = content
    return out
