"""The families whose layers differ: Gemma 3, OLMo 3, SmolLM3; and Granite with its multipliers. Each with the config.json of
Transformers 4 or 5: where 5 has rope_parameters, flat or one for each kind of layer."""

from families.llama_family import case, config_json
from families.llama_like import LlamaLike, our_config
from parts import frequencies, rotary, yarn_frequencies

FIVE = {"transformers_version": "5.0.0", "torch_dtype": "absent", "dtype": "float32", "rope_theta": "absent",
        "rope_scaling": "absent"}


def kinds(windows):
    return ["sliding_attention" if size else "full_attention" for size in windows]


# --- Gemma 3 ----------------------------------------------------------------------------------------------------------


def gemma3_model():
    near, far = frequencies(6, 20.0), frequencies(6, 500.0) / 4.0
    return LlamaLike(kv_heads=2, d_head=6, plus_one=True, activation="gelu_tanh", scale_embedding=True, tied=True,
                     place="peri", scale=5 ** -0.5, qk_norm="head", layers=3, windows=(3, 3, 0), theta=500.0,
                     turns=[rotary(near), rotary(near), rotary(far)])


def gemma3_ours(model):
    return our_config(model, 64, scale_embedding=True, norm_placement="peri", attention_scale=5 ** -0.5, qk_norm=True,
                      sliding_window=3, sliding_window_layers=[0, 1], rope_local_theta=20.0, rope_scaling="linear",
                      rope_factor=4.0)


def gemma3_config(model, **more):
    return config_json("Gemma3ForCausalLM", "gemma3_text", model, 64, head_dim=6, hidden_act="absent", pad_token_id=0,
                       hidden_activation="gelu_pytorch_tanh", tie_word_embeddings="absent", query_pre_attn_scalar=5,
                       attn_logit_softcapping=None, final_logit_softcapping=None, sliding_window=3, **more)


GEMMA3_REFUSES = {
    "use_bidirectional_attention": {"value": True, "because": "EmbeddingGemma's: no causal mask, and another window"},
    "rope_scaling": {"value": {"rope_type": "dynamic", "factor": 2.0}, "because": "depends on the length of the text"},
}


def gemma3_text():
    model = gemma3_model()
    hf = gemma3_config(model, sliding_window_pattern=3, rope_local_base_freq=20.0, cache_implementation="hybrid",
                       rope_scaling={"factor": 4.0, "rope_type": "linear"}, transformers_version="4.50.0")
    return case("gemma3-text", "Gemma 3", "arXiv:2503.19786", model, hf, gemma3_ours(model), refuses=GEMMA3_REFUSES)


def gemma3_text_5():
    model = gemma3_model()
    hf = gemma3_config(model, **{**FIVE, "layer_types": kinds((3, 3, 0)), "_sliding_window_pattern": 3, "use_bidirectional_attention": False,
                                 "rope_parameters": {
        "full_attention": {"factor": 4.0, "rope_theta": 500.0, "rope_type": "linear"},
        "sliding_attention": {"rope_theta": 20.0, "rope_type": "default"}}})
    return case("gemma3-text-5", "Gemma 3, RoPE's parameters by kind of layer", "arXiv:2503.19786", model, hf,
                gemma3_ours(model), refuses={"rope_parameters": {
                    "value": {"full_attention": {"rope_theta": 500.0, "rope_type": "dynamic", "factor": 2.0},
                              "sliding_attention": {"rope_theta": 20.0, "rope_type": "default"}},
                    "because": "depends on the length of the text"}})


