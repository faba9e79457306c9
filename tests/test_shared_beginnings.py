"""Texts with a common beginning share a row: the same scores as one text at a time, for models of many kinds, and when memory runs out."""
import warnings
from threading import RLock
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip('torch')
transformers = pytest.importorskip('transformers')

from biasbook.models import causal  # noqa: E402
from biasbook.models.causal import CausalScorer  # noqa: E402

LLAMA = {'hidden_size': 16, 'num_hidden_layers': 2, 'num_attention_heads': 2, 'intermediate_size': 24, 'max_position_embeddings': 512}
GPT = {'n_embd': 16, 'n_layer': 2, 'n_head': 2, 'n_positions': 512}
ONE_KEY = {**LLAMA, 'num_key_value_heads': 1}
IN_ROWS = { # models that read several texts in a row, and the options of their configurations
    'GPT2LMHeadModel': GPT, 'LlamaForCausalLM': ONE_KEY, 'Qwen2ForCausalLM': ONE_KEY, 'PhiForCausalLM': LLAMA, 'GPTNeoXForCausalLM': LLAMA,
    'GPTJForCausalLM': {**GPT, 'rotary_dim': 4},
    'OPTForCausalLM': {'hidden_size': 16, 'num_hidden_layers': 2, 'num_attention_heads': 2, 'ffn_dim': 24, 'word_embed_proj_dim': 16},
    'BertLMHeadModel': {**LLAMA, 'is_decoder': True}}
WITH_WINDOW = { # a token sees the last 16 tokens in some layers or in all
    'MistralForCausalLM': {**ONE_KEY, 'sliding_window': 16}, 'Gemma2ForCausalLM': {**ONE_KEY, 'head_dim': 8, 'sliding_window': 16},
    'GPTNeoForCausalLM': {'hidden_size': 16, 'num_layers': 2, 'num_heads': 2, 'attention_types': [[['global', 'local'], 1]], 'window_size': 16}}
ALONE = { # positions by distance, states in place of keys and values, and positions that the model counts itself
    'BloomForCausalLM': {'hidden_size': 16, 'n_layer': 2, 'n_head': 2},
    'MptForCausalLM': {'d_model': 16, 'n_layers': 2, 'n_heads': 2, 'max_seq_len': 512},
    'MambaForCausalLM': {'hidden_size': 16, 'num_hidden_layers': 2, 'state_size': 4},
    'RobertaForCausalLM': {**LLAMA, 'is_decoder': True}}


def make_scorer(name, options, limit=200, **more):
    "A scorer of a random model."
    model_class = getattr(transformers, name)
    torch.manual_seed(0)
    model = model_class(model_class.config_class(vocab_size=90, initializer_range=.4, **options)).eval()
    checkpoint = SimpleNamespace(model=model, name=name, kind='causal', tokenizer=None, device='cpu', dtype='float32', limit=limit,
                                 edited=False, lock=RLock())
    return CausalScorer(checkpoint, **more)


def branching_items(n_trees=6, per_tree=8, seed=1):
    "Items whose texts share beginnings of different lengths, in no order."
    rng = np.random.default_rng(seed)
    items = []
    for _ in range(n_trees):
        stem = rng.integers(5, 90, 18).tolist()
        for _ in range(per_tree):
            ids = stem[:rng.integers(9, 18)] + rng.integers(5, 90, rng.integers(2, 9)).tolist()
            items.append((tuple(ids), int(rng.integers(1, len(ids)))))
    return [items[k] for k in rng.permutation(len(items))]


def log_probabilities(model, ids, first):
    "The plain way: one text in one forward pass."
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)
    return logits[torch.arange(first - 1, len(ids) - 1), torch.tensor(ids[first:])].float().numpy()


def assert_plain_scores(scorer, items):
    for (ids, first), found in zip(items, scorer.score(items), strict=True):
        assert_allclose(found, log_probabilities(scorer.checkpoint.model, ids, first), rtol=0, atol=1e-5)


def tokens_seen(scorer, items):
    "How many tokens go through the model."
    sizes = []
    handle = scorer.checkpoint.model.get_input_embeddings().register_forward_hook(lambda module, args, output: sizes.append(args[0].numel()))
    scorer.score(items)
    handle.remove()
    return sum(sizes)


@pytest.mark.parametrize('name', IN_ROWS)
def test_same_scores_from_fewer_tokens(name):
    scorer = make_scorer(name, IN_ROWS[name])
    items = branching_items()
    assert_plain_scores(scorer, items)
    assert scorer.rows == causal.RowSupport(causal.MOST_IN_ROW)
    assert tokens_seen(scorer, items) < .7 * sum(len(ids) - 1 for ids, _ in items)


