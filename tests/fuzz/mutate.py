"""Changes to an input that keep its structure: a tree of JSON with a node of another type, a CSV with odd quotes, a zip with a
member too many. `mutator(reader)` gives the function that atheris calls; the random numbers all come from its seed."""
import bz2
import gzip
import io
import json
import lzma
import math
import random
import re
import struct
import warnings
import zipfile
import zlib

import inputs

NAMES = ('name', 'X', 'Y', 'A', 'B', 'names', 'source', 'min_words', 'word', 'query', 'set', 'models', 'data', 'results', 'meta',
         'also', 'details', 'about', 'failures', 'sentences', 'context', 'target', 'type', 'examples', 'category', 'subjects',
         '__metadata__', 'dtype', 'shape', 'data_offsets', 'model', 'vocab', 'added_tokens', 'model_type', 'architectures', '<<')
SCALARS = (None, True, False, 0, 1, -1, 2, 5, 1e308, 1e-320, -0.0, 2**31, 2**63, 10**30, -10**30, float('nan'), float('inf'), '',
           ' ', 'x', 'a word', '\n', '\0', '\ud800', '\u202e', '\ufeff', 'é', '𝔄', '=cmd', '{}', '{x}', '{', 'GGG', 'BLANK', '~nobody/x',
           'yes', '2020-01-01', '0x1f', 'float32', 'bert', 'gpt2', '../x', 'x' * 300)
LINES = ('\n', '\r', '\r\n', '\n\n', '\x0b', '\x0c', '\x1c', '\x85', '\u2028', ' \n', '')
QUOTES = ('"', '""', '"""', "'", '`', '«')
DELIMITERS = (',', ';', '\t', '|', ' ', ', ', '\0', ':')
YAML = ('&a ', '*a', '&a [*a]', '<<: *a\n', '!!python/object/apply:os.getcwd []', '!!binary "AA=="', '!!timestamp 2020-99-99', '!!float x',
        '!!int 0b', '!!set {a, b}', '!!omap [a: 1]', '!!pairs [a: 1]', '? [a]\n: b', '? {a: b}\n: c', '--- ', '...\n', '%YAML 9.9\n', '%TAG ! x\n',
        '|\n  x', '>-\n  x', '- - - - ', '[[[[', '{{{{', '{[a]: b}', '2001-12-14t21:59:43.10-05:00', '1:2:3', '.inf', '.nan', '0o7', '1_000', '~', '=',
        '"\\ud800"', '"\\x00"', "'", '@', '`', '\t- a', '!<x> y', '! ', '<<: 1\n', '<<: [1]\n', '? ')
NUMBERS = (b'1', b'-1.5', b'1e3', b'nan', b'inf', b'-inf', b'1e999', b'1e-999', b'+1', b'.5', b'5.', b'0x10', b'1_0', b'1,5', b'--1', b'e5', b'1e', b'',
           b'1' * 60, b'.' * 20, b'1.' + b'0' * 60, '١'.encode(), b'1\0', b'\xff', b'True', b'1d3', b'1e+', b'infinity', b'-nan', b'1e38', b'1e19')
COUNTS = (0, 1, 2, 3, 7, 255, 2**16, 2**20, 2**20 + 1, 10**8, 2**31 - 1, 2**31, 2**32, 2**63, 10**15 - 1, 10**16)
TIMES = (50, 1000, 20_000)
SCALES_TEXT = 400                       # one change in 400 makes a large file


# -- trees: JSON and YAML ---------------------------------------------------------------------------------------------

class Pairs(list):
    "A mapping as (key, value) pairs, so that a key can come twice."


def random_tree(r, depth=3):
    kind = r.random()
    if depth and kind < .25:
        return [random_tree(r, depth - 1) for _ in range(r.randrange(4))]
    if depth and kind < .5:
        return Pairs((r.choice(NAMES), random_tree(r, depth - 1)) for _ in range(r.randrange(4)))
    return r.choice(SCALARS)


def places(tree, found=None):
    "(container, index) of every node of a tree below its root."
    found = [] if found is None else found
    if isinstance(tree, list):
        for i, value in enumerate(tree):
            found.append((tree, i))
            places(value[1] if isinstance(tree, Pairs) else value, found)
    return found


