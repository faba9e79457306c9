"""Files that are damaged or made to do harm: each reader ends soon, in little memory, and with an error that names the file."""
import gzip
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from biasbook.auditing.config import read_config
from biasbook.core.registry import available, data_path
from biasbook.stimuli.benchmarks import load_crows_pairs, load_stereoset
from biasbook.stimuli.pairs import load_pairs
from biasbook.stimuli.questions import analogy_questions
from biasbook.results.result import Result
from biasbook.stimuli.sentence_studies import load_study
from biasbook.stimuli.templates import Template
from biasbook.vectors.wordvectors import load_vectors
from biasbook.stimuli.words import load_queries, load_words
from biasbook.auditing.files import load_audit
from biasbook.chapters.seat import load_seat
from biasbook.chapters.quality import similarity_pairs

READERS = {'vectors': (load_vectors, '.txt'), 'words.txt': (load_words, '.txt'), 'words.csv': (load_words, '.csv'),
           'words.json': (load_words, '.json'), 'words.yaml': (load_words, '.yaml'), 'queries.txt': (load_queries, '.txt'),
           'queries.csv': (load_queries, '.csv'), 'queries.json': (load_queries, '.json'),
           'queries.yaml': (load_queries, '.yaml'), 'pairs': (load_pairs, '.csv'), 'study': (load_study, '.yaml'),
           'stereoset': (load_stereoset, '.jsonl'), 'seat': (load_seat, '.jsonl'), 'crows': (load_crows_pairs, '.csv'),
           'audit': (load_audit, '.json'), 'config': (read_config, '.yaml'), 'questions': (analogy_questions, '.txt'),
           'similarity': (similarity_pairs, '.txt')}
MEGABYTE = 10**6
LIMIT = 60                                      # seconds of processor time, where a linear reader takes 1 or 2, and at most 5


def refused(call):
    "The message of the ValueError that `call` raises; nothing else may be raised."
    with pytest.raises(ValueError) as error:
        call()
    return str(error.value)


def in_time(call, limit=LIMIT):
    """What `call` returns or the ValueError that it raises; it must end in little processor time.

    A test whose input is a third as large has a ninth of the limit, so that what takes quadratic time is still found."""
    start = time.process_time()
    try:
        found = call()
    except ValueError as e:
        found = e
        assert len(str(e)) < 20_000
    assert time.process_time() - start < limit
    return found


# -- a megabyte of anything ---------------------------------------------------------------------------------------------

