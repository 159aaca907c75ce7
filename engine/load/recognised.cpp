#include "engine/load/recognised.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/limits.h"
#include "engine/base/tables.h"
#include "engine/graph/explanation.h"
#include "engine/load/names/modules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

namespace decoderscope::load {

namespace {

// ---- what parameters' names and shapes say; all of them under the contract's names

using names::Shapes;

Index rows_of(const Shapes& shapes, const std::string& name) {  // 0 if there is no such parameter
    const auto found = shapes.find(name);
    return found != shapes.end() && !found->second.empty() ? found->second[0] : 0;
}
Index columns_of(const Shapes& shapes, const std::string& name) {  // 0 if it is no matrix
    const auto found = shapes.find(name);
    return found != shapes.end() && found->second.size() == 2 ? found->second[1] : 0;
}

// The blocks of a stack; `prefix` is "" or "encoder.".
Index count_layers(const Shapes& shapes, const std::string& prefix) {
    Index layers = 0;
    const auto has_query = [&](const char* of) {
        return shapes.contains(prefix + "layers." + std::to_string(layers) + of);
    };
    while (has_query(".self_attn.q_proj.weight") || has_query(".self_attn.q_up_proj.weight")) ++layers;
    return layers;
}

bool is_gain(std::string_view name) {
    const std::size_t at = name.rfind("norm");
    if (name.find("self_attn.") != std::string_view::npos) return false;  // of queries or keys
    return at != std::string_view::npos && name.ends_with(".weight") && name.find('.', at) + 7 == name.size();
}

std::string bias_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')) + ".bias"; }

bool any_has_bias(const Shapes& shapes, bool (*is)(std::string_view)) {
    return std::ranges::any_of(
        shapes, [&](const auto& entry) { return is(entry.first) && shapes.contains(bias_of(entry.first)); });
}

// Zero biases compute the same as none.
void add_zero_biases(Shapes& shapes, bool norms) {
    Shapes zeros;
    for (const auto& [name, shape] : shapes) {
        const bool chooses = name.ends_with(".router.weight") || name.ends_with(".shared_gate.weight");
        if ((!is_projection(name) && !chooses && !(norms && is_gain(name))) || shape.empty()) continue;
        std::vector<Index> rows = shape;
        if (rows.size() > 1) rows.pop_back();
        zeros.emplace(bias_of(name), std::move(rows));
    }
    shapes.merge(zeros);
}

// ---- the module

// Whether GPT-2's weights are Conv1D's, [in, out]: shown by c_attn, which is three times as long along one axis.
bool has_conv1d(const Shapes& stored) {
    return std::ranges::any_of(stored, [](const auto& entry) {
        const auto& [name, shape] = entry;
        return name.ends_with("c_attn.weight") && shape.size() == 2 && shape[1] / 3 == shape[0] && shape[1] % 3 == 0;
    });
}

// The kind of module that these names are typical of, with what its tensors don't say: the proposals for what is asked
// (questions.json), and what else is asked of it. It is the first in assets/tables/known_modules.json that has all of
// these parts of stored names, or one of "any", and parameters of ours, and lacks the others; the last has no demands.
OrderedJson known_module(const Shapes& stored, const StateDict& dict) {
    const auto has = [&](const OrderedJson& part) { return names::any_name_holds(stored, part.get<std::string>()); };
    const auto ours = [&](const OrderedJson& name) {  // or in the first block
        return dict.shapes.contains(name.get<std::string>()) ||
               dict.shapes.contains("layers.0." + name.get<std::string>());
    };
    const auto of = [](const OrderedJson& entry, const char* list) { return entry.value(list, OrderedJson()); };
    OrderedJson module = *std::ranges::find_if(asset_table("known_modules"), [&](const OrderedJson& entry) {
        return std::ranges::all_of(of(entry, "has"), has) && std::ranges::none_of(of(entry, "lacks"), has) &&
               (!entry.contains("any") || std::ranges::any_of(entry["any"], has)) &&
               std::ranges::all_of(of(entry, "ours"), ours) && (!entry.contains("conv1d") || has_conv1d(stored)) &&
               (!entry.contains("heads") || dict.heads > 0) &&
               (!entry.contains("stored") || stored.contains(entry["stored"].get<std::string>()));
    });
    const OrderedJson with = of(module, "if"), with_ours = of(module, "if_ours");
    for (const auto& [part, change] : with.items())
        if (has(part)) module.update(change);
    for (const auto& [name, change] : with_ours.items())
        if (ours(name)) module.update(change);
    return module;
}

Sentence name_of(const OrderedJson& module) {
    return module.contains("called") ? Sentence::verbatim(module["called"].get<std::string>())
                                     : asset_text(module["name"].get<std::string>());
}

std::string text_of(const OrderedJson& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// The head counts that are possible, and the one that leaves 64 columns per head, as GPT-2, BERT and Llama have them,
// or as near as possible.
std::vector<std::string> head_counts(Index width, Index queries_per_key, bool rope) {
    std::vector<std::string> counts;
    for (Index heads = queries_per_key; heads <= width; heads += queries_per_key)
        if (width % heads == 0 && (!rope || width / heads % 2 == 0)) counts.push_back(std::to_string(heads));
    return counts;
}
std::string likely_heads(Index width, const std::vector<std::string>& counts) {
    const auto likely = std::ranges::min_element(
        counts, {}, [&](const std::string& count) { return std::abs(width / std::atoll(count.c_str()) - 64); });
    return likely == counts.end() ? std::string() : *likely;
}

const std::string* answer_to(const Overrides& answers, std::string_view key) {
    const auto found = std::ranges::find(
        answers, key, [](const auto& answer) -> const auto& { return answer.first; });
    return found != answers.end() ? &found->second : nullptr;
}

// A key's row in assets/tables/questions.json; empty if it is none of these.
OrderedJson row_of(const std::string& key) { return asset_table("questions").value(key, OrderedJson::object()); }

class Recogniser {
public:
    Recogniser(const Shapes& stored, names::RecognisedNames names, StateDict& dict)
        : stored_(stored), dict_(dict), shapes_(dict.shapes), module_(known_module(stored, dict)) {
        result_.module = name_of(module_);
        result_.scaled_if_tied = is("scaled_logits") && is("lm_head") && is("lm_head.weight") && !is("settled_scale");
        result_.questions = names.questions;
        result_.names = std::move(names);
        result_.stored = stored;
    }

    Recognised take() {
        refuse_without_config();
        sizes();
        norms_and_biases();
        places_of_norms();
        experts();
        vocabulary();
        positions();
        for (const auto& [name, row] : asset_table("questions").items())
            if (row.contains("if") && holds(row)) ask(name, row);
        heads();
        for (const Question& question : result_.questions)
            if (!question.required && !names::is_naming_key(question.key) &&
                row_of(question.key).value("none", "") != question.proposal && applies(result_, question, {}))
                config_[question.key] =
                    question.key == "mask_value" ? OrderedJson(question.proposal) : json_or_text(question.proposal);
        result_.config_json = config_.dump(2);
        return std::move(result_);
    }

private:
    void fact(const std::string& key, const OrderedJson& value) {
        config_[key] = value;
        result_.facts.emplace_back(key, text_of(value));
    }
    [[nodiscard]] bool has(const std::string& name) const { return shapes_.contains(name); }
    // Whether there is such a parameter, or the module, or what was found in it, is such.
    [[nodiscard]] bool is(const std::string& what) const {
        return what.ends_with(".weight") ? has(what) : module_.value(what, OrderedJson(false)) != false;
    }
    [[nodiscard]] bool holds(const OrderedJson& conditions) const {
        const auto all = [&](const char* list) { return conditions.value(list, std::vector<std::string>()); };
        return std::ranges::all_of(all("if"), [&](const std::string& what) { return is(what); }) &&
               std::ranges::none_of(all("unless"), [&](const std::string& what) { return is(what); });
    }
    void ask(const std::string& name, const OrderedJson& row) {
        const std::string by_width = OrderedJson(1.0 / std::sqrt(static_cast<double>(result_.width))).dump();
        const auto number = [&](const std::string& text) { return text == "1/√d_model" ? by_width : text; };
        Question question =
            names::question_named(name, {number(text_of(module_.value(name, row.value("proposal", OrderedJson(""))))),
                                         row.contains("guess") && holds(row["guess"]),
                                         number(row.value("other", "")),
                                         {{"other", by_width}, {"scale", by_width}}});
        if (std::ranges::find(result_.questions, question.key, &Question::key) == result_.questions.end())
            result_.questions.push_back(std::move(question));
    }

    // No shape shows enough of these.
    void refuse_without_config() const {
        for (const auto& [name, shape] : shapes_)
            for (const char* part : {".self_attn.sinks", ".router.correction"})
                if (name.find(part) != std::string::npos)
                    throw Error("{name}: its shape doesn't tell how it is computed; expected a config.json beside it",
                                {{"name", name}});
    }

    void sizes() {
        const std::string attention = "layers.0.self_attn.";
        const bool lowered = has(attention + "q_up_proj.weight");
        result_.query_rows = rows_of(shapes_, attention + (lowered ? "q_up_proj.weight" : "q_proj.weight"));
        result_.width = columns_of(shapes_, attention + (lowered ? "q_down_proj.weight" : "q_proj.weight"));
        if (result_.width < 1 || result_.width > limits::kSize || result_.query_rows < 1)
            throw Error(
                "its tensors are not a decoder's: expected a query projection such as "
                "layers.0.self_attn.q_proj.weight [d_model, d_model], found {tensors}",
                {{"tensors", stored_.empty() ? Sentence(message("no tensor at all"))
                                             : message("{first} and the like", {{"first", stored_.begin()->first}})}});
        fact("d_model", result_.width);
        if (const Index layers = count_layers(shapes_, ""); layers > 0) fact("num_layers", layers);
        fact("dim_feedforward",
             std::max(rows_of(shapes_, "layers.0.up_proj.weight"), columns_of(shapes_, "layers.0.down_proj.weight")));
        if (has("layers.0.gate_proj.weight")) fact("gated_mlp", true);
        module_["has_mlp"] = has("layers.0.up_proj.weight");
        fact("cross_attention", has("layers.0.cross_attn.q_proj.weight"));
        if (const Index layers = count_layers(shapes_, "encoder."); layers > 0) fact("encoder_layers", layers);
    }

    void norms_and_biases() {
        const bool norm_biases = any_has_bias(shapes_, is_gain);
        const bool biases = norm_biases || any_has_bias(shapes_, is_projection);
        const bool by_deviation =
            norm_biases && (names::any_name_holds(stored_, ".a_2") || names::any_name_holds(stored_, ".alpha"));
        fact("bias", biases);
        // Norms that learn nothing leave no trace in the tensors.
        if (!is("bare_norms")) fact("final_norm", has("norm.weight"));
        if (norm_biases && !by_deviation && !is("may_add_one")) fact("norm", "layernorm");
        if (biases) add_zero_biases(dict_.shapes, norm_biases || module_.value("norm", "layernorm") == "layernorm");
        module_["norm_biases"] = norm_biases;
        module_["by_deviation"] = by_deviation;
    }

    void places_of_norms() {
        const std::string block = "layers.0.";
        const bool behind = has(block + "norm1_post.weight"), before = has(block + "norm1.weight");
        if (behind) fact("norm_placement", before ? "peri" : "reordered");
        if (!behind && before && has(block + "up_proj.weight") && !has(block + "cross_attn.q_proj.weight") &&
            !has(block + "norm2.weight"))
            fact("parallel_residual", "one_norm");
        if (has(block + "ls1.weight")) fact("layer_scale", true);
        heads_norms(rows_of(shapes_, block + "self_attn.q_norm.weight"));
        const bool asked =
            is("logit_soft_cap:nanochat") ||
            std::ranges::find(result_.questions, "embedding_norm", &Question::key) != result_.questions.end();
        if (has("embed_norm.weight") && !asked) fact("embedding_norm", true);
    }

    // Norms of q and k, by head or over all heads at once.
    void heads_norms(Index columns) {
        if (columns == 0) return;
        fact("qk_norm", true);
        if (has("layers.0.self_attn.q_norm.bias"))
            for (const char* key : {"qk_norm_centred", "qk_norm_bias"}) fact(key, true);
        if (columns == result_.query_rows)
            fact("qk_norm_across_heads", true);
        else if (result_.query_rows % columns == 0 && dict_.heads == 0) {
            dict_.heads = result_.query_rows / columns;
            dict_.head_dim = columns;
        }
    }

    // What no shape shows is asked: how many experts are chosen, by what, with what weight.
    void experts() {
        OrderedJson layers = OrderedJson::array();
        const Index all = count_layers(shapes_, "");
        for (Index l = 0; l < all; ++l)
            if (has("layers." + std::to_string(l) + ".router.weight")) layers.push_back(l);
        if (layers.empty()) return;
        const std::string first = "layers." + layers.front().dump() + ".";
        const std::vector<Index>& up = shapes_.at(first + "experts.up_proj.weight");  // [expert, d_ff, d_model]
        module_["mixture"] = module_["has_mlp"] = true;
        fact("experts", rows_of(shapes_, first + "router.weight"));
        fact("expert_dim_feedforward", up[1]);
        if (config_["dim_feedforward"] == 0) fact("dim_feedforward", up[1]);
        if (has(first + "experts.gate_proj.weight")) fact("gated_mlp", true);
        if (static_cast<Index>(layers.size()) < all) fact("moe_layers", layers);
        if (const Index rows = rows_of(shapes_, first + "shared.up_proj.weight"); rows > 0)
            fact("shared_dim_feedforward", rows);
        if (has(first + "shared_gate.weight")) fact("shared_gate", true);
    }

    void vocabulary() {
        const Index words = rows_of(shapes_, "embed.weight");
        fact("vocab_size", words);
        if (const Index rows = rows_of(shapes_, "encoder.embed.weight"); rows > 0) fact("encoder_vocab_size", rows);
        if (has("lm_head.weight") || has("lm_head.bias")) fact("lm_head", true);
        if (words > 0 && !has("lm_head.weight")) config_["tie_word_embeddings"] = true;
    }

    [[nodiscard]] std::string table_of_distances() const {
        const std::string shared = "relative_bias.weight";
        return has(shared) ? shared : "layers.0." + shared;
    }
    void positions() {
        if (const Index rows = rows_of(shapes_, "pos_embed.weight"); rows > 0) {
            fact("positional_encoding", "learned");
            fact("max_positions", rows);
        } else if (is("makes_positions")) {
            throw Error("no table of positions is stored, and {module} makes one; expected the config.json beside it",
                        {{"module", result_.module}});
        } else if (const std::string table = table_of_distances(); has(table)) {
            fact("relative_attention_num_buckets", rows_of(shapes_, table));
            if (table.starts_with("layers")) fact("relative_attention_by_layer", true);
            module_["biased_by_distance"] = true;
        }
    }

    // Latent attention's matrices tell how many columns of a head RoPE turns, which all heads share, and so the heads.
    [[nodiscard]] bool latent_heads() {
        const auto rows = [&](const char* name) { return rows_of(shapes_, std::string("layers.0.self_attn.") + name); };
        const Index own = rows("k_up_proj.weight"), values = rows("v_up_proj.weight");
        const Index rank = columns_of(shapes_, "layers.0.self_attn.k_up_proj.weight");
        const Index shared = rows("kv_down_proj.weight") - rank, turned = result_.query_rows - own;
        if (own == 0 || shared <= 0 || turned <= 0 || turned % shared != 0) return false;
        const Index count = turned / shared;
        if (own % count != 0 || values % count != 0) return false;
        fact("nhead", count);
        fact("num_key_value_heads", count);
        fact("head_dim", result_.query_rows / count);
        fact("kv_lora_rank", rank);
        fact("q_lora_rank", rows("q_down_proj.weight"));
        fact("qk_rope_head_dim", shared);
        fact("v_head_dim", values / count);
        fact("positional_encoding", "rope");
        return true;
    }

    void heads() {
        if (latent_heads()) return;
        const Index keys = rows_of(shapes_, "layers.0.self_attn.k_proj.weight");
        if (keys > 0 && result_.query_rows % keys == 0) result_.queries_per_key = result_.query_rows / keys;
        const Index by_bias = columns_of(shapes_, table_of_distances());
        const Index count = dict_.heads > 0 ? dict_.heads : by_bias;
        if (count > 0 && result_.query_rows % count == 0) {
            const Index head_dim = dict_.heads > 0 ? dict_.head_dim : result_.query_rows / count;
            fact("nhead", count);
            if (count * head_dim != result_.width) fact("head_dim", head_dim);
            return;
        }
        const bool rope = module_.value("positional_encoding", "") == "rope";
        const std::vector<std::string> counts = head_counts(result_.query_rows, result_.queries_per_key, rope);
        const std::string likely = likely_heads(result_.query_rows, counts);
        const bool usual = !likely.empty() && result_.query_rows / std::atoll(likely.c_str()) == 64;
        result_.questions.insert(result_.questions.begin(), {"nhead", likely, counts, true,
                                                             usual ? message("a guess: heads of 64 columns are usual")
                                                                   : message("a guess: no shape shows how many")});
    }

    const Shapes& stored_;
    StateDict& dict_;
    const Shapes shapes_;  // as stored, without the added zeros
    OrderedJson module_;
    Recognised result_;
    OrderedJson config_ = {{"model_type", "decoderscope"}};
};

std::string listed(const std::vector<std::string>& choices) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    return list;
}

void refuse_unanswered(const Recognised& recognised, const Question& question, const Overrides& answers) {
    const std::string also = taken_unasked(recognised, answers);
    const Arguments named = {{"key", question.key},
                             {"module", recognised.module},
                             {"choices", listed(question.choices)},
                             {"also", also},
                             {"why", question.why}};
    if (question.choices.empty())
        throw Error("{key}: not shown by the tensors, which look like {module}; expected --set {key}=NUMBER: {why}",
                    named);
    if (question.key != "nhead")
        throw Error(
            "{key}: not shown by the tensors, which look like {module}; expected --set {key}=… with one of {choices}: "
            "{why}",
            named);
    if (also.empty())
        throw Error(
            "{key}: not shown by the tensors, which look like {module}; expected --set {key}=N with N one of {choices}",
            named);
    throw Error(
        "{key}: not shown by the tensors, which look like {module}; expected --set {key}=N with N one of {choices}; "
        "also assumed unless --set says otherwise: {also}",
        named);
}

// The answer to a question, or what is taken without one; empty if it isn't asked.
std::string settled(const Recognised& recognised, const char* key, const Overrides& answers) {
    const std::string* answer = answer_to(answers, key);
    if (answer != nullptr) return *answer;
    const auto question = std::ranges::find(recognised.questions, key, &Question::key);
    return question != recognised.questions.end() ? question->proposal : std::string();
}

// The meaning of a number that isn't to be taken literally.
std::string in_words(const Question& question) {
    return question.key == "attention_scale" && question.proposal == "0" ? " (1/√d_head)" : "";
}

}  // namespace

Recognised recognise(const names::Shapes& stored, names::RecognisedNames names, StateDict& state_dict) {
    return Recogniser(stored, std::move(names), state_dict).take();
}

Recognised recognise(const names::Shapes& stored, const Overrides& answers) {
    names::RecognisedNames names = names::recognise_names(stored, answers);
    StateDict state_dict = map_state_dict(names.mapping, stored);
    return recognise(stored, std::move(names), state_dict);
}

bool applies(const Recognised& recognised, const Question& question, const Overrides& answers) {
    const OrderedJson needs = row_of(question.key).value("needs", OrderedJson::object());
    return std::ranges::all_of(needs.items(), [&](const auto& need) {
        const std::string answer = settled(recognised, need.key().c_str(), answers);
        const std::string fits = need.value().template get<std::string>();
        return fits.starts_with('!') ? answer != fits.substr(1)
                                     : (" " + fits + " ").find(" " + answer + " ") != std::string::npos;
    });
}

std::string taken_unasked(const Recognised& recognised, const Overrides& answers) {
    std::string taken;
    for (const Question& question : recognised.questions)
        if (!question.required && answer_to(answers, question.key) == nullptr && applies(recognised, question, answers))
            taken += (taken.empty() ? "" : ", ") + question.key + "=" + question.proposal + in_words(question);
    return taken;
}

void propose(Recognised& recognised, const std::string& key, const std::string& value, const Sentence& why) {
    const auto question = std::ranges::find(recognised.questions, key, &Question::key);
    if (question == recognised.questions.end()) return;
    question->proposal = value;
    question->required = false;
    question->why = why;
    OrderedJson config = OrderedJson::parse(recognised.config_json);
    config[key] = json_or_text(value);
    recognised.config_json = config.dump(2);
}

void take_hints(Recognised& recognised, const Overrides& hints) {
    if (!recognised.problem.empty()) return;
    for (const auto& [key, value] : hints) {
        propose(recognised, key, value, message("as the recording says"));
        // No questions to a person: whether a head that is stored is the embedding, which computes the same, and what
        // no parameter tells.
        static const std::set<std::string> unasked = {"tie_word_embeddings", "lm_head",         "alibi",
                                                      "alibi_scaled",        "sliding_window",  "sliding_window_layers",
                                                      "attention_soft_cap",  "norm_gain",       "final_norm",
                                                      "parallel_residual",   "qk_norm",         "clip_qkv",
                                                      "qk_norm_eps",         "qk_norm_centred", "rope_scaling",
                                                      "rope_factor"};
        if (!unasked.contains(key)) continue;
        OrderedJson config = OrderedJson::parse(recognised.config_json);
        if (key.starts_with("qk_norm_") && !config.value("qk_norm", false)) continue;  // of other narrow norms
        config[key] = json_or_text(value);
        recognised.config_json = config.dump(2);
        recognised.facts.emplace_back(key, value);
    }
}

std::string answered_config(const Recognised& recognised, const Overrides& answers) {
    OrderedJson config = OrderedJson::parse(recognised.config_json);
    for (const Question& question : recognised.questions)
        if (question.required && answer_to(answers, question.key) == nullptr && applies(recognised, question, answers))
            refuse_unanswered(recognised, question, answers);
        else if (!applies(recognised, question, answers))
            config.erase(question.key);
    const std::string* heads = answer_to(answers, "nhead");
    const Index count = heads != nullptr ? std::atoll(heads->c_str()) : config.value("nhead", Index{0});
    if (count < 1) return config.dump(2);
    // How many queries share a key is known; either head count determines the other.
    if (recognised.queries_per_key > 1 && answer_to(answers, "num_key_value_heads") == nullptr)
        config["num_key_value_heads"] = count / recognised.queries_per_key;
    if (recognised.query_rows != recognised.width && answer_to(answers, "head_dim") == nullptr) {
        if (recognised.query_rows % count != 0)
            throw Error("{key}: {heads}, expected a divisor of the queries' {rows} rows",
                        {{"key", "nhead"}, {"heads", count}, {"rows", recognised.query_rows}});
        config["head_dim"] = recognised.query_rows / count;
    }
    return config.dump(2);
}

}  // namespace decoderscope::load
