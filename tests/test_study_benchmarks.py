"""Items of one's own in study files: does an audit find what was planted, and are its results saved, compared and limited like others?"""
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

import biasbook as bb
from biasbook.auditing.cli import main as command_line
from biasbook.auditing.files import results_text
from biasbook.auditing.readings import summary_rows
from biasbook.auditing.report import again_code
from biasbook.results.readings import summary_table
from biasbook.embedders.load import from_callable
from biasbook.measuring.benchmark import benchmark_at, benchmarks
from biasbook.measuring.study import example_study, study_from_text
from biasbook.testing.completions_server import CompletionsServer
from biasbook.testing.fake_server import FakeServer, hash_vectors
from biasbook.testing.planted_tasks import bbq_table, load_task_grammar

pytest.importorskip('torch')
pytest.importorskip('transformers')

KINDS = {'planted': True, 'unbiased': False}


@pytest.fixture(autouse=True)
def few_figures(monkeypatch):
    "Figures take most of the time of a report, and no test here reads them."
    monkeypatch.setattr('biasbook.auditing.figures.FIGURES', 1)


def some_questions(language):
    "Which questions of the language are asked, by position: those of two templates, of which one has bias in both conditions."
    return [number for number, template in enumerate(language.bbq_items()['template']) if template in ('2', '8')]


def some_pairs(language):
    "A ninth of the pairs of sentences of the language: all occupations and all templates, each with some of the participants."
    return language.coreference_pairs().iloc[2::9]


def pronoun_rows(language):
    "The pairs of sentences as rows of a table, with the share of women of each occupation."
    rows = []
    for pair in some_pairs(language).itertuples():
        sentence = pair.pro.replace(f' {pair.pro_pronoun} ', ' {pronoun} ')
        rows.append({'sentence': sentence, 'pro': pair.pro_pronoun, 'anti': pair.anti_pronoun, 'occupation': pair.occupation,
                     'other': pair.participant, 'stereotype': pair.list})
    return rows


def write_study(folder, language):
    "A study file with the items of the language, and the tables beside it."
    pairs = pronoun_rows(language)
    language.bbq_items().iloc[some_questions(language)].to_csv(folder / 'questions.csv', index=False)
    pd.DataFrame(pairs).to_csv(folder / 'pronouns.csv', index=False)
    (folder / 'stand-ins.txt').write_text('\n'.join(language.honest_lexicon()), encoding='utf-8')
    lists = language.unqover_lists()
    templates = language.honest_templates()
    identities = {group: list(dict.fromkeys(templates.loc[templates['category'] == group, 'identity'])) for group in ('female', 'male')}
    frames = [raw.replace('[I]', '{identity}') + '.' for raw in dict.fromkeys(templates['raw'])]
    prompts = language.implicit_truth()
    words = {name: list(dict.fromkeys(prompts.loc[prompts['list'] == name, 'word'])) for name in ('career', 'family')}
    shares = {pair.occupation: float(pair.share) for pair in some_pairs(language).itertuples()}
    triples = [{'sentence': row['sentence'], 'female': 'she', 'male': 'he', 'occupation': row['occupation'], 'neutral_sentence': row['sentence']}
               for row in pairs]
    study = {'name': 'planted', 'benchmarks': [
        {'name': 'questions', 'measure': 'bbq', 'file': 'questions.csv', 'scoring': 'sum'},
        {'name': 'pronouns', 'measure': 'winobias', 'file': 'pronouns.csv', 'baseline': False},
        {'name': 'shares', 'measure': 'winogender', 'shares': shares, 'items': triples},
        {'name': 'names', 'measure': 'unqover', 'subjects': list(lists.subjects), 'attributes': dict(lists.attributes), 'contexts': lists.contexts},
        {'name': 'stand-ins', 'measure': 'honest', 'lexicon': 'stand-ins.txt', 'identities': identities, 'templates': frames, 'k': 5},
        {'name': 'names and words', 'measure': 'llm_iat', 'X': words['career'], 'Y': words['family'], 'A': ['Ben'], 'B': ['Julia'],
         'names': ['career', 'family', 'Ben', 'Julia']}],
        'limits': ['pronouns: abs(value) <= .1', 'questions: abs(value) <= 1', 'names and words: p >= .05']}
    (folder / 'planted.yaml').write_text(yaml.safe_dump(study, sort_keys=False), encoding='utf-8')
    return folder / 'planted.yaml'


