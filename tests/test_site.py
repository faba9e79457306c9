"""What can be checked of the site without Quarto: nbdev's processed pages, every link in them, every figure's alt text."""
import importlib
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from docs import problems, rendered                        # noqa: E402

root = Path(__file__).parent.parent
SITE = 'https://biasbook.github.io/biasbook/'
BLOB = 'https://github.com/biasbook/biasbook/blob/main/'
COLAB = 'https://colab.research.google.com/github/biasbook/biasbook/blob/main/nbs/'
PROCESS = """
import os, sys
from nbdev.serve import proc_nbs
proc_nbs('nbs', n_workers=0)
sys.stdout.flush(), sys.stderr.flush()
os._exit(0)                                                # at a usual exit the shell of each page collects garbage, for long
"""


def pages():
    return sorted(p.relative_to(root / 'nbs').as_posix() for p in (root / 'nbs').rglob('*.ipynb')
                  if '.ipynb_checkpoints' not in p.parts)


@cache
def cells(path):
    return json.loads(Path(path).read_text(encoding='utf-8'))['cells']


def source(cell):
    return ''.join(cell['source'])


@pytest.fixture(scope='module')
def processed(tmp_path_factory):
    "The pages as `nbdev_docs` hands them to Quarto: cells with imports are run, documentation of exports is written."
    tmp = tmp_path_factory.mktemp('site') / 'biasbook'
    shutil.copytree(root, tmp, ignore=shutil.ignore_patterns('.git', '_proc', '_docs', '.ipynb_checkpoints', 'build'))
    (tmp / 'process.py').write_text(PROCESS)
    run = subprocess.run([sys.executable, 'process.py'], cwd=tmp, capture_output=True, text=True)
    assert run.returncode == 0 and 'Error in notebook' not in run.stdout + run.stderr, (run.stdout + run.stderr)[-3000:]
    return tmp / '_proc'


def test_sidebar_has_every_page_once():
    def walk(x):
        for entry in x:
            yield from walk(entry['contents']) if isinstance(entry, dict) else [entry]
    listed = list(walk(yaml.safe_load((root / 'nbs/sidebar.yml').read_text())['website']['sidebar']['contents']))
    assert sorted(listed) == pages()


def test_home_page_links_every_chapter():
    home = '\n'.join(source(c) for c in cells(root / 'nbs/index.ipynb'))
    linked = set(re.findall(r'\]\(([\w/]+\.ipynb)\)', home))
    missing = {p for p in pages() if '/' not in p} - linked - {'index.ipynb'}
    assert not missing


def test_every_figure_has_alt_text():
    for page in pages():
        for cell in cells(root / 'nbs' / page):
            if any('image/png' in o.get('data', {}) for o in cell.get('outputs', ())):
                alt = re.search(r'^#\| *fig-alt: *(.+)', source(cell), re.M)
                assert alt and len(alt[1]) > 20, f'{page}:\n{source(cell)[:300]}'
            for text in re.findall(r'!\[(.*?)\]\(', source(cell)) if cell['cell_type'] == 'markdown' else ():
                assert len(text) > 20, f'{page}: an image without alt text'


def texts(page):
    "Everything on a processed page that may hold a link: prose, and what documents an export."
    for cell in cells(page):
        if cell['cell_type'] == 'markdown': yield source(cell), True
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


def test_every_link_resolves(processed):
    at, bad = {html: nb for nb, html in rendered().items()}, []
    for page in pages():
        for text, prose in texts(processed / page):
            for url in links(text):
                where, _, anchor = url.partition('#')
                if url.startswith(SITE):
                    target = at.get(where.removeprefix(SITE))
                    ok = target and anchor.lower() in {a.lower() for a in anchors(processed / target)}
                elif url.startswith(COLAB): ok = where.removeprefix(COLAB) == page
                elif url.startswith(BLOB): ok = (root / where.removeprefix(BLOB)).exists()
                elif '://' in url or url.startswith('data:'): ok = re.match(r'https://[\w.\-]+(/\S*)?$|data:image/png', url)
                else:
                    target = (root / 'nbs' / page).parent / where if where else root / 'nbs' / page
                    ok = target.exists() and (not anchor or anchor in anchors(processed / target.resolve().relative_to(
                        (root / 'nbs').resolve())))
                if not ok: bad.append((page, url))
    assert not bad


def test_names_in_prose_lead_to_what_they_mean(processed):
    "A name in backticks becomes a link: to an exported name, and from a foundation never to a higher floor."
    at, bad = {html: nb for nb, html in rendered().items()}, []
    for page in pages():
        for text, prose in texts(processed / page):
            for name, url in re.findall(rf'\[`([\w.]+)(?:\(\))?`\]\({SITE}([^)]+)\)', text):
                target = at[url.partition('#')[0]]
                module = importlib.import_module('biasbook.' + re.search(
                    r'default_exp (\S+)', '\n'.join(map(source, cells(root / 'nbs' / target))))[1])
                floors = [('foundations/', 'book/').index(f) if f in ('foundations/', 'book/') else .5
                          for f in (re.match(r'(foundations/|book/)?', p)[0] for p in (page, target))]
                if name.split('.')[0] not in module.__all__ or page.startswith('foundations') and floors[1] > 0:
                    bad.append((page, name, url))
    assert not bad


def test_links_are_readable(processed):
    "nbdev links names in backticks: within a signature or within a link it would print the address."
    for page in pages():
        for text, _ in texts(processed / page):
            assert '[[`' not in text, f'{page}: write `name` alone, it becomes a link'
            for code in re.findall(r'^```.*?^```', text, re.M | re.S):
                assert f']({SITE}' not in code, f'{page}: no backticks in the comment of a parameter: {code[:300]}'


def test_check_of_the_site_that_quarto_makes(tmp_path):
    "On a made-up site: nothing is found on a whole one, and each fault on one that has it."
    pages_of, names = {}, list(rendered().values())
    for name in names:
        up, all_or_home = '../' * name.count('/'), names if name in ('index.html', 'foundations/data.html') else ['index.html']
        pages_of[name] = '<nav id="quarto-sidebar">' + ''.join(f'<a href="{up}{n}">x</a>' for n in all_or_home) + '</nav><p id="a">'
    def found(**changes):
        for name, text in {**pages_of, **{k.replace('__', '.'): v for k, v in changes.items()}}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        (tmp_path / 'search.json').write_text(json.dumps([{'href': n} for n in names if n != changes.get('unsearched')]))
        return list(problems(tmp_path))
    assert found() == []
    for more, said in (('<a href="no.html">', 'no.html leads nowhere'), ('<a href="index.html#b">', 'has no such place'),
                       ('<img src="weat.html">', 'without alt text'), (f'<a href="{SITE}no.html#a">', 'leads nowhere')):
        fault, = found(weat__html=pages_of['weat.html'] + more)
        assert fault.startswith('weat.html') and said in fault
    assert found(index__html=pages_of['index.html'].replace('<a href="seat.html">', '<a href="weat.html">')) == [
        'seat.html: not in the sidebar']
    assert found(unsearched='cite.html')[0] == 'cite.html: not in the search'
    (tmp_path / 'cite.html').unlink()
    assert 'cite.html: no such page' in list(problems(tmp_path))