def change_tree(tree, r):
    "A change or several in a tree of lists and `Pairs`; returns the new root."
    for _ in range(r.choice((1, 1, 1, 2, 4))):
        there = places(tree)
        if not there or r.random() < .03:
            tree = random_tree(r)
            continue
        parent, i = r.choice(there)
        if i >= len(parent):
            continue
        how = r.random()
        if how < .15:
            del parent[i]
        elif how < .3:
            parent.insert(r.randrange(len(parent) + 1), parent[i])
        elif how < .4:
            other, k = r.choice(there)
            if k < len(other):
                value = other[k]
                value = value[1] if isinstance(other, Pairs) else value
                value = value if not isinstance(value, list) else json_tree(dump_json(value, r), value)
                parent[i] = (parent[i][0], value) if isinstance(parent, Pairs) else value
        elif isinstance(parent, Pairs):
            key, value = parent[i]
            if how < .55:
                key = r.choice(NAMES)
            else:
                value = random_tree(r, 2)
            parent[i] = key, value
        else:
            parent[i] = random_tree(r, 2)
    return tree


def json_tree(text, default=None):
    try:
        return json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return default


def dump_json(tree, r):
    "A tree as JSON text; NaN and halves of characters as Python writes them."
    def written(x):
        if isinstance(x, Pairs):
            return '{' + ', '.join(f'{json.dumps(str(k))}: {written(v)}' for k, v in x) + '}'
        if isinstance(x, list):
            return '[' + ', '.join(map(written, x)) + ']'
        return json.dumps(x, ensure_ascii=r.random() < .7 or isinstance(x, str) and not x.isascii(), default=str)
    return written(tree)


def dump_yaml(tree, r):
    "A tree as YAML: flow style, with bare scalars and odd tags here and there."
    def scalar(x):
        if isinstance(x, str) and r.random() < .5 and '\n' not in x and '\0' not in x:
            return x
        return json.dumps(x, default=str)

    def written(x):
        odd = r.choice(YAML) if r.random() < .03 else ''
        if isinstance(x, Pairs):
            return odd + '{' + ', '.join(f'{scalar(k)}: {written(v)}' for k, v in x) + '}'
        if isinstance(x, list):
            return odd + '[' + ', '.join(map(written, x)) + ']'
        return odd + scalar(x)

    if isinstance(tree, Pairs):
        return '\n'.join(f'{scalar(k)}: {written(v)}' for k, v in tree) + '\n'
    if isinstance(tree, list):
        return '\n'.join(f'- {written(v)}' for v in tree) + '\n'
    return written(tree)


def yaml_tree(text):
    import yaml
    if len(text) > 3000 or text.count('*') > 8:
        return None
    class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
        pass
    def mapping(loader, node):
        return Pairs((loader.construct_object(k, deep=True), loader.construct_object(v, deep=True)) for k, v in node.value)
    Loader.add_constructor('tag:yaml.org,2002:map', mapping)
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        return None


# -- text -------------------------------------------------------------------------------------------------------------

def splice(text, piece, r):
    i = r.randrange(len(text) + 1)
    return text[:i] + piece + text[i:]


def change_lines(text, r):
    "Lines joined, doubled, swapped, dropped, ended in another way."
    lines = text.split('\n')
    i = r.randrange(len(lines))
    how = r.randrange(6)
    if how == 0:
        lines.insert(i, lines[r.randrange(len(lines))])
    elif how == 1:
        del lines[i]
    elif how == 2:
        lines[i] = ''
    elif how == 3:
        return r.choice(LINES).join(lines)
    elif how == 4:
        k = r.randrange(len(lines))
        lines[i], lines[k] = lines[k], lines[i]
    else:
        lines[i] = splice(lines[i], r.choice(LINES), r)
    return '\n'.join(lines)


def change_cells(text, r):
    "Cells of a CSV quoted, split, emptied or moved; another delimiter."
    delimiter = max(DELIMITERS[:4], key=text.count)
    rows = [line.split(delimiter) for line in text.split('\n')]
    how, row = r.randrange(7), r.choice(rows)
    i = r.randrange(len(row))
    if how == 0:
        row[i] = r.choice(QUOTES) + row[i]
    elif how == 1:
        row[i] = '"' + row[i] + r.choice(LINES) + row[i] + '"'
    elif how == 2:
        row.insert(i, r.choice(['', ' ', row[i], 'x', 'stereo', 'X', '=1+1']))
    elif how == 3:
        del row[i]
    elif how == 4:
        row[i] = str(r.choice(SCALARS))
    elif how == 5:
        for some in rows:
            some.append(some[min(i, len(some) - 1)])
    else:
        return r.choice(DELIMITERS).join(text.split(delimiter))
    return '\n'.join(delimiter.join(some) for some in rows)


