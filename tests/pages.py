"""How the notebooks become the pages that Quarto renders: nbdev's processors, with two of them replaced and four added.

A signature is shown as it is written; nbdev would infer types from defaults and show `NoneType`. A NamedTuple shows its
fields. A table becomes Markdown, for which Quarto loads no scripts from another host. Exported source, imports and sections
named "Tests" are folded."""
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

import yaml
from fastcore.docments import docments
from execnb.nbio import mk_cell, write_nb
from nbdev import serve_drv
from nbdev.config import get_config
from nbdev.frontmatter import FrontmatterProc
from nbdev.process import NBProcessor, Processor
from nbdev.processors import FilterDefaults, add_fold, exec_show_docs
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


def public_arguments(arguments):
    "The arguments of a function without those whose name begins with an underscore, which only its module passes."
    def is_public(argument):
        return not argument.arg.startswith('_')
    positional = arguments.posonlyargs + arguments.args
    first_default = len(positional) - len(arguments.defaults)
    keyword = [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults) if is_public(pair[0])]
    return ast.arguments(
        posonlyargs=[argument for argument in arguments.posonlyargs if is_public(argument)],
        args=[argument for argument in arguments.args if is_public(argument)],
        defaults=[default for argument, default in zip(positional[first_default:], arguments.defaults) if is_public(argument)],
        kwonlyargs=[argument for argument, _ in keyword], kw_defaults=[default for _, default in keyword],
        vararg=arguments.vararg, kwarg=arguments.kwarg)


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
    for source_line in parameter_lines(public_arguments(definition.args)):
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


FLAGS = {*get_config().tst_flags.split(), 'env'}


class RunForDocs(exec_show_docs):
    """nbdev's processor, with `SiteRenderer` for `show_doc`. It saves no state of widgets, since no page has widgets.

    It runs no cell with a flag, which could need a file, a key or minutes: the site is prepared anywhere."""
    def begin(self):
        super().begin()
        self.k.user_ns['show_doc'] = partial(show_doc, renderer=partial(SiteRenderer, classes=self.classes()))

    def __call__(self, cell):
        if not FLAGS & (getattr(cell, 'directives_', None) or {}).keys():
            super().__call__(cell)

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


def fold_exports(cell):
    "Fold the source of a documented export. nbdev would show it."
    if cell.cell_type == 'code' and 'exports' in cell.directives_:
        cell.source = f'#| code-fold: true\n#| code-summary: "Exported source"\n{cell.source}'


class ShowInternal(Processor):
    """Show what `#| exporti` and `#| on_site exports` export as if it were `#| exports`; the same with `export`.

    Only its own module uses it, so it is not in `__all__`, but the page explains it."""
    def cell(self, cell):
        kind, = cell.directives_.get('on_site', [None])
        if kind:
            del cell.directives_['exporti']
            cell.directives_[kind] = []


FOLDED_IMPORTS = '#| code-fold: true\n#| code-summary: "Imports"\n'
SHOWN_AS_TOLD = re.compile(r'^#\| *(code-fold|echo|include):', re.M)


LONG_IMPORTS = 3                # lines: a shorter import stays with the code below it, in the same cell


def is_import(statement):
    return isinstance(statement, ast.Import | ast.ImportFrom)


class FoldImports(Processor):
    "Fold cells with nothing but imports, and long imports at the beginning of a cell, unless an option says what is shown."
    def begin(self):
        cells = []
        for cell in self.nb.cells:
            if cell.cell_type == 'code' and cell.source and not SHOWN_AS_TOLD.search(cell.source):
                imports = imports_at_top(cell)
                lines = cell.source.splitlines(keepends=True)
                if imports and imports.is_all:
                    cell.source = FOLDED_IMPORTS + cell.source
                elif imports and imports.end - imports.start >= LONG_IMPORTS:
                    cells.append(mk_cell(FOLDED_IMPORTS + ''.join(lines[imports.start:imports.end])))
                    rest = ''.join(lines[:imports.start] + lines[imports.end:])
                    cell.set_source(rest.strip('\n'))
            cells.append(cell)
        self.nb.cells = cells


class TopImports(NamedTuple):
    "The imports at the beginning of a cell."
    start: int # number of lines before them, which are options
    end: int # number of lines up to their last
    is_all: bool # the cell has nothing else


