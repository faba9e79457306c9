"""No number and no decision depends on a sentence: texts are made at the end, and nothing reads them back.

The second half reads an audit that an earlier version saved, whose results have texts in place of some fields."""
import ast
import inspect
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import biasbook as bb
import biasbook.stats.estimate as estimate
from biasbook.auditing import cli
from biasbook.auditing.compare import compare_audits
from biasbook.auditing.files import Audit, audit_lines, load_audit
from biasbook.auditing.next_steps import next_steps
from biasbook.auditing.readings import consistency, counts, findings, headline, summary_rows
from biasbook.auditing.report import report_html
from biasbook.chapters.weat import weat
from biasbook.results import sentences
from biasbook.results.readings import units_for_large_effect
from biasbook.results.result import Result
from biasbook.vectors.wordvectors import load_vectors

package = Path(sys.modules['biasbook'].__file__).parent
EARLIER = Path(__file__).parent / 'earlier' # a folder with the results.json of version 0.1.0, shortened


# -- another sentence changes nothing but the sentence ------------------------------------------------------------------

def text_functions():
    "The functions that make texts from results, by name."
    makers = {}
    for module in (sentences, estimate):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and inspect.signature(function).return_annotation is str:
                makers[name] = function
    return makers


def other_text(*_, **__):
    return 'another sentence, p = 1, exact, 7 draws of 3 topics'


def mutate_texts(patch):
    "Replace each function and each word list that sentences are made from, in every module that imported it."
    makers = text_functions().values()
    modules = [module for name, module in sys.modules.items() if name.split('.')[0] == 'biasbook' and module is not None]
    n_replaced = 0
    for module in modules:
        for name, value in list(vars(module).items()):
            if inspect.isfunction(value) and value in makers:
                patch.setattr(module, name, other_text)
                n_replaced += 1
    for name, words in list(vars(sentences).items()):
        if name.isupper() and isinstance(words, dict) and all(isinstance(text, str) for text in words.values()):
            for key in words:
                patch.setitem(words, key, 'another word')
                n_replaced += 1
    patch.setattr(estimate.NoteKind, 'text', other_text)
    return n_replaced


NUMBERS = ('value', 'null', 'low', 'high', 'p', 'p_error', 'p_is_bound', 'p_holm', 'p_bh', 'n', 'family_size', 'probability', 'placebo',
           'against placebos', 'detectable', 'reading', 'replaced')


def decided(audits, folder):
    "All numbers and decisions that an audit, its tables and its comparison give, and the exit codes of the commands."
    first, second = audits
    rows = [{column: row[column] for column in row if column in NUMBERS or ': ' in column} for row in summary_rows(first.results)]
    changes = compare_audits(first, second)
    paths = []
    for number, audit in enumerate(audits):
        paths.append(str(audit.save(folder / f'audit {number}')))
    exit_codes = [CliRunner().invoke(cli.main, ['compare', *paths, f'--max-change={limit}']).exit_code for limit in (.001, 9)]
    return repr({'rows': rows, 'counts': counts(first.results), 'agreement': consistency([*first.results, *second.results]),
                 'changes': [(r.value, r.low, r.high, r.pvalue) for r in changes.changes], 'moved': len(changes.moved(.01)),
                 'lost': len(changes.lost()), 'steps': [step.code for step in next_steps(first)],
                 'saved': [r.value for r in load_audit(paths[0]).results], 'exit codes': exit_codes,
                 'tables': table_sizes(first)})


def table_sizes(audit):
    "How many lines the tables have, and how many sections and rows the report has."
    report = report_html(audit)
    return [audit.paper_table().to_markdown().count('\n'), len(findings(audit.results)), report.count('<section'), report.count('<tr>')]


@pytest.fixture(scope='module')
def audits():
    "Three WEATs of vectors, two of them with placebos, and the same with other values."
    v = load_vectors('googlenews-mini')
    results = [weat(v, 'weat6'), weat(v, 'weat7'), weat(v, 'weat8', placebo=False)]
    results = [replace(r, meta={**r.meta, 'measure': 'weat'}) for r in results]
    others = [replace(r, details=r.details.assign(association=r.details['association'][::-1].to_numpy()), value=-r.value)
              for r in results]
    about = {'subjects': {v.name: {'kind': 'vectors'}}}
    return Audit(tuple(results), (), about), Audit(tuple(others), (), about)


