"The JSON Schema of a study file and the check of a study agree: no editor underlines what biasbook measures, and the rest is known."
import copy
import json
import random
import re
from collections import Counter

import jsonschema
import pytest
import yaml

import biasbook as bb
from biasbook.measuring.study import study_from_text

# What a schema cannot say: the slots of a template, a word in two lists, names in the whole study, and what is in files and tables.
ONLY_WHEN_READ = re.compile('|'.join([
    'has no slot', 'has the slots', r'once each', r'must have \[M\] once', r'must have \{identity\}', 'this needs {Person}', 'the word of slot',
    'is also in ', 'is also among', 'is also the name of', 'share .*; take each out', 'there is no group', 'unknown group', 'unknown version', 'its own negation',
    'single words in place', 'is the other way round', 'this repeats', 'labels for', r'words are too few: X and Y need [^4]', 'all words have the same number',
    'cannot be read', 'ends in', 'has no query', 'no column', 'names no columns', 'of the occupations have a number', r'(the|a) table( of items)?:', 'wording lacks', 'two groups of one size', r'\.csv',
    'prefix must be a word', 'blank words or stray white space']))

FILES = {'pairs.csv': 'she,he\nShe ran home.,He ran home.\nHer day was bad.,His day was bad.\n',
         'terms.csv': 'identity,stereotype,antistereotype\nwomen,sad,glad\nmen,ill,well\nnurses,poor,rich\n',
         'shares.csv': 'word,share\n' + ''.join(f'job{n},{n}\n' for n in range(9)),
         **{f'{name}.csv': 'query,set,word\n' + ''.join(f'{name},{key},{word}{key.lower()}\n' for key in 'XYAB' for word in ('aa', 'bb', 'cc', 'dd'))
            for name in ('lists', 'others')}}
MORE = yaml.safe_load("""
queries:
- {file: lists.csv}
- {file: others.csv, name: others, templates: ["They said {}."]}
- {name: short, X: [nurse, maid], Y: [pilot, judge], A: [she], B: [he], min_words: 2, battery: mine, source: me, templates: "They said {}."}
pairs:
- {name: from a file, file: pairs.csv, columns: [she, he], on_missing: drop}
- {name: terms, file: terms.csv, prefix: African}
- {name: labels, sentences: [[She ran., He ran.], [She led., He led.]], clusters: [1, b], cluster_name: group, types: [x, y], directions: [stereo, antistereo]}
gaps:
- {name: shares, file: shares.csv, columns: [word, share]}
""")
WRONG = [None, True, False, 0, 1, 2, -1, 3.5, '', ' ', 'x', 'two words', ' x', 'a  b', '{}', '{group} {target}', [], ['x'], ['x', 'y'], ['x', 'x'], [1, 2],
         [['a b', 'c d'], ['e f', 'g h']], ['x', ''], {}, {'a': 'x'}, {'a': ['x'], 'b': ['y']}, {'a': 1, 'b': 2}, 'stereo', 'drop', ['x', 'y', 'z'], 'no.csv', 'lists.csv']
WORDS = ['nurse', 'pilot', 'she', 'he', 'kind', 'cold', 'old man', 'é', 'x']
TEXTS = {'templates': ['{group} is {target}.', 'They said {}.', '{Person} was a {profession}.', '{identity} was a [M].'], 'contexts': ['{first} met {second}.'],
         'sentences': ['She ran home.', 'He ran home.', 'They sat down.'], 'baseline': ['They ate a [M].'], 'file': [*FILES, 'no.csv'], 'limits': ['nurse: p > .1', 'no colon']}


def example():
    "The example of a study file, with further tests."
    study = yaml.safe_load(bb.example_study('all'))
    return {**study, **{part: [*study[part], *tests] for part, tests in MORE.items()}}