@pytest.mark.parametrize('name', WITH_WINDOW)
def test_rows_no_longer_than_the_window(name):
    scorer = make_scorer(name, WITH_WINDOW[name])
    items = branching_items(12) + branching_items(12, seed=2)
    short = [(ids[:11], 5) for ids, _ in items]         # so that two or three share a row of 16 tokens
    assert_plain_scores(scorer, items)
    assert_plain_scores(scorer, short)
    assert scorer.rows.most == 16
    assert tokens_seen(scorer, short) < len(set(short)) * 10


@pytest.mark.parametrize('name', ALONE)
def test_each_text_alone_with_one_warning(name):
    scorer = make_scorer(name, ALONE[name])
    items = branching_items()
    with pytest.warns(UserWarning, match=f'{name} computes a beginning') as said:
        assert_plain_scores(scorer, items)
        scorer.score(items)
    assert len([one for one in said if 'computes a beginning' in str(one.message)]) == 1
    assert scorer.rows.most == 0 and scorer.rows.reason


def test_a_row_may_be_longer_than_the_longest_text():
    scorer = make_scorer('GPT2LMHeadModel', {**GPT, 'n_positions': 28}, limit=27)
    items = branching_items(4, 30)
    assert_plain_scores(scorer, items)
    assert scorer.rows.most == causal.MOST_IN_ROW


def test_a_model_that_reads_no_more_tokens_than_positions(monkeypatch):
    "A model that raises an error for a row that is longer than its texts gets rows of their length."
    scorer = make_scorer('GPT2LMHeadModel', {**GPT, 'n_positions': 28}, limit=27)
    model = scorer.checkpoint.model
    original = model.forward

    def forward(*args, **options):
        if options['input_ids'].shape[1] > 28:
            raise RuntimeError('The size of tensor a must match the size of tensor b')
        return original(*args, **options)

    monkeypatch.setattr(model, 'forward', forward)
    assert_plain_scores(scorer, branching_items(4, 30))
    assert scorer.rows.most == 27


def test_equal_long_prompts_keep_their_keys():
    "A beginning longer than half a row is computed once and its keys and values are kept; other texts share rows in the same run."
    scorer = make_scorer('GPT2LMHeadModel', {**GPT, 'n_positions': 900}, limit=900, budget=2**13)
    rng = np.random.default_rng(3)
    prompt = tuple(rng.integers(5, 90, 600).tolist())
    ends = [tuple(rng.integers(5, 90, 3).tolist()) for _ in range(9)]
    items = [(prompt + end, 600) for end in ends] + branching_items()
    assert_plain_scores(scorer, items)
    of_others = sum(len(ids) - 1 for ids, _ in branching_items())
    assert tokens_seen(scorer, items) < 600 + 9 * 3 + .7 * of_others


@pytest.mark.parametrize('most_reads', [3, 10**6])
def test_limits_of_memory(most_reads):
    "A small budget, few reads at once, and a machine on which a batch does not fit: the same scores."
    items = branching_items()
    scorer = make_scorer('LlamaForCausalLM', ONE_KEY, budget=60)
    scorer.most_reads = most_reads
    assert_plain_scores(scorer, items)
    small = make_scorer('LlamaForCausalLM', ONE_KEY)
    assert small.rows.most
    forward = small.checkpoint.model.forward

    def forward_in_little_memory(*args, **options):
        if options['input_ids'].numel() > 70:
            raise RuntimeError('CUDA out of memory')
        return forward(*args, **options)

    small.checkpoint.model.forward = forward_in_little_memory
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        assert_plain_scores(small, items)
    assert any('out of memory' in str(one.message) for one in said)
    assert small.budget <= 70


def test_a_short_run_tries_nothing():
    scorer = make_scorer('BloomForCausalLM', ALONE['BloomForCausalLM'])
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        scorer.score(branching_items(1, 4))
    assert 'rows' not in vars(scorer)


def test_bfloat16():
    "In half precision, rows are about as far from the float32 scores as single texts are."
    scorer = make_scorer('LlamaForCausalLM', ONE_KEY)
    model = scorer.checkpoint.model.to(torch.bfloat16)
    items = branching_items()
    alone = np.concatenate([log_probabilities(model, ids, first) for ids, first in items])
    together = np.concatenate(scorer.score(items))
    assert scorer.rows.most > 0
    model.to(torch.float32)
    exact = np.concatenate([log_probabilities(model, ids, first) for ids, first in items])
    assert 0 < np.abs(together - exact).mean() < 1.5 * np.abs(alone - exact).mean()
