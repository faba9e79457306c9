"""Audits of a model of lm-evaluation-harness beside other subjects. The model is a small one of our own, so lm-eval is not needed."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import biasbook as bb
from biasbook.core.store import Store
from biasbook.models.checkpoints import bundled_models

pytest.importorskip('torch')
STUDY = """
name: small
pairs:
- name: tears
  sentences:
  - [She cried all night., He cried all night.]
  - [The woman was in tears., The man was in tears.]
  - [The girl was afraid., The boy was afraid.]
  - [He was a brave man., She was a brave woman.]
"""
PATH = str(bundled_models()['novels-mini-causal'])


class OwnLM:
    "An LM in the form of lm-eval. It answers with a model of this package, times a factor."
    def __init__(self, model, factor=1):
        self.of_the_book = model
        self.factor = factor
        self.asked = 0

    def loglikelihood(self, requests):
        self.asked += len(requests)
        texts = [request.args[1] for request in requests]
        assert not any(request.args[0] for request in requests)
        nats = self.of_the_book.log_probability(texts, unknown='keep').total
        return [(self.factor * float(value), False) for value in nats]


class Reversed(OwnLM):
    "Prefers what the other one does not prefer."
    def loglikelihood(self, requests):
        return [(-1000 - nats, False) for nats, _ in super().loglikelihood(requests)]


@pytest.fixture(scope='module')
def local():
    return bb.load_model(PATH, device='cpu')


@pytest.fixture
def study(tmp_path):
    path = tmp_path / 'study.yaml'
    path.write_text(STUDY, encoding='utf-8')
    return path


def opened(lm, name='own'):
    return bb.from_lm_eval(lm, tokenizer='novels-mini-causal', name=name)


def values_of(found):
    return {(result.subject, result.meta['unit']): result.value for result in found.results}


def test_beside_a_path(local, tmp_path):
    found = bb.audit([opened(OwnLM(local)), PATH], 'sas_pairs', resume=False)
    assert not found.failures
    ours, theirs = found.results
    assert [ours.subject, theirs.subject] == ['own', 'novels-mini-causal'] and ours.value == theirs.value
    assert abs(ours.details['margin'] - theirs.details['margin']).max() < 1e-4
    assert (ours.low, ours.high, ours.pvalue) == (theirs.low, theirs.high, theirs.pvalue)
    about = found.about['subjects']['own']
    assert about['kind'] == 'causal' and about['lm_class'].endswith('OwnLM') and 'fingerprint' not in about
    assert found.about['command'] == ''                         # no command opens an object
    found.save(tmp_path / 'out')
    saved = json.loads((tmp_path / 'out/results.json').read_text(encoding='utf-8'))
    assert [result['subject'] for result in saved['results']] == ['own', 'novels-mini-causal']
    assert 'OwnLM' in (tmp_path / 'out/report.html').read_text(encoding='utf-8')


def test_a_study_and_an_executor(local, study):
    alone = bb.audit(opened(OwnLM(local)), study=study, resume=False)
    with ThreadPoolExecutor(2) as executor:
        together = bb.audit([opened(OwnLM(local)), PATH], study=study, resume=False, executor=executor)
    assert not alone.failures and not together.failures
    assert values_of(together) == {('own', 'tears'): values_of(alone)['own', 'tears'],
                                   ('novels-mini-causal', 'tears'): values_of(alone)['own', 'tears']}


def test_its_results_are_never_stored(local, study, tmp_path):
    lm = OwnLM(local)
    for times in (1, 2):
        found = bb.audit([opened(lm), PATH], study=study, resume=tmp_path / 'store.sqlite')
        assert lm.asked == 8 * times and found.reused == times - 1              # the model of the folder is reused
    with Store(tmp_path / 'store.sqlite') as store:
        assert store.kinds()['audit unit'][0] == 1
    changed = bb.audit(opened(Reversed(local)), study=study, resume=tmp_path / 'store.sqlite')
    assert changed.results[0].value == 100 - found.results[0].value != found.results[0].value


def test_two_of_one_name(local, study):
    found = bb.audit([opened(OwnLM(local)), opened(Reversed(local))], study=study, resume=False)
    values = values_of(found)
    assert values['own', 'tears'] == 100 - values['own (2)', 'tears'] and not found.failures


def test_wrong_answers_are_failures(local, study):
    found = bb.audit([opened(OwnLM(local, factor=-1), 'broken'), PATH], study=study, resume=False)
    [failure] = found.failures
    assert failure['subject'] == 'broken' and 'a log-probability is not above 0' in failure['error']
    assert [result.subject for result in found.results] == ['novels-mini-causal']