ROWS = 10_000                                   # fewer than a megabyte holds: a reader of tables takes seconds for a megabyte of them
LIMIT_OF_ROWS = 2                               # seconds of processor time, where a reader takes a few tenths
LONG = {'digits': '1' * MEGABYTE + 'x', 'blanks': 'a' + ' ' * MEGABYTE + 'b', 'stops': 'a ' + '.' * MEGABYTE + 'x',
        'quotes': '"' * MEGABYTE + 'x', 'braces': '{' * MEGABYTE, 'brackets': '[' * MEGABYTE, 'colons': '1:' * (MEGABYTE // 2) + 'x',
        'dashes': '- ' * (MEGABYTE // 2), 'commas': ',' * MEGABYTE, 'lines': 'a\n' * ROWS, 'words': 'a ' * (MEGABYTE // 2),
        'hashes': ' #' * (MEGABYTE // 2), 'questions': '? ' * (MEGABYTE // 2), 'numbers': 'a' + ' 1' * (MEGABYTE // 2) + '\n',
        'returns': 'a,b\r' * ROWS, 'tabs': '\t' * MEGABYTE, 'amps': '&a ' * (MEGABYTE // 3), 'ends': '."? ' * (MEGABYTE // 4)}


@pytest.mark.parametrize('reader', READERS)
@pytest.mark.parametrize('kind', LONG)
def test_a_megabyte(reader, kind, tmp_path):
    """Every reader with every kind, whether it ever had trouble with it or not.

    Vectors, questions, audits and configurations never had: they are here so that it stays so."""
    read, suffix = READERS[reader]
    path = tmp_path / f'long{suffix}'
    path.write_text(LONG[kind], encoding='utf-8', newline='')
    in_time(lambda: read(path), LIMIT_OF_ROWS if kind in ('lines', 'returns') else LIMIT)


FIELDS = {'digits': '1' * MEGABYTE, 'digits and x': '1' * MEGABYTE + 'x', 'stops': '.' * MEGABYTE, 'exponent': '1e' + '1' * MEGABYTE,
          'digits and stops': '1.' * (MEGABYTE // 2)}


@pytest.mark.parametrize('field', FIELDS)
@pytest.mark.parametrize('text', ['a 1 2\nb 1 {}\n', 'a 1 {} 2\nb 1 2 3\n', '1 2\nb 1 {}\n', '{} 1 2\n', '{}\n'])
def test_a_row_of_long_fields(text, field, tmp_path):
    "A field that is read as a number, and as a word: words of a megabyte are allowed."
    path = tmp_path / 'v.txt'
    path.write_text(text.format(FIELDS[field]))
    in_time(lambda: load_vectors(path, cache=False))


CONTEXTS = {'stops inside': ('.' * MEGABYTE + 'x BLANK', '.' * MEGABYTE + 'x a'), 'stops at the end': ('BLANK' + '.' * MEGABYTE, 'a'),
            'stops in the option': ('BLANK.', '.' * MEGABYTE + 'x'), 'stops behind the option': ('BLANK', 'a' + '." ' * (MEGABYTE // 3)),
            'two blanks': ('BLANKaBLANK', 'a' * MEGABYTE), 'two blanks and words': ('BLANK is BLANK', 'a' * MEGABYTE + ' is b'),
            'blanks and spaces': ('BLANK ' * (MEGABYTE // 6), 'a ' * (MEGABYTE // 6)), 'blanks': ('BLANK' * (MEGABYTE // 5), 'ab' * (MEGABYTE // 5)),
            'a long word': ('a' * MEGABYTE + ' BLANK', 'a' * MEGABYTE + ' b')}


@pytest.mark.parametrize('kind', CONTEXTS)
def test_examples_of_a_megabyte(kind, tmp_path):
    """A regular expression takes quadratic time for stops inside a context and for two blanks.

    With a long word, or two blanks and words, a message could hold the whole example; the others are here for completeness."""
    context, option = CONTEXTS[kind]
    flat = {'type': 'intrasentence', 'bias_type': 'gender', 'target': 'x', 'context': context, 'stereotype': option,
            'anti-stereotype': option.replace('a', 'c'), 'unrelated': option.replace('a', 'd')}
    (tmp_path / 'x.jsonl').write_text(json.dumps(flat))
    in_time(lambda: load_stereoset(tmp_path / 'x.jsonl'))


WORDS = [f'w{i}' for i in range(240_000)]
SETS = {k: WORDS[i * 60_000:(i + 1) * 60_000] for i, k in enumerate('XYAB')}


def test_query_of_many_words(tmp_path):
    (tmp_path / 'q.json').write_text(json.dumps({'name': 'many', **SETS}))
    query, = in_time(lambda: load_queries(tmp_path / 'q.json'))
    assert len(query.words) == 240_000


def test_query_that_shares_many_words(tmp_path):
    (tmp_path / 'q.json').write_text(json.dumps({'name': 'many', **SETS, 'Y': SETS['X']}))
    said = in_time(lambda: load_queries(tmp_path / 'q.json'))
    assert isinstance(said, ValueError) and 'X and Y share w0' in str(said)


def test_query_in_a_wide_table(tmp_path):
    (tmp_path / 'wide.csv').write_text('query,set,word,' + ',' * 300_000 + '\n' + 'toy,X,a\n' * 80_000)
    in_time(lambda: load_queries(tmp_path / 'wide.csv'))


def test_seat_of_many_sentences(tmp_path):
    names = 'targ1', 'targ2', 'attr1', 'attr2'
    data = {k: {'category': k, 'examples': [f'This is {k}w{i}x.' for i in range(10_000)]} for k in names}
    (tmp_path / 's.jsonl').write_text(json.dumps(data))
    assert len(in_time(lambda: load_seat(tmp_path / 's.jsonl'), LIMIT / 4).words) == 40_000


def test_study_of_many_templates(tmp_path):
    many = {f'g{i}': {'a_templates': [f'{{}} is t{i}.']} for i in range(10_000)}
    (tmp_path / 'templates.json').write_text(json.dumps(many))
    (tmp_path / 'target_words_a.txt').write_text('\n'.join(WORDS[:10_000]))
    (tmp_path / 'target_words_b.txt').write_text('\n'.join(WORDS[10_000:20_000]))
    (tmp_path / 'attribute_words_a.txt').write_text('\n'.join(WORDS[20_000:30_000]))
    assert len(in_time(lambda: load_study(tmp_path), LIMIT / 9).templates['a']) == 10_000


def test_template_of_many_slots():
    assert len(in_time(lambda: Template(''.join(f'{{a{k}}} ' for k in range(100_000)))).slots) == 100_000


def audit_by(measure):
    "An audit of a measure of that name."
    from biasbook.auditing.run import audit
    return audit(load_vectors('googlenews-mini', words=['he', 'she']), measures=[measure])


def functions_of_a_name():
    "The functions that take a name or a word from a user, by their names."
    from biasbook.embedders.load import load_embedder
    from biasbook.models.load import load_model
    from biasbook.stimuli.words import weat_query
    from biasbook.auditing.subjects import scheme_of
    from biasbook.auditing.catalog import misspelt
    vectors = load_vectors('googlenews-mini', words=['he', 'she'])
    return {'data_path': data_path, 'weat_query': weat_query, 'load_vectors': load_vectors, 'load_model': load_model,
            'load_embedder': load_embedder, 'scheme_of': scheme_of, 'misspelt': misspelt, 'rows': vectors.rows,
            'vectors[]': lambda x: vectors[x], 'missing': lambda x: vectors.missing([x]), 'available': available, 'audit': audit_by}


NAMES = {'letters': 'a' * MEGABYTE, 'hyphens': 'a-' * (MEGABYTE // 2), 'folders': '/'.join('a' * 100_000),
         'various letters': ''.join(chr(0x4e00 + i % 1000) for i in range(MEGABYTE))}


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('function', ['data_path', 'weat_query', 'load_vectors', 'load_model', 'load_embedder', 'scheme_of', 'misspelt', 'rows',
                                      'vectors[]', 'missing', 'available', 'audit'])
def test_long_names(function, name):
    "Look-ups of close names, and messages with the name in them. `rows` and `missing` do neither: they are here for completeness."
    in_time(lambda: functions_of_a_name()[function](NAMES[name]))


# -- bombs --------------------------------------------------------------------------------------------------------------

LAUGHS = 'a: &a [lol, lol, lol, lol, lol]\n' + ''.join(f'{k}: &{k} [{", ".join([f"*{j}"] * 9)}]\n' for j, k in zip('abcdefgh', 'bcdefghi'))


@pytest.mark.parametrize('read', [load_words, load_queries, load_study, read_config])
@pytest.mark.parametrize('text', [LAUGHS, LAUGHS + '? *i\n: x\n', 'a: &a [x]\n? [*a, *a]\n: b\n', 'a: &a [*a]\n'])
def test_no_aliases(read, text, tmp_path):
    (tmp_path / 'bomb.yaml').write_text(text)
    said = in_time(lambda: read(tmp_path / 'bomb.yaml'))
    assert isinstance(said, ValueError) and 'bomb.yaml' in str(said) and len(str(said)) < 1000
    assert 'line 1: an anchor or alias' in str(said)


LOADED = """
import resource, sys, time
from biasbook.vectors.wordvectors import load_vectors
load_vectors('googlenews-mini')
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        load_vectors(path)
    except ValueError as e:
        print(str(e)[:300].splitlines()[0])
    else:
        print('loaded')
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(time.process_time() - start)
"""


GROWING = {'blanks': (b'100000000 1000\n', b' ' * 4096), 'line feeds': (b'100000000 1000\n', b'\n' * 4096), 'no header': (b'', b'\n' * 4096),
           'a row again': (b'999999999999999 3\n', b'a 1 2 3\n' * 512), 'a row again, no header': (b'a 1 2\n', b'a 1 2\n' * 512)}


def test_memory_is_taken_for_rows_that_are_there(tmp_path):
    "100 MiB in half a megabyte. The file of line feeds without a header is refused at its first line, in little of either."
    paths = [tmp_path / f'grows-{number}.txt.gz' for number in range(len(GROWING))]
    for path, (head, unit) in zip(paths, GROWING.values()):
        with gzip.open(path, 'wb', 6) as f:
            f.write(head)
            part = unit * (2**20 // len(unit))
            for _ in range(100):
                f.write(part)
        assert path.stat().st_size < MEGABYTE
    env = {**os.environ, 'BIASBOOK_CACHE_DIR': str(tmp_path)}
    limit = (6 * 2**30,) * 2                    # of addresses, so that a failure does not take the machine with it
    run = subprocess.run([sys.executable, '-c', LOADED, *map(str, paths)], capture_output=True, text=True, env=env,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
    assert run.returncode == 0, run.stderr[-2000:]
    lines = run.stdout.splitlines()
    for kind, path, said, kilobytes, seconds in zip(GROWING, paths, lines[::3], lines[1::3], lines[2::3], strict=True):
        assert said.startswith(path.name) and int(kilobytes) < 50_000 and float(seconds) < 2.5, (kind, run.stdout)


# -- errors that are no ValueError -----------------------------------------------------------------------------------------

DAMAGED = {'deep': '[' * 100_000, 'deep object': '{"a":' * 100_000, 'deep and closed': '[' * 5000 + ']' * 5000, 'control': 'a: \x07b',
           'stray return': 'word,b\nmath\rart,c\nx,y\n', 'old Mac': 'word\rmath\rart\r', 'long cell': 'word,b\n"' + 'x' * 200_000,
           'numbers': '{"version": 1, "data": {"intrasentence": 5}}', 'text': '{"data": {"intrasentence": [{"sentences": "x"}]}}',
           'label': '{"data": {"intrasentence": [{"sentences": [{"gold_label": ["x"]}]}]}}', 'surrogate': '["\\ud800", "b"]',
           'date': 'a: 2001-99-99', 'base 60': 'a: 190:20:30:59.' + '1' * 50, 'tag': 'a: !!timestamp x', 'int': '!!int ""',
           'many digits': '[' + '9' * 5000 + ']', 'infinite': '[1e999, -Infinity, NaN]', 'null': 'null', 'list of null': '[null]',
           'results': '{"results": [{}]}', 'nul': 'a\0b', 'latin': 'caf\udce9'}


@pytest.mark.parametrize('reader', READERS)
@pytest.mark.parametrize('kind', DAMAGED)
def test_damaged(reader, kind, tmp_path):
    """Every reader with every kind, whether it ever had trouble with it or not.

    Vectors, word lists in .txt, audits and questions never had, and no reader had with dates, base 60, surrogates, infinite numbers,
    null, Latin 1, or lists of results or texts of another layout: they are here so that it stays so."""
    read, suffix = READERS[reader]
    path = tmp_path / f'damaged{suffix}'
    path.write_bytes(DAMAGED[kind].encode('utf-8', 'surrogateescape'))
    found = in_time(lambda: read(path))
    if isinstance(found, ValueError):
        assert 'damaged' in str(found), found


def readers_of_a_path():
    "Everything that reads or writes a path, by name, each with the ending that makes it a file of its kind."
    from biasbook.embedders.load import load_embedder
    from biasbook.vectors.files import read_matrix
    from biasbook.vectors.opening import open_packed
    from biasbook.stimuli.pairs import wordnet_antonyms
    from biasbook.models.load import load_model
    from biasbook.embedders.sentencefiles import read_vectors
    from biasbook.vectors.files import read_all_rows
    from biasbook.auditing.files import save_files
    ending = {load_words: '.txt', load_queries: '.json', load_seat: '.jsonl', load_study: '.yaml', read_vectors: '.npz'}
    readers = [read for read, suffix in READERS.values()]
    readers += [load_model, open_packed, read_matrix, read_all_rows, wordnet_antonyms, read_vectors]
    found = {read.__name__: lambda path, read=read: read(path + ending.get(read, '')) for read in readers}
    found['save_files'] = lambda path: save_files({'a': 'b'}, path)
    found['load_embedder st:'] = lambda path: load_embedder('st:' + path)
    found['load_embedder hf:'] = lambda path: load_embedder(f'hf:{path}?pooling=mean')
    return found


PATHS = {'no such user': ('~nosuchuser/x', 'the home folder of a user that is not known here'), 'nul': ('a\0b', 'a NUL character'),
         'only nul': ('\0', 'a NUL character'), 'surrogate': ('\ud800', 'half of a character'), 'long': ('x' * 5000, 'too long for a file name')}


@pytest.mark.parametrize('path', PATHS)
@pytest.mark.parametrize('reader', ['load_vectors', 'load_words', 'load_queries', 'load_pairs', 'load_study', 'load_stereoset', 'load_seat',
                                    'load_crows_pairs', 'load_audit', 'read_config', 'analogy_questions', 'similarity_pairs', 'load_model',
                                    'open_packed', 'read_matrix', 'read_all_rows', 'wordnet_antonyms', 'read_vectors', 'save_files',
                                    'load_embedder st:', 'load_embedder hf:'])
def test_paths_that_no_system_has(reader, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)                 # for what a reader might write in spite of it
    given, fault = PATHS[path]
    assert fault in refused(lambda: readers_of_a_path()[reader](given))


def usage_error(*args):
    "What the command prints when it ends with code 2, as click ends for wrong usage."
    from click.testing import CliRunner
    from biasbook.auditing.cli import main
    run = CliRunner().invoke(main, [*args])
    assert run.exit_code == 2 and 'Error' in run.output and isinstance(run.exception, SystemExit), run.output
    return run.output


def test_out_with_nul(tmp_path):
    (tmp_path / 'c.yaml').write_text('out: "a\\0b"\n')
    usage_error('audit', 'googlenews-mini', '--config', str(tmp_path / 'c.yaml'))


def test_out_of_no_such_user():
    usage_error('audit', 'googlenews-mini', '--out', '~nosuchuser/x')


@pytest.mark.parametrize('subject', ['~nosuchuser/x', 'x' * 5000])
def test_subjects_that_no_system_has(subject):
    usage_error('audit', subject)


# -- audits -------------------------------------------------------------------------------------------------------------

GOOD = {'metric': 'WEAT d', 'subject': 's', 'query': 'q', 'value': 1., 'meta': {},
        'interval': {'low': .5, 'high': 2., 'method': 'jackknife', 'over': 'words', 'units': {'counts': [2], 'name': 'words'}},
        'test': {'name': 'permutation', 'pvalue': .01, 'n_resamples': 99, 'error': .01},
        'units': {'counts': [2], 'name': 'words'}, 'comparison': {'kind': 'difference', 'groups': ['a', 'b'], 'ideas': ['c', 'd']},
        'words': {'used': {'X': ['a', 'b']}, 'missing': {'X': ['c']}}, 'notes': [{'code': 'one pair', 'data': {}}],
        'also': [{'name': 'placebo', 'value': 1., 'test': {'name': 'unrelated topics', 'pvalue': .5}}],
        'details': {'columns': {'word': ['a', 'b'], 'association': [.1, .2]}, 'dtypes': {'word': 'object', 'association': 'float64'}}}
EARLIER = {'metric': 'WEAT d', 'subject': 's', 'query': 'q', 'value': 1., 'low': .5, 'high': 2., 'pvalue': .01, 'meta': {},
           'n': '2 words', 'method': 'exact, 12 splits', 'also': [{'name': 'placebo', 'value': 1., 'pvalue': .5}],
           'details': GOOD['details']} # as the version before saved it


def saved_results(folder, result):
    "A folder with an audit whose only result has these fields."
    (folder / 'results.json').write_text(json.dumps({'results': [result]}))
    return folder


@pytest.mark.parametrize('change', [
    {'confidence_level': 'x'}, {'confidence_level': None}, {'confidence_level': 7}, {'null': None}, {'null': 'x'}, {'value': 'x'},
    {'value': [1]}, {'detectable': 'x'}, {'random_state': -1}, {'metric': 3}, {'meta': None}, {'meta': [1]}, {'meta': {'digits': 'x'}},
    {'interval': 3}, {'interval': {'low': 1}}, {'interval': {'low': True, 'high': 2}}, {'interval': {'low': None, 'high': 2}},
    {'interval': {'low': 1, 'high': 2, 'df': 'x'}}, {'interval': {'low': 1, 'high': 2, 'confidence_level': 7}},
    {'test': 3}, {'test': {'name': 't'}}, {'test': {'name': 't', 'pvalue': 2}}, {'test': {'name': 't', 'pvalue': 'x'}},
    {'test': {'name': 3, 'pvalue': 1}}, {'test': {'name': 't', 'pvalue': 1, 'alternative': 'x'}},
    {'test': {'name': 't', 'pvalue': 1, 'alternative': [1]}}, {'test': {'name': 't', 'pvalue': 1, 'n_resamples': 1.5}},
    {'test': {'name': 't', 'pvalue': 1, 'exact': 'x'}}, {'test': {'name': 't', 'pvalue': 1, 'method': 'x'}},
    {'units': 3}, {'units': {'counts': 3, 'name': 'words'}}, {'units': {'counts': [-1], 'name': 'words'}},
    {'comparison': {'kind': 'x'}}, {'comparison': {'kind': [1]}}, {'comparison': {'kind': 'difference', 'groups': ['a'], 'ideas': ['c', 'd']}},
    {'comparison': {'kind': 'difference', 'groups': 'ab', 'ideas': ['c', 'd']}}, {'words': 3}, {'words': {'used': ['a']}},
    {'words': {'missing': {'X': 'abc'}}}, {'words': {'missing': {'X': [3]}}}, {'notes': 3}, {'notes': ['x']}, {'notes': [{'code': 3}]},
    {'notes': [{'code': 'x', 'data': [1]}]}, {'also': 3}, {'also': [3]}, {'also': [{'name': 'x'}]}, {'also': [{'name': 3, 'value': 1}]},
    {'also': {'a': 1}}, {'also': [{'name': 'x', 'value': 1, 'test': {'name': 't', 'pvalue': 2}}]}, {'details': 3}, {'details': {}},
    {'details': {'columns': [], 'dtypes': {}}}, {'details': {'columns': {'a': [1]}, 'dtypes': {'a': 'x'}}},
    {'details': {'columns': {'a': ['x']}, 'dtypes': {'a': 'int64'}}}, {'details': {'columns': {'a': [1], 'b': [1, 2]}, 'dtypes': {'a': 'int64', 'b': 'int64'}}},
    {'details': {'columns': {'a': 3}, 'dtypes': {'a': 'int64'}}}, {'details': {'columns': {'a': [1e300]}, 'dtypes': {'a': 'int64'}}},
    {'unknown': 1}])
def test_results_of_another_kind(change, tmp_path):
    "Fields of another type or outside their range; the last of them is a field that no result has."
    assert len(Result.from_dict(GOOD).details) == 2
    assert 'results.json is not an audit' in refused(lambda: load_audit(saved_results(tmp_path, {**GOOD, **change})))
    if 'meta' not in change:
        refused(lambda: Result.from_json(json.dumps({**GOOD, **change})))


@pytest.mark.parametrize('change', [
    {'low': True}, {'low': 'x'}, {'pvalue': 2}, {'pvalue': 'x'}, {'pvalue': [1]}, {'alternative': 'x'}, {'alternative': [1]},
    {'confidence_level': 7}, {'confidence_level': 'x'}, {'meta': None}, {'meta': {'missing': 'x'}}, {'meta': {'words': {'X': 'x'}}},
    {'also': 3}, {'also': [3]}, {'also': {'a': 1}}, {'also': [{'name': 'x', 'value': 1, 'pvalue': 2}]}, {'unknown': 1}])
def test_results_of_an_earlier_version_of_another_kind(change, tmp_path):
    "The fields of the version before are read, and checked as those of today."
    r = Result.from_dict(EARLIER)
    assert (r.low, r.high, r.pvalue, r.estimate('placebo').pvalue) == (.5, 2, .01, .5) and r.units is None
    assert 'results.json is not an audit' in refused(lambda: load_audit(saved_results(tmp_path, {**EARLIER, **change})))
    refused(lambda: Result.from_json(json.dumps({**EARLIER, **change})))


def test_results_that_lack_fields(tmp_path):
    for lost in ('metric', 'subject', 'query', 'value'):
        assert lost in refused(lambda: Result.from_dict({k: v for k, v in GOOD.items() if k != lost}))
    for odd in (None, 3, [], 'x'):
        refused(lambda: Result.from_json(json.dumps(odd)))


def test_names_that_utf8_cannot_hold(tmp_path):
    from biasbook.auditing.run import audit
    from biasbook.auditing.files import audit_lines
    from biasbook.results.tables import printable
    known, path = load_vectors('googlenews-mini'), os.fsdecode(os.fsencode(tmp_path) + b'/v\xff.npz')
    with open(path, 'wb') as f:
        np.savez(f, words=np.array(known.words), vectors=known.vectors)
    found = audit([path], measures=['direct_bias'], resume=False)
    assert found.results and not [f for f in found.failures if 'surrogate' in f['error'] or 'codec' in f['error']]
    folder = found.save(tmp_path / 'out')
    for name in ('results.json', 'results.csv', 'results.md', 'results.tex', 'report.html'):
        text = (folder / name).read_bytes().decode('utf-8')
        assert 'udcff' in text, name
    again = load_audit(folder)
    assert {r.subject for r in again.results} == {printable(r.subject) for r in found.results}
    for a in (found, again):
        printable('\n'.join(audit_lines(a))).encode('utf-8')


def test_link_to_nowhere(tmp_path):
    from biasbook.auditing.files import save_files
    (tmp_path / 'out').mkdir()
    (tmp_path / 'out' / 'a.txt').symlink_to(tmp_path / 'nowhere')
    with pytest.raises(FileExistsError, match='has other results'):
        save_files({'a.txt': 'x', 'b.txt': 'y'}, tmp_path / 'out')
    assert (tmp_path / 'out' / 'a.txt').is_symlink() and not (tmp_path / 'out' / 'b.txt').exists()
    save_files({'a.txt': 'x', 'b.txt': 'y'}, tmp_path / 'out', overwrite=True)
    assert not (tmp_path / 'out' / 'a.txt').is_symlink() and not (tmp_path / 'nowhere').exists()
    (tmp_path / 'loop').symlink_to(tmp_path / 'loop')
    with pytest.raises(OSError):
        save_files({'a.txt': 'x'}, tmp_path / 'loop')


@pytest.mark.parametrize('name', ['=cmd', '+1', '-1', '@x', '\t=1', 'a\r=cmd', 'a\n=cmd', 'a\r\n@x', '\x01=1', ' =1', '＝1', '\u2028=1', '"\r=1'])
def test_no_cell_is_a_formula(name, tmp_path):
    "Names with a plain sign in front, or behind a line feed, are the easy ones; the others take more than a look at the first character."
    import csv
    from biasbook.auditing.run import Audit
    r = Result.from_dict({**GOOD, 'subject': name, 'query': name, 'meta': {'name': name}, 'words': {'missing': {name: [name]}},
                          'comparison': {'kind': 'difference', 'groups': [name, name], 'ideas': [name, name]},
                          'units': {'counts': [2], 'name': name}, 'notes': [{'code': name}]})
    folder = Audit((r,), (), {}).save(tmp_path / 'out')
    text = (folder / 'results.csv').read_bytes().decode('utf-8')
    assert '\r' not in text
    rows = list(csv.reader(text.splitlines()))
    assert len(rows) == 2 and len(rows[0]) == len(rows[1])
    for cell in rows[0] + rows[1]:
        assert not cell.strip().startswith(tuple('=+-@＝')) and not any(ord(c) < 32 and c != '\t' for c in cell), cell
    again = load_audit(folder).results[0]
    assert (again.subject, again.query, again.missing, again.units.name) == (name, name, [name], name)