def change_text(name, content, r):
    "A change that fits the kind of text."
    text = content.decode('utf-8', 'surrogateescape')
    how = r.random()
    tree = None
    if name.endswith(('.json', '.jsonl')) and how < .75:
        if name.endswith('l') and '\n' in text.strip():
            lines = text.split('\n')
            i = r.randrange(len(lines))
            tree = json_tree(lines[i])
            if tree is not None:
                lines[i] = dump_json(change_tree(tree, r), r)
            text = '\n'.join(lines)
        else:
            tree = json_tree(text)
            text = text if tree is None else dump_json(change_tree(tree, r), r)
    elif name.endswith('.yaml') and how < .5:
        tree = yaml_tree(text)
        text = text if tree is None else dump_yaml(change_tree(tree, r), r)
    elif name.endswith('.yaml') and how < .75:
        text = splice(text, r.choice(YAML), r)
    elif name.endswith('.csv') and how < .7:
        text = change_cells(text, r)
    elif how < .85:
        text = change_lines(text, r)
    else:
        text = splice(text, str(r.choice(SCALARS)), r)
    out = text.encode('utf-8', 'surrogateescape' if r.random() < .5 and not re.search('[\ud800-\udc7f\udd00-\udfff]', text) else 'surrogatepass')
    how = r.random()
    if how < .01:
        out = b'\xef\xbb\xbf' + out
    elif how < .02:
        out = text.encode('utf-16', 'surrogatepass')
    elif how < .03:
        out = text.encode('latin-1', 'replace')
    return out


# -- vectors ----------------------------------------------------------------------------------------------------------

def change_vector_text(name, content, r):
    "A cell, a row, a separator or the header of rows of numbers changed."
    lines = content.split(b'\n')
    i = r.randrange(len(lines))
    cells = lines[i].split(b' ')
    k = r.randrange(len(cells))
    how = r.randrange(9)
    if how == 0:
        cells[k] = r.choice(NUMBERS)
    elif how == 1:
        cells.insert(k, r.choice(NUMBERS))
    elif how == 2:
        del cells[k]
    elif how == 3:
        cells[0] = r.choice([b'', b'\xff', 'é'.encode(), b'\0', b'1', b'a b', cells[0] * 3, b'\xed\xa0\x80', b'\xef\xbb\xbfa', lines[r.randrange(len(lines))].split(b' ')[0]])
    elif how == 4:
        lines.insert(i, lines[r.randrange(len(lines))])
    elif how == 5:
        lines[0] = b'%d %d' % (r.choice([len(lines) - 2, r.choice(COUNTS)]), r.choice([max(len(cells) - 1, 0), r.choice(COUNTS)]))
    elif how == 6:
        return r.choice([b'\r\n', b'\r', b'\n\n', b' \n', b'\x0b']).join(lines)
    elif how == 7:
        lines[i] = lines[i] + r.choice([b' ', b'\t', b'\r', b' 1', b'\0', lines[r.randrange(len(lines))]])
    if how != 5 and how != 4:
        lines[i] = b' '.join(cells)
    return b'\n'.join(lines)


def change_vector_binary(name, content, r):
    "A header with other numbers, rows with other words or bits, line feeds between rows, a cut."
    head, _, body = content.partition(b'\n')
    how = r.randrange(6)
    if how == 0:
        head = b'%d %d' % (r.choice(COUNTS), r.choice(COUNTS))
    elif how == 1:
        n, d = r.randrange(1, 6), r.randrange(1, 6)
        feed = r.choice([b'', b'\n'])
        head = b'%d %d' % (n + r.choice([0, 0, 0, 1, -1]), d)
        word = r.choice([b'w%d', 'é%d'.encode(), b'\xff%d', b'w%d\n', b'%dw w', b'same'])
        rows = [(word % i if b'%d' in word else word) + b' ' + r.choice([struct.pack(f'<{d}f', *[r.uniform(-1, 1) for _ in range(d)]), r.randbytes(4 * d)])
                for i in range(n)]
        body = feed.join(rows) + r.choice([b'', b'\n', b'x'])
    elif how == 2 and body:
        i = r.randrange(len(body))
        body = body[:i] + struct.pack('<f', r.choice([math.nan, math.inf, 1e30, 0, 1e-45])) + body[i + 4:]
    elif how == 3:
        body = body[:r.randrange(len(body) + 1)]
    elif how == 4 and body:
        i = r.randrange(len(body))
        body = body[:i] + r.choice([b' ', b'\n', b'\0', b'  ']) + body[i:]
    else:
        body = body + body[:r.randrange(len(body) + 1)]
    return head + b'\n' + body


