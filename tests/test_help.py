"""`help()` of each public name: what it does, its parameters, what it returns, and an example, which runs here."""
import doctest
import inspect
import re
import textwrap

import matplotlib
import pytest

import biasbook as bb

NAMES = sorted({*bb.__all__, *bb._LEAVING_FROM} - {'__version__', 'measures'})
pytestmark = pytest.mark.filterwarnings(r'ignore:bb\.\w+ goes in version')      # names that leave `bb` have their help until they are gone


def fields(named):
    "The parameters that help has to explain."
    names = list(inspect.signature(named).parameters)
    return [name for name in names if not name.startswith('_')]


def examples(named):
    "The lines of the session below `Example:`, with what they print."
    _, heading, session = (inspect.getdoc(named) or '').partition('\nExample:\n')
    return doctest.DocTestParser().get_examples(session) if heading else []


def lacks(named):
    "What the help of a function or a class lacks, as a list."
    text = inspect.getdoc(named) or ''
    first_sentence = text.split('\n')[0]
    lacking = []
    if len(first_sentence) < 20 or first_sentence[-1] not in '.?':
        lacking.append('a first sentence')
    explained = re.search(r'^Parameters:\n((?:    .*\n)+)', text + '\n', re.M)
    names = re.findall(r'^    (\w+): \S', explained[1], re.M) if explained else []
    lacking += [f'the parameter {name}' for name in fields(named) if name not in names]
    gives_value = not isinstance(named, type) and inspect.signature(named).return_annotation is not None
    if gives_value and not re.search(r'^Returns: \S', text, re.M):
        lacking.append('Returns')
    session = examples(named)
    if not any(example.want for example in session):
        lacking.append('an Example that prints something')
    if any(example.options for example in session):
        lacking.append('an Example without options of doctest')
    if any('...' in example.want for example in session):
        lacking.append('an Example whose output is whole')
    return lacking


@pytest.mark.parametrize('name', NAMES)
def test_help_is_complete(name):
    lacking = lacks(getattr(bb, name))
    assert not lacking, f'help(bb.{name}) lacks {", ".join(lacking)}'


@pytest.mark.parametrize('name', NAMES)
def test_example_runs(name, tmp_path, monkeypatch):
    "The example runs in an empty folder, without a display, and prints what it says."
    session = examples(getattr(bb, name))
    monkeypatch.chdir(tmp_path)
    matplotlib.use('agg')
    log = []
    test = doctest.DocTest(session, {}, name, None, 0, None)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=log.append)
    assert not result.failed and result.attempted == len(session), ''.join(log)


# Readers of files, with the number of a format in their docstring and the suffix of a file that has it.
FORMATS = [('load_words', 0, '.txt'), ('load_queries', 0, '.txt'), ('read_study', 0, '.yaml'), ('load_study', 1, '.yaml'),
           ('load_pairs', 0, '.csv'), ('load_pairs', 1, '.csv'), ('load_crows_pairs', 0, '.csv'), ('load_stereoset', 0, '.jsonl'),
           ('analogy_questions', 0, '.txt'), ('similarity_pairs', 0, '.txt'), ('load_vectors', 0, '.txt'),
           ('load_seat', 0, '.jsonl'), ('load_audit', 0, '.json')]


@pytest.mark.parametrize(('name', 'number', 'suffix'), FORMATS)
def test_format_in_docstring_can_be_read(name, number, suffix, tmp_path):
    reader = getattr(bb, name)
    description = inspect.getdoc(reader).split('\nParameters:\n')[0]
    shown = re.findall(r'(?:^ {4}.*\n)+', description + '\n', re.M)[number]
    text = textwrap.dedent(shown)
    if suffix == '.jsonl':                  # the docstring breaks a long line
        text = text.replace('\n', ' ')
    file = tmp_path / f'shown{suffix}'
    file.write_text(text, encoding='utf-8')
    assert reader(file) is not None


def test_incomplete_help_is_found():
    def without_anything(x):
        return x
    assert lacks(without_anything) == ['a first sentence', 'the parameter x', 'Returns', 'an Example that prints something']

    def complete(x):
        """Give the value back as it is.

        Parameters:
            x: any value

        Returns: the same value

        Example:
            >>> 1 + 1
            2
        """
    assert lacks(complete) == []
    complete.__doc__ = complete.__doc__.replace('2\n', '2 ...\n')
    assert lacks(complete) == ['an Example whose output is whole']
