"""Check the site that Quarto made: `python tests/docs.py [_docs]`. render.py makes the site, and calls this at its end.

Each page exists, and is in the sidebar and in the search; each link has a target, and each image an alt text.
No page loads anything from another host, shows TeX in place of a formula, or documents a parameter as `NoneType`. With all
that it loads, each page is small enough for a slow connection. Where there is a Chromium or Chrome, each page is also opened
in it, and asks no other host for anything, whatever its scripts do. `python tests/docs.py --sizes` lists the sizes."""
import gzip
import http.server
import json
import re
import shutil
import sys
import threading
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

root = Path(__file__).parent.parent
SITE = 'https://biasbook.github.io/biasbook/'
LARGEST_PAGE = 600_000           # bytes that a reader's browser loads for a page, compressed as servers do it
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
        self.ids = set()
        self.links = []
        self.sidebar = set()
        self.mute = [] # images without alt text
        self.in_sidebar = False
        self.loaded = []
        self.open_tags = []
        self.raw_tex = []
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
            self.in_sidebar = self.in_sidebar or 'sidebar' in (a.get('id') or '')
        if tag == 'a' and a.get('href'):
            self.links.append(a['href'])
            if self.in_sidebar:
                self.sidebar.add(a['href'])
        if tag == 'img':
            self.links.append(a.get('src') or '')
            if not a.get('alt'):
                self.mute.append(a.get('src'))

    def handle_endtag(self, tag):
        if tag == 'nav':
            self.in_sidebar = False
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


def linked_file(docs, name, where):
    "The file that a link of a page leads to, from its address without the anchor; an empty address is the page itself."
    page = docs / name
    if not where:
        target = page
    elif where.startswith('/'):
        target = docs / where[1:]
    else:
        target = page.parent / where
    return target / 'index.html' if target.is_dir() else target


def broken_links(docs, name, parsed, not_rendered=()):
    "A line for each link of a page that leads to no file, or to no place in it. `parsed`: name -> Page. Files of `not_rendered` count as there."
    for url in parsed[name].links:
        where, _, anchor = url.partition('#')
        if where.startswith(SITE):
            where = '/' + where.removeprefix(SITE)
        elif '://' in where or where.startswith(('data:', 'mailto:', 'javascript:')):
            continue
        target = linked_file(docs, name, where)
        inside = target.resolve().is_relative_to(docs)
        target_name = target.resolve().relative_to(docs).as_posix() if inside else ''
        if not target.exists():
            if target_name not in not_rendered:
                yield f'{name}: {url} leads nowhere'
            continue
        if anchor and target_name in parsed and anchor not in parsed[target_name].ids:
            yield f'{name}: {url} has no such place'


def missing_pages(docs, parsed, wanted):
    "A line for each wanted page that is not there, not in the search or not in the sidebar."
    yield from (f'{name}: no such page' for name in sorted(wanted - set(parsed)))
    search = json.loads((docs / 'search.json').read_text(encoding='utf-8'))
    found = {entry['href'].partition('#')[0] for entry in search}
    yield from (f'{name}: not in the search' for name in sorted(wanted & set(parsed) - found))
    listed = {href.partition('#')[0].removeprefix('./') for href in parsed['index.html'].sidebar}
    yield from (f'{name}: not in the sidebar' for name in sorted(wanted & set(parsed) - listed))


@cache
def compressed_size(path):
    "The bytes that a server sends for a file: compressed, unless that makes it larger."
    content = path.read_bytes()
    return min(len(content), len(gzip.compress(content, 6)))


def local_file(docs, base, address):
    "The file of the site that an address of a page or of a style sheet in the folder `base` means; None if there is none."
    path = unquote(urlsplit(address).path)
    if not path or urlsplit(address).scheme:
        return None
    file = docs / path[1:] if path.startswith('/') else base / path
    return file.resolve() if file.is_file() else None


def loaded_files(docs, name, parsed):
    "The page itself and all files that it loads: scripts, images, both themes, and the fonts and images of style sheets."
    page = (docs / name).resolve()
    files = {page} | {local_file(docs, page.parent, address) for address in parsed[name].loaded}
    for sheet in [file for file in files if file and file.suffix == '.css']:
        files |= {local_file(docs, sheet.parent, address) for address in css_addresses(sheet.read_text(encoding='utf-8'))}
    return files - {None}


def page_size(docs, name, parsed):
    "The bytes that a browser loads for a page when nothing is in its cache."
    return sum(compressed_size(file) for file in loaded_files(docs, name, parsed))


def requests_elsewhere(docs):
    """A line for each request to another host that a page makes in a browser, with its scripts. The request is not let through.

    None without playwright, or without a browser."""
    browser_path = shutil.which('chromium') or shutil.which('google-chrome')
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if not browser_path:
        return None
    handler = partial(QuietHandler, directory=docs)
    with QuietServer(('127.0.0.1', 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f'http://127.0.0.1:{server.server_port}/'
        args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update']
        browser = playwright.chromium.launch(executable_path=browser_path, args=args)
        page = browser.new_page()
        asked = []

        def answer(route):
            if route.request.url.startswith(here):
                route.continue_()
            else:
                asked.append(route.request.url)
                route.abort()

        page.route(re.compile('^https?:'), answer)
        found = []
        for name in sorted(path.relative_to(docs).as_posix() for path in docs.rglob('*.html')):
            asked.clear()
            page.goto(here + name, wait_until='load')
            page.wait_for_timeout(100)                      # a script may send its request a moment later
            found += [f'{name}: asks for {url} when it is opened in a browser' for url in asked]
        browser.close()
        server.shutdown()
    return found


class QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        "A browser that goes on to the next page breaks off what it was loading."


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def problems(docs, only=None):
    "What is wrong with a site, a line each. `only`: these notebooks were rendered, the home page among them; by default all."
    docs = Path(docs).resolve()
    places = rendered()
    wanted = {places[page] for page in (places if only is None else only)}
    not_rendered = set(places.values()) - wanted
    parsed = {p.relative_to(docs).as_posix(): Page(p) for p in docs.rglob('*.html')}
    yield from missing_pages(docs, parsed, wanted)
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
        yield from broken_links(docs, name, parsed, not_rendered)
        size = page_size(docs, name, parsed)
        if size > LARGEST_PAGE:
            yield f'{name}: a browser loads {size // 1000} kB for it, compressed; at most {LARGEST_PAGE // 1000}'


def print_sizes(docs):
    "The compressed size of each page with all that it loads, the largest first."
    parsed = {p.relative_to(docs).as_posix(): Page(p) for p in docs.rglob('*.html')}
    sizes = sorted(((page_size(docs, name, parsed), name) for name in parsed), reverse=True)
    for size, name in sizes:
        print(f'{size / 1000:6.0f} kB  {name}')


def main(docs, only_sizes):
    if only_sizes:
        print_sizes(docs)
        return
    wrong = list(problems(docs))
    in_browser = requests_elsewhere(docs)
    if in_browser is None:
        print('not opened in a browser: playwright or Chromium is not here')
    wrong += in_browser or []
    print(*wrong or ['every page, link and image is as it should be'], sep='\n')
    sys.exit(bool(wrong))


if __name__ == '__main__':
    folders = [argument for argument in sys.argv[1:] if argument != '--sizes']
    main(Path(folders[0] if folders else root / '_docs').resolve(), '--sizes' in sys.argv)
