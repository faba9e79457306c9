"""How the notebooks become the pages that Quarto renders: nbdev's processors, with two of them replaced.

A signature is shown as it is written; nbdev would infer types from defaults and show `NoneType`. A NamedTuple shows its
fields. A table becomes Markdown, for which Quarto loads no scripts from another host."""
import ast
import inspect
import multiprocessing
import re
import shutil
import textwrap
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fastcore.docments import docments
from nbdev import serve_drv
from nbdev.processors import FilterDefaults, exec_show_docs
from nbdev.showdoc import BasicMarkdownRenderer, show_doc

root = Path(__file__).resolve().parent.parent
ONE_LINE = 100                                   # a signature without comments that is no longer takes one line


class Entry(NamedTuple):
    "A parameter of a function, or a bare `*` or `/`."
    prefix: str # '', '*', '**' or '/'
    argument: ast.arg | None
    default: ast.expr | None

    def text(self):
        "The parameter as it is written."
        if not self.argument:
            return self.prefix
        text = self.prefix + self.argument.arg
        if self.argument.annotation:
            text += f': {ast.unparse(self.argument.annotation)}'
        if self.default:
            equals = ' = ' if self.argument.annotation else '='
            text += equals + ast.unparse(self.default)
        return text


class SourceLine(NamedTuple):
    "The parameters that one line of the source has."
    names: list
    texts: list


def parameter_entries(arguments):
    "The parameters of a function in their order, with a bare `*` or `/` where the source has one."
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    entries = [Entry('', argument, default) for argument, default in zip(positional, defaults)]
    if arguments.posonlyargs:
        entries.insert(len(arguments.posonlyargs), Entry('/', None, None))
    if arguments.vararg:
        entries.append(Entry('*', arguments.vararg, None))
    elif arguments.kwonlyargs:
        entries.append(Entry('*', None, None))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        entries.append(Entry('', argument, default))
    if arguments.kwarg:
        entries.append(Entry('**', arguments.kwarg, None))
    return entries


def parameter_lines(arguments):
    "The parameters of a function as they are written, a `SourceLine` for each line of the source."
    lines, last_number = [], None
    for entry in parameter_entries(arguments):
        if entry.argument:
            number = entry.argument.lineno
        elif entry.prefix == '*':                          # on the line of the parameter behind it
            number = arguments.kwonlyargs[0].lineno
        else:
            number = last_number
        if not lines or number != last_number:
            lines.append(SourceLine([], []))
        if entry.argument:
            lines[-1].names.append(entry.argument.arg)
        lines[-1].texts.append(entry.text())
        last_number = number
    return lines


def function_signature(function, name, prefix='def'):
    "The signature as it is written, a comment of a parameter beside it; nothing is inferred from a default."
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    comments = docments(function, args_kwargs=True)
    if prefix == 'class':
        definition.args.args = definition.args.args[1:]                        # self
        definition.returns = None
    returned = f' -> {ast.unparse(definition.returns)}' if definition.returns else ''
    ending = f'){returned}:'
    if comments.get('return') and returned:
        ending += f'  # {comments["return"]}'
    lines = []
    for source_line in parameter_lines(definition.args):
        commented = [name for name in source_line.names if comments.get(name)]
        comment = comments[commented[-1]] if commented else None
        line = ', '.join(source_line.texts) + ','
        if comment:
            line += '  # ' + '\n    # '.join(comment.strip().splitlines())
        lines.append(line)
    short = f'{prefix} {name}(' + ' '.join(lines).rstrip(',') + ending
    if '#' not in ''.join(lines) and len(short) <= ONE_LINE:
        return short
    return f'{prefix} {name}(\n    ' + '\n    '.join(lines) + '\n' + ending