def imports_at_top(cell):
    "The imports at the beginning of a cell, or None if it begins with something else."
    statements = cell.parsed_() or []
    if not statements or not is_import(statements[0]):
        return None
    count = next((number for number, statement in enumerate(statements) if not is_import(statement)), len(statements))
    return TopImports(statements[0].lineno - 1, statements[count - 1].end_lineno, count == len(statements))

FENCE = re.compile(r'^ {0,3}(`{3,}|~{3,})')
HEADING = re.compile(r'^##? +(.+?) *$')         # of level 1 or 2


class Part(NamedTuple):
    "A part of a Markdown cell."
    heading: str | None # its first line if that is a heading of level 1 or 2
    text: str # all of it, the heading included


def parts_at_headings(text):
    "A Markdown text, divided before each heading of level 1 or 2. A `#` within a block of code is no heading."
    parts, fence = [Part(None, '')], None
    for line in text.splitlines(keepends=True):
        opened = FENCE.match(line)
        heading = HEADING.match(line) if fence is None else None
        if fence is None and opened:
            fence = opened[1]
        elif opened and opened[1].startswith(fence):
            fence = None
        if heading:
            parts.append(Part(heading[0].strip(), line))
        else:
            parts[-1] = Part(parts[-1].heading, parts[-1].text + line)
    return [part for part in parts if part.text.strip()]


TESTS = '## Tests'
# The fenced div keeps the headings below out of the table of contents, and whole within <details>.
FOLD = '<details class="tests"><summary>Show the tests of this page</summary>\n\n:::::::: {.tests-body}'
UNFOLD = '::::::::\n\n</details>'


class FoldTests(Processor):
    "Fold each section `## Tests`, up to the next heading of level 1 or 2. Its heading stays in view."
    def begin(self):
        if not any(TESTS in cell.source for cell in self.nb.cells if cell.cell_type == 'markdown'):
            return
        folded, inside = [], False
        for cell in self.nb.cells:
            if cell.cell_type != 'markdown' or not cell.source:
                folded.append(cell)
                continue
            for part in parts_at_headings(cell.source):
                text = part.text
                if part.heading and inside:
                    folded.append(mk_cell(UNFOLD, 'markdown'))
                    inside = False
                if part.heading == TESTS:
                    folded.append(mk_cell(f'{TESTS}\n\n{FOLD}', 'markdown'))
                    text = text.split('\n', 1)[1] if '\n' in text else ''
                    inside = True
                if text.strip():
                    folded.append(mk_cell(text.strip(), 'markdown'))
        if inside:
            folded.append(mk_cell(UNFOLD, 'markdown'))
        self.nb.cells = folded


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
        ours = {exec_show_docs: RunForDocs, add_fold: fold_exports}
        return [ShowInternal, *(ours.get(p, p) for p in super().base_procs()), FoldImports, html_as_markdown, FoldTests]


def front_page(source):
    "A notebook with the title and the place of a page and nothing else: what other pages need of one that is not rendered."
    nb = NBProcessor(source, procs=FrontmatterProc, process=True).nb
    settings = {'title': nb.frontmatter_['title'], 'output-file': f'{re.sub(r"^[0-9]+[a-z]?_", "", source.stem)}.html'}
    nb.cells = [mk_cell(f'---\n{yaml.safe_dump(settings)}---', 'raw')]
    return nb


def process_file(source, target, only=None):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != '.ipynb':
        shutil.copy2(source, target)
        return
    if only is not None and source.relative_to(root / 'nbs').as_posix() not in only:
        write_nb(front_page(source), target)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'Found cells containing imports')
        serve_drv.main((source, target, SitePages))


def process(workers=None, only=None):
    "Write what Quarto is to render into `_proc`, and return that folder. `only`: these pages; of the others, the title."
    nbs, out = root / 'nbs', root / '_proc'
    shutil.rmtree(out, ignore_errors=True)
    paths = [p.relative_to(nbs) for p in sorted(nbs.rglob('*')) if p.is_file()]
    jobs = [(nbs / p, out / p) for p in paths if not any(part.startswith('.') for part in p.parts)]
    if workers == 0:
        for job in jobs:
            process_file(*job, only)
    else:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context('spawn')) as pool:
            for done in [pool.submit(process_file, *job, only) for job in jobs]:
                done.result()
    return out