def test_another_sentence_changes_no_number_and_no_decision(audits, tmp_path, monkeypatch):
    monkeypatch.setattr('biasbook.auditing.figures.FIGURES', 1)         # figures take most of the time of a report
    before = decided(audits, tmp_path / 'before')
    words_before = headline(audits[0])
    with pytest.MonkeyPatch.context() as patch:
        assert mutate_texts(patch) > 100
        assert 'another sentence' in repr(audits[0].results[0]) and 'another sentence' in '\n'.join(audit_lines(audits[0]))
        assert decided(audits, tmp_path / 'after') == before
    assert headline(audits[0]) == words_before


# -- no module takes a text apart ---------------------------------------------------------------------------------------

TEXT_FIELDS = {'direction', 'p_text'} # properties of a result or an estimate that are sentences
CUTTING = {'split', 'rsplit', 'partition', 'rpartition', 'removeprefix', 'removesuffix', 'startswith', 'endswith', 'find', 'index',
           'rfind', 'rindex', 'isdigit', 'count', 'match', 'search', 'fullmatch', 'findall', 'finditer', 'sub'}
WITH_A_METHOD = {'interval', 'self.interval', 'direction', 'self', 'd', 'result.interval', 'r.interval'} # Interval.method is a key, as is the one of a direction


class Reader(ast.NodeVisitor):
    "Finds places that take the text of a result apart, or read the field `method` that results once had."
    def __init__(self, makers):
        self.makers = makers
        self.texts = set() # names that hold a text of a result
        self.found = []

    def is_text(self, node):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, 'id', '')
            is_field = isinstance(node.func, ast.Attribute) and self.is_text(node.func.value)      # of text.strip()
            return name in self.makers or is_field
        if isinstance(node, ast.Name):
            return node.id in self.texts
        return isinstance(node, ast.Attribute) and node.attr in TEXT_FIELDS

    def visit_FunctionDef(self, node):
        outer, self.texts = self.texts, set()
        self.generic_visit(node)
        self.texts = outer

    def visit_Assign(self, node):
        if self.is_text(node.value):
            self.texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr in CUTTING:
            if any(map(self.is_text, [node.func.value, *node.args])):
                self.found.append(node)
        self.generic_visit(node)

    def visit_Compare(self, node):
        is_search = any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
        if is_search and self.is_text(node.comparators[0]):
            self.found.append(node)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if self.is_text(node.value):
            self.found.append(node)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr == 'method' and ast.unparse(node.value) not in WITH_A_METHOD:
            self.found.append(node)
        self.generic_visit(node)


def texts_taken_apart(source):
    "The places in a source that take a text of a result apart."
    reader = Reader(set(text_functions()))
    reader.visit(ast.parse(source))
    return [f'line {node.lineno}: {ast.unparse(node)}' for node in reader.found]


@pytest.mark.parametrize('line', [
    're.search("draws", test_text(r.test))', 'test_text(r.test).startswith("exact")', 'r.method', 'estimate.method',
    'text = note_text(n)\nif "few" in text: pass', 'r.direction.split()', 're.sub("x", "y", result_text(r).strip())',
    'result_text(r)[:3] == "The"', '"exact" in test_text(t)'])
def test_the_search_finds_texts_that_are_taken_apart(line):
    assert texts_taken_apart(line)


def test_no_module_takes_a_text_apart():
    found = {}
    for path in sorted(package.rglob('*.py')):
        places = texts_taken_apart(path.read_text(encoding='utf-8'))
        if places and path.name != '_modidx.py' and path != Path(sentences.__file__):
            found[path.relative_to(package).as_posix()] = places
    assert not found


# -- audits of an earlier version ---------------------------------------------------------------------------------------

