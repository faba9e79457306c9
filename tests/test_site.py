"""What can be checked of the site without Quarto: nbdev's processed pages, every link in them, every figure's alt text."""
import ast
import builtins
import importlib
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import yaml
from execnb.nbio import mk_cell
from fontTools.ttLib.tables._g_l_y_f import Glyph

from biasbook.core.needs import cell_flags
from biasbook.core.registry import registry_entries

sys.path.insert(0, str(Path(__file__).parent))
from docs import LARGEST_PAGE, problems, rendered, requests_elsewhere   # noqa: E402
from pages import FLAGS, is_import                            # noqa: E402
from test_project import PACKAGES                          # noqa: E402

root = Path(__file__).parent.parent
SITE = 'https://biasbook.github.io/biasbook/'
BLOB = 'https://github.com/biasbook/biasbook/blob/main/'
COLAB = 'https://colab.research.google.com/github/biasbook/biasbook/blob/main/nbs/'
PROCESS = """
import os, sys
from pathlib import Path
sys.path.insert(0, 'tests')
from pages import process_file
out, *names = sys.argv[1:]
for name in names:
    process_file(Path('nbs', name).resolve(), Path(out, name))
sys.stdout.flush(), sys.stderr.flush()
os._exit(0)                                                # at a usual exit the shell of each page collects garbage, for long
"""
# A chapter and pages of three folders. They have functions, classes, NamedTuples, tables, figures, folded imports and tests.
FEW = ['00_weat.ipynb', 'core/03_store.ipynb', 'results/01_plots.ipynb', 'stats/00_permutation.ipynb', 'stimuli/04_sentence_pairs.ipynb']


def package_rank(page):
    "The place of a page's folder in the order of the packages; the chapters are on top of nbs/."
    folder = page.split('/')[0] if '/' in page else 'chapters'
    return PACKAGES.index(folder) if folder in PACKAGES else len(PACKAGES)


def pages():
    return sorted(p.relative_to(root / 'nbs').as_posix() for p in (root / 'nbs').rglob('*.ipynb')
                  if '.ipynb_checkpoints' not in p.parts)


@cache
def cells(path):
    return json.loads(Path(path).read_text(encoding='utf-8'))['cells']


def source(cell):
    return ''.join(cell['source'])


