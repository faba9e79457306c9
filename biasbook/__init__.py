"""Measure social bias in word embeddings, language models and embedding APIs: a book whose chapters run.

The names of `__all__` are what most work needs, as in `import biasbook as bb; bb.weat('googlenews-mini', 'weat7')`. Each
is imported when it is first used. A name that is a module's too, such as `bb.weat`, is that module, and can be called."""
__version__ = "0.1.0"

import sys
from importlib import import_module
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasbook.audit import audit as audit
    from biasbook.comparing import compare_audits as compare_audits
    from biasbook.crows_pairs import crows_pairs as crows_pairs
    from biasbook.debias import compare as compare
    from biasbook.directions import bias_direction as bias_direction
    from biasbook.embedding_api import bias_table as bias_table, embedding_bias as embedding_bias
    from biasbook.erasure import hard_debias as hard_debias, inlp as inlp, leace as leace
    from biasbook.fills import disco as disco
    from biasbook.foundations.embedders import from_callable as from_callable, load_embedder as load_embedder
    from biasbook.foundations.pairs import load_pairs as load_pairs
    from biasbook.foundations.results import Result as Result, results_table as results_table
    from biasbook.foundations.scorers import load_model as load_model
    from biasbook.foundations.stimuli import Query as Query, weat_query as weat_query
    from biasbook.foundations.studies import load_study as load_study
    from biasbook.foundations.templates import Template as Template
    from biasbook.foundations.vectors import WordVectors as WordVectors, load_vectors as load_vectors
    from biasbook.foundations.wordfiles import load_queries as load_queries
    from biasbook.influence import leave_one_out as leave_one_out
    from biasbook.maskfill import bias_difference as bias_difference, bias_score as bias_score
    from biasbook.maskfill import maskfill_table as maskfill_table
    from biasbook.measures import occupation_gap as occupation_gap
    from biasbook.models import compare_models as compare_models
    from biasbook.paired import compare_results as compare_results
    from biasbook.projection import direct_bias as direct_bias
    from biasbook.relatives import cbs as cbs
    from biasbook.sas_pairs import sas_pairs as sas_pairs
    from biasbook.saving import load_audit as load_audit
    from biasbook.seat import seat as seat
    from biasbook.stereoset import stereoset as stereoset
    from biasbook.weat import weat as weat, weat_battery as weat_battery
    from biasbook.wefat import wefat as wefat

_WHERE = {'audit': 'audit', 'Result': 'foundations.results', 'results_table': 'foundations.results',
          'load_model': 'foundations.scorers',
          'from_callable': 'foundations.embedders', 'load_embedder': 'foundations.embedders',
          'Query': 'foundations.stimuli', 'load_queries': 'foundations.wordfiles', 'weat_query': 'foundations.stimuli',
          'load_study': 'foundations.studies', 'Template': 'foundations.templates',
          'WordVectors': 'foundations.vectors', 'load_vectors': 'foundations.vectors',
          'compare': 'debias', 'hard_debias': 'erasure', 'inlp': 'erasure', 'leace': 'erasure',
          'compare_results': 'paired', 'leave_one_out': 'influence',
          'bias_difference': 'maskfill', 'bias_score': 'maskfill', 'maskfill_table': 'maskfill',
          'bias_table': 'embedding_api', 'embedding_bias': 'embedding_api',
          'occupation_gap': 'measures',         # where every kind of subject is known
          'cbs': 'relatives', 'disco': 'fills',
          'bias_direction': 'directions', 'direct_bias': 'projection', 'compare_audits': 'comparing', 'load_audit': 'saving',
          'load_pairs': 'foundations.pairs', 'sas_pairs': 'sas_pairs',
          'crows_pairs': 'crows_pairs', 'seat': 'seat', 'stereoset': 'stereoset', 'compare_models': 'models',
          'weat': 'weat', 'weat_battery': 'weat', 'wefat': 'wefat'}

__all__ = ['__version__', *_WHERE]


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; it has {", ".join(sorted(_WHERE))}')
    module = import_module(f'{__name__}.{_WHERE[name]}')
    return module if name == _WHERE[name] else getattr(module, name)


def __dir__():
    return sorted({*globals(), *_WHERE})


class _Callable(ModuleType):
    "A module that is called as the function of its own name."
    def _function(self): return getattr(self, self.__name__.rpartition('.')[2])
    def __call__(self, *args, **kwargs): return self._function()(*args, **kwargs)
    def __reduce__(self): return import_module, (self.__name__,)
    __signature__ = property(lambda self: signature(self._function()))
    __doc__ = property(lambda self: self._function().__doc__)       # type: ignore[assignment]


class _Package(ModuleType):
    "A package whose submodules can be called where they share a name with what they are about."
    def __setattr__(self, name, value):
        if type(value) is ModuleType and _WHERE.get(name) == name:
            value.__class__ = _Callable
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
