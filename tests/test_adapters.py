"LoRA adapters and GGUF files: loaded with one more library, and without it an error that says what to do."
import json
from unittest.mock import patch

import numpy as np
import pytest
from click.testing import CliRunner

import biasbook as bb
from biasbook.auditing.cli import main

torch = pytest.importorskip('torch')
TEXTS = ['The nurse was tired.', 'He wept.']
LORA = 'is a LoRA adapter of {} (adapter_config.json): merge it (merge_and_unload) and save the whole model, or install peft'
GGUF = 'is a GGUF model: to load it with load_model, install gguf (pip install gguf); or serve it'


def adapter(folder, base='models/gpt2', kind='LORA'):
    "An adapter without weights: what is in them does not matter before its base is there."
    folder.mkdir()
    (folder / 'adapter_config.json').write_text(json.dumps({'peft_type': kind, 'base_model_name_or_path': base, 'r': 4}))
    (folder / 'adapter_model.safetensors').write_bytes(b'weights')
    return folder


def without(name):
    "As if this library were not installed."
    from importlib.util import find_spec
    return patch('biasbook.models.checkpoints.find_spec', lambda wanted: None if wanted == name else find_spec(wanted))


def typed(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_an_adapter_without_peft(tmp_path):
    folder = adapter(tmp_path / 'my-adapter')
    says = f'my-adapter {LORA.format("models/gpt2")}'
    with without('peft'):
        for opener in (bb.load_model, lambda path: bb.load_embedder(f'hf:{path}?pooling=mean'), lambda path: bb.load_embedder(f'st:{path}')):
            with pytest.raises(ValueError) as caught:
                opener(folder)
            assert str(caught.value).startswith(says)
        done = typed('audit', folder, '--out', tmp_path / 'out')
    assert done.exit_code == 2 and says in done.output and 'did you mean' not in done.output


def test_adapters_that_cannot_be_merged(tmp_path):
    with patch('biasbook.models.checkpoints.find_spec', return_value=True):
        with pytest.raises(ValueError, match=r'is a LoRA adapter of no such model \(adapter_config.json\), and this base cannot be opened'):
            bb.load_model(adapter(tmp_path / 'lost', 'no such model'))
        for opener in (lambda path: bb.load_embedder(f'hf:{path}?pooling=mean'), lambda path: bb.load_embedder(f'st:{path}')):
            with pytest.raises(ValueError, match='which only load_model opens; merge it'):
                opener(adapter(tmp_path / f'pooled-{len(list(tmp_path.iterdir()))}'))
    with pytest.raises(ValueError, match="its peft_type is 'PREFIX_TUNING', and only LoRA adapters"):
        bb.load_model(adapter(tmp_path / 'prefix', kind='PREFIX_TUNING'))
    with pytest.raises(ValueError, match='it has no base_model_name_or_path'):
        bb.load_model(adapter(tmp_path / 'nobody', base=None))


def test_gguf_without_its_library(tmp_path):
    file = tmp_path / 'llama.gguf'
    file.write_bytes(b'GGUF\x03' + bytes(19))
    folder = tmp_path / 'folder'
    folder.mkdir()
    (folder / 'llama.gguf').write_bytes(file.read_bytes())
    with pytest.raises(ValueError) as caught:
        bb.load_vectors(file)
    assert f'llama.gguf: {GGUF}' in str(caught.value)
    with without('gguf'):
        for path in (file, folder):
            with pytest.raises(ValueError) as caught:
                bb.load_model(path)
            assert str(caught.value).startswith(f'llama.gguf {GGUF}')
            done = typed('audit', path, '--out', tmp_path / 'out')
            assert done.exit_code == 2 and f'llama.gguf {GGUF}' in done.output
    (folder / 'second.gguf').write_bytes(file.read_bytes())
    with pytest.raises(ValueError, match='has several GGUF models: llama.gguf, second.gguf; give the path of one of them'):
        bb.load_model(folder)
    with pytest.raises(ValueError, match='cannot be read'), patch('biasbook.models.checkpoints.find_spec', return_value=True):
        bb.load_model(file)


def test_lora_is_merged_into_its_base(tmp_path):
    peft = pytest.importorskip('peft')
    from biasbook.models.checkpoints import load_checkpoint
    base = load_checkpoint('novels-mini-causal', device='cpu')
    torch.manual_seed(0)
    options = peft.LoraConfig(r=4, lora_alpha=8, target_modules=['c_attn'], task_type='CAUSAL_LM', fan_in_fan_out=True, init_lora_weights=False)
    adapted = peft.get_peft_model(base.model, options)
    adapted.save_pretrained(tmp_path / 'lora')
    config = json.loads((tmp_path / 'lora' / 'adapter_config.json').read_text())
    (tmp_path / 'lora' / 'adapter_config.json').write_text(json.dumps({**config, 'base_model_name_or_path': 'novels-mini-causal'}))
    model, plain = bb.load_model(tmp_path / 'lora', device='cpu'), bb.load_model('novels-mini-causal', device='cpu')
    assert model.name == 'lora' and model.fingerprint != plain.fingerprint and model.meta['adapter']
    right = [log_probability(adapted, base.tokenizer, text) for text in TEXTS]
    np.testing.assert_allclose(model.log_probability(TEXTS).total, right, rtol=0, atol=1e-3)
    assert np.abs(plain.log_probability(TEXTS).total - right).min() > .1


@torch.no_grad()
def log_probability(model, tokenizer, text):
    "By a plain loop, after the token with the number 0."
    ids = [0, *tokenizer(text)['input_ids']]
    logs = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], -1)
    return sum(float(logs[k - 1, ids[k]]) for k in range(1, len(ids)))