def gemma3():
    """With pictures: the text's decoder is a part of the file, and so is its configuration."""
    import torch
    from torch import nn
    from parts import module

    class WithPictures(nn.Module):
        def __init__(self):
            super().__init__()
            self.language_model = gemma3_model()
            self.vision_tower = module(vision_model=module(post_layernorm=nn.LayerNorm(12)))
            self.multi_modal_projector = module(mm_soft_emb_norm=module())
            self.multi_modal_projector.mm_input_projection_weight = nn.Parameter(torch.zeros(12, 16))
            self.multi_modal_projector.mm_soft_emb_norm.weight = nn.Parameter(torch.zeros(12))

        def forward(self, inputs):
            return self.language_model(inputs)

    model = WithPictures()
    text = gemma3_config(model.language_model, sliding_window_pattern=3, rope_local_base_freq=20.0,
                         rope_scaling={"factor": 4.0, "rope_type": "linear"})
    text = {key: value for key, value in text.items() if key not in ("architectures", "transformers_version")}
    hf = {"architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 26, "eoi_token_index": 27,
          "eos_token_id": [1, 28], "image_token_index": 25, "initializer_range": 0.02, "mm_tokens_per_image": 4,
          "model_type": "gemma3", "text_config": text, "torch_dtype": "float32", "transformers_version": "4.50.0",
          "vision_config": {"hidden_size": 12, "image_size": 28, "intermediate_size": 24,
                            "model_type": "siglip_vision_model", "num_attention_heads": 2, "num_hidden_layers": 0,
                            "patch_size": 14, "vision_use_head": False}}
    made = case("gemma3", "Gemma 3 with pictures: its text half", "arXiv:2503.19786", model.language_model, hf,
                gemma3_ours(model.language_model))
    whole = type(made)(made.name, made.title, made.source, model, made.inputs, made.our_config,
                       {"language_model." + key: value for key, value in made.map.items()}, config_json=hf,
                       unsaved=("language_model.lm_head.weight",))
    whole.skipped = {key: "of the pictures" for key in whole.stored() if not key.startswith("language_model.")}
    return whole


# --- OLMo 3, SmolLM3, Granite -----------------------------------------------------------------------------------------


def olmo3():
    scaling = {"attention_factor": 1.2, "beta_fast": 5.0, "beta_slow": 1.0, "factor": 6.0,
               "original_max_position_embeddings": 64, "rope_type": "yarn"}
    plain = rotary(frequencies(12, 40.0))
    scaled = rotary(yarn_frequencies(12, 40.0, 6.0, 64, fast=5.0), factor=1.2)
    model = LlamaLike(heads=2, kv_heads=1, d_head=12, qk_norm="width", place="reordered", theta=40.0, windows=(3, 0),
                      turns=[plain, scaled])
    hf = config_json("Olmo3ForCausalLM", "olmo3", model, 384, pad_token_id=1, bos_token_id="absent", sliding_window=3,
                     head_dim=12, layer_types=kinds((3, 0)), rope_scaling=scaling, transformers_version="4.57.0")
    return case("olmo3", "OLMo 3", "Team OLMo 2025", model, hf,
                our_config(model, 384, norm_placement="reordered", qk_norm=True, qk_norm_across_heads=True,
                           sliding_window=3, sliding_window_layers=[0], rope_local_theta=40.0, rope_scaling="yarn",
                           rope_factor=6.0, rope_original_positions=64, rope_beta_fast=5.0, rope_attention_factor=1.2))


def smollm3(name, title, five):
    model = LlamaLike(kv_heads=2, theta=300.0, tied=True, layers=4)
    still = lambda x: x  # noqa: E731
    for layer in (1, 3):
        model.model.layers[layer].self_attn.turn = still
    hf = config_json("SmolLM3ForCausalLM", "smollm3", model, 64, layer_types=kinds((0,) * 4), max_window_layers=4,
                     mlp_bias=False, no_rope_layer_interval=2, no_rope_layers=[1, 0, 1, 0], pad_token_id=2,
                     pretraining_tp=1, sliding_window=None, use_sliding_window=False,
                     **({**FIVE, "rope_parameters": {"rope_theta": 300.0, "rope_type": "default"}} if five
                        else {"transformers_version": "4.53.0"}))
    if five:
        del hf["no_rope_layers"]  # the interval alone says it
    return case(name, title, "SmolLM3, 2025", model, hf, our_config(model, 64, rope_layers=[0, 2]),
                refuses={"no_rope_layers": {"value": [1, 0, 1], "because": "one number for each of four layers"},
                         "use_sliding_window": {"value": True, "because": "without the size of a window"}})


def granite():
    model = LlamaLike(kv_heads=2, theta=10000.0, tied=True, embedding_scale=6.0, update=0.3, scale=0.25, logit_scale=1 / 4.0)
    hf = config_json("GraniteForCausalLM", "granite", model, 64, attention_multiplier=0.25, embedding_multiplier=6.0,
                     logits_scaling=4.0, mlp_bias=False, residual_multiplier=0.3, transformers_version="4.48.0")
    return case("granite", "Granite 3", "Granite Team, IBM 2024", model, hf,
                our_config(model, 64, embedding_scale=6.0, update_scale=0.3, attention_scale=0.25, logit_scale=0.25))


def cases():
    return [gemma3_text(), gemma3_text_5(), gemma3(), olmo3(), smollm3("smollm3", "SmolLM3", False),
            smollm3("smollm3-5", "SmolLM3, flat rope_parameters, an interval in place of a list", True), granite()]
