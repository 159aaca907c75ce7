#include "engine/load/families/keys.h"

#include "engine/base/error.h"
#include "engine/base/limits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace decoderscope::load::families {

namespace {

Sentence text_of(const OrderedJson& value) {
    if (value.is_object()) return message("an object");
    if (value.is_array()) return message("a list");
    const std::string text = value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    return Sentence::verbatim(text.size() <= 60 ? text : text.substr(0, 57) + "…");
}

// Hugging Face's names of activations, and the contract's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kActivations = {{
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_new", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"},
    {"gelu_accurate", "gelu_tanh"},
    {"gelu_pytorch_tanh", "gelu_tanh"},
    {"relu", "relu"},
    {"silu", "silu"},
    {"swish", "silu"},
}};

}  // namespace

std::string FamilyKeys::path(std::string_view name) const {
    return (inside_.empty() ? std::string() : inside_ + ".") + std::string(name);
}

OrderedJson FamilyKeys::value(const KeyNames& names) {
    OrderedJson found;
    const char* under = nullptr;
    for (const char* name : names.all()) {
        const auto at = json_.find(name);
        if (at == json_.end()) continue;
        read_.insert(name);
        if (at->is_null()) continue;
        if (under != nullptr && *at != found)
            throw Error(
                "{key}: {found}, but {other} is {value}; expected the same",
                {{"key", path(name)}, {"found", text_of(*at)}, {"other", path(under)}, {"value", text_of(found)}});
        found = *at;
        under = name;
    }
    return found;
}

void FamilyKeys::fail(const KeyNames& names, const Sentence& expected) const {
    for (const char* name : names.all())
        if (const auto at = json_.find(name); at != json_.end() && !at->is_null())
            throw Error("{key}: expected {expected}, found {found}",
                        {{"key", path(name)}, {"expected", expected}, {"found", text_of(*at)}});
    throw Error("{key}: expected {expected}, found {found}",
                {{"key", path(names.first())}, {"expected", expected}, {"found", message("no such key")}});
}

bool FamilyKeys::has(const KeyNames& names) { return !value(names).is_null(); }

bool FamilyKeys::is_null(const char* name) const {
    const auto at = json_.find(name);
    return at != json_.end() && at->is_null();
}

Index FamilyKeys::size(const KeyNames& names) {
    const OrderedJson found = value(names);
    const double size = found.is_number() ? found.get<double>() : 0.0;
    if (!found.is_number_integer() || size < 1.0 || size > static_cast<double>(limits::kSize))
        fail(names, message("a positive integer"));
    return found.get<Index>();
}

Index FamilyKeys::size(const KeyNames& names, Index otherwise) { return has(names) ? size(names) : otherwise; }

double FamilyKeys::number(const KeyNames& names, double otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_number() || !std::isfinite(found.get<double>())) fail(names, message("a number"));
    return found.get<double>();
}

double FamilyKeys::positive(const KeyNames& names, double otherwise) {
    const double found = number(names, otherwise);
    if (found <= 0.0) fail(names, message("a positive number"));
    return found;
}

bool FamilyKeys::flag(const KeyNames& names, bool otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_boolean()) fail(names, message("true or false"));
    return found.get<bool>();
}

std::string FamilyKeys::word(const KeyNames& names, const std::string& otherwise) {
    const OrderedJson found = value(names);
    if (found.is_null()) return otherwise;
    if (!found.is_string()) fail(names, message("a word"));
    return found.get<std::string>();
}

std::string FamilyKeys::activation(const KeyNames& names, const std::string& otherwise) {
    const std::string found = word(names, otherwise);
    std::string expected;
    for (const auto& [theirs, ours] : kActivations) {
        if (found == theirs) return std::string(ours);
        expected += (expected.empty() ? "" : ", ") + std::string(theirs);
    }
    fail(names, message("one of {expected}", {{"expected", expected}}));
}

std::vector<std::string> FamilyKeys::list(const KeyNames& names) {
    const OrderedJson found = value(names);
    std::vector<std::string> words;
    if (found.is_null()) return words;
    if (!found.is_array()) fail(names, message("a list of words"));
    for (const OrderedJson& word : found) {
        if (!word.is_string()) fail(names, message("a list of words"));
        words.push_back(word.get<std::string>());
    }
    return words;
}

FamilyKeys FamilyKeys::object(const KeyNames& names) {
    OrderedJson found = value(names);
    if (found.is_null()) found = OrderedJson::object();
    if (!found.is_object()) fail(names, message("an object"));
    return FamilyKeys(std::move(found), path(names.first()));
}

FamilyKeys FamilyKeys::configuration(const KeyNames& names, const OrderedJson& defaults) {
    FamilyKeys keys = object(names);
    keys.is_whole_ = true;
    for (const auto& [key, value] : defaults.items())
        if (!keys.json_.contains(key)) keys.json_[key] = value;
    return keys;
}

void FamilyKeys::expect(const KeyNames& names, const OrderedJson& usual, const Sentence& why) {
    const OrderedJson found = value(names);
    if (found.is_null() || found == usual) return;
    throw Error("{key}: {found}, expected {usual}: {why}",
                {{"key", path(names.first())}, {"found", text_of(found)}, {"usual", text_of(usual)}, {"why", why}});
}

void FamilyKeys::ignore(std::initializer_list<const char*> names) { read_.insert(names.begin(), names.end()); }

void FamilyKeys::finish(const std::string& model_type) const {
    for (const auto& [key, value] : json_.items()) {
        if (value.is_null() || read_.contains(key) || (is_whole_ && is_irrelevant(key))) continue;
        throw Error(
            "{key}: {found}, a key that {model_type} isn't known to have; expected none that may change the numbers",
            {{"key", path(key)}, {"found", text_of(value)}, {"model_type", model_type}});
    }
}

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

}  // namespace decoderscope::load::families