_NAMES = {'model.embed_tokens': 'token_embd', 'model.norm': 'output_norm', 'lm_head': 'output',
          **{f'model.layers.0.{name}': f'blk.0.{short}' for name, short in {
              'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output',
              'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down', 'input_layernorm': 'attn_norm',
              'post_attention_layernorm': 'ffn_norm'}.items()}}


def write_gguf(path, model, tokenizer):
    "A small Llama as llama.cpp keeps it, in float32."
    import gguf
    config = model.config
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    merges = json.loads(tokenizer.backend_tokenizer.to_str())['model']['merges']
    writer = gguf.GGUFWriter(path, 'llama')
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(10000.)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model('gpt2')
    writer.add_tokenizer_pre('default')
    writer.add_token_list(tokens)
    writer.add_token_merges([merge if isinstance(merge, str) else ' '.join(merge) for merge in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    for name, values in model.state_dict().items():
        stem = name.removesuffix('.weight')
        if stem.endswith(('q_proj', 'k_proj')):             # llama.cpp has the two halves of a rotation in turn
            values = values.reshape(config.num_attention_heads, 2, -1, values.shape[-1]).swapaxes(1, 2).reshape(values.shape)
        writer.add_tensor(f'{_NAMES[stem]}.weight', np.ascontiguousarray(values.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_gguf_is_dequantised(tmp_path):
    pytest.importorskip('gguf')
    import transformers
    tokenizer = bb.load_model('novels-mini-causal', device='cpu').tokenizer
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, intermediate_size=32,
        max_position_embeddings=64, bos_token_id=0, eos_token_id=0, initializer_range=.3)).eval()
    write_gguf(tmp_path / 'tiny.gguf', model, tokenizer)
    right = [log_probability(model, tokenizer, text) for text in TEXTS]
    for path in (tmp_path / 'tiny.gguf', tmp_path):
        found = bb.load_model(path, device='cpu')
        assert found.name == 'tiny.gguf' and found.kind == 'causal' and len(found.fingerprint) == 32
        np.testing.assert_allclose(found.log_probability(TEXTS).total, right, rtol=0, atol=1e-3)
    (tmp_path / 'other.txt').write_text('not a model')
    assert bb.compare_models([str(tmp_path / 'tiny.gguf'), 'novels-mini-causal']).failures == ()