class Site(NamedTuple):
    "Pages as render.py hands them to Quarto: cells with imports are run, documentation of exports is written."
    folder: Path
    pages: list # those that are processed

    def path(self, page):
        "The processed page, or the notebook itself."
        return (self.folder if page in self.pages else root / 'nbs') / page

    def anchors(self, page):
        "The anchors of a page. Those of exported names are known without processing the page."
        found = anchors(self.path(page))
        if page in self.pages:
            return found
        code = [ast.parse(source(cell)) for cell in cells(root / 'nbs' / page) if re.match(r'#\| *(exporti\n#\| *on_site )?exports?\b', source(cell))]
        names = [node.name.lower() for tree in code for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return found | set(names)


@pytest.fixture(scope='module', params=['few pages', pytest.param('all pages', marks=pytest.mark.slow)])
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp('site')
    names = FEW if request.param == 'few pages' else pages()
    run = subprocess.run([sys.executable, '-c', PROCESS, str(folder), *names], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0 and 'Error in notebook' not in run.stdout + run.stderr, (run.stdout + run.stderr)[-3000:]
    return Site(folder, names)


def sidebar():
    "The entries at the top of the sidebar."
    return yaml.safe_load((root / 'nbs/sidebar.yml').read_text())['website']['sidebar']['contents']


def links_of(entries):
    "(page, text) of each link among entries of the sidebar and below them; the text is None where the page's title is shown."
    for entry in entries:
        if isinstance(entry, str):
            yield entry, None
            continue
        if 'href' in entry:
            yield entry['href'], entry.get('section') or entry['text']
        yield from links_of(entry.get('contents', ()))


def test_sidebar_has_every_page_once():
    assert sorted(page for page, _ in links_of(sidebar())) == pages()


def test_sidebar_shows_the_number_of_each_chapter():
    "A chapter is at the top, the pages with its number and a letter are folded beneath it, and the texts begin with the number."
    numbered = [page for page in pages() if re.match(r'\d\d[a-z]?_', page)]
    texts = dict(links_of(sidebar()))
    assert numbered == [page for page in texts if page in numbered], 'not in their order'
    for page in numbered:
        assert texts[page].split()[0] == page.partition('_')[0], page
    at_top = [entry['href'] for entry in sidebar() if isinstance(entry, dict) and entry.get('href') in numbered]
    assert at_top == [page for page in numbered if re.match(r'\d\d_', page)]
    for entry in sidebar():
        if isinstance(entry, dict) and entry.get('href') in at_top:
            assert all(page[:2] == entry['href'][:2] for page, _ in links_of(entry.get('contents', ()))), entry['href']


def test_sidebar_starts_with_the_home_page():
    first, second = sidebar()[:2]
    assert first == {'text': 'Start here'} and second['href'] == 'index.ipynb'


def test_home_page_links_every_chapter():
    home = '\n'.join(source(c) for c in cells(root / 'nbs/index.ipynb'))
    linked = set(re.findall(r'\]\(([\w/]+\.ipynb)\)', home))
    missing = {p for p in pages() if '/' not in p} - linked - {'index.ipynb'}
    assert not missing


def test_reference_page_links_every_page_of_a_folder():
    listed = '\n'.join(source(c) for c in cells(root / 'nbs/reference.ipynb'))
    linked = set(re.findall(r'\]\(([\w/]+\.ipynb)\)', listed))
    assert not {page for page in pages() if '/' in page} - linked


def test_every_figure_has_alt_text():
    for page in pages():
        for cell in cells(root / 'nbs' / page):
            if any('image/png' in o.get('data', {}) for o in cell.get('outputs', ())):
                alt = re.search(r'^#\| *fig-alt: *(.+)', source(cell), re.M)
                assert alt and len(alt[1]) > 20, f'{page}:\n{source(cell)[:300]}'
            for text in re.findall(r'!\[(.*?)\]\(', source(cell)) if cell['cell_type'] == 'markdown' else ():
                assert len(text) > 20, f'{page}: an image without alt text'


def test_cell_options_are_yaml():
    "Quarto reads each `#| key: value` as YAML and stops at the first that is none, such as a text with an unquoted `: `."
    for page in pages():
        for cell in cells(root / 'nbs' / page):
            for option in re.findall(r'^#\| *([\w-]+:.*)', source(cell), re.M) if cell['cell_type'] == 'code' else ():
                try:
                    (key, value), = yaml.safe_load(option).items()
                except yaml.YAMLError as error:
                    pytest.fail(f'{page}: put the value in quotation marks, {option}\n{error}')
                assert not isinstance(value, dict | list), f'{page}: {option}'
                assert key != 'fig-alt' or isinstance(value, str), f'{page}: {option}'


def statements(cell):
    return ast.parse(re.sub(r'^[%!].*', '', source(cell), flags=re.M)).body


def runs_for_the_site(cell):
    "Does nbdev run this cell when it prepares the site? It does if the cell is exported or has imports, and no flag."
    flags = cell_flags(source(cell)).keys() if cell['cell_type'] == 'code' else {'eval'}
    if {*FLAGS, 'eval'} & flags:
        return False
    return bool({'export', 'exports', 'exporti'} & flags) or any(map(is_import, statements(cell)))


def is_mixed(cell):
    "Are imports and other code mixed in a cell that is not exported?"
    exported = {'export', 'exports', 'exporti'} & cell_flags(source(cell)).keys()
    are_imports = list(map(is_import, statements(cell)))
    return not exported and any(are_imports) and not all(are_imports)


def bound_names(nodes):
    "The names that code binds, wherever it does."
    names = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition('.')[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def test_cells_that_mix_imports_with_code_run_where_the_site_is_prepared():
    """Only exported cells and those with imports run there, with no file and no network: put the imports of a cell that needs more
    into a cell of their own, or give it the flag of what it needs."""
    registered = {name.partition('/')[0] for name in registry_entries() if '/' in name}
    elsewhere = re.compile(rf"\b(fetch|urlopen|snapshot_download)\(|'(hf:|openai:|https?://|({'|'.join(sorted(registered))})/)")
    wrong = []
    for page in pages():
        known = {*dir(builtins), 'show_doc', 'get_ipython'}
        for cell in filter(runs_for_the_site, cells(root / 'nbs' / page)):
            known |= bound_names(statements(cell))
            if not is_mixed(cell):
                continue
            used = {node.id for statement in statements(cell) for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if elsewhere.search(source(cell)) or used - known:
                wrong.append(f'{page}: {source(cell)[:80]!r} needs {sorted(used - known) or "a file or a network"}')
    assert wrong == []


def test_alt_texts_are_no_broken_addresses():
    "Quarto decodes alt texts as it does addresses, and warns of a percent sign that is followed by no code."
    for page in pages():
        for alt in re.findall(r'^#\| *fig-alt: *(.+)', '\n'.join(map(source, cells(root / 'nbs' / page))), re.M):
            assert '%' not in alt, f'{page}: write "percent", {alt}'


def test_formulas_are_understood_by_pandoc():
    "It lacks two of TeX's sizes of brackets, and leaves a formula that has one as TeX. docs.py finds any other such formula."
    for page in pages():
        for cell in cells(root / 'nbs' / page):
            if cell['cell_type'] == 'markdown':
                sizes = re.findall(r'\\(?:Bigl|[Bb]igg?m)(?![a-z])', source(cell))
                assert not sizes, f'{page}: write \\left and \\right for {sizes}'


def test_badge_is_bundled():
    "Every page but the home page opens with a link to Colab, whose image is a file of the book."
    for page in pages():
        badges = [source(c) for c in cells(root / 'nbs' / page) if COLAB in source(c)]
        image = '../' * page.count('/') + 'images/open-in-colab.svg'
        assert badges == [] if page == 'index.ipynb' else len(badges) == 1 and f'<img src="{image}" alt="Open in Colab">' in badges[0]


def texts(page):
    "Everything on a processed page that may hold a link: prose, and what documents an export."
    for cell in cells(page):
        if cell['cell_type'] == 'markdown':
            yield source(cell), True
        for out in cell.get('outputs', ()):
            for kind in ('text/markdown', 'text/html'):
                yield ''.join(out.get('data', {}).get(kind, '')), False


def links(text):
    text = re.sub(r'```.*?```', '', text, flags=re.S)
    return [next(filter(None, m)) for m in re.findall(r'\]\(((?:[^()\s]|\([^()\s]*\))+)\)|(?:href|src)="([^"]+)"', text)]


def slug(heading):
    return re.sub(r'[^\w\-.]+', '', re.sub(r'\s+', '-', re.sub(r'[`*\[\]]|\(.*?\)', '', heading).strip().lower()))


def anchors(page):
    found = {slug(h) for c in cells(page) if c['cell_type'] == 'markdown' for h in re.findall(r'^#+ (.+)', source(c), re.M)}
    return found | {m for text, _ in texts(page) for m in re.findall(r'\{#([\w.\-]+)', text)} | {
        name.lower() for text, _ in texts(page) for name in re.findall(r'^#+ ([\w.]+)', text, re.M)}


def test_every_link_resolves(site):
    "Links of all pages. Those that nbdev makes of names in backticks are only on processed pages."
    at, bad = {html: nb for nb, html in rendered().items()}, []
    for page in pages():
        for text, prose in texts(site.path(page)):
            for url in links(text):
                where, _, anchor = url.partition('#')
                if url.startswith(SITE):
                    target = at.get(where.removeprefix(SITE))
                    ok = target and anchor.lower() in {a.lower() for a in site.anchors(target)}
                elif url.startswith(COLAB):
                    ok = where.removeprefix(COLAB) == page
                elif url.startswith(BLOB):
                    ok = (root / where.removeprefix(BLOB)).exists()
                elif '://' in url or url.startswith('data:'):
                    ok = re.match(r'https://[\w.\-]+(/\S*)?$|data:image/png', url)
                else:
                    target = (root / 'nbs' / page).parent / where if where else root / 'nbs' / page
                    ok = target.exists() and (not anchor or anchor in site.anchors(target.resolve().relative_to(
                        (root / 'nbs').resolve()).as_posix()))
                if not ok:
                    bad.append((page, url))
    assert not bad


def explained_on(page):
    "Names that only the module of a page uses, and that the page explains."
    code = [ast.parse(source(cell)) for cell in cells(root / 'nbs' / page) if re.match(r'#\| *exporti\n#\| *on_site ', source(cell))]
    return {node.name for tree in code for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_names_in_prose_lead_to_what_they_mean(site):
    "A name in backticks becomes a link: to an exported or explained name, and from a reference page never to a page of a higher package."
    at, bad = {html: nb for nb, html in rendered().items()}, []
    for page in site.pages:
        for text, prose in texts(site.path(page)):
            for name, url in re.findall(rf'\[`([\w.]+)(?:\(\))?`\]\({SITE}([^)]+)\)', text):
                target = at[url.partition('#')[0]]
                module = importlib.import_module('biasbook.' + re.search(
                    r'default_exp (\S+)', '\n'.join(map(source, cells(root / 'nbs' / target))))[1])
                in_chapters = '/' not in page
                goes_up = package_rank(target) > package_rank(page) and not in_chapters
                if name.split('.')[0] not in {*module.__all__, *explained_on(target)} or goes_up:
                    bad.append((page, name, url))
    assert not bad


def documented(site):
    "Page, name and signature of everything that the site documents."
    for page in site.pages:
        for cell in cells(site.path(page)):
            for out in cell.get('outputs', ()) if 'show_doc(' in source(cell) else ():
                text = ''.join(out['data']['text/markdown'])
                name = re.search(r'^### (\S+)', text, re.M)[1]
                yield page, name, re.search(r'^```{.python .signature}\n(.*?)\n```', text, re.M | re.S)[1]


def test_signatures_are_as_written(site):
    "No type is made up from a default, which showed `None` as a type of its own, and no class is `*args, **kwargs`."
    signatures = list(documented(site))
    assert len(signatures) > len(site.pages)
    for page, name, signature in signatures:
        assert 'NoneType' not in signature, f'{page}: {name}'
        assert '*args, **kwargs' not in signature, f'{page}: {name}'
    shown = {name: signature for _, name, signature in signatures}
    assert shown['permutation_pvalue'].startswith('def permutation_pvalue(\n    scores_x: Scores,  # one score per word of X\n')
    assert '\n    ax=None,  # axes to draw on; new ones by default\n' in shown['forest_plot']
    assert shown['Store'].startswith('class Store(\n    path: str | os.PathLike[str] | None = None,  # ')
    for name, signature in shown.items():
        parameters = '\n'.join(line.partition('  # ')[0] for line in signature.splitlines())
        assert not re.search(r'(^|[(,])\s*_\w+', parameters, re.M), f'{name}: a private parameter is shown'


def test_named_tuples_and_dataclasses_show_their_fields(site):
    found = 0
    for page, name, signature in documented(site):
        text = '\n'.join(map(source, cells(root / 'nbs' / page)))
        cls = getattr(importlib.import_module('biasbook.' + re.search(r'default_exp (\S+)', text)[1]), name, None)
        own = vars(cls).get('__annotations__', {}) if isinstance(cls, type) else {}
        if not (own and (hasattr(cls, '_fields') or is_dataclass(cls))):
            continue
        assert re.search(rf'^class {name}\b', signature, re.M), signature
        for field in own:
            assert re.search(rf'^    {field}: \w', signature, re.M), f'{page}: {name}.{field}'
        found += 1
    assert found > len(site.pages) // 8


def test_outputs_make_quarto_load_nothing(site):
    "Quarto adds jquery and require.js of another host to a page with an output of one of these kinds."
    for page in site.pages:
        for cell in cells(site.path(page)):
            for out in cell.get('outputs', ()):
                scripted = out.get('data', {}).keys() & {'text/html', 'application/javascript',
                                                         'application/vnd.jupyter.widget-view+json'}
                assert not scripted, f'{page}: {source(cell)[:300]}'
        assert 'widgets' not in json.loads(site.path(page).read_text(encoding='utf-8'))['metadata']


def test_tests_imports_and_source_are_folded(site):
    "A section `## Tests` is inside <details> up to the next section; cells with only imports and exported source are folded."
    with_tests = 0
    for page in site.pages:
        shown = cells(site.path(page))
        opened = [number for number, cell in enumerate(shown) if '<details class="tests">' in source(cell)]
        texts = [source(cell) for cell in shown if cell['cell_type'] == 'markdown']
        n_opened = sum(text.count('<details') for text in texts)        # also of answers to exercises
        n_closed = sum(text.count('</details>') for text in texts)
        headings = [number for number, cell in enumerate(shown)
                    if cell['cell_type'] == 'markdown' and re.search('^## Tests$', source(cell), re.M)]
        assert opened == headings and n_closed == n_opened, page
        for start in opened:
            end = next(number for number in range(start + 1, len(shown)) if source(shown[number]).endswith('</details>'))
            assert not any(re.match('##? ', source(cell)) for cell in shown[start + 1:end]
                                           if cell['cell_type'] == 'markdown'), page
            if end + 1 < len(shown):
                assert re.match('##? ', source(shown[end + 1])), page
        with_tests += bool(opened)
        for cell in shown:
            if cell['cell_type'] == 'code' and '"Exported source"' in source(cell):
                assert source(cell).startswith('#| code-fold: true\n'), page
            if cell['cell_type'] == 'code' and re.match(r'(from|import) \w', source(cell)):
                statements = ast.parse(source(cell)).body
                first_other = next((statement for statement in statements if not isinstance(statement, ast.Import | ast.ImportFrom)), None)
                assert first_other and first_other.lineno <= 4, f'{page}: imports in view\n{source(cell)[:300]}'
    assert with_tests > len(site.pages) // 15


def folded(*texts):
    "The cells that the site shows of Markdown cells with these texts."
    from pages import FoldTests
    notebook = SimpleNamespace(cells=[mk_cell(text, 'markdown') for text in texts])
    FoldTests(notebook).begin()
    return [cell.source for cell in notebook.cells]


def test_only_the_section_of_tests_is_folded():
    from pages import FOLD, UNFOLD
    opened = f'## Tests\n\n{FOLD}'
    assert folded('a', '## Tests\n\nb\n\n### c', 'd', '## e') == ['a', opened, 'b\n\n### c', 'd', UNFOLD, '## e']
    assert folded('## Tests', 'b') == [opened, 'b', UNFOLD]
    assert folded('a\n\n## Tests\nb\n\n## c\nd') == ['a', opened, 'b', UNFOLD, '## c\nd']
    fenced = '```\n## Tests\n# a comment\n```'
    assert folded('## Tests', fenced, '## e') == [opened, fenced, UNFOLD, '## e']
    for text in ('## Tests with few words', '### Tests', fenced):
        assert folded(text, '## e') == [text, '## e']


def test_links_are_readable(site):
    "nbdev links names in backticks: within a signature or within a link it would print the address."
    for page in site.pages:
        for text, _ in texts(site.path(page)):
            assert '[[`' not in text, f'{page}: write `name` alone, it becomes a link'
            for code in re.findall(r'^```.*?^```', text, re.M | re.S):
                assert f']({SITE}' not in code, f'{page}: no backticks in the comment of a parameter: {code[:300]}'


def test_check_of_the_site_that_quarto_makes(tmp_path, monkeypatch):
    "On a made-up site of a few pages: nothing is found on a whole one, and each fault on one that has it."
    few = {page: rendered()[page] for page in ('index.ipynb', '00_weat.ipynb', '04b_seat.ipynb', 'cite.ipynb', 'core/02_registry.ipynb')}
    monkeypatch.setattr('docs.rendered', lambda: few)
    pages_of, names = {}, list(few.values())
    for name in names:
        up, all_or_home = '../' * name.count('/'), names if name in ('index.html', 'core/registry.html') else ['index.html']
        pages_of[name] = '<nav id="quarto-sidebar">' + ''.join(f'<a href="{up}{n}">x</a>' for n in all_or_home) + '</nav><p id="a">'
    def found(**changes):
        for name, text in {**pages_of, **{k.replace('__', '.'): v for k, v in changes.items()}}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        (tmp_path / 'search.json').write_text(json.dumps([{'href': n} for n in names if n != changes.get('unsearched')]))
        return list(problems(tmp_path))
    assert found() == []
    for more, said in (('<a href="no.html">', 'no.html leads nowhere'), ('<a href="index.html#b">', 'has no such place'),
                       ('<img src="weat.html">', 'without alt text'), (f'<a href="{SITE}no.html#a">', 'leads nowhere'),
                       ('<script src="https://x.org/a.js"></script>', 'https://x.org/a.js is loaded from another host'),
                       ('<script src="//x.org/a.js"></script>', 'from another host'),
                       ('<img alt="a" src="data:," srcset="data:, 1x, https://x.org/a.png 2x">', 'https://x.org/a.png'),
                       ('<link rel="stylesheet" href="https://x.org/a.css">', 'from another host'),
                       ('<iframe src="https://x.org"></iframe>', 'from another host'),
                       ('<style>@import "https://x.org/a.css";</style>', 'from another host'),
                       ('<p style="background: url(https://x.org/a.png)">', 'from another host'),
                       ('<span class="math inline">\\(\\Bigl\\)</span>', 'a formula is shown as TeX'),
                       ('<code>ax:NoneType<span>=</span>None</code>', 'a signature shows NoneType'),
                       ('<code>def PermutationTest(\n    <span>*</span>args, **kwargs\n):\n</code>', 'a class is shown without its fields')):
        fault, = found(weat__html=pages_of['weat.html'] + more)
        assert fault.startswith('weat.html') and said in fault
    harmless = ('<a href="https://x.org">x</a><link rel="canonical" href="https://x.org"><script>let x = 1</script>'
                f'<img alt="a" src="{SITE}weat.html"><style>p {{ background: url("data:image/png;base64,") }}</style>'
                '<span class="math inline"><math><mi>x</mi></math></span>')
    assert found(weat__html=pages_of['weat.html'] + harmless) == []
    for css in ('@import url("https://x.org/a.css");', '@import"https://x.org/a.css";', '@font-face{src:url(//x.org/a.woff)}'):
        (tmp_path / 'site.css').write_text(css)
        fault, = found()
        assert fault.startswith('site.css: ') and fault.endswith('is loaded from another host')
    (tmp_path / 'site.css').write_text('p{background:url(a.png)}')
    assert found(index__html=pages_of['index.html'].replace('<a href="seat.html">', '<a href="weat.html">')) == [
        'seat.html: not in the sidebar']
    (tmp_path / 'large.js').write_bytes(random.Random(0).randbytes(LARGEST_PAGE))
    (tmp_path / 'site.css').write_text('p{background:url(large.js)}')
    for loading in ('<script src="large.js"></script>', '<link rel="stylesheet" href="site.css">'):
        fault, = found(weat__html=pages_of['weat.html'] + loading)
        assert fault == f'weat.html: a browser loads {LARGEST_PAGE // 1000} kB for it, compressed; at most {LARGEST_PAGE // 1000}'
    assert found(unsearched='cite.html')[0] == 'cite.html: not in the search'
    (tmp_path / 'cite.html').unlink()
    assert 'cite.html: no such page' in list(problems(tmp_path))
    without = [page for page in few if page != 'cite.ipynb']             # a link to a page that was not rendered is allowed
    (tmp_path / 'weat.html').write_text(pages_of['weat.html'] + '<a href="cite.html"><a href="no.html">')
    assert [fault for fault in problems(tmp_path, without) if 'sidebar' not in fault] == ['weat.html: no.html leads nowhere']


def test_requests_of_scripts_are_seen(tmp_path):
    "Links, and requests to the site itself, are no fault."
    (tmp_path / 'a.js').write_text('fetch("https://x.invalid/data.json"); fetch("b.html")')
    (tmp_path / 'a.html').write_text('<a href="https://x.invalid/link">x</a><script src="a.js"></script>')
    (tmp_path / 'b.html').write_text('<a href="https://x.invalid/link">x</a>')
    found = requests_elsewhere(tmp_path)
    if found is None:
        pytest.skip('there is no browser')
    assert found == ['a.html: asks for https://x.invalid/data.json when it is opened in a browser']


def test_icons_in_use_are_kept(tmp_path):
    from fontTools.fontBuilder import FontBuilder
    from fontTools.ttLib import TTFont
    from render import shrink_icons
    folder = tmp_path / 'site_libs/bootstrap'
    folder.mkdir(parents=True)
    builder = FontBuilder(1000)
    builder.setupGlyphOrder(['.notdef', 'github', 'list', 'moon'])
    builder.setupCharacterMap({0xf101: 'github', 0xf102: 'list', 0xf103: 'moon'})
    builder.setupGlyf({name: Glyph() for name in builder.font.getGlyphOrder()})
    builder.setupHorizontalMetrics({name: (500, 0) for name in builder.font.getGlyphOrder()})
    builder.setupHorizontalHeader()
    builder.setupPost()
    builder.save(folder / 'bootstrap-icons.woff')
    (folder / 'bootstrap-icons.css').write_text('\n'.join(
        f'.bi-{name}::before {{ content: "\\f10{number}"; }}' for number, name in enumerate(['github', 'list', 'moon'], 1)))
    (tmp_path / 'index.html').write_text('<i class="bi bi-github"></i>')
    (tmp_path / 'menu.js').write_text('icon.classList.add("bi-list")')
    shrink_icons(tmp_path)
    assert set(TTFont(folder / 'bootstrap-icons.woff').getBestCmap()) == {0xf101, 0xf102}


def test_figures_keep_their_looks(tmp_path):
    from matplotlib.figure import Figure
    from PIL import Image, ImageChops, ImageStat
    from render import shrink_figures
    figure = Figure(figsize=(4, 3), facecolor='none')
    axes = figure.subplots()
    for number in range(8):
        axes.plot(range(9), [number * x for x in range(9)], label=f'line {number}')
    axes.legend()
    path = tmp_path / 'weat_files/figure-html/cell-1.png'
    path.parent.mkdir(parents=True)
    figure.savefig(path)
    size, before = path.stat().st_size, Image.open(path).convert('RGBA')
    shrink_figures(tmp_path)
    after = Image.open(path).convert('RGB')
    on_white = Image.alpha_composite(Image.new('RGBA', before.size, 'white'), before).convert('RGB')
    assert path.stat().st_size < .7 * size and after.size == before.size
    difference = ImageStat.Stat(ImageChops.difference(on_white, after))       # of 255, by channel
    assert max(difference.mean) < .5 and max(highest for _, highest in difference.extrema) < 60


def test_warnings_of_quarto_are_seen(tmp_path, monkeypatch):
    "A made-up quarto says what the real one and pandoc say of a formula, of an address and of options that are no YAML."
    from render import run_quarto
    said = ['[WARNING] Could not convert TeX math x = \\Bigl(, rendering as TeX:', "WARN: Invalid URI 'a 95 % interval'",
            'ERROR: YAMLException: bad indentation of a mapping entry']
    progress = ['[ 1/2] error_messages.ipynb', 'Output created: _docs/warnings.html']
    lines = [progress[0], said[0], '  expecting "%"', f'\x1b[33m{said[1]}\x1b[39m', said[2], progress[1]]
    (tmp_path / 'said.txt').write_text('\n'.join(lines) + '\n')
    quarto = tmp_path / 'quarto'
    quarto.write_text(f'#!/bin/sh\ncat {tmp_path}/said.txt >&2\nexit 3\n')
    quarto.chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    assert run_quarto(tmp_path) == (3, said)
    (tmp_path / 'said.txt').write_text('\n'.join(progress))
    assert run_quarto(tmp_path) == (3, [])
