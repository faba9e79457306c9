"""Measure social bias in word embeddings, language models and embedding APIs: a book whose chapters run.

`import biasbook as bb` reaches each name below, as in `bb.weat('googlenews-mini', 'weat7')`, and imports its module when you first use
it. `help(bb.weat)` explains one, and `bb.measures` is a table of all measures.
"""
__version__ = "0.2.0"

import json
from importlib import import_module
from pathlib import Path
from textwrap import fill
from types import FunctionType

from biasbook.core.declared import use_declarations

# What the package shows, by topic: the names of each module. Measures and the loaders of their items are declared in their chapters;
# `python tests/index.py --write` collects them in data/names.json, and writes __init__.pyi for editors and type checkers.
_DECLARED = json.loads((Path(__file__).parent / 'data' / 'names.json').read_text(encoding='utf-8'))
_CONTENTS = { # topic -> module -> names
    'Open what you measure': {
        'vectors.wordvectors': 'WordVectors load_vectors',
        'models.load': 'load_model',
        'models.chat': 'load_chat',
        'models.lm_eval': 'from_lm_eval',
        'embedders.load': 'from_callable load_embedder',
        'testing.planted_vectors': 'planted_vectors'},
    'Measure word vectors': {
        'auditing.measures': 'occupation_gap',          # the module that knows every kind of subject
        'chapters.occupation_gap': 'occupation_gaps',
        'chapters.associations': 'Wefe',
        'chapters.wefat': 'sc_weat wefat',
        'chapters.what_remains': 'label_sides',
        'chapters.quality': 'analogies similarity_pairs similarity_table word_similarity',
        'chapters.generated_analogies': 'generate_analogies'},
    'Measure language models': {
        'chapters.disco': 'disco',
        'chapters.stereoset': 'stereoset stereoset_by_type',
        'chapters.wordings': 'rewording_contrasts'},
    'Measure embedders': {
        'chapters.embedding_api': 'bias_table'},
    'Words, sentences and items': {
        'stimuli.words': 'Query load_queries load_words weat_queries weat_query',
        'stimuli.templates': 'Template',
        'stimuli.pairs': 'load_pairs pair_sentences',
        'stimuli.benchmarks': 'load_crows_pairs load_stereoset',
        'stimuli.questions': 'analogy_questions',
        'stimuli.sentence_studies': 'load_study',
        'chapters.occupation_gap': 'occupation_shares',
        'vectors.directions': 'bias_direction gender_pairs professions',
        'core.registry': 'data_path fetch'},
    'Audit, and set limits': {
        'auditing.run': 'audit',
        'auditing.files': 'load_audit save_audit',
        'auditing.compare': 'compare_audits',
        'auditing.limits': 'Limit check_change_limits check_limits',
        'auditing.own_tests': 'check_study',
        'auditing.lm_eval_tasks': 'export_tasks',
        'measuring.study': 'Study example_study read_study study_schema'},
    'Compare, debias and plan': {
        'chapters.influence': 'compare_weat fewest_words leave_one_out',
        'chapters.model_comparison': 'compare_models',
        'chapters.embedder_comparison': 'study_embedders',
        'chapters.ranking': 'rank',
        'chapters.agreement': 'agreement',
        'chapters.debias': 'compare_debiasing hard_debias hard_debias_each inlp leace',
        'stats.multilevel': 'battery_summary',
        'stats.power': 'plan'},
    'Results, tables and figures': {
        'results.result': 'Result paper_table results_plot results_table',
        'results.readings': 'summary_table',
        'results.saving': 'save',
        'stats.estimate': 'Estimate'},
    'Errors': {
        'core.checks': 'MissingWords TooFewWords UnknownName WrongKind'},
}
_NAMES = {topic: {} for topic in _CONTENTS} # topic -> name -> module
for _topic, _modules in (*_DECLARED.items(), *_CONTENTS.items()):
    for _module, _names in _modules.items():
        _NAMES[_topic].update(dict.fromkeys(_names.split(), _module))
_WHERE = {name: module for names in _NAMES.values() for name, module in names.items()}
_LEAVING = { # names that only a chapter uses: until version 0.4, `bb` has them with a warning
    'auditing.limits': 'parse_limit',
    'chapters.associations': 'association_values',
    'chapters.bec_pro': 'bec_pro_table',
    'chapters.calibration': 'decision_correlations dose_response interval_coverage ladder_scores share_seen smallest_dose_seen what_measures_see',
    'chapters.debias': 'nearest_pairs shares_left what_is_left',
    'chapters.embedder_comparison': 'consistency_table plan_table',
    'chapters.embedding_api': 'template_table',
    'chapters.influence': 'list_agreement',
    'chapters.maskfill': 'kurita_rows',
    'chapters.projection': 'indirect_bias_table',
    'chapters.retrieval': 'retrieval_topics',
    'chapters.stereoset': 'icat',
    'chapters.unqover': 'unqover_comparisons unqover_parts unqover_plot',
    'chapters.what_remains': 'extreme_words',
    'chapters.wordings': 'wording_share',
    'core.registry': 'verify',
    'stats.power': 'crossed_spread',
}
_LEAVING_FROM = {name: module for module, names in _LEAVING.items() for name in names.split()}

__all__ = ['__version__', 'measures', *_WHERE]

for _topic, _names in _NAMES.items():
    __doc__ += f'\n{_topic}:\n{fill(" ".join(sorted(_names)), 100, initial_indent="    ", subsequent_indent="    ")}\n'


use_declarations(lambda: import_module(f'{__name__}.measuring.metrics'))


def __getattr__(name):
    if name == 'measures':              # made anew: who changes the table changes only a copy
        return import_module(f'{__name__}.measuring.index').measures_table()
    if name in _LEAVING_FROM:
        return _leaving(name)
    if name not in _WHERE:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; it has {", ".join(sorted(__all__[1:]))}')
    value = _found(name, _WHERE[name])
    globals()[name] = value             # so that it is looked up once
    return value


def _found(name, module):
    value = getattr(import_module(f'{__name__}.{module}'), name)
    if isinstance(value, FunctionType | type):
        import_module(f'{__name__}.core.docs').explain_parameters(value)        # for help()
    return value


def _leaving(name):
    from warnings import warn
    module = f'{__name__}.{_LEAVING_FROM[name]}'
    warn(f'bb.{name} goes in version 0.4; write: from {module} import {name}', DeprecationWarning, stacklevel=3)
    return _found(name, _LEAVING_FROM[name])


def __dir__():
    return __all__