def test_an_earlier_audit_is_read_with_what_it_does_not_say_left_empty():
    earlier = load_audit(EARLIER)
    of_weat, of_gap, of_clusters = earlier.results
    assert math.isclose(of_weat.value, .9664138298770474) and (of_weat.alternative, round(of_weat.pvalue, 4)) == ('greater', .0227)
    assert (round(of_weat.low, 2), round(of_weat.high, 2)) == (-.61, 1.72)
    assert of_weat.interval.over == 'targets and attributes like these' and of_weat.interval.method == ''
    assert of_weat.test.name == '' and not of_weat.test.exact and of_weat.test.n_resamples is None
    assert of_weat.units is None and of_weat.n is None and of_weat.notes == () and of_weat.detectable is None
    assert of_weat.estimate('placebo').test.error == .00844711063270224
    assert of_weat.comparison.groups == ('math', 'arts') and of_gap.comparison.groups == ('share of women',)
    assert of_weat.words.used['X'][0] == 'math' and of_gap.missing == ['hygienist']
    assert of_gap.random_state == 0 and of_clusters.test is None and of_clusters.comparison is None
    assert counts(earlier.results, earlier.failures) == (4, 2, 2, 2, 1)


def test_an_earlier_audit_is_shown_saved_and_compared(audits, tmp_path):
    earlier = load_audit(EARLIER)
    lines = '\n'.join(audit_lines(earlier))
    assert 'one-sided p = .023' in lines and 'occupation gap' in lines and '±' in report_html(earlier)
    again = load_audit(earlier.save(tmp_path / 'again'))
    assert [r.to_json() for r in again.results] == [r.to_json() for r in earlier.results] and again.failures == earlier.failures
    now = Audit((*audits[0].results[1:2],), (), audits[0].about)
    change, = compare_audits(earlier, now).changes
    assert change.value == 0 and change.meta['name'] == 'weat7'
    assert len(compare_audits(earlier, now).lost()) == 2


def test_a_saved_result_finds_the_figure_of_its_chapter_in_a_new_process(tmp_path):
    "Results of now and of version 0.1.0, whose saved file here has no words to draw."
    of_gap = bb.occupation_gap('googlenews-mini', placebo=False)
    saved = [of_gap.to_dict(), *json.loads((EARLIER / 'results.json').read_text(encoding='utf-8'))['results']]
    path = tmp_path / 'saved.json'
    path.write_text(json.dumps(saved), encoding='utf-8')
    code = """
import json, pathlib, sys
import biasbook as bb
for saved in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')):
    print(bb.Result.from_dict(saved).plot().get_ylabel())
"""
    done = subprocess.run([sys.executable, '-c', code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ['association with female rather than male (d)', '', '', '']


def test_a_share_of_an_earlier_version_is_not_compared_with_a_percentage():
    "sas_pairs was a share, 'preference ratio', in version 0.2; two such results are still compared, with a paired test."
    pytest.importorskip('torch')
    unbiased, planted = bb.audit('unbiased-masked', 'sas_pairs', placebo=False), bb.audit('planted-masked', 'sas_pairs', placebo=False)
    now, = unbiased.results
    assert (now.metric, now.null) == ('preference for stereotypes', 50)

    def of_earlier(audit):
        r, = audit.results
        interval = replace(r.interval, low=r.interval.low / 100, high=r.interval.high / 100)
        return replace(audit, results=(replace(r, metric='preference ratio', value=r.value / 100, null=.5, interval=interval),))

    earlier = of_earlier(unbiased)
    both = compare_audits(earlier, unbiased)
    assert both.changes == () and [row['metric'] for row in both.unpaired] == ['preference ratio', 'preference for stereotypes']
    of_shares, = compare_audits(earlier, of_earlier(planted)).changes
    of_percentages, = compare_audits(unbiased, planted).changes
    assert math.isclose(100 * of_shares.value, of_percentages.value) and of_shares.pvalue == of_percentages.pvalue
    share, = earlier.results
    assert bb.plan(share, .7).needed == bb.plan(now, 70).needed and units_for_large_effect(share) == units_for_large_effect(now)


def test_a_result_of_now_is_saved_with_its_fields(audits):
    r = audits[0].results[1]
    saved = Result.from_json(r.to_json())
    assert (saved.test, saved.interval, saved.units, saved.comparison, saved.words, saved.notes, saved.detectable) == (
        r.test, r.interval, r.units, r.comparison, r.words, r.notes, r.detectable)
