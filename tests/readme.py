"""README.md is nbs/index.ipynb as Markdown: `python tests/readme.py` writes it, with the figures of the notebook's outputs."""
import re
from pathlib import Path

import nbformat
import yaml
from nbconvert import MarkdownExporter

root = Path(__file__).parent.parent
PAGES = 'https://github.com/biasbook/biasbook/blob/main/nbs/'


def render():
    "The files that the index makes: README.md and its figures, name -> bytes."
    nb = nbformat.read(root / 'nbs/index.ipynb', as_version=4)
    nb.metadata['language_info'] = {'name': 'python'}
    nb.cells = [c for c in nb.cells if not re.search(r'^#\|\s*hide\s*$', c.source, re.M)]
    written = re.findall(r'^#\|\s*fig-alt:\s*(.+)$', '\n'.join(c.source for c in nb.cells), re.M)
    alts = [yaml.safe_load(alt) for alt in written]                # without the quotation marks that some need
    for c in nb.cells:
        if c.cell_type == 'code':
            c.metadata['transient'] = {'remove_source': bool(re.search(r'^#\|\s*echo:\s*false', c.source, re.M))}
            c.source = re.sub(r'^#\|.*\n', '', c.source, flags=re.M)
    text, resources = MarkdownExporter().from_notebook_node(nb)
    files = {}
    for k, (name, content) in enumerate(sorted(resources['outputs'].items())):
        files[f'nbs/images/home-{k}.png'] = content
        text = re.sub(rf'!\[[^\]]*\]\({re.escape(name)}\)', f'![{alts[k]}](nbs/images/home-{k}.png)', text)
    text = re.sub(r'\]\(((?:\w+/)?(?:\d\d_)?\w+\.ipynb)\)', rf']({PAGES}\1)', text)
    text = re.sub(r'[ ]+$', '', text, flags=re.M)
    return {'README.md': (re.sub(r'\n{3,}', '\n\n', text).strip() + '\n').encode('utf-8'), **files}


if __name__ == '__main__':
    for name, content in render().items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