def class_signature(cls, sources):
    "The fields of a NamedTuple or a dataclass with their types and comments; the signature of `__init__` of another class."
    definition = ast.parse(sources[cls.__name__]).body[0]
    public_bases = [base for base in map(ast.unparse, definition.bases) if not base.startswith('_')]
    head = f'class {cls.__name__}({", ".join(public_bases)}):' if public_bases else f'class {cls.__name__}:'
    for base in cls.__mro__:                               # a private base is shown as if it were the class itself
        if base.__name__ not in sources:
            continue
        source = sources[base.__name__]
        definition = ast.parse(source).body[0]
        decorators = [ast.unparse(d) for d in definition.decorator_list]
        fields = [node for node in definition.body if isinstance(node, ast.AnnAssign)]
        if fields and (issubclass(cls, tuple) or any(d.startswith('dataclass') for d in decorators)):
            written = source.splitlines()[fields[0].lineno - 1:fields[-1].end_lineno]
            return '\n'.join([*(f'@{d}' for d in decorators), head, *written])
        if '__init__' in vars(base):
            return function_signature(base.__init__, cls.__name__, 'class')
    return head


EXAMPLE = re.compile(r'^Example:\n((?: {4}.*\n?|\n)+)', re.MULTILINE)


def with_example_as_code(docstring):
    "A docstring in which the session below `Example:` is a block of code."
    def block(found):
        session = textwrap.dedent(found[1]).strip('\n')
        return f'Example:\n\n```python\n{session}\n```\n'
    return EXAMPLE.sub(block, docstring)


class SiteRenderer(BasicMarkdownRenderer):
    "Documentation of one exported name: its signature, then its docstring."
    def __init__(self, symbol, classes, **kwargs):
        super().__init__(symbol, **kwargs)
        if inspect.isclass(self.sym):
            signature = class_signature(self.sym, classes)
        elif self.isfunc:
            signature = function_signature(self.sym, self.nm.split('.')[-1])
        else:
            return
        self.dm = signature.replace('`', '')           # nbdev would print the address of a link there
        self.docs = with_example_as_code(inspect.getdoc(self.sym) or '')       # nbdev would run its lines together

    def _repr_markdown_(self):
        return super()._repr_markdown_().replace('```python\n', '```{.python .signature}\n', 1)


class RunForDocs(exec_show_docs):
    "nbdev's processor, with `SiteRenderer` for `show_doc`. It saves no state of widgets, since no page has widgets."
    def begin(self):
        super().begin()
        self.k.user_ns['show_doc'] = partial(show_doc, renderer=partial(SiteRenderer, classes=self.classes()))

    def classes(self):
        "The source of each class of the notebook: Python cannot find it for a class that a cell defines."
        found = {}
        for cell in self.nb.cells:
            if cell.cell_type != 'code':
                continue
            for node in cell.parsed_() or ():
                if isinstance(node, ast.ClassDef):
                    found[node.name] = class_source(cell.source, node)
        return found

    def end(self):
        pass


def class_source(source, node):
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return '\n'.join(source.splitlines()[first - 1:node.end_lineno])


SHORT_CELL = re.compile(r'<td>([^<\s]{1,12})</td>')


def html_as_markdown(cell):
    """Put HTML outputs, such as tables, into Markdown: for an HTML output Quarto would load jquery and require.js.

    A number such as 2.6e-10 stays on one line; a browser would break it after the hyphen."""
    for output in cell.get('outputs', ()):
        html = ''.join(output.get('data', {}).pop('text/html', ''))
        if html:
            html = SHORT_CELL.sub(r'<td style="white-space: nowrap;">\1</td>', html)
            output['data']['text/markdown'] = ['```````{=html}\n', html.rstrip('\n'), '\n```````\n']


class SitePages(FilterDefaults):
    "nbdev's processors with those of this module."
    def base_procs(self):
        replaced = [RunForDocs if p is exec_show_docs else p for p in super().base_procs()]
        return [*replaced, html_as_markdown]


def process_file(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != '.ipynb':
        shutil.copy2(source, target)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'Found cells containing imports')
        serve_drv.main((source, target, SitePages))


def process(workers=None):
    "Write what Quarto is to render into `_proc`, and return that folder."
    nbs, out = root / 'nbs', root / '_proc'
    shutil.rmtree(out, ignore_errors=True)
    paths = [p.relative_to(nbs) for p in sorted(nbs.rglob('*')) if p.is_file()]
    jobs = [(nbs / p, out / p) for p in paths if not any(part.startswith('.') for part in p.parts)]
    if workers == 0:
        for job in jobs:
            process_file(*job)
    else:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context('spawn')) as pool:
            for done in [pool.submit(process_file, *job) for job in jobs]:
                done.result()
    return out
