"What a measure declares: its metrics are those of its results, limits use their range before and after measuring, and a report says how to compute again."
import json
import re
from dataclasses import replace

import pytest
import yaml

import biasbook as bb
from biasbook.auditing.measures import MEASURES
from biasbook.auditing.own_tests import measures_of_study
from biasbook.auditing.readings import summary_rows
from biasbook.auditing.report import again_code
from biasbook.measuring.index import find_measure
from biasbook.measuring.measure import Measure, Metric
from biasbook.measuring.study import example_study


def check_declared(audit, rows):
    "Each result has a metric that its unit declares, and a value in its range."
    measures = {row.name: row for row in rows}
    assert audit.results
    for r in audit.results:
        measure = measures[r.meta['measure']]
        metrics = {metric.name: metric for metric in measure.metrics_of(measure.units()[r.meta['unit']])}
        assert r.metric in metrics, (r.metric, list(metrics))
        assert metrics[r.metric].low <= r.value <= metrics[r.metric].high


@pytest.mark.parametrize('subject', ['googlenews-mini', 'novels-mini-masked', 'vectors:googlenews-mini', 'novels-mini-causal'])
def test_metrics_of_a_study_are_declared(subject, tmp_path):
    "Each test of the example of a study file, and fills and gaps of each form."
    if subject != 'googlenews-mini':
        pytest.importorskip('torch')
    path = tmp_path / 'mine.yaml'
    data = yaml.safe_load(example_study('all'))
    templates = ['{Group} is a(n) {target}.', '{Group} was a(n) {target}.']
    data['fills'] += [{'name': 'two groups', 'groups': {'he': ['he'], 'she': ['she']}, 'templates': templates, 'targets': ['nurse', 'clerk', 'maid']},
                      {'name': 'three groups', 'groups': {word: [word] for word in ('he', 'she', 'it')}, 'templates': templates, 'targets': ['nurse', 'clerk', 'maid']}]
    path.write_text(json.dumps({key: value for key, value in data.items() if key != 'limits'}), encoding='utf-8')
    study = bb.read_study(path)
    names = ['rnd'] if subject == 'googlenews-mini' else []
    audit = bb.audit(subject, study=study, placebo=False, resume=False)
    assert not audit.failures, audit.failures
    check_declared(audit, measures_of_study(study, named=names))


def test_metrics_of_measures_of_vectors_are_declared():
    "Each measure of word vectors, with one of its units."
    rows = [row for row in MEASURES if 'vectors' in row.kinds]
    first_units = [f'{row.name}/{next(iter(row.units()))}' for row in rows]
    check_declared(bb.audit('googlenews-mini', [row.name for row in rows], only=first_units, placebo=False, resume=False), rows)


def test_limits_use_the_range_of_an_own_measure(tmp_path):
    "Before measuring and after it, and in a saved audit. A bound at the end of the range is no bound."
    weat = find_measure('weat')
    mine = replace(weat, name='mine', metrics=(Metric('my d', low=-3., high=3.),), run=lambda vectors, spec, **options: replace(weat.run(vectors, spec), metric='my d'))
    with pytest.raises(ValueError, match='value of my d is between -3 and 3, so the comparison with 3 has the same outcome'):
        bb.audit('googlenews-mini', mine, only=['weat7'], resume=False, limits='mine/*: value <= 3')
    audit = bb.audit('googlenews-mini', mine, only=['weat7'], resume=False, limits='mine/*: high <= 2.5')
    bb.save_audit(audit, tmp_path / 'audit')
    for found in (audit, bb.load_audit(tmp_path / 'audit')):
        assert [outcome.status for outcome in found.limits] == ['within']
        assert bb.check_limits(found, 'mine/*: p > .001 and high <= 2.5')[0].status == 'within'     # of a d without a declared range it were no bound
        with pytest.raises(ValueError, match=r'abs\(value\) of my d is between 0 and 3'):
            bb.check_limits(found, 'mine/*: abs(value) <= 3')
    spoilt = replace(audit, about={**audit.about, 'measures': {'mine': {'metrics': [{'name': 'my d', 'low': 'x', 'high': 3}]}}})
    with pytest.raises(ValueError, match='low of a metric must be'):
        bb.check_limits(spoilt, 'mine/*: value <= 1')


