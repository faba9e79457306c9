"""Measure social bias in word embeddings, language models and embedding APIs: a book whose chapters run.

`import biasbook as bb` reaches every measure, loader and table by its name, as in `bb.weat('googlenews-mini', 'weat7')`. Each is
imported when it is first used. `dir(bb)` lists them."""
__version__ = "0.2.0"

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING

from biasbook.core.declared import use_declarations

if TYPE_CHECKING:
    from biasbook.auditing.compare import compare_audits as compare_audits
    from biasbook.auditing.files import load_audit as load_audit
    from biasbook.auditing.files import save_audit as save_audit
    from biasbook.auditing.limits import Limit as Limit
    from biasbook.auditing.limits import check_change_limits as check_change_limits
    from biasbook.auditing.limits import check_limits as check_limits
    from biasbook.auditing.limits import parse_limit as parse_limit
    from biasbook.auditing.measures import occupation_gap as occupation_gap
    from biasbook.auditing.own_tests import check_study as check_study
    from biasbook.auditing.run import audit as audit
    from biasbook.chapters.agreement import agreement as agreement
    from biasbook.chapters.associations import Wefe as Wefe
    from biasbook.chapters.associations import association_values as association_values
    from biasbook.chapters.associations import ect as ect
    from biasbook.chapters.associations import mac as mac
    from biasbook.chapters.associations import ripa as ripa
    from biasbook.chapters.associations import rnd as rnd
    from biasbook.chapters.associations import rnsb as rnsb
    from biasbook.chapters.associations import same as same
    from biasbook.chapters.bbq import bbq as bbq
    from biasbook.chapters.bbq import bbq_scores as bbq_scores
    from biasbook.chapters.bec_pro import bec_pro as bec_pro
    from biasbook.chapters.bec_pro import bec_pro_table as bec_pro_table
    from biasbook.chapters.calibration import decision_correlations as decision_correlations
    from biasbook.chapters.calibration import dose_response as dose_response
    from biasbook.chapters.calibration import interval_coverage as interval_coverage
    from biasbook.chapters.calibration import ladder_scores as ladder_scores
    from biasbook.chapters.calibration import share_seen as share_seen
    from biasbook.chapters.calibration import smallest_dose_seen as smallest_dose_seen
    from biasbook.chapters.calibration import what_measures_see as what_measures_see
    from biasbook.chapters.cbs import cbs as cbs
    from biasbook.chapters.ceat import ceat as ceat
    from biasbook.chapters.coreference import winobias as winobias
    from biasbook.chapters.coreference import winobias_scores as winobias_scores
    from biasbook.chapters.coreference import winogender as winogender
    from biasbook.chapters.crows_pairs import crows_by_type as crows_by_type
    from biasbook.chapters.crows_pairs import crows_pairs as crows_pairs
    from biasbook.chapters.debias import compare_debiasing as compare_debiasing
    from biasbook.chapters.debias import hard_debias as hard_debias
    from biasbook.chapters.debias import hard_debias_each as hard_debias_each
    from biasbook.chapters.debias import inlp as inlp
    from biasbook.chapters.debias import leace as leace
    from biasbook.chapters.debias import nearest_pairs as nearest_pairs
    from biasbook.chapters.debias import shares_left as shares_left
    from biasbook.chapters.debias import what_is_left as what_is_left
    from biasbook.chapters.disco import disco as disco
    from biasbook.chapters.embedder_comparison import consistency_table as consistency_table
    from biasbook.chapters.embedder_comparison import plan_table as plan_table
    from biasbook.chapters.embedder_comparison import study_embedders as study_embedders
    from biasbook.chapters.embedding_api import bias_table as bias_table
    from biasbook.chapters.embedding_api import embedding_bias as embedding_bias
    from biasbook.chapters.embedding_api import template_table as template_table
    from biasbook.chapters.generated_analogies import generate_analogies as generate_analogies
    from biasbook.chapters.honest import honest as honest
    from biasbook.chapters.honest import honest_scores as honest_scores
    from biasbook.chapters.implicit import llm_iat as llm_iat
    from biasbook.chapters.implicit import llm_iat_logprobs as llm_iat_logprobs
    from biasbook.chapters.implicit import llm_iat_scores as llm_iat_scores
    from biasbook.chapters.influence import compare_weat as compare_weat
    from biasbook.chapters.influence import fewest_words as fewest_words
    from biasbook.chapters.influence import leave_one_out as leave_one_out
    from biasbook.chapters.influence import list_agreement as list_agreement
    from biasbook.chapters.maskfill import fill_bias as fill_bias
    from biasbook.chapters.maskfill import fill_bias_difference as fill_bias_difference
    from biasbook.chapters.maskfill import kurita_rows as kurita_rows
    from biasbook.chapters.maskfill import maskfill_table as maskfill_table
    from biasbook.chapters.model_comparison import compare_models as compare_models
    from biasbook.chapters.occupation_gap import occupation_gaps as occupation_gaps
    from biasbook.chapters.occupation_gap import occupation_shares as occupation_shares
    from biasbook.chapters.projection import direct_bias as direct_bias
    from biasbook.chapters.projection import indirect_bias as indirect_bias
    from biasbook.chapters.projection import indirect_bias_table as indirect_bias_table
    from biasbook.chapters.quality import analogies as analogies
    from biasbook.chapters.quality import similarity_pairs as similarity_pairs
    from biasbook.chapters.quality import similarity_table as similarity_table
    from biasbook.chapters.quality import word_similarity as word_similarity
    from biasbook.chapters.ranking import rank as rank
    from biasbook.chapters.retrieval import retrieval as retrieval
    from biasbook.chapters.retrieval import retrieval_topics as retrieval_topics
    from biasbook.chapters.sas_pairs import sas_by_type as sas_by_type
    from biasbook.chapters.sas_pairs import sas_pairs as sas_pairs
    from biasbook.chapters.seat import load_seat as load_seat
    from biasbook.chapters.seat import seat as seat
    from biasbook.chapters.stereoset import icat as icat
    from biasbook.chapters.stereoset import stereoset as stereoset
    from biasbook.chapters.stereoset import stereoset_by_type as stereoset_by_type
    from biasbook.chapters.unqover import unqover as unqover
    from biasbook.chapters.unqover import unqover_answers as unqover_answers
    from biasbook.chapters.unqover import unqover_comparisons as unqover_comparisons
    from biasbook.chapters.unqover import unqover_parts as unqover_parts
    from biasbook.chapters.unqover import unqover_plot as unqover_plot
    from biasbook.chapters.unqover import unqover_scores as unqover_scores
    from biasbook.chapters.weat import weat as weat
    from biasbook.chapters.weat import weat_battery as weat_battery
    from biasbook.chapters.weat import weat_placebo as weat_placebo
    from biasbook.chapters.wefat import sc_weat as sc_weat
    from biasbook.chapters.wefat import wefat as wefat
    from biasbook.chapters.what_remains import bias_correlation as bias_correlation
    from biasbook.chapters.what_remains import cluster_bias as cluster_bias
    from biasbook.chapters.what_remains import extreme_words as extreme_words
    from biasbook.chapters.what_remains import label_sides as label_sides
    from biasbook.chapters.what_remains import neighbor_bias as neighbor_bias
    from biasbook.chapters.what_remains import probe_accuracy as probe_accuracy
    from biasbook.chapters.wordings import rewording_contrasts as rewording_contrasts
    from biasbook.chapters.wordings import wording_share as wording_share
    from biasbook.core.checks import MissingWords as MissingWords
    from biasbook.core.checks import TooFewWords as TooFewWords
    from biasbook.core.checks import UnknownName as UnknownName
    from biasbook.core.checks import WrongKind as WrongKind
    from biasbook.core.registry import data_path as data_path
    from biasbook.core.registry import fetch as fetch
    from biasbook.core.registry import verify as verify
    from biasbook.embedders.load import from_callable as from_callable
    from biasbook.embedders.load import load_embedder as load_embedder
    from biasbook.models.chat import load_chat as load_chat
    from biasbook.auditing.lm_eval_tasks import export_tasks as export_tasks
    from biasbook.models.lm_eval import from_lm_eval as from_lm_eval
    from biasbook.models.load import load_model as load_model
    from biasbook.results.readings import summary_table as summary_table
    from biasbook.results.result import Result as Result
    from biasbook.results.result import paper_table as paper_table
    from biasbook.results.result import results_plot as results_plot
    from biasbook.results.result import results_table as results_table
    from biasbook.results.saving import save as save
    from biasbook.stats.estimate import Estimate as Estimate
    from biasbook.stats.multilevel import battery_summary as battery_summary
    from biasbook.stats.power import crossed_spread as crossed_spread
    from biasbook.stats.power import plan as plan
    from biasbook.stimuli.bbq_items import load_bbq as load_bbq
    from biasbook.stimuli.bbq_items import load_bbq_answers as load_bbq_answers
    from biasbook.stimuli.bec_pro_items import bec_pro_items as bec_pro_items
    from biasbook.stimuli.bec_pro_items import load_bec_pro as load_bec_pro
    from biasbook.stimuli.benchmarks import load_crows_pairs as load_crows_pairs
    from biasbook.stimuli.benchmarks import load_stereoset as load_stereoset
    from biasbook.stimuli.coreference_items import load_winobias as load_winobias
    from biasbook.stimuli.coreference_items import load_winogender as load_winogender
    from biasbook.stimuli.honest_items import honest_items as honest_items
    from biasbook.stimuli.honest_items import load_honest as load_honest
    from biasbook.stimuli.honest_items import load_lexicon as load_lexicon
    from biasbook.stimuli.implicit_items import load_llm_iat as load_llm_iat
    from biasbook.stimuli.implicit_items import load_llm_iat_answers as load_llm_iat_answers
    from biasbook.stimuli.pairs import load_pairs as load_pairs
    from biasbook.stimuli.pairs import pair_sentences as pair_sentences
    from biasbook.stimuli.questions import analogy_questions as analogy_questions
    from biasbook.stimuli.retrieval_items import load_grepbiasir as load_grepbiasir
    from biasbook.stimuli.retrieval_items import load_retrieval_items as load_retrieval_items
    from biasbook.stimuli.studies import load_study as load_study
    from biasbook.measuring.study import Study as Study
    from biasbook.measuring.study import example_study as example_study
    from biasbook.measuring.study import read_study as read_study
    from biasbook.measuring.study import study_schema as study_schema
    from biasbook.stimuli.templates import Template as Template
    from biasbook.stimuli.unqover_items import unqover_items as unqover_items
    from biasbook.stimuli.words import Query as Query
    from biasbook.stimuli.words import load_queries as load_queries
    from biasbook.stimuli.words import load_words as load_words
    from biasbook.stimuli.words import weat_queries as weat_queries
    from biasbook.stimuli.words import weat_query as weat_query
    from biasbook.testing.planted_vectors import planted_vectors as planted_vectors
    from biasbook.vectors.directions import bias_direction as bias_direction
    from biasbook.vectors.directions import gender_pairs as gender_pairs
    from biasbook.vectors.directions import professions as professions
    from biasbook.vectors.wordvectors import WordVectors as WordVectors
    from biasbook.vectors.wordvectors import load_vectors as load_vectors