# -- arrays and zips --------------------------------------------------------------------------------------------------

def npy_header(r):
    "The header of an .npy, as a dictionary in Python's syntax or nearly so."
    types = "<f4 <f8 <f2 >f4 <i8 <u1 |b1 <U3 <U0 |S2 |O |V8 <c8 <M8[s] <f16 f4 <U999999999 [('a','<f4')] x".split()
    shapes = ['(2, 3)', '(6,)', '()', '(0, 3)', '(3, 0)', '(-1, 3)', '(2, 3, 1)', '(1000000000, 1000000000)', '(2L, 3L)', '(True, 6)',
              '(2.0, 3)', '2', '(' * 300, '(4294967296, 4294967296, 4294967296)', '(1,' * 40 + ')' * 40, "('a',)", '[2, 3]']
    kind = repr(r.choice(types)) if r.random() < .9 else r.choice(types)
    fields = [f"'descr': {kind}", f"'fortran_order': {r.choice(['False', 'True', '0', 'None', '[]'])}", f"'shape': {r.choice(shapes)}"]
    if r.random() < .1:
        fields.pop(r.randrange(3))
    if r.random() < .1:
        fields.append(r.choice(["'x': 1", '1: 1', "'shape': (1,)", '**{}', "'y': __import__('os')"]))
    return '{' + ', '.join(fields) + ', }'


