"""The report in a browser: headless Chromium at the width of a desk and of a phone, on paper, and without scripts."""
import json
import math
import os
import shutil
from dataclasses import replace
from urllib.request import urlopen

import pytest

from biasbook.auditing.files import Audit
from biasbook.results.result import Estimate, HypothesisTest, Interval, Result, Words
from biasbook.stats.estimate import Note
from biasbook.vectors.wordvectors import load_vectors
from biasbook.chapters.occupation_gap import occupation_gap
from biasbook.chapters.debias import compare_debiasing, hard_debias
from biasbook.auditing.change_report import before_after_report, comparison_report
from biasbook.auditing.compare import compare_audits
from biasbook.auditing.figures import FIGURES
from biasbook.auditing.report import report_html
from biasbook.chapters.weat import weat

WIDTHS = (1280, 390)
ARGS = ('--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
        '--disable-component-update --disable-sync').split()
EVIL = '<script>alert(1)</script></style>" onerror="x\' $_^$ \u202e\udc80 javascript:alert(1) 10.1/"><img src=x>'


def audits():
    "Audits by name: two real subjects, one, hostile texts, nothing at all."
    v = load_vectors('googlenews-mini')
    real = [weat(v, name, on_missing='drop', placebo=False) for name in ('weat1', 'weat6', 'weat7', 'weat8', 'weat9', 'weat10')]
    placebos = [Estimate(name='placebo', value=1.3, test=HypothesisTest(name='unrelated topics', pvalue=.02 * k + .01, error=.005,
                                                                        n_resamples=400, n_draws=5, random_state=0)) for k in range(6)]
    real = [replace(r, meta={**r.meta, 'measure': 'weat'}, also=(*r.also, placebo)) for r, placebo in zip(real, placebos)]
    gap = occupation_gap(v, placebo=False, n_resamples=999)
    real.append(replace(gap, meta={**gap.meta, 'measure': 'occupation_gap'}))
    missing = {'X': ['caterpillar', 'Shakespeare', 'short-term', 'hygienist']}
    real[0] = replace(real[0], words=replace(real[0].words, missing=missing))
    other = [replace(r, subject='a-name-without-a-space-in-it-anywhere-that-is-too-long-for-a-phone', value=-r.value, test=None) for r in real[:3]]
    about = {'versions': {'biasbook': '0'}, 'subjects': {'googlenews-mini': {'size': 6300, 'doi': '10.48550/arXiv.1310.4546'}},
             'measures': {'weat': {'limits': 'An association is no cause.'}}, 'command': 'biasbook audit ' + 'vectors:x ' * 40}
    failures = ({'subject': 's', 'measure': 'weat1', 'error': 'ValueError: ' + 'word, ' * 300},)
    hostile = [hostile_result(r, s) for r in real[:3] for s in (EVIL, 'x' * 5000)]
    odd = {'versions': {EVIL: 'x' * 5000}, 'subjects': {EVIL: {'doi': 'javascript:alert(1)', 'x' * 5000: EVIL}},
           'measures': {'weat': {'limits': EVIL, 'source': EVIL}}, 'command': 'x' * 5000 + EVIL}
    return {'two': Audit((*real, *other), failures, about), 'one': Audit(tuple(real), ()), 'empty': Audit((), ()),
            'hostile': Audit(tuple(hostile), tuple({'subject': s, 'measure': s, 'error': s} for s in (EVIL, 'x' * 5000)), odd),
            'bare': Audit((Result(metric='m', subject='s', query='q', value=math.nan), Result(metric='m', subject='t', query='q', value=1.)), ())}


def hostile_result(r, text):
    "The result with hostile or endless text in each field that holds text."
    units = replace(r.units, name=text)
    meta = {**r.meta, **dict.fromkeys(('source', 'name'), EVIL), 'names': [EVIL] * 4}
    words = Words(used={k: [EVIL, 'x' * 5000] for k in 'XYAB'}, missing={'X': [EVIL, 'x' * 5000]})
    comparison = replace(r.comparison, groups=(EVIL, text), ideas=(text, EVIL), of=EVIL)
    interval = r.interval or Interval(low=0., high=1.)
    return replace(r, subject=text, query=text, metric=EVIL, units=units, test=replace(r.test, name=text, units=units),
                   interval=replace(interval, method=text, over=text), comparison=comparison, words=words,
                   notes=(Note(text), Note('no d', {'reason': EVIL})), meta=meta)


