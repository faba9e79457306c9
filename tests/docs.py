"""Check the site that Quarto made: `python tests/docs.py [_docs]`. render.py makes the site, and calls this at its end.

Each page is there, in the sidebar and in the search; each link leads somewhere, and each image says what it shows.
No page loads anything from another host, shows TeX in place of a formula, or documents a parameter as `NoneType`."""
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

root = Path(__file__).parent.parent
SITE = 'https://biasbook.github.io/biasbook/'
LOADING_ATTRIBUTES = {'script': ['src'], 'img': ['src', 'srcset'], 'source': ['src', 'srcset'], 'iframe': ['src'], 'embed': ['src'],
                      'object': ['data'], 'video': ['src', 'poster'], 'audio': ['src'], 'track': ['src'], 'input': ['src'],
                      'use': ['href', 'xlink:href'], 'image': ['href', 'xlink:href']}
LINKS_THAT_LOAD_NOTHING = {'canonical', 'alternate', 'author', 'license', 'next', 'prev', 'help', 'search', 'me'}
CSS_ADDRESS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s*["']([^"']+)""")


def rendered(nbs=root / 'nbs'):
    "Where nbdev puts each page on the site, from the path of its notebook: the number is taken off."
    paths = sorted(p.relative_to(nbs).as_posix() for p in nbs.rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts)
    return {p: re.sub(r'(^|/)\d+[a-z]?_', r'\1', p).removesuffix('.ipynb') + '.html' for p in paths}


def css_addresses(css):
    "What a style sheet loads."
    return [address or imported for address, imported in CSS_ADDRESS.findall(css)]


def is_elsewhere(address):
    "Whether an address that a page loads belongs to another host: `//host/x` does, `data:` and relative ones do not."
    return bool(urlsplit(address.strip()).netloc) and not address.startswith(SITE)


class Page(HTMLParser):
    "The anchors, links, sidebar links, images without alt text, what is loaded, and formulas that are not MathML, of one page."
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.sidebar, self.mute, self.within = set(), [], set(), [], 0
        self.loaded, self.open_tags, self.raw_tex = [], [], []
        self.text = path.read_text(encoding='utf-8')
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.open_tags.append((tag, a.get('class') or ''))
        for name in LOADING_ATTRIBUTES.get(tag, ()):
            address = a.get(name) or ''
            if name == 'srcset':
                self.loaded += [part.split()[0] for part in address.split(', ') if part.strip()]
            elif address:
                self.loaded.append(address)
        if tag == 'link' and a.get('href') and not set((a.get('rel') or '').lower().split()) & LINKS_THAT_LOAD_NOTHING:
            self.loaded.append(a['href'])
        self.loaded += css_addresses(a.get('style') or '')
        self.ids.add(a.get('id'))
        if tag == 'nav':
            self.within = self.within or 'sidebar' in (a.get('id') or '')
        if tag == 'a' and a.get('href'):
            self.links.append(a['href'])
            if self.within:
                self.sidebar.add(a['href'])
        if tag == 'img':
            self.links.append(a.get('src') or '')
            if not a.get('alt'):
                self.mute.append(a.get('src'))

    def handle_endtag(self, tag):
        if tag == 'nav':
            self.within = 0
        open_names = [name for name, _ in self.open_tags]
        if tag in open_names:
            innermost = max(i for i, name in enumerate(open_names) if name == tag)
            del self.open_tags[innermost:]

    def handle_data(self, data):
        if not self.open_tags:
            return
        tag, classes = self.open_tags[-1]
        if tag == 'style':
            self.loaded += css_addresses(data)
        if tag == 'span' and 'math' in classes.split() and data.strip():
            self.raw_tex.append(data.strip())


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
    for sheet in sorted(docs.rglob('*.css')):
        addresses = css_addresses(sheet.read_text(encoding='utf-8'))
        yield from (f'{sheet.relative_to(docs)}: {a} is loaded from another host' for a in addresses if is_elsewhere(a))
    for name, page in sorted(parsed.items()):
        yield from (f'{name}: an image without alt text, {src}' for src in page.mute)
        yield from (f'{name}: {address} is loaded from another host' for address in page.loaded if is_elsewhere(address))
        yield from (f'{name}: a formula is shown as TeX, {tex[:60]}' for tex in page.raw_tex)
        shown = re.sub(r'<[^>]+>', '', page.text)
        if re.search(r':\s*NoneType\s*=', shown):
            yield f'{name}: a signature shows NoneType'
        if re.search(r'def \w+\(\s*\*args, \*\*kwargs\s*\):\s*$', shown, re.M):
            yield f'{name}: a class is shown without its fields'
        for url in page.links:
            where, _, anchor = url.partition('#')
            if where.startswith(SITE):
                where = '/' + where.removeprefix(SITE)
            elif '://' in where or where.startswith(('data:', 'mailto:', 'javascript:')):
                continue
            target = (docs / where[1:] if where.startswith('/') else (docs / name).parent / where) if where else docs / name
            if target.is_dir():
                target /= 'index.html'
            there = target.resolve().relative_to(docs).as_posix() if target.resolve().is_relative_to(docs) else ''
            if not target.exists():
                yield f'{name}: {url} leads nowhere'
            elif anchor and there in parsed and anchor not in parsed[there].ids:
                yield f'{name}: {url} has no such place'


if __name__ == '__main__':
    wrong = list(problems(sys.argv[1] if len(sys.argv) > 1 else root / '_docs'))
    print(*wrong or ['every page, link and image is as it should be'], sep='\n')
    sys.exit(bool(wrong))
