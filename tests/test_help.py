"""`help()` of each public name: what it does, its parameters, what it returns, and an example, which runs here."""
import doctest
import inspect
import re

import matplotlib
import pytest

import biasbook as bb

NAMES = sorted(set(bb.__all__) - {'__version__'})


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