def change_pages():
    "Reports of changes by name: two audits, hostile texts, before and after debiasing."
    v = load_vectors('googlenews-mini')
    out = hard_debias(v)
    names = ['weat1', 'weat6', 'weat7', 'weat8']
    first, second = (Audit(tuple(weat(x, name, placebo=False) for name in names), ()) for x in (v, out))
    hostile = [Audit(tuple(hostile_result(r, EVIL) for r in audit.results), ()) for audit in (first, second)]
    table = compare_debiasing(v, out, n=20, n_draws=0, queries=['weat7'], similarity=['rg65'], questions=[])
    return {'changes': comparison_report(compare_audits(first, second), ('before', 'after')),
            'hostile-changes': comparison_report(compare_audits(*hostile), (EVIL, EVIL)), 'debiasing': before_after_report(table)}


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp('report')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('biasbook.auditing.figures.FIGURES', 3)
        for name, audit in audits().items():
            (folder / f'{name}.html').write_text(report_html(audit), encoding='utf-8')
    for name, page in change_pages().items():
        (folder / f'{name}.html').write_text(page, encoding='utf-8')
    return folder


@pytest.fixture(scope='module')
def browser():
    api = pytest.importorskip('playwright.sync_api', reason='needs playwright')
    path = next(filter(None, map(shutil.which, ('chromium', 'google-chrome', 'chromium-browser', 'chrome'))), None)
    if path is None:
        pytest.skip('needs Chromium or Chrome')
    with api.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope='module')
def tabs(browser):
    "A tab for each set of options of a browser, and all that was complained of or asked of the network in them."
    tab_of, seen = {}, []

    def tab(**options):
        key = tuple(sorted(options.items()))
        if key not in tab_of:
            page = tab_of[key] = browser.new_context(**options).new_page()
            page.on('console', lambda m: m.type in ('error', 'warning') and seen.append(m.text))
            page.on('pageerror', lambda e: seen.append(str(e)))
            page.on('request', lambda r: r.url.startswith(('file:', 'data:')) or seen.append(r.url))
        return tab_of[key]

    yield tab, seen
    for page in tab_of.values():
        page.context.close()


@pytest.fixture
def opened(tabs, pages):
    "Opens a page by name and width, in the tab of the one before; at the end, nothing was complained of and nothing was asked of the network."
    tab, seen = tabs
    seen.clear()

    def open_page(name, width=1280, **options):
        page = tab(**options)
        page.set_viewport_size({'width': width, 'height': 900})
        page.emulate_media(media='screen')
        page.goto('about:blank')
        page.goto((pages / f'{name}.html').as_uri())
        return page

    yield open_page
    assert not seen


CONTRAST = """() => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  const numbers = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.map(x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                       return .2126 * r + .7152 * g + .0722 * b; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), bad = [];
  let count = 0;
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !parent.getClientRects().length || parent.closest('script, style')) continue;
    let back = parent, ground = [255, 255, 255];
    for (; back; back = back.parentElement) {
      const c = numbers(getComputedStyle(back).backgroundColor);
      if (c.length < 4 || c[3] > 0) { ground = c.slice(0, 3); break; }
    }
    const [a, b] = [light(numbers(getComputedStyle(parent).color).slice(0, 3)), light(ground)].sort((x, y) => y - x);
    count += 1;
    if ((a + .05) / (b + .05) < 4.5) bad.push([walk.currentNode.textContent.slice(0, 40), (a + .05) / (b + .05)]);
  }
  return [count, bad];
}"""

OVER = """() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, .own, .skip, pre, script, style')
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 80))"""


def until(page, expression):
    "Wait for what a page is about to do; its policy lets no poll of the browser's run."
    for _ in range(3000):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f'not within a minute: {expression}')


