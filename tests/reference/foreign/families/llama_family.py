"""Llama, Llama 3.1, Mistral, Qwen 2, Qwen 3, Gemma, Gemma 2 and OLMo 2, each with Hugging Face's config.json."""

from case import Case, some_inputs
from families.llama_like import LlamaLike, names, our_config
from parts import frequencies, llama3_frequencies, rotary

REPOSITORY = "huggingface/transformers"


def config_json(architecture, model_type, model, positions, **more):
    c = model.c
    config = {"architectures": [architecture], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 1,
              "eos_token_id": 2, "hidden_act": "silu", "hidden_size": c["d_model"], "initializer_range": 0.02,
              "intermediate_size": c["d_ff"], "max_position_embeddings": positions, "model_type": model_type,
              "num_attention_heads": c["heads"], "num_hidden_layers": c["layers"], "num_key_value_heads": c["kv_heads"],
              "rms_norm_eps": c["eps"], "rope_scaling": None, "rope_theta": c["theta"],
              "tie_word_embeddings": c["tied"],
              "torch_dtype": "float32", "transformers_version": "4.46.0", "use_cache": True,
              "vocab_size": c["vocabulary"]}
    config.update(more)
    return {key: value for key, value in config.items() if value != "absent"}


def case(name, title, paper, model, hf, ours, **more):
    unsaved = ("lm_head.weight",) if model.c["tied"] else ()
    return Case(name, title, {"repository": REPOSITORY, "paper": paper}, model,
                some_inputs(name, model.c["vocabulary"]),
                ours, names(model), config_json=hf, unsaved=unsaved, **more)


def llama():
    model = LlamaLike(kv_heads=2, theta=500.0, eps=1e-5)
    hf = config_json("LlamaForCausalLM", "llama", model, 32, mlp_bias=False, pretraining_tp=1)
    return case("llama", "Llama", "arXiv:2302.13971", model, hf, our_config(model, 32))


def llama_3():
    scaling = {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 32,
               "rope_type": "llama3"}
    turned = llama3_frequencies(8, 50.0, scaling)
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, theta=50.0, eps=1e-5, tied=True, frequencies=turned)
    hf = config_json("LlamaForCausalLM", "llama", model, 128, mlp_bias=False, pretraining_tp=1, head_dim=8,
                     rope_scaling=scaling, eos_token_id=[2, 3])
    ours = our_config(model, 128, rope_scaling="llama3", rope_factor=scaling["factor"],
                      rope_low_freq_factor=scaling["low_freq_factor"],
                      rope_high_freq_factor=scaling["high_freq_factor"],
                      rope_original_positions=scaling["original_max_position_embeddings"])
    return case("llama-3", "Llama 3.1 and later, with scaled RoPE", "arXiv:2407.21783", model, hf, ours,
                needs=["RoPE's scaling: rope_scaling, rope_factor and the keys beside it"])


def mistral():
    model = LlamaLike(kv_heads=2, eps=1e-5, windows=(3, 3))
    hf = config_json("MistralForCausalLM", "mistral", model, 64, sliding_window=3, attention_bias="absent",
                     rope_scaling="absent", head_dim=4, torch_dtype="bfloat16")
    return case("mistral", "Mistral", "arXiv:2310.06825", model, hf, our_config(model, 64, sliding_window=3),
                dtype="BF16")


def qwen2():
    model = LlamaLike(kv_heads=2, qkv_bias=True, theta=1000000.0)
    hf = config_json("Qwen2ForCausalLM", "qwen2", model, 64, attention_bias="absent", max_window_layers=1,
                     sliding_window=3, use_sliding_window=False)
    return case("qwen2", "Qwen 2", "arXiv:2407.10671", model, hf, our_config(model, 64), shards=2)


