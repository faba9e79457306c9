"""Make README.md from nbs/index.ipynb: `python tests/readme.py`. `render()` gives the text that README.md should have."""
import re
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter

root = Path(__file__).parent.parent
PAGES = 'https://github.com/biasbook/biasbook/blob/main/nbs/'


def render():
    nb = nbformat.read(root / 'nbs/index.ipynb', as_version=4)
    nb.cells = [c for c in nb.cells if not c.source.lstrip().startswith('#| hide')]
    for c in nb.cells:
        if c.cell_type == 'code':
            c.source = '\n'.join(line for line in c.source.split('\n') if not line.startswith('#|'))
    text, resources = MarkdownExporter().from_notebook_node(nb)
    for name in resources['outputs']:           # README shows the figures that nbs/images holds
        text = re.sub(rf'!\[[^\]]*\]\({re.escape(name)}\)\n', '', text)
    text = text.replace('](images/', '](nbs/images/')
    text = re.sub(r'\]\(((?:\w+/)?\d\d_\w+\.ipynb)\)', rf']({PAGES}\1)', text)
    return re.sub(r'\n{3,}', '\n\n', text).strip() + '\n'


if __name__ == '__main__':
    (root / 'README.md').write_text(render(), encoding='utf-8')