@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('name', ['two', 'one', 'hostile', 'empty', 'bare', 'changes', 'hostile-changes', 'debiasing'])
def test_fits_and_can_be_read(opened, name, width):
    page = opened(name, width)
    count, faint = page.evaluate(CONTRAST)                                # this unfolds what is folded
    assert count > 20 and not faint
    assert 'hostile' in name or '</' not in page.locator('body').inner_text()          # no markup is shown as text
    assert page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
    assert page.evaluate(OVER) == []
    assert page.evaluate('[...document.images].every(i => i.alt.length > 10 && i.complete && i.naturalWidth > 0)')
    figures = page.evaluate('document.images.length')
    assert figures == {'two': 3, 'one': 3, 'empty': 0, 'bare': 0, 'changes': 0, 'debiasing': 0}.get(name, figures)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    targets = page.evaluate("[...document.querySelectorAll('a[href^=\"#\"], [aria-labelledby]')].map(e => e.hash?.slice(1) || e.getAttribute('aria-labelledby'))")
    assert set(targets) <= set(ids)
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(e => +e.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    assert page.evaluate("document.querySelectorAll('script, style').length") == 2
    assert page.evaluate("[...document.querySelectorAll('a')].every(a => a.protocol === 'https:' && ['doi.org', 'biasbook.github.io'].includes(a.host) || a.protocol === 'file:' || a.protocol === 'data:' && a.download)")
    assert page.evaluate("[...document.querySelectorAll('table')].every(t => t.caption && t.querySelectorAll('th:not([scope])').length === 0)")


BOXES = """() => [...document.querySelectorAll('.wide, .own')].filter(e => e.getClientRects().length).map(e => {
  const style = getComputedStyle(e, '::before'), before = e.scrollLeft;
  e.scrollLeft = 1e6;
  const out = { own: e.matches('.own'), over: e.scrollWidth > e.clientWidth + 1,
                says: style.content.includes('Scroll sideways') && style.position === 'sticky' && parseFloat(style.width) < e.clientWidth,
                caption: [...e.querySelectorAll('caption span')].every(s => { const r = s.getBoundingClientRect(), b = e.getBoundingClientRect();
                  return r.left >= b.left - 1 && r.right <= Math.min(b.right, document.documentElement.clientWidth) + 1; }) };
  e.scrollLeft = before;
  return out;
})"""


@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('name', ['two', 'hostile'])
def test_what_scrolls_says_so_and_keeps_its_caption(opened, name, width):
    page = opened(name, width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    until(page, "[...document.querySelectorAll('.wide, .own')].every(e => e.classList.contains('over') === e.scrollWidth > e.clientWidth + 1)")
    boxes = page.evaluate(BOXES)
    assert [b for b in boxes if b['says'] != b['over']] == []
    assert name == 'hostile' or all(b['caption'] for b in boxes)      # a cell that outgrows its table takes no caption along
    if width < 400:
        assert {b['own'] for b in boxes if b['over']} == ({False, True} if name == 'two' else {False})
    else:
        assert not any(b['over'] for b in boxes if b['own'])


@pytest.mark.parametrize('name', ['two', 'one'])
def test_first_screen_has_the_sentence_and_the_picture(opened, name):
    page = opened(name)
    assert page.locator('.lede').inner_text().startswith('Of ')
    picture = page.locator('.picture').bounding_box()
    assert picture['y'] < 300 and picture['height'] < 700           # .y is 240 to 265, as wide as the machine's fonts are
    lanes, number = page.locator('.picture .lane'), {'two': 10, 'one': 7}[name]
    assert lanes.count() == number
    assert all(len(text) > 10 for text in lanes.evaluate_all('all => all.map(e => e.getAttribute("aria-label"))'))
    phone = opened(name, 390)
    assert phone.locator('.picture .lane').count() == number
    assert phone.locator('.lane').evaluate_all('all => all.every(e => e.getBoundingClientRect().width > 60)')


@pytest.mark.parametrize('name, rows', [('changes', 4), ('debiasing', 11)])
def test_slopes_go_from_the_value_before_to_the_value_after(opened, name, rows):
    page = opened(name)
    assert page.locator('.picture').bounding_box()['height'] < 700
    lanes = page.locator('.slopes .lane')
    assert lanes.count() == rows and all('→' in text for text in lanes.evaluate_all('all => all.map(e => e.getAttribute("aria-label"))'))
    slopes = page.eval_on_selector_all('.slopes .lane', """lanes => lanes.map(lane => {
      const line = lane.querySelector('.slope').getBoundingClientRect(), was = lane.querySelector('.was').getBoundingClientRect();
      return [line.width, Math.min(Math.abs(line.left - was.left - was.width / 2), Math.abs(line.right - was.left - was.width / 2))]; })""")
    assert max(width for width, _ in slopes) > 50 and all(distance < 2 for _, distance in slopes)
    phone = opened(name, 390)
    assert phone.locator('.slopes .lane').count() == rows
    assert phone.locator('.lane').evaluate_all('all => all.every(e => e.getBoundingClientRect().width > 60)')


def test_the_mark_of_each_reading_has_its_own_shape_and_colour(opened):
    page = opened('two')
    marks = page.eval_on_selector_all('.legend .key', """keys => keys.map(key => [key.querySelector('path, circle').outerHTML,
      getComputedStyle(key).fill + getComputedStyle(key).stroke])""")
    assert len(marks) > 2 and len({shape for shape, _ in marks}) == len(marks)


@pytest.mark.parametrize('name', ['two', 'hostile'])
def test_dark_mode_can_be_read(opened, name):
    page = opened(name, color_scheme='dark')
    count, faint = page.evaluate(CONTRAST)
    assert count > 20 and not faint
    assert page.evaluate('getComputedStyle(document.body).backgroundColor') == 'rgb(25, 25, 25)'


def test_downloads_hold_the_numbers(opened):
    page = opened('two')
    links = page.eval_on_selector_all('.downloads a', 'links => links.map(a => [a.download, a.href])')
    assert [name for name, _ in links] == ['results.csv', 'results.json', 'results.tex']
    texts = {name: urlopen(url).read().decode() for name, url in links}      # addresses that contain the file
    assert texts['results.csv'].count('\n') >= 11 and 'weat6' in texts['results.csv'] and json.loads(texts['results.json'])
    assert '\\begin{tabular' in texts['results.tex']


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('name', ['two', 'changes', 'debiasing'])
def test_axe_finds_nothing(opened, name, width, scheme):
    "axe-core is not part of the package: `npm install axe-core`, and BIASBOOK_AXE names its axe.min.js."
    axe = os.environ.get('BIASBOOK_AXE')
    if not axe:
        pytest.skip('needs axe-core: BIASBOOK_AXE')
    page = opened(name, width, bypass_csp=True, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.add_script_tag(path=axe)
    found = page.evaluate('axe.run()')['violations']
    assert [(v['id'], [node['html'][:120] for node in v['nodes'][:3]]) for v in found] == []


def test_hint_follows_the_width(opened):
    page = opened('one', 390)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    right = "[...document.querySelectorAll('.wide, .own')].every(e => e.classList.contains('over') === e.scrollWidth > e.clientWidth + 1)"
    until(page, right)
    over = page.locator('.wide.over, .own.over').count()
    assert over > 1
    page.set_viewport_size({'width': 2400, 'height': 900})
    until(page, right)
    assert page.locator('.wide.over, .own.over').count() < over


BROKEN = """() => {
  const out = [];
  for (const cell of document.querySelectorAll('td.long, td.short, td.text, .paper-only td')) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) for (const m of walk.currentNode.textContent.matchAll(/[^ ]+/g)) {
      if (m[0].length > 14) continue;
      const range = document.createRange();
      range.setStart(walk.currentNode, m.index); range.setEnd(walk.currentNode, m.index + m[0].length);
      if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) out.push(m[0]);
    }
  }
  return out;
}"""


def test_paper_breaks_no_word(opened):
    page = opened('two', 660)                                             # A4 less its margins, at 96 dots an inch
    page.emulate_media(media='print')
    assert 'Shakespeare,' in page.locator('#all tbody').text_content() and page.locator('.paper-only').is_visible()
    assert page.evaluate(BROKEN) == []
    assert page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')


def column(page, table, name):
    "The numbers of a column, None where there is none, and its button."
    head = page.locator(f'#{table} thead th', has=page.get_by_role('button', name=name, exact=True))
    k = head.evaluate('e => e.cellIndex')
    values = page.eval_on_selector_all(f'#{table} tbody tr', f'rows => rows.map(r => r.cells[{k}].dataset.value ?? null)')
    return [None if v is None else float(v) for v in values], head


def test_columns_sort_by_number_with_mouse_and_keys(opened):
    page = opened('two')
    before, head = column(page, 'all', 'p')
    numbers = sorted(v for v in before if v is not None)
    gone = [None] * before.count(None)
    assert len(numbers) == 7 and len(gone) == 3 and before != numbers + gone and head.get_attribute('aria-sort') is None
    assert sorted(numbers, key=str) != numbers                            # as text they would have another order
    head.get_by_role('button').click()
    assert column(page, 'all', 'p')[0] == numbers + gone and head.get_attribute('aria-sort') == 'ascending'
    head.get_by_role('button').focus()
    page.keyboard.press('Enter')
    assert column(page, 'all', 'p')[0] == numbers[::-1] + gone and head.get_attribute('aria-sort') == 'descending'
    page.keyboard.press('Space')
    assert head.get_attribute('aria-sort') == 'ascending'
    query = column(page, 'all', 'query')[1]
    query.get_by_role('button').click()
    first = page.eval_on_selector_all('#all tbody th', 'heads => heads.map(h => h.textContent.split(":")[0])')
    tests = first[1:]
    assert first[0] == 'occupation gap' and tests == sorted(tests, key=lambda name: int(name[4:])) and tests[-1] == 'weat10'
    assert head.get_attribute('aria-sort') is None and query.get_attribute('aria-sort') == 'ascending'


def test_filter_hides_and_counts(opened):
    page = opened('two', 390)
    box = page.get_by_label('Filter rows').first
    shown = lambda: page.eval_on_selector_all('#all tbody tr', 'rows => rows.filter(r => r.getClientRects().length).length')
    count = page.locator('.filter output').first
    assert (shown(), count.inner_text()) == (10, '10 of 10 rows')
    box.fill('CAREER googlenews')
    assert (shown(), count.inner_text()) == (1, '1 of 10 rows')
    column(page, 'all', 'p')[1].get_by_role('button').click()
    assert shown() == 1
    box.fill('no such row')
    assert (shown(), count.inner_text()) == (0, '0 of 10 rows')
    box.fill('')
    assert shown() == 10


def test_paper_has_the_picture_the_readings_and_one_small_table(opened):
    page = opened('two')
    page.get_by_label('Filter rows').first.fill('no such row')
    shown = 'e => e.filter(x => x.getClientRects().length).length'
    assert page.eval_on_selector_all('.paper-only', shown) == 0 and page.eval_on_selector_all('.screen-only table', shown) == 1
    page.emulate_media(media='print')
    assert page.eval_on_selector_all('.filter, nav, .skip, details, .screen-only, .downloads', shown) == 0
    assert page.eval_on_selector_all('.paper-only tbody tr', shown) == 10
    assert page.eval_on_selector_all('.lane, .lede', shown) == 11
    assert page.evaluate(CONTRAST)[1] == []
    assert page.pdf(format='A4').count(b'/Type /Page\n') <= 8
    page.emulate_media(media='screen')
    assert page.eval_on_selector_all('.paper-only', shown) == 0


def test_reads_without_scripts(opened):
    page = opened('two', java_script_enabled=False)
    assert page.locator('thead button, .filter').count() == 0
    assert page.locator('#all tbody tr').count() == 10 and page.locator('#all thead th').first.inner_text() == 'query'
    page.locator('summary').first.click()
    assert page.locator('details').first.get_by_text('flowers', exact=True).is_visible()


def test_keys_reach_what_matters(opened):
    page = opened('two')
    page.keyboard.press('Tab')
    assert page.evaluate('document.activeElement.className') == 'skip'
    assert page.evaluate('getComputedStyle(document.activeElement).outlineStyle') == 'solid'
    page.keyboard.press('Enter')
    assert page.evaluate('location.hash') == '#s0'


def test_nothing_else_may_run_or_load(browser, pages):
    "The policy of the page is in force: what somebody adds does not run, and is not fetched."
    page, asked, refused = browser.new_page(), [], []
    page.on('request', lambda r: r.url.startswith(('file:', 'data:')) or asked.append(r.url))
    page.on('requestfailed', lambda r: r.failure == 'csp' and refused.append(r.url))
    page.goto((pages / 'two.html').as_uri())
    page.evaluate("""() => {
      window.broken = [];
      document.addEventListener('securitypolicyviolation', e => window.broken.push(e.effectiveDirective));
      document.body.insertAdjacentHTML('beforeend', '<img src="https://example.org/x.png"><p style="color:red">x</p>');
      const script = document.createElement('script'); script.textContent = 'window.ran = 1'; document.body.append(script);
    }""")
    until(page, 'window.broken.length >= 3')
    assert sorted(page.evaluate('window.broken')) == ['img-src', 'script-src-elem', 'style-src-attr']
    assert page.evaluate('window.ran') is None and asked == refused == ['https://example.org/x.png']
    page.close()


def test_a_report_of_ten_subjects_is_small():
    "It has twelve figures however many results there are. They have the size of the figures of one subject, so three are drawn here."
    rows = audits()['two'].results
    results = [replace(r, subject=f'{r.subject}-{k}') for k in range(10) for r in rows]
    with pytest.MonkeyPatch.context() as patch:
        sizes = []
        for figures in (0, 3):
            patch.setattr('biasbook.auditing.figures.FIGURES', figures)
            page = report_html(Audit(tuple(results), ()))
            sizes.append(len(page.encode('utf-8')))
    without, with_three = sizes
    assert page.count('<svg class="lane') == len(results) == 100
    assert without + FIGURES * (with_three - without) / 3 < 1_500_000