def ernie4_5():
    turned = rotary(frequencies(6, 500000.0), interleaved=True)
    model = LlamaLike(kv_heads=2, d_head=6, eps=1e-5, tied=True, theta=500000.0, turns=[turned] * 2)
    # As Transformers 5 writes it.
    hf = config_json("Ernie4_5ForCausalLM", "ernie4_5", model, 64, head_dim=6, attention_bias="absent", attention_dropout="absent",
                     use_bias=False, rope_theta="absent", rope_scaling="absent", torch_dtype="absent", dtype="float32",
                     pad_token_id=0, rope_parameters={"rope_theta": 500000.0, "rope_type": "default"},
                     transformers_version="5.17.0")
    return case("ernie-4.5", "ERNIE 4.5", "https://yiyan.baidu.com/blog/publication/ERNIE_Technical_Report.pdf", model, hf,
                our_config(model, 64, rope_interleaved=True))


def qwen3():
    model = LlamaLike(kv_heads=2, d_head=6, qk_norm="head", tied=True, theta=1000000.0)
    # As Transformers 5 writes it: dtype, layer_types, rope_parameters.
    hf = config_json("Qwen3ForCausalLM", "qwen3", model, 64, head_dim=6, max_window_layers=2, sliding_window=None,
                     use_sliding_window=False, layer_types=["full_attention"] * 2, rope_theta="absent",
                     rope_scaling="absent",
                     rope_parameters={"rope_theta": 1000000.0, "rope_type": "default"}, torch_dtype="absent",
                     dtype="float32",
                     transformers_version="5.0.0", pad_token_id=None)
    return case("qwen3", "Qwen 3", "arXiv:2505.09388", model, hf, our_config(model, 64, qk_norm=True))


def gemma():
    model = LlamaLike(kv_heads=1, d_head=6, plus_one=True, activation="gelu_tanh", scale_embedding=True, tied=True)
    hf = config_json("GemmaForCausalLM", "gemma", model, 64, head_dim=6, hidden_act="gelu", pad_token_id=0,
                     hidden_activation="gelu_pytorch_tanh", tie_word_embeddings="absent")
    return case("gemma", "Gemma", "arXiv:2403.08295", model, hf, our_config(model, 64, scale_embedding=True))


def gemma2(name, title, size, layers):
    windows = tuple(size if layer % 2 == 0 else 0 for layer in range(layers))
    scalar = 5  # the 27B model's isn't its d_head
    model = LlamaLike(kv_heads=2, d_head=6, plus_one=True, activation="gelu_tanh", scale_embedding=True, tied=True,
                      place="peri", scale=scalar ** -0.5, cap=3.0, logit_cap=2.0, windows=windows, layers=layers)
    hf = config_json("Gemma2ForCausalLM", "gemma2", model, 64, head_dim=6, hidden_act="gelu_pytorch_tanh",
                     pad_token_id=0,
                     hidden_activation="gelu_pytorch_tanh", tie_word_embeddings="absent", query_pre_attn_scalar=scalar,
                     attn_logit_softcapping=3.0, final_logit_softcapping=2.0, sliding_window=size,
                     cache_implementation="hybrid")
    ours = our_config(model, 64, scale_embedding=True, norm_placement="peri", attention_scale=scalar ** -0.5,
                      attention_soft_cap=3.0, logit_soft_cap=2.0)
    needs = []
    if size < 7:
        hf["layer_types"] = ["sliding_attention" if seen else "full_attention" for seen in windows]
        ours["sliding_window"] = size
        ours["sliding_window_layers"] = [layer for layer in range(layers) if layer % 2 == 0]
        needs = ["a window on every other block: sliding_window_layers, the blocks that have it"]
    return case(name, title, "arXiv:2408.00118", model, hf, ours, needs=needs)


def olmo2():
    model = LlamaLike(qk_norm="width", place="reordered", theta=500000.0)
    hf = config_json("Olmo2ForCausalLM", "olmo2", model, 64, pad_token_id=1, eos_token_id=2, bos_token_id="absent")
    return case("olmo2", "OLMo 2", "arXiv:2501.00656", model, hf,
                our_config(model, 64, norm_placement="reordered", qk_norm=True, qk_norm_across_heads=True),
                needs=["the norms of q and k are over all heads at once: qk_norm_across_heads"])


def cases():
    return [llama(), llama_3(), mistral(), qwen2(), ernie4_5(), qwen3(), gemma(),
            gemma2("gemma2", "Gemma 2, texts within the window", 4096, 2),
            gemma2("gemma2-sliding", "Gemma 2, every other block with a sliding window", 3, 2), olmo2()]