# The public names by the module that defines them. `occupation_gap` is taken from the module that knows every kind of subject.
_NAMES = {
    'auditing.compare': 'compare_audits',
    'auditing.files': 'load_audit save_audit',
    'auditing.limits': 'Limit check_change_limits check_limits parse_limit',
    'auditing.measures': 'occupation_gap',
    'auditing.own_tests': 'check_study',
    'auditing.run': 'audit',
    'chapters.agreement': 'agreement',
    'chapters.associations': 'Wefe association_values ect mac ripa rnd rnsb same',
    'chapters.bbq': 'bbq bbq_scores',
    'chapters.bec_pro': 'bec_pro bec_pro_table',
    'chapters.calibration': 'decision_correlations dose_response interval_coverage ladder_scores share_seen smallest_dose_seen what_measures_see',
    'chapters.cbs': 'cbs',
    'chapters.ceat': 'ceat',
    'chapters.coreference': 'winobias winobias_scores winogender',
    'chapters.crows_pairs': 'crows_by_type crows_pairs',
    'chapters.debias': 'compare_debiasing hard_debias hard_debias_each inlp leace nearest_pairs shares_left what_is_left',
    'chapters.disco': 'disco',
    'chapters.embedder_comparison': 'consistency_table plan_table study_embedders',
    'chapters.embedding_api': 'bias_table embedding_bias template_table',
    'chapters.generated_analogies': 'generate_analogies',
    'chapters.honest': 'honest honest_scores',
    'chapters.implicit': 'llm_iat llm_iat_logprobs llm_iat_scores',
    'chapters.influence': 'compare_weat fewest_words leave_one_out list_agreement',
    'chapters.maskfill': 'fill_bias fill_bias_difference kurita_rows maskfill_table',
    'chapters.model_comparison': 'compare_models',
    'chapters.occupation_gap': 'occupation_gaps occupation_shares',
    'chapters.projection': 'direct_bias indirect_bias indirect_bias_table',
    'chapters.quality': 'analogies similarity_pairs similarity_table word_similarity',
    'chapters.ranking': 'rank',
    'chapters.retrieval': 'retrieval retrieval_topics',
    'chapters.sas_pairs': 'sas_by_type sas_pairs',
    'chapters.seat': 'load_seat seat',
    'chapters.stereoset': 'icat stereoset stereoset_by_type',
    'chapters.unqover': 'unqover unqover_answers unqover_comparisons unqover_parts unqover_plot unqover_scores',
    'chapters.weat': 'weat weat_battery weat_placebo',
    'chapters.wefat': 'sc_weat wefat',
    'chapters.what_remains': 'bias_correlation cluster_bias extreme_words label_sides neighbor_bias probe_accuracy',
    'chapters.wordings': 'rewording_contrasts wording_share',
    'core.checks': 'MissingWords TooFewWords UnknownName WrongKind',
    'core.registry': 'data_path fetch verify',
    'embedders.load': 'from_callable load_embedder',
    'models.chat': 'load_chat',
    'auditing.lm_eval_tasks': 'export_tasks', 'models.lm_eval': 'from_lm_eval',
    'models.load': 'load_model',
    'results.readings': 'summary_table',
    'results.result': 'Result paper_table results_plot results_table',
    'results.saving': 'save',
    'stats.estimate': 'Estimate',
    'stats.multilevel': 'battery_summary',
    'stats.power': 'crossed_spread plan',
    'stimuli.bbq_items': 'load_bbq load_bbq_answers',
    'stimuli.bec_pro_items': 'bec_pro_items load_bec_pro',
    'stimuli.benchmarks': 'load_crows_pairs load_stereoset',
    'stimuli.coreference_items': 'load_winobias load_winogender',
    'stimuli.honest_items': 'honest_items load_honest load_lexicon',
    'stimuli.implicit_items': 'load_llm_iat load_llm_iat_answers',
    'stimuli.pairs': 'load_pairs pair_sentences',
    'stimuli.questions': 'analogy_questions',
    'stimuli.retrieval_items': 'load_grepbiasir load_retrieval_items',
    'stimuli.studies': 'load_study',
    'measuring.study': 'Study example_study read_study study_schema',
    'stimuli.templates': 'Template',
    'stimuli.unqover_items': 'unqover_items',
    'stimuli.words': 'Query load_queries load_words weat_queries weat_query',
    'testing.planted_vectors': 'planted_vectors',
    'vectors.directions': 'bias_direction gender_pairs professions',
    'vectors.wordvectors': 'WordVectors load_vectors',
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ['__version__', *_WHERE]


use_declarations(lambda: import_module(f'{__name__}.measuring.metrics'))


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; it has {", ".join(sorted(_WHERE))}')
    value = getattr(import_module(f'{__name__}.{_WHERE[name]}'), name)
    if isinstance(value, FunctionType | type):
        import_module(f'{__name__}.core.docs').explain_parameters(value)        # for help()
    globals()[name] = value             # so that it is looked up once
    return value


def __dir__():
    return __all__