def change_npy(name, content, r):
    how = r.random()
    if how < .5 or not content.startswith(b'\x93NUMPY'):
        version = r.choice([(1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (0, 0), (9, 9)])
        text = npy_header(r).encode()
        text += b' ' * (-(len(text) + 11) % 64) + b'\n'
        size = len(text) if r.random() < .9 else r.choice([0, 1, 65535])
        body = content[-24:] if r.random() < .7 else r.randbytes(r.randrange(64))
        return b'\x93NUMPY' + bytes(version) + struct.pack('<H' if version[0] < 2 else '<I', size) + text + body
    start = content.find(b'{')
    i = r.randrange(start, len(content)) if 0 <= start < len(content) else 0
    return content[:i] + r.choice([b'', b' ', b'\xff', b'(', b'9', b'-', b"'", b'\0']) + content[i + r.randrange(2):]


def npy(array_bytes, descr, shape):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    text += b' ' * (-(len(text) + 11) % 64) + b'\n'
    return b'\x93NUMPY\1\0' + struct.pack('<H', len(text)) + text + array_bytes


def change_zip(name, content, r):
    "The members of a zip changed, doubled, renamed, packed in another way; or a field of its directory."
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as z:
            members = [(info.filename, z.read(info), info.compress_type) for info in z.infolist()]
    except Exception:                   # a zip that earlier changes have damaged: its bytes are changed below
        members = []
    if not members or r.random() < .15:
        i = r.randrange(len(content) + 1)
        signature = content.rfind(r.choice([b'PK\1\2', b'PK\3\4', b'PK\5\6']))
        i = signature + r.randrange(46) if signature >= 0 and r.random() < .8 else i
        return content[:i] + bytes([r.choice([0, 1, 8, 9, 12, 14, 255, 127, 99])]) + content[i + 1:]
    i = r.randrange(len(members))
    member, data, how_packed = members[i]
    how = r.randrange(8)
    if how == 0:
        members[i] = r.choice(['words.npy', 'vectors.npy', 'about.npy', 'texts.npy', 'x.npy', '../x.npy', '/x', 'a/b.npy', '__MACOSX/x', 'x.txt', '', 'é.npy']), data, how_packed
    elif how == 1:
        members.append(members[r.randrange(len(members))])
    elif how == 2:
        del members[i]
    elif how == 3:
        members[i] = member, data, r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    elif how in (4, 5) and data.startswith(b'\x93NUMPY'):
        members[i] = member, change_npy(member, data, r), how_packed
    elif how == 6 and data.startswith(b'\x93NUMPY'):
        start = data.find(b'\n') + 1
        body = data[start:]
        if body.startswith(b'{') or body.startswith(b'['):
            tree = json_tree(body.decode('utf-8', 'replace'), Pairs())
            body = dump_json(change_tree(tree, r), r).encode('utf-8', 'surrogatepass')
            members[i] = member, npy(body, '|u1', (len(body),)), how_packed
        elif "'<U" in data[:start].decode('latin-1') and start:
            text = body.decode('utf-32-le', 'replace')
            tree = json_tree(text.rstrip('\0'))
            text = dump_json(change_tree(tree, r), r) if isinstance(tree, list) else splice(text, str(r.choice(SCALARS)), r)
            text = text.encode('utf-32-le', 'surrogatepass')
            members[i] = member, npy(text, f'<U{len(text) // 4}', ()), how_packed
        else:
            k = r.randrange(len(data))
            members[i] = member, data[:k] + r.randbytes(4) + data[k + 4:], how_packed
    else:
        members[i] = member, r.choice([data[:r.randrange(len(data) + 1)], data + data, b'', b'PK\3\4' + data]), how_packed
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        for member, data, how_packed in members:
            info = zipfile.ZipInfo(member or 'x')
            info.compress_type = how_packed
            if r.random() < .02:
                info.flag_bits |= 1
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                z.writestr(info, data)
    return out.getvalue()


def change_safetensors(name, content, r):
    "The JSON header of a safetensors file changed, its length kept true or not."
    size = int.from_bytes(content[:8], 'little')
    head, body = content[8:8 + size], content[8 + size:]
    tree = json_tree(head.decode('utf-8', 'replace'))
    how = r.random()
    if tree is None or how < .1:
        tree = Pairs([('vectors', Pairs([('dtype', r.choice(['F32', 'F64', 'F16', 'BF16', 'I64', 'U8', 'BOOL', 'X'])),
                                          ('shape', [2, 3]), ('data_offsets', [0, 24])]))])
    if how > .1:
        for parent, i in places(tree):
            if not isinstance(parent, Pairs) and type(parent[i]) is int and r.random() < .2:
                parent[i] = r.choice([*COUNTS, -1, 1.5, '2'])
        if r.random() < .5:
            tree = change_tree(tree, r)
    text = dump_json(tree, r).encode('utf-8', 'surrogatepass')
    if how > .5:
        text += b' ' * (-len(text) % 8)
    size = len(text) if r.random() < .9 else r.choice(COUNTS)
    return (size % 2**64).to_bytes(8, 'little') + text + body


# -- packed files and databases ---------------------------------------------------------------------------------------

def change_packed(name, content, r):
    "What is packed changed and packed again; streams joined, cut, followed by zeros; a zip with odd members."
    how = r.random()
    if content[:2] == b'PK' and how < .6:
        return change_zip(name, content, r)
    kind = next((k for k, magic in (('gz', b'\x1f\x8b'), ('bz2', b'BZh'), ('xz', b'\xfd7zXZ')) if content.startswith(magic)), '')
    if kind and how < .6:
        try:
            plain = {'gz': gzip.decompress, 'bz2': bz2.decompress, 'xz': lzma.decompress}[kind](content)[:4096]
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            plain = b'a 1 2\nb 3 4\n'
        plain = change_vector_text(name, plain, r)
        out = inputs.packed(plain, r.choice([kind, kind, 'gz', 'bz2', 'xz', 'zip']), 'vectors.txt')
        how = r.random()
        if how < .1:
            out = inputs.packed(out, kind, 'x')
        elif how < .2:
            out = out + out
        elif how < .3:
            out = out[:r.randrange(len(out) + 1)]
        elif how < .4:
            out += r.choice([b'\0' * 8, b'x', b'\n'])
        return out
    i = r.randrange(len(content) + 1)
    return content[:i] + r.randbytes(r.randrange(1, 4)) + content[i + r.randrange(4):]


SQL = ('CREATE TABLE items (key TEXT PRIMARY KEY, kind TEXT NOT NULL, check_ BLOB NOT NULL, value BLOB NOT NULL)',
       'CREATE TABLE items (key, kind, check_, value)', 'CREATE TABLE other (a)', 'CREATE INDEX i ON items (kind)',
       'CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM items; END', 'CREATE VIEW v AS SELECT * FROM items',
       'PRAGMA application_id = 1651073395', 'PRAGMA application_id = 7', 'PRAGMA page_size = 512', "PRAGMA encoding = 'UTF-16'",
       'PRAGMA user_version = 9', 'PRAGMA writable_schema = 1', "UPDATE sqlite_master SET sql = 'x'", 'UPDATE sqlite_master SET rootpage = 99',
       'DELETE FROM items', "INSERT INTO items VALUES ('k', 'kind', x'00', x'01')", "INSERT INTO items VALUES (NULL, 'kind', x'00', x'01')",
       "INSERT INTO items VALUES (x'ff', 'embeddings', 'text', 'text')", "INSERT INTO items VALUES ('k2', CAST(x'ff' AS TEXT), 1, 2.5)",
       "INSERT INTO items VALUES (CAST(x'fffe' AS TEXT), 'kind', x'00', x'01')", "INSERT INTO items VALUES (1, 'embedding replies', 3, 4)",
       "UPDATE items SET value = x'7b7d'", "UPDATE items SET kind = 'embedding replies'", 'UPDATE items SET kind = 5', "UPDATE items SET kind = x'00ff'",
       'UPDATE items SET key = upper(key)', 'UPDATE items SET key = NULL')


def change_sql(name, content, r):
    if not name.endswith('.sql') and content.startswith(b'SQLite'):
        i = r.randrange(min(len(content), 200))
        return content[:i] + bytes([r.choice([0, 1, 255, 13, 10, 5, 2])]) + content[i + 1:]
    lines = content.decode('utf-8', 'replace').split('\n')
    i = r.randrange(len(lines) + 1)
    how = r.randrange(5)
    if how == 0:
        lines.insert(i, r.choice(SQL))
    elif how == 1:
        where = r.choice([r.randrange(120), 32768 + r.randrange(64), 65536 - r.randrange(1, 400), r.randrange(70000)])
        lines.append(f'-- byte {where} {r.choice([0, 1, 255, r.randrange(256)])}')
    elif how == 2 and len(lines) > 1:
        del lines[i % len(lines)]
    elif how == 3:
        lines.append(f'-- cut {r.choice([0, 16, 99, 100, 512, 32768, r.randrange(66000)])}')
    else:
        hex_key = re.search(r"x'([0-9a-f]{2,})'", content.decode('utf-8', 'replace'))
        lines.insert(i, f"UPDATE items SET value = x'{r.randbytes(r.randrange(6)).hex()}'" if not hex_key else r.choice(SQL))
    return '\n'.join(lines[:40]).encode()


# -- one mutator a reader ---------------------------------------------------------------------------------------------

CHANGES = {'text': change_text, 'vector_text': change_vector_text, 'vector_binary': change_vector_binary, 'npz': change_zip, 'npy': change_npy,
           'safetensors': change_safetensors, 'packed': change_packed, 'sql': change_sql}


def changed(reader, data, r):
    "An input with one of its files changed, or a file more or less, or a part of it repeated."
    parts = inputs.read_parts(data)
    i = r.randrange(len(parts))
    name, content = parts[i]
    plain, times, how_packed = inputs.read_name(name)
    how = r.random()
    if how < .04:
        plain = r.choice(reader.names)
    elif how < .06 and len(reader.names) > 1 and len(parts) < 6:
        parts.append((r.choice(reader.names), content))
    elif how < .07 and len(parts) > 1:
        del parts[i]
        return inputs.write_parts(parts)
    elif how < .07 + 1 / SCALES_TEXT and reader.mutator in ('text', 'vector_text'):
        a, b = sorted(r.randrange(len(content) + 1) for _ in range(2))
        content = content.replace(inputs.MARK, b'')
        content = content[:a] + inputs.MARK + content[a:b] + inputs.MARK + content[b:]
        times = r.choice(TIMES)
    else:
        kind = reader.mutator
        if plain.endswith(('.json', '.txt', '.words', '.csv', '.yaml')) and kind not in ('vector_text', 'packed'):
            kind = 'text'
        content = CHANGES[kind](plain, content, r)
    name = plain + (f'*{times}' if times > 1 else '') + (f'>{how_packed}' if how_packed else '')
    parts[i] = name, content
    return inputs.write_parts(parts)


def mutator(reader, plain_mutate):
    "What atheris calls: mostly a change of structure, else a change of bytes by libFuzzer (`plain_mutate`)."
    def mutate(data, max_size, seed):
        r = random.Random(seed)
        if r.random() < .3 or not data.strip():
            return plain_mutate(data, max_size)
        for _ in range(r.choice((1, 1, 2, 3))):
            try:
                out = changed(reader, data, r)
            except RecursionError:      # a tree that is nested too deeply to be changed here
                return plain_mutate(data, max_size)
            if len(out) <= max_size:
                data = out
        return data
    return mutate
