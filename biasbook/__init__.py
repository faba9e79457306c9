"""Measure social bias in word embeddings, language models and embedding APIs: a book whose chapters run.

The names of `__all__` are what most work needs, as in `import biasbook as bb; bb.weat('googlenews-mini', 'weat7')`. Each
is imported when it is first used."""
__version__ = "0.1.0"

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasbook.auditing.compare import compare_audits as compare_audits
    from biasbook.auditing.files import load_audit as load_audit
    from biasbook.auditing.measures import occupation_gap as occupation_gap
    from biasbook.auditing.run import audit as audit
    from biasbook.chapters.cbs import cbs as cbs
    from biasbook.chapters.crows_pairs import crows_pairs as crows_pairs
    from biasbook.chapters.debias import compare_debiasing as compare_debiasing
    from biasbook.chapters.disco import disco as disco
    from biasbook.chapters.embedding_api import bias_table as bias_table, embedding_bias as embedding_bias
    from biasbook.chapters.debias import hard_debias as hard_debias, inlp as inlp, leace as leace
    from biasbook.chapters.influence import leave_one_out as leave_one_out
    from biasbook.chapters.maskfill import fill_bias_difference as fill_bias_difference, fill_bias as fill_bias
    from biasbook.chapters.maskfill import maskfill_table as maskfill_table
    from biasbook.chapters.model_comparison import compare_models as compare_models
    from biasbook.chapters.influence import compare_weat as compare_weat
    from biasbook.chapters.projection import direct_bias as direct_bias
    from biasbook.chapters.sas_pairs import sas_pairs as sas_pairs
    from biasbook.chapters.seat import seat as seat
    from biasbook.chapters.stereoset import stereoset as stereoset
    from biasbook.chapters.weat import weat as weat, weat_battery as weat_battery
    from biasbook.chapters.wefat import wefat as wefat
    from biasbook.embedders.load import from_callable as from_callable, load_embedder as load_embedder
    from biasbook.models.load import load_model as load_model
    from biasbook.results.result import Result as Result, results_table as results_table
    from biasbook.stimuli.pairs import load_pairs as load_pairs
    from biasbook.stimuli.studies import load_study as load_study
    from biasbook.stimuli.templates import Template as Template
    from biasbook.stimuli.words import load_queries as load_queries
    from biasbook.stimuli.words import Query as Query, weat_query as weat_query
    from biasbook.vectors.directions import bias_direction as bias_direction
    from biasbook.vectors.wordvectors import WordVectors as WordVectors, load_vectors as load_vectors

# Where each name is defined.
_WHERE = {
    'compare_audits': 'auditing.compare',
    'load_audit': 'auditing.files',
    'occupation_gap': 'auditing.measures',
    'audit': 'auditing.run',
    'cbs': 'chapters.cbs',
    'crows_pairs': 'chapters.crows_pairs',
    'compare_debiasing': 'chapters.debias',
    'disco': 'chapters.disco',
    'bias_table': 'chapters.embedding_api',
    'embedding_bias': 'chapters.embedding_api',
    'hard_debias': 'chapters.debias',
    'inlp': 'chapters.debias',
    'leace': 'chapters.debias',
    'leave_one_out': 'chapters.influence',
    'fill_bias_difference': 'chapters.maskfill',
    'fill_bias': 'chapters.maskfill',
    'maskfill_table': 'chapters.maskfill',
    'compare_models': 'chapters.model_comparison',
    'compare_weat': 'chapters.influence',
    'direct_bias': 'chapters.projection',
    'sas_pairs': 'chapters.sas_pairs',
    'seat': 'chapters.seat',
    'stereoset': 'chapters.stereoset',
    'weat': 'chapters.weat',
    'weat_battery': 'chapters.weat',
    'wefat': 'chapters.wefat',
    'from_callable': 'embedders.load',
    'load_embedder': 'embedders.load',
    'load_model': 'models.load',
    'Result': 'results.result',
    'results_table': 'results.result',
    'load_pairs': 'stimuli.pairs',
    'load_study': 'stimuli.studies',
    'Template': 'stimuli.templates',
    'load_queries': 'stimuli.words',
    'Query': 'stimuli.words',
    'weat_query': 'stimuli.words',
    'bias_direction': 'vectors.directions',
    'WordVectors': 'vectors.wordvectors',
    'load_vectors': 'vectors.wordvectors',
}

__all__ = ['__version__', *_WHERE]


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; it has {", ".join(sorted(_WHERE))}')
    value = getattr(import_module(f'{__name__}.{_WHERE[name]}'), name)
    globals()[name] = value             # so that it is looked up once
    return value


def __dir__():
    return __all__