def made(schema, draw, key=''):
    "Random data of a schema. Rules between keys are ignored, so that they are broken as well."
    if 'oneOf' in schema:
        return made(draw.choice(schema['oneOf']), draw, key)
    if 'enum' in schema:
        return draw.choice(schema['enum'])
    branches = [part for part in schema.get('allOf', ()) if 'then' in part and 'measure' in part['if'].get('properties', {})]
    if branches:                                # of a benchmark
        branch = draw.choice(branches)
        return {**made(branch['then'], draw), 'measure': branch['if']['properties']['measure']['const']}
    kinds = schema.get('type', 'object')
    kind = draw.choice(kinds) if isinstance(kinds, list) else kinds
    least = schema.get('minItems', schema.get('minProperties', 0))
    n = draw.randint(least, min(schema.get('maxItems', schema.get('maxProperties', least + 2)), least + 2))
    if kind == 'array':
        return [made(schema['items'], draw, key) for _ in range(n)]
    if kind == 'object' and 'properties' in schema:
        needed = set(schema.get('required', ()))
        chosen = [name for name in schema['properties'] if name in needed or draw.random() < .4]
        return {name: made(schema['properties'][name], draw, name) for name in chosen}
    if kind == 'object':
        values = schema.get('additionalProperties', {'type': 'string'})
        return {f'{draw.choice(WORDS)} {number}': made(values, draw, key) for number in range(n)}
    return {'string': lambda: draw.choice(TEXTS.get(key, WORDS)), 'integer': lambda: draw.randint(1, 5), 'number': lambda: draw.choice([1, 2.5, -3]),
            'boolean': lambda: draw.random() < .5}[kind]()


def paths_in(data, path=()):
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths_in(value, (*path, key))


def changed(study, draw, keys):
    "A copy of a study with one or two changes: another value, a value more, or one less."
    study = copy.deepcopy(study)
    for _ in range(draw.choice([1, 1, 2])):
        paths = list(paths_in(study))
        if not paths:
            break
        *outer, last = draw.choice(paths)
        holder = study
        for key in outer:
            holder = holder[key]
        how = draw.choice(['replace', 'replace', 'remove', 'add'])
        if how == 'replace':
            holder[last] = copy.deepcopy(draw.choice([draw.choice(WRONG), [holder[last]]]))
        elif how == 'remove':
            del holder[last]
        elif isinstance(holder, dict):
            holder[draw.choice(keys)] = copy.deepcopy(draw.choice(WRONG))
        else:
            holder.append(copy.deepcopy(draw.choice([*holder, *WRONG])))
    return study


def message(study):
    "The message for a study that is not valid, or ''."
    try:
        study_from_text(json.dumps(study), 'study.json')
    except ValueError as e:
        return str(e)
    return ''


@pytest.fixture
def beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def compared(studies):
    "How many studies are valid for both, for none, and for the schema only. AssertionError if they disagree."
    schema = jsonschema.Draft202012Validator(bb.study_schema())
    n = Counter()
    for study in studies:
        found, is_valid = message(study), schema.is_valid(study)
        assert found or is_valid, (study, [error.message for error in schema.iter_errors(study)])
        assert not (found and is_valid) or ONLY_WHEN_READ.search(found), (study, found)
        n['both' if not found else 'schema only' if is_valid else 'none'] += 1
    return n


def test_the_schema_is_one_and_takes_the_example(beside):
    jsonschema.Draft202012Validator.check_schema(bb.study_schema())
    assert compared([example()]) == {'both': 1}


@pytest.mark.parametrize('n_studies', [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_changed_studies(beside, n_studies):
    draw = random.Random(11)
    whole = example()
    keys = sorted({key for tests in whole.values() if isinstance(tests, list) for test in tests for key in test} | {'new'})
    one_test = [{'name': 'mine', part: [test]} for part, tests in whole.items() if isinstance(tests, list) for test in tests]
    n = compared([changed(draw.choice(one_test), draw, keys) for _ in range(n_studies)])
    assert n['both'] > n_studies / 15 and n['none'] > n_studies / 2, n


@pytest.mark.parametrize('n_studies', [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_studies_of_the_schema(beside, n_studies):
    draw = random.Random(12)
    schema = bb.study_schema()
    parts = [key for key, of_key in schema['properties'].items() if 'items' in of_key and key != 'limits']

    def study():
        part = draw.choice(parts)
        return {part: [made(schema['properties'][part]['items'], draw)]}

    n = compared([study() for _ in range(n_studies)])
    assert n['both'] and n['none'] > n_studies / 4, n


@pytest.mark.parametrize('part, key, value', [('pairs', 'clusters', [1, 2]), ('pairs', 'types', ['x', ' ']), ('queries', 'file', 'lists.csv'), ('queries', 'names', ['one'])])
def test_differences_of_version_0_2(part, key, value, beside):
    "Each of these was valid for one of the two only."
    tests = {'pairs': MORE['pairs'][2], 'queries': MORE['queries'][2]}
    assert compared([{part: [{**tests[part], key: value}]}])['schema only'] == 0