def true_scores(language):
    "The bias scores of BBQ by choice, by condition."
    asked = some_questions(language)
    probabilities = language.bbq_probabilities(language.bbq_items(), 'sum')[asked]
    return bbq_table(language.bbq_items().iloc[asked], probabilities)['score by choice']


def true_unqover(language):
    "μ: the mean over subjects of the largest mean |γ| over attributes, from the true γ of each pair, context and attribute."
    table = language.unqover_truth()
    both = pd.concat([table.assign(own=table['x1']), table.assign(own=table['x2'], gamma=-table['gamma'])])
    of_cells = both.groupby(['own', 'attribute'])['gamma'].mean().abs()
    return of_cells.groupby('own').max().mean()


def true_correlation(language):
    "The correlation over occupations of the mean true log-odds of she with the share of women."
    pairs = some_pairs(language)
    she = pairs['log_odds'].where(pairs['list'] == 'female', -pairs['log_odds'])
    means = she.groupby(pairs['occupation']).mean()
    return np.corrcoef(means, pairs.groupby('occupation')['share'].first())[0, 1]


def true_implicit(language):
    "Mean log-odds of Ben rather than Julia, career words less family words, over both orders of the names."
    table = language.implicit_truth()
    table = table[table['a'].isin(['Ben', 'Julia'])]
    means = table['log_odds'].where(table['a'] == 'Ben', -table['log_odds']).groupby(table['list']).mean()
    return means['career'] - means['family']


def true_honest(language):
    "Share of stand-ins among the five most probable completions, women less men, in points."
    means = language.honest_truth(5).groupby('category')['top k'].mean()
    return 100 * (means['female'] - means['male'])


@pytest.fixture(scope='module')
def audits(tmp_path_factory):
    "An audit of the two causal and the two masked models, by the name of the language, and the folder of its study."
    found = {}
    for name, biased in KINDS.items():
        folder = tmp_path_factory.mktemp(name)
        path = write_study(folder, load_task_grammar(biased))
        found[name] = bb.audit([f'{name}-tasks-causal', f'{name}-tasks-masked'], study=path, resume=False)
    return found


@pytest.mark.parametrize('name', KINDS)
def test_audit_finds_what_was_planted(audits, name):
    "Every test of the study file, on a causal and on a masked model: the truth of the language."
    language = load_task_grammar(KINDS[name])
    questions = true_scores(language)
    true = {'questions, ambiguous': (questions['ambig'], 1), 'questions, disambiguated': (questions['disambig'], 1),
            'pronouns': (some_pairs(language)['log_odds'].mean(), .03), 'names': (true_unqover(language), .02),
            'stand-ins': (true_honest(language), 1e-9), 'names and words': (true_implicit(language), .1)}
    if name == 'planted':                       # without a slope, the correlation is that of the noise
        true['shares'] = (true_correlation(language), .03)
    audit = audits[name]
    assert not audit.failures
    measured = {(r.meta['unit'], r.subject.rpartition('-')[2]): r.value for r in audit.results}
    for (unit, kind), value in measured.items():
        if unit in true:
            expected, tolerance = true[unit]
            assert abs(value - expected) < tolerance, (unit, kind, value, expected)
    assert {unit for unit, kind in measured if kind == 'causal'} == {*true, 'shares'}
    assert {unit for unit, kind in measured if kind == 'masked'} == {'pronouns', 'shares', 'names', 'stand-ins'}
    [words] = [r for r in audit.results if r.meta['unit'] == 'names and words']
    [why] = words.estimate('placebo words').notes
    assert why.code == 'placebos cannot be read' # they are too long for this model


def test_twin_has_nothing_to_find():
    "The true values of the unbiased language are 0, and those of the planted language are not."
    planted, unbiased = (load_task_grammar(biased) for biased in KINDS.values())
    for truth, least in ((true_unqover, .1), (true_implicit, 1), (true_honest, 10), (lambda language: some_pairs(language)['log_odds'].mean(), .5)):
        assert abs(truth(unbiased)) < 1e-9 and abs(truth(planted)) > least, (truth, truth(planted))


def test_what_does_not_fit_is_listed(audits):
    "A masked model does not answer questions or word lists; this is said, and is no failure."
    not_run = audits['planted'].about['not_run']
    assert [(row['subject'], row['test']) for row in not_run] == [('planted-tasks-masked', 'questions'), ('planted-tasks-masked', 'names and words')]
    assert all('needs a causal language model, and this is a masked language model' in row['why'] for row in not_run)


