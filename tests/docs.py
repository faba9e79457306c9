"""Check the site that Quarto made: `python tests/docs.py [_docs]`, after `nbdev_docs`.

Each page is there, in the sidebar and in the search; each link leads somewhere, and each image says what it shows."""
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

root = Path(__file__).parent.parent
SITE = 'https://biasbook.github.io/biasbook/'


def rendered(nbs=root / 'nbs'):
    "Where nbdev puts each page on the site, from the path of its notebook: the number is taken off."
    paths = sorted(p.relative_to(nbs).as_posix() for p in nbs.rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts)
    return {p: re.sub(r'(^|/)\d+[a-z]?_', r'\1', p).removesuffix('.ipynb') + '.html' for p in paths}


class Page(HTMLParser):
    "The anchors, links, sidebar links and images without alt text of one page."
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.sidebar, self.mute, self.within = set(), [], set(), [], 0
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.ids.add(a.get('id'))
        if tag == 'nav': self.within = self.within or 'sidebar' in (a.get('id') or '')
        if tag == 'a' and a.get('href'):
            self.links.append(a['href'])
            if self.within: self.sidebar.add(a['href'])
        if tag == 'img':
            self.links.append(a.get('src') or '')
            if not a.get('alt'): self.mute.append(a.get('src'))

    def handle_endtag(self, tag):
        if tag == 'nav': self.within = 0


def problems(docs):
    "What is wrong with a site, a line each."
    docs = Path(docs).resolve()
    wanted = set(rendered().values())
    parsed = {p.relative_to(docs).as_posix(): Page(p) for p in docs.rglob('*.html')}
    yield from (f'{name}: no such page' for name in sorted(wanted - set(parsed)))
    found = {entry['href'].partition('#')[0] for entry in json.loads((docs / 'search.json').read_text(encoding='utf-8'))}
    yield from (f'{name}: not in the search' for name in sorted(wanted & set(parsed) - found))
    listed = {href.partition('#')[0].removeprefix('./') for href in parsed['index.html'].sidebar}
    yield from (f'{name}: not in the sidebar' for name in sorted(wanted & set(parsed) - listed))
    for name, page in sorted(parsed.items()):
        yield from (f'{name}: an image without alt text, {src}' for src in page.mute)
        for url in page.links:
            where, _, anchor = url.partition('#')
            if where.startswith(SITE): where = '/' + where.removeprefix(SITE)
            elif '://' in where or where.startswith(('data:', 'mailto:', 'javascript:')): continue
            target = (docs / where[1:] if where.startswith('/') else (docs / name).parent / where) if where else docs / name
            if target.is_dir(): target /= 'index.html'
            there = target.resolve().relative_to(docs).as_posix() if target.resolve().is_relative_to(docs) else ''
            if not target.exists(): yield f'{name}: {url} leads nowhere'
            elif anchor and there in parsed and anchor not in parsed[there].ids: yield f'{name}: {url} has no such place'


if __name__ == '__main__':
    wrong = list(problems(sys.argv[1] if len(sys.argv) > 1 else root / '_docs'))
    print(*wrong or ['every page, link and image is as it should be'], sep='\n')
    sys.exit(bool(wrong))
