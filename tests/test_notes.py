"""Each note is of a kind that the module declares which writes it, with its sentence; a saved result finds the sentence by its code."""
import ast
import json
import subprocess
import sys
import textwrap
from string import Formatter

import pytest
from index import NOTES, declared_notes, notes_text, package_sources

from biasbook.measuring.metrics import find_note_kind
from biasbook.results.sentences import note_text
from biasbook.stats.estimate import Note

EARLIER = {'corrected ratio', 'longer words do not come later', 'neutral people cost requests'} # codes that only results of earlier versions have


def is_call_of(node, name):
    return isinstance(node, ast.Call) and getattr(node.func, 'id', '') == name


def made_names(tree):
    "The names that a module takes for more than their code, as in `FEW(n=2)` or `kind = FEW if n < 2 else MANY`."
    codes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == 'code'}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in codes}


def fields_of(sentence):
    "The data that a sentence in a source needs; None for a function."
    if isinstance(sentence, ast.Constant):
        return {name for _, name, _, _ in Formatter().parse(sentence.value) if name}
    return None


def faults(sources):
    "What is wrong with the notes of modules: kinds that no module makes a note of, codes without a kind, data that do not fit a sentence."
    trees = {module: ast.parse(source) for module, source in sources.items()}
    made, fields, found = set(), {}, []
    for tree in trees.values():
        made |= made_names(tree)
        for node in tree.body:
            if isinstance(node, ast.Assign) and is_call_of(node.value, 'NoteKind'):
                name = node.targets[0].id
                if name in fields:
                    found.append(f'two kinds have the name {name}')
                fields[name] = fields_of(node.value.args[1])
    for module, source in sources.items():
        for code, name in declared_notes(source).items():
            if code not in EARLIER and name not in made:
                found.append(f'{module} makes no note of the kind {code!r}')
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if is_call_of(node, 'Note') and node.args and isinstance(node.args[0], ast.Constant):
                found.append(f'{module} writes the code {node.args[0].value!r}, which has no kind')
            if isinstance(node, ast.Call) and fields.get(getattr(node.func, 'id', '')) is not None:
                given = {keyword.arg for keyword in node.keywords}
                missing = fields[node.func.id] - given
                if node.args or (missing and None not in given):       # None: **data
                    found.append(f'{module} makes {node.func.id} without {sorted(missing)}')
    return found


def test_notes_fit_their_kinds():
    assert faults(package_sources()) == []


FEW = "FEW = NoteKind('few', '{n} of {of:.1f} words')\n"

@pytest.mark.parametrize('source, fault', [
    ('', "makes no note of the kind 'few'"),
    ('if a.code == FEW.code: pass', "makes no note of the kind 'few'"),
    ('FEW(n=2)', "makes FEW without ['of']"),
    ('FEW(2, 3)', "makes FEW without ['n', 'of']"),
    ("FEW(n=2, of=3)\nFEW = NoteKind('many', '')", 'two kinds have the name FEW'),
    ("FEW(n=2, of=3)\nNote('many', {})", "writes the code 'many', which has no kind")])
def test_faults_are_found(source, fault):
    assert faults({'a module': FEW, 'another one': source}) != [] and fault in faults({'a module': FEW + source})[0]


def test_fitting_notes_have_no_fault():
    assert faults({'a module': FEW, 'another one': 'kind = FEW if n else MANY'}) == faults({'a module': FEW + 'FEW(of=2, **data)'}) == []


def test_two_kinds_have_two_codes():
    for sources in ({'one': FEW, 'two': FEW.replace('FEW', 'OTHERS')}, {'one': FEW + FEW}):
        with pytest.raises(AssertionError, match="'few'"):
            notes_text(sources)


def test_each_code_of_the_index_finds_its_kind():
    for code in json.loads(NOTES.read_text(encoding='utf-8')):
        kind = find_note_kind(code)
        assert kind.code == code and kind.text(dict.fromkeys(kind.fields, _Anything()))


class _Anything(float):
    "A number that any format of a field takes."
    def __format__(self, spec):
        return 'x'

    def __repr__(self):
        return 'x'


def test_a_saved_note_finds_its_sentence_in_a_new_process():
    code = textwrap.dedent("""
        import sys
        import biasbook
        from biasbook.results.sentences import note_text
        from biasbook.stats.estimate import Note
        assert 'biasbook.chapters.projection' not in sys.modules
        print(note_text(Note('similarity near 0', {'similarity': -.012})))
        others = [name for name in sys.modules if name.startswith('biasbook.chapters.w')]
        assert 'biasbook.chapters.projection' in sys.modules and not others, others
        """)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, encoding='utf-8')
    assert done.stdout == 'the similarity, −0.012, is near 0, so that a share of it is unstable\n', done.stderr


def test_a_note_of_another_package_has_its_sentence():
    from biasbook.stats.estimate import NoteKind
    ours = NoteKind('a caveat of ours', lambda n, words=(): f'{n} nouns{", ".join(words)}')
    assert note_text(ours(n=3)) == '3 nouns' and note_text(Note('a caveat of ours', {})) == 'a caveat of ours'