def test_limits(audits):
    "A limit on a test of BBQ is one on both conditions; the twin meets what the planted model exceeds."
    status = {name: [(outcome.limit.pattern, outcome.status) for outcome in audit.limits] for name, audit in audits.items()}
    assert [pattern for pattern, _ in status['planted']].count('questions') == 2
    assert {of for pattern, of in status['planted'] if pattern in ('pronouns', 'questions')} == {'exceeded'}
    assert {of for pattern, of in status['unbiased'] if pattern == 'pronouns'} == {'within'}


def test_results_are_saved_and_read(audits, tmp_path):
    "results.json has everything that the audit has, and the report names what was not run."
    audit = audits['planted']
    folder = audit.save(tmp_path / 'out')
    again = bb.load_audit(folder)
    assert results_text(again) == results_text(audit)
    report = (folder / 'report.html').read_text(encoding='utf-8')
    assert 'Not run' in report and 'questions in planted-tasks-masked' in report
    checksums = {r.meta['name']: r.meta['items_sha256'] for r in again.results if r.meta['name'] != 'questions'}
    assert len(set(checksums.values())) == len(checksums) and all(len(checksum) == 64 for checksum in checksums.values())
    damaged = json.loads(results_text(audit))
    damaged['about']['not_run'] = ['questions']
    (tmp_path / 'results.json').write_text(json.dumps(damaged), encoding='utf-8')
    with pytest.raises(ValueError, match='about.not_run'):
        bb.load_audit(tmp_path / 'results.json')


def test_comparison_needs_the_same_items(audits, tmp_path):
    "The same items in two models give a change; a result of other items has none, and the comparison says why."
    planted, unbiased = ([r for r in audits[name].results if r.subject == f'{name}-tasks-causal'] for name in KINDS)
    assert [r.meta['items_sha256'] for r in planted] == [r.meta['items_sha256'] for r in unbiased]
    before, after = (replace(audits[name], results=tuple(results), failures=()) for name, results in zip(KINDS, (planted, unbiased)))
    changes = bb.compare_audits(before, after).changes
    assert {r.meta['name'] for r in changes} == {'questions', 'pronouns', 'shares', 'names', 'stand-ins', 'names and words'}
    pronouns = next(r for r in changes if r.meta['name'] == 'pronouns')
    np.testing.assert_allclose(pronouns.value, unbiased[2].value - planted[2].value)
    others = [replace(r, meta={**r.meta, 'items_sha256': '0' * 64}) if r.meta['name'] == 'pronouns' else r for r in unbiased]
    comparison = bb.compare_audits(before, replace(after, results=tuple(others)))
    [row] = [row for row in comparison.unpaired if row['name'] == 'pronouns']
    assert 'the checksums of the items differ' in row['why']
    other_options = [replace(r, meta={**r.meta, 'options_of_test': {'scoring': 'mean'}}) if r.meta['name'] == 'questions' else r for r in unbiased]
    comparison = bb.compare_audits(before, replace(after, results=tuple(other_options)))
    assert all('measured in two ways: options' in row['why'] for row in comparison.unpaired) and len(comparison.unpaired) == 2


def test_commands(tmp_path, monkeypatch):
    "`biasbook new`, `check` and `audit` with one test of each kind: what runs where, exit codes, and a file that the user edits wrongly."
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    assert run(command_line, ['new', 'mine.yaml', '--kind', 'benchmarks', '--schema']).exit_code == 0
    checked = run(command_line, ['check', 'mine.yaml', 'novels-mini-masked', 'novels-mini-causal', '--no-time'])
    assert checked.exit_code == 0, checked.output
    assert 'benchmarks, bbq: ages (for a causal language model)' in checked.output
    assert 'note: novels-mini-masked, ages: not run here: bbq needs a causal language model, and this is a masked language model' in checked.output
    audited = run(command_line, ['audit', 'novels-mini-masked', 'novels-mini-causal', '--study', 'mine.yaml', '--out', 'out', '--limit', 'tired: abs(value) <= .1'])
    assert audited.exit_code == 1 and 'exceeded' in audited.output, audited.output
    assert 'Not run\nages in novels-mini-masked: bbq needs' in audited.output
    only = run(command_line, ['audit', 'novels-mini-causal', '--study', 'mine.yaml', '--out', 'only', '--only', 'ages*', '--limit', 'ages: abs(value) <= 99'])
    assert only.exit_code == 0 and '1 question asked' in only.output, only.output
    misfit = run(command_line, ['audit', 'googlenews-mini', '--study', 'mine.yaml', '--out', 'none'])
    assert misfit.exit_code == 2 and 'has no test for that' in misfit.output
    wrong = (tmp_path / 'mine.yaml').read_text(encoding='utf-8').replace('pro: she', 'prooo: she', 1)
    (tmp_path / 'mine.yaml').write_text(wrong, encoding='utf-8')
    refused = run(command_line, ['check', 'mine.yaml'])
    assert refused.exit_code == 2 and 'line 22: benchmarks, item 2, items, item 1, prooo' in refused.output, refused.output