def test_a_limit_that_two_measures_share_has_both_ranges():
    "An audit in which only one of them could be measured still accepts it."
    audit = bb.audit('googlenews-mini', ['weat', 'direct_bias'], only=['weat7', 'nothing', 'direct_bias/*'][::2], placebo=False, resume=False, limits='*: value <= 1')
    assert {outcome.status for outcome in audit.limits} == {'within'}
    with pytest.raises(ValueError, match='the comparison with 1 has the same outcome'):
        bb.check_limits([r for r in audit.results if r.metric == 'direct bias'], '*: value <= 1')


@pytest.mark.parametrize('pattern', ['Occupation-Gap', 'occupation gap', 'OCCUPATION_GAP/*', 'occupation-gap/*'])
def test_a_measure_is_named_in_any_spelling(pattern):
    audit = bb.audit('googlenews-mini', 'Occupation-Gap', only=[pattern], placebo=False, resume=False, limits=f'{pattern}: value <= .5')
    assert [outcome.status for outcome in audit.limits] == ['exceeded']


def test_a_report_computes_again_what_objects_measured():
    "A measure and vectors of the user: the code names them as variables, says what they are, and runs."
    mine = replace(find_measure('weat'), name='mine')
    vectors = bb.load_vectors('googlenews-mini')
    audit = bb.audit(vectors, mine, only=['weat7'], placebo=False, resume=False)
    [row] = summary_rows(audit.results)
    code = again_code(audit, row)
    assert "# measure is 'mine', the Measure that the audit was given" in code
    assert "# subject is 'googlenews-mini', the WordVectors that the audit was given" in code
    names = {'measure': mine, 'subject': vectors}
    exec(code, names)
    assert [r.value for r in names['found'].results if r.query == row['query']] == [audit.results[0].value]
    of_name = bb.audit('googlenews-mini', 'weat', only=['weat7'], placebo=False, resume=False)
    assert 'given' not in again_code(of_name, summary_rows(of_name.results)[0])


def test_an_own_measure_of_a_builtin_name_is_not_taken_for_it():
    other = Measure(name='weat', kinds=('vectors',), units=lambda: {'weat7': {}}, run=lambda vectors, spec: bb.weat(vectors, 'weat7', placebo=False))
    audit = bb.audit('googlenews-mini', other, resume=False)
    assert 'measures=[measure]' in again_code(audit, summary_rows(audit.results)[0])


def test_limits_on_changes_can_fail():
    def measured(subject):
        return bb.audit(subject, 'weat', only=['weat7'], placebo=False, resume=False)

    vectors = bb.load_vectors('googlenews-mini')
    comparison = bb.compare_audits(measured(vectors), measured(bb.hard_debias(vectors)))
    for limit, message in {'weat*: p <= 1': 'p is between 0 and 1, so the comparison with 1 has the same outcome',
                           'weat7: abs(change) <= 5': 'abs(change) of WEAT d is between 0 and 4',
                           'weat7: before > -3 and p > .05': 'before of WEAT d is between -2 and 2',
                           '*: after <= 2': 'after of WEAT d is between -2 and 2',
                           '*: change - before >= 7': 'change - before of WEAT d is between -6 and 6'}.items():
        with pytest.raises(ValueError, match=re.escape(message)):
            bb.check_change_limits(comparison, limit)
    can_fail = ['weat7: abs(change) <= 3.9', '*: after > -2', '*: high <= 9', 'weat8: change <= 9']
    assert [outcome.status for outcome in bb.check_change_limits(comparison, can_fail)] == ['within', 'within', 'within', 'not measured']
