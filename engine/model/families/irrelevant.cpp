#include "engine/model/families/irrelevant.h"

#include <algorithm>
#include <array>

namespace decoderscope::families {

namespace {

// Most are of transformers.PretrainedConfig.
constexpr auto kIrrelevant = std::to_array<std::string_view>({
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_attn_implementation_internal",
    "_commit_hash",
    "_name_or_path",
    "_num_labels",
    "architectures",
    "attn_implementation",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "cache_implementation",
    "custom_pipelines",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "force_bos_token_to_be_generated",
    "gradient_checkpointing",
    "id2label",
    "init_std",
    "initializer_factor",
    "initializer_range",
    "is_decoder",
    "is_encoder_decoder",
    "label2id",
    "length_penalty",
    "max_length",
    "min_length",
    "model_type",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "save_step",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "use_bfloat16",
    "use_cache",
    // What other programs write beside it.
    "base_model_name_or_path",
    "license",
    "transformers.js_config",
    "use_flash_attention",
    "use_flash_attention_2",
    "use_mem_efficient_attention",
});

constexpr std::array<std::string_view, 2> kPrefixes = {"summary_", "unsloth_"};

// Dropout is off outside of training.
constexpr std::array<std::string_view, 3> kTraining = {"dropout", "_pdrop", "layerdrop"};

}  // namespace

bool is_irrelevant(std::string_view key) {
    return std::ranges::find(kIrrelevant, key) != kIrrelevant.end() ||
           std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return key.starts_with(prefix); }) ||
           std::ranges::any_of(kTraining, [&](std::string_view word) { return key.find(word) != key.npos; });
}

}  // namespace decoderscope::families