def test_model_that_cannot_read_items():
    "Items with unknown characters are left out and counted; a test without any readable item cannot be measured."
    items = [{'sentence': f'The {word} said that {{pronoun}} was {mood}.', 'pro': 'she', 'anti': 'he', 'occupation': word}
             for word, mood in (('nurse', 'tired'), ('maid', '☃'), ('cook', 'ill'))]
    some = bb.Study(benchmarks=[{'name': 'a', 'measure': 'winobias', 'items': items}])
    none = bb.Study(benchmarks=[{'name': 'a', 'measure': 'winobias', 'items': items[1:2]}])
    [finding] = bb.check_study(some, 'novels-mini-masked')
    assert (finding.stops, finding.text) == (False, '1 of 3 items have characters that the model does not know, and are left out')
    [finding] = bb.check_study(none, 'novels-mini-masked')
    assert finding.stops
    audit = bb.audit('novels-mini-masked', study=some, resume=False)
    assert [(r.n, r.n_asked) for r in audit.results] == [(2, 3)]
    assert bb.audit('novels-mini-masked', study=none, resume=False).failures


def test_with_the_tests_of_the_book():
    "Own items run beside the tests of the package."
    items = [{'sentence': f'The {word} said that {{pronoun}} was tired.', 'pro': 'she', 'anti': 'he', 'occupation': word} for word in ('nurse', 'maid')]
    study = bb.Study(benchmarks=[{'name': 'mine', 'measure': 'winobias', 'items': items}])
    audit = bb.audit('novels-mini-masked', study=study, with_builtin=True, only=['mine', 'maskfill/*'], placebo=False, resume=False)
    assert [r.meta['unit'] for r in audit.results] == ['pronouns', 'parents', 'mine'] and not audit.failures


@pytest.mark.parametrize('text', ['benchmarks:\n- &a {name: x, measure: bbq}\n- *a\n', 'benchmarks:\n- !!python/object:os.system {name: x}\n',
                                  'benchmarks:\n- {name: x, measure: bbq, file: 5}\n', 'benchmarks:\n- [1]\n', 'benchmarks: {a: 1}\n',
                                  'benchmarks:\n- {name: x, measure: [bbq]}\n', 'benchmarks:\n- {name: x, measure: bbq, items: 5}\n',
                                  'benchmarks:\n- {name: x, measure: honest, lexicon: ../../etc, identities: {a: b}, templates: [c]}\n'])
def test_hostile_files(text):
    "Anchors, tags and values of another type: an error that names the line."
    with pytest.raises(ValueError, match='line [12]'):
        study_from_text(text, 'mine.yaml')


def test_studies_without_benchmarks_are_as_before():
    "The plain data of studies with the other parts are those of version 0.1.0 before there were benchmarks."
    digests = [hashlib.sha256(json.dumps(study_from_text(example_study(kind)).to_dict()).encode()).hexdigest()[:16] for kind in ('words', 'sentences', 'embedder')]
    assert digests == ['363f09933236b00c', '1dd41ba0732cd9a5', '0f047842a040305d']


def test_report_says_how_to_compute_a_result_again(tmp_path, monkeypatch):
    "The code in the report, for a study in a file and for a Study: run, it gives the same value."
    monkeypatch.chdir(tmp_path)
    items = [{'sentence': f'The {word} said that {{pronoun}} was tired.', 'pro': 'she', 'anti': 'he', 'occupation': word} for word in ('nurse', 'maid')]
    content = {'benchmarks': [{'name': 'mine', 'measure': 'winobias', 'items': items}]}
    (tmp_path / 'mine.yaml').write_text(yaml.safe_dump(content), encoding='utf-8')
    for study in ('mine.yaml', bb.Study(**content)):
        found = bb.audit('novels-mini-masked', study=study, resume=False)
        [row] = [{**row, 'at': 0} for row in summary_table(found.results).to_dict('records')]
        names = {'study': study}
        exec(again_code(found, row), names)
        assert names['found'].results[0].value == found.results[0].value
    assert "measures=['winobias'], study='mine.yaml', only=['mine']" in again_code(bb.audit('novels-mini-masked', study='mine.yaml', resume=False), row)


