"""Render the site: `python tests/render.py [_docs]`. It needs the `dev` extra, and Quarto 1.6 on the PATH.

`--changed N` renders only the home page, the pages that differ from the last merge before this commit, and one chapter, another for
each N. It renders all if the history is not there, if the theme, a filter or the code of the site changed, or if MANY pages did.

pages.py prepares the notebooks, Quarto renders them, and docs.py checks the result. Any warning or error of Quarto or
pandoc is a failure. Of Quarto's font of two thousand icons only those that a page may show are kept: each page loads it. Figures
are stored with 256 colours, which makes them a third as large."""
import argparse
import io
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docs import problems, rendered, requests_elsewhere
from fontTools import subset
from fontTools.ttLib import TTFont
from nbdev.quarto import refresh_quarto_yml
from pages import process
from PIL import Image

root = Path(__file__).resolve().parent.parent
COMPLAINT = re.compile(r'\[WARNING\]|^WARN\b|^(\[)?ERROR\b')
COLOUR = re.compile(r'\x1b\[[0-9;]*m')


MANY = 60                       # pages: above that, the whole site is rendered


def last_merge():
    "The last commit before this one that merged a branch into this one, or None: there may be no history, or no merge."
    done = subprocess.run(['git', 'rev-list', '--first-parent', '--merges', '--max-count=1', 'HEAD^'], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() or None


def changed_files(base):
    "The files that differ between a commit and the working tree, by their paths in the repository."
    command = ['git', 'diff', '--name-only', '-z', base]
    return [name for name in subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split('\0') if name]


def is_of_the_site(name):
    "Does this file change how every page looks?"
    if name in ('tests/render.py', 'tests/pages.py', 'constraints.txt', 'settings.ini'):
        return True
    return name.startswith('nbs/') and not name.endswith(('.ipynb', '.png'))


def pages_to_render(turn):
    "The pages that differ from the last merge, the home page, and a chapter in its turn; None: all."
    base = last_merge()
    if base is None:
        return None
    files = changed_files(base)
    pages = rendered()
    changed = {name.removeprefix('nbs/') for name in files} & set(pages)
    if len(changed) > MANY or any(map(is_of_the_site, files)):
        return None
    chapters = [page for page in pages if re.match(r'\d\d[a-z]?_', page)]
    return sorted(changed | {'index.ipynb', chapters[turn % len(chapters)]})


def run_quarto(folder, only=None):
    "Render a folder, or some pages of it, showing what Quarto says; returns its exit status and the lines that complain."
    complaints = []
    command = ['quarto', 'render', *(only or ()), '--no-cache', '--no-execute']
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          encoding='utf-8', errors='backslashreplace') as quarto:
        for line in quarto.stdout:
            print(line, end='', flush=True)
            plain = COLOUR.sub('', line).strip()
            if COMPLAINT.search(plain):
                complaints.append(plain)
    return quarto.returncode, complaints


ICON_RULE = re.compile(r'\.bi-([\w-]+)::before\s*{\s*content:\s*"\\([0-9a-f]+)"')


def shrink_icons(docs):
    "Keep only those icons in the font that a page or a script of the site names."
    styles = docs / 'site_libs/bootstrap/bootstrap-icons.css'
    font_file = docs / 'site_libs/bootstrap/bootstrap-icons.woff'
    texts = [path.read_text(encoding='utf-8') for pattern in ('*.html', '*.js') for path in docs.rglob(pattern)]
    named = set(re.findall(r'\bbi-([\w-]+)', '\n'.join(texts)))
    code_points = {name: int(code, 16) for name, code in ICON_RULE.findall(styles.read_text(encoding='utf-8'))}
    shown = [code_points[name] for name in sorted(named & code_points.keys())]
    logging.getLogger('fontTools').setLevel(logging.ERROR)      # it warns of two bytes that nobody needs
    font = TTFont(font_file)
    subsetter = subset.Subsetter(subset.Options())
    subsetter.populate(unicodes=shown)
    subsetter.subset(font)
    font.save(font_file)


def shrink_figures(docs):
    "Store each figure with 256 colours of its own, if that makes it smaller. Lines and text look the same."
    for path in docs.rglob('figure-html/*.png'):
        with Image.open(path) as image:
            white = Image.new('RGBA', image.size, 'white')
            opaque = Image.alpha_composite(white, image.convert('RGBA')).convert('RGB')
        smaller = io.BytesIO()
        opaque.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(smaller, 'PNG', optimize=True)
        if len(smaller.getvalue()) < path.stat().st_size:
            path.write_bytes(smaller.getvalue())


def main(docs, only=None):
    if not shutil.which('quarto'):
        sys.exit('quarto is not on the PATH: install Quarto 1.6 from https://quarto.org')
    refresh_quarto_yml()
    folder = process(only=only)
    status, complaints = run_quarto(folder, only)
    if status:
        sys.exit(f'quarto render ended with status {status}')
    shutil.rmtree(docs, ignore_errors=True)
    shutil.move(folder / '_docs', docs)
    shrink_icons(docs)
    shrink_figures(docs)
    wrong = complaints + list(problems(docs, only)) + (requests_elsewhere(docs) or [])
    if wrong:
        print(*wrong, sep='\n')
    else:
        print(f'{len(list(docs.rglob("*.html")))} pages, no problems')
    sys.exit(bool(wrong))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('docs', nargs='?', type=Path, default=root / '_docs', help='where the site goes')
    parser.add_argument('--changed', type=int, metavar='N', help='render only what changed, and a chapter in its turn')
    asked = parser.parse_args()
    docs = asked.docs.resolve()
    os.chdir(root)
    only = None
    if asked.changed is not None:
        only = pages_to_render(asked.changed)
        print('all pages are rendered' if only is None else f'rendered: {", ".join(only)}')
    main(docs, only)