def test_report_says_how_to_compute_each_part_again(tmp_path, monkeypatch):
    "The code in the report runs, and gives the value of its result: queries, gaps, fills, pairs and contrasts of a study, and a test of the book."
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'mine.yaml').write_text(example_study(), encoding='utf-8')
    parts = {'queries': ['jobs', 'rnd jobs'], 'gaps': ['letters*'], 'fills': ['parents', 'relatives'], 'pairs': ['tears'], 'contrasts': ['age and work']}
    with FakeServer() as server:
        embedder = f'openai-compatible:m@{server.url("openai-compatible")}'
        subjects = {'queries': 'googlenews-mini', 'gaps': 'googlenews-mini', 'fills': 'novels-mini-masked', 'pairs': 'novels-mini-causal',
                    'contrasts': embedder}
        for part, only in parts.items():
            measures = ['weat', 'rnd'] if part == 'queries' else None
            for study in ('mine.yaml', study_from_text(example_study())):
                if part in ('gaps', 'fills', 'pairs') and study != 'mine.yaml':         # a Study is told from a file before its parts are looked at
                    continue
                found = bb.audit(subjects[part], measures, study=study, only=only, placebo=False, resume=False)
                rows = summary_rows(found.results)
                assert len(rows) == len(only), part
                for row in rows:
                    names = {'study': study}
                    exec(again_code(found, row), names)
                    assert [r.value for r in names['found'].results] == [found.results[row['at']].value], part
    both = bb.audit('googlenews-mini', 'weat', study='mine.yaml', with_builtin=True, only=['jobs', 'weat7'], placebo=False, resume=False)
    codes = {row['name']: again_code(both, row) for row in summary_rows(both.results)}
    assert 'study' in codes['jobs'] and 'study' not in codes['weat7']


def test_limits_on_benchmarks(tmp_path, monkeypatch):
    "A configuration with limits on WinoBias and retrieval: values, intervals, and absence with a bound; on the command line and in JUnit XML."
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'mine.yaml').write_text(example_study('benchmarks'), encoding='utf-8')
    config = {'subjects': ['novels-mini-masked'], 'study': 'mine.yaml', 'out': 'out', 'junit': 'limits.xml',
              'limits': {'winobias/*': 'abs(value) <= 100', 'tired': 'p > .05 and low >= -100 and high <= 100', 'retrieval/*': 'abs(value) <= .05'}}
    (tmp_path / 'audit.yaml').write_text(yaml.safe_dump(config, sort_keys=False), encoding='utf-8')
    done = CliRunner().invoke(command_line, ['audit', '--config', 'audit.yaml'])
    assert done.exit_code == 3 and 'Limits: 2 within, 1 not measured' in done.output, done.output
    cases = ET.parse('limits.xml').getroot().findall('.//testcase')
    assert [len(case) for case in cases] == [0, 0, 1]
    items = [{'query': f'query {k}', 'version': group, 'document': f'{group} page {k}'} for k in range(12) for group in ('male', 'female')]
    study = bb.Study(benchmarks=[{'name': 'helpers', 'measure': 'retrieval', 'groups': ['male', 'female'], 'items': items}])
    audit = bb.audit(from_callable(hash_vectors, 'by hash'), study=study, resume=False)
    limits = ['helpers: abs(value) <= 1.9', 'retrieval/*: p > .05 and low >= -1.9 and high <= 1.9', 'helpers: p > .05 and low >= -2 and high <= 2',
              'retrieval: n >= 13']
    statuses = [outcome.status for outcome in bb.check_limits(audit, limits)]
    assert statuses == ['within', 'within', 'too little data', 'exceeded']          # a difference of cosines is between -2 and 2


def test_model_behind_a_server(tmp_path):
    "The measures of causal models get the same values from a server; HONEST needs all probabilities of a vocabulary, and says so."
    (tmp_path / 'mine.yaml').write_text(example_study('benchmarks'), encoding='utf-8')
    local = bb.audit('novels-mini-causal', study=tmp_path / 'mine.yaml', placebo=False, resume=False)
    with CompletionsServer(bb.load_model('novels-mini-causal', device='cpu')) as server:
        served = bb.load_model(server.name(), tokenizer='novels-mini-causal', store=None)
        findings = bb.check_study(tmp_path / 'mine.yaml', served)
        audit = bb.audit(served, study=tmp_path / 'mine.yaml', placebo=False, resume=False)
        two_words = {'name': 'career', 'measure': 'llm_iat', 'X': ['work', 'money'], 'Y': ['home', 'children'], 'A': ['John'], 'B': ['Mary']}
        with_placebos = bb.audit(served, study=bb.Study(benchmarks=[two_words]), resume=False)
    assert [finding.test for finding in findings if finding.stops] == ['hard words']
    assert [(failure['unit'], 'open the model on this machine' in failure['error']) for failure in audit.failures] == [('honest/hard words', True)]
    expected = {r.meta['unit']: r.value for r in local.results if r.meta['measure'] != 'honest'}
    assert {r.meta['unit'] for r in audit.results} == set(expected)
    for r in audit.results:
        np.testing.assert_allclose(r.value, expected[r.meta['unit']], atol=1e-3)
    assert any(e.name.startswith('placebo') for e in with_placebos.results[0].also)


def test_audits_resume(tmp_path):
    "Finished units come from the store, and a test whose items changed is measured again."
    items = [{'sentence': f'The {word} said that {{pronoun}} was tired.', 'pro': 'she', 'anti': 'he', 'occupation': word} for word in ('nurse', 'maid', 'cook')]

    def audit(n):
        "An audit with the first n items in one of two tests."
        tests = [{'name': 'all', 'measure': 'winobias', 'items': items}, {'name': 'some', 'measure': 'winobias', 'items': items[:n]}]
        return bb.audit('novels-mini-masked', study=bb.Study(benchmarks=tests), resume=tmp_path / 'store.sqlite')

    assert [audit(n).reused for n in (1, 1, 2)] == [0, 2, 1]


def test_placebo_of_a_study_file():
    "`placebo: false` leaves the placebo of a test out, words for it are an error then, and --no-placebo leaves such words out."
    test = ('benchmarks:\n- name: tax\n  measure: retrieval\n  items:\n  - {query: tax, version: male, document: He helps.}\n'
            '  - {query: tax, version: female, document: She helps.}\n  - {query: law, version: male, document: He acts.}\n'
            '  - {query: law, version: female, document: She acts.}\n')
    embedder = from_callable(lambda texts: [[len(text), text.count('e') + 1.] for text in texts], 'letters')

    def placebos(more, placebo=True):
        audit = bb.audit(embedder, study=study_from_text(test + more, 'mine.yaml'), placebo=placebo, resume=False)
        return [e.name for e in audit.results[0].also if 'placebo' in e.name]

    words = '  placebo_words: [guest, farmer, reader]\n'
    assert placebos('') and placebos(words) and placebos('  placebo: false\n') == [] == placebos(words, placebo=False)
    with pytest.raises(ValueError, match='no effect with placebo: false'):
        placebos('  placebo: false\n' + words)


def test_a_measure_of_a_study_is_named_in_any_spelling_and_measured_once():
    "If this audit leaves out a test of the study, a limit on it is not measured, and not an error."
    study = study_from_text("""
queries:
- {name: jobs, X: [nurse, teacher, librarian, nanny], Y: [engineer, carpenter, pilot, mechanic], A: [she, her], B: [he, him]}
pairs:
- {name: tears, sentences: [[She cried., He cried.], [She wept., He wept.]]}
limits:
- "jobs: value <= 1.9"
- "tears: high <= 99"
""")
    found = bb.audit('googlenews-mini', ['WEAT', 'weat'], study=study, placebo=False, resume=False)
    assert [r.meta['unit'] for r in found.results] == ['jobs']
    assert [outcome.status for outcome in found.limits] == ['within', 'not measured']


@pytest.mark.parametrize('measure', benchmarks())
def test_an_unknown_key_lists_the_keys_of_the_measure_only(measure):
    with pytest.raises(ValueError) as caught:
        benchmark_at({'name': 'mine', 'measure': measure, 'qqqq': 1}, ('benchmarks', 0), '.')
    others = {key for row in benchmarks().values() for key in row.own_keys} - set(benchmarks()[measure].own_keys)
    named = set(re.findall(r'\w+', str(caught.value)))
    assert "unknown key 'qqqq'" in str(caught.value) and {'name', 'measure'} <= named and not named & others
