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
#include <map>
#include <string_view>

namespace decoderscope::load {

// A kind of module and what its tensors don't say: the proposals for what is asked.
struct KnownModule {
    Sentence name;
    bool norm_first = false;
    std::string activation = "relu", eps = "1e-05", norm = "layernorm", positions = "none", mask = "-inf";
    bool tied_head = false;            // a head that is not stored is the embedding
    bool scaled_embedding = false;     // by √d_model
    bool interleaved = false;          // RoPE
    bool settled_scale = false;        // scores are divided by √d_head, as every version of it does
    bool scaled_positions = false;     // by 1/√d_model
    bool scaled_logits = false;        // by 1/√d_model
    bool scores_by_width = false;      // scores are divided by √d_model
    bool may_be_gemma = false;         // whose names are the same and whose gains are 1 + weight
    bool partly_rotary = false;        // RoPE may turn only some columns
    bool unscaled_scores = false;      // q·k as it is, T5's
    bool may_have_window = false;      // sliding_window, in blocks that the tensors don't tell
    bool may_scale_rope = false;       // rope_scaling
    bool may_differ_by_layer = false;  // RoPE: layers without it, layers with a base of their own
    bool may_be_multiplied = false;    // Granite's multipliers of embedding, updates, scores and logits
    bool capped = false;               // Gemma 2's soft caps
    bool may_be_parallel = false;      // attention and MLP in one sum, each under its own norm
    bool alibi = false;
    std::string logit_cap;         // its norms, of q and k and behind the embedding, too, leave no trace; neither does
                                   // this soft cap
    bool makes_positions = false;  // of a form that no key says: all sines, then all cosines
};

// How a module is read from the table.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnownModule, norm_first, activation, eps, norm, positions, mask,
                                                tied_head, scaled_embedding, interleaved, settled_scale,
                                                scaled_positions, scaled_logits, scores_by_width, may_be_gemma,
                                                partly_rotary, unscaled_scores, may_have_window, may_scale_rope,
                                                may_differ_by_layer, may_be_multiplied, capped, may_be_parallel, alibi,
                                                logit_cap, makes_positions)

namespace {

// Whether GPT-2's weights are Conv1D's, [in, out]: shown by c_attn, which is three times as long along one axis.
bool has_conv1d(const names::Shapes& stored) {
    return std::ranges::any_of(stored, [](const auto& entry) {
        const auto& [name, shape] = entry;
        return name.ends_with("c_attn.weight") && shape.size() == 2 && shape[1] / 3 == shape[0] && shape[1] % 3 == 0;
    });
}

// The module that these names are typical of, otherwise a general one: the first in assets/tables/known_modules.json
// that has all of these parts of stored names, or one of "any", and parameters of ours, and lacks the others.
KnownModule known_module(const names::Shapes& stored, const StateDict& dict) {
    const auto has = [&](const OrderedJson& part) { return names::any_name_holds(stored, part.get<std::string>()); };
    const auto ours = [&](const OrderedJson& name) { return dict.shapes.contains(name.get<std::string>()); };
    const auto of = [](const OrderedJson& entry, const char* list) { return entry.value(list, OrderedJson()); };
    const OrderedJson& table = asset_table("known_modules");
    const auto found = std::ranges::find_if(table, [&](const OrderedJson& entry) {
        return std::ranges::all_of(of(entry, "has"), has) && std::ranges::none_of(of(entry, "lacks"), has) &&
               (!entry.contains("any") || std::ranges::any_of(entry["any"], has)) &&
               std::ranges::all_of(of(entry, "ours"), ours) && (!entry.contains("conv1d") || has_conv1d(stored)) &&
               (!entry.contains("heads") || dict.heads > 0) &&
               (!entry.contains("stored") || stored.contains(entry["stored"].get<std::string>()));
    });
    OrderedJson entry = *found;
    const OrderedJson with = of(*found, "if"), with_ours = of(*found, "if_ours");
    for (const auto& [part, change] : with.items())
        if (has(part)) entry.update(change);
    for (const auto& [name, change] : with_ours.items())
        if (ours(name)) entry.update(change);
    KnownModule module = Json(entry);
    module.name = entry.contains("called") ? Sentence::verbatim(entry["called"].get<std::string>())
                                           : asset_text(entry["name"].get<std::string>());
    return module;
}

std::vector<std::string> head_counts(Index width, Index queries_per_key, bool rope) {
    std::vector<std::string> counts;
    for (Index heads = queries_per_key; heads <= width; heads += queries_per_key)
        if (width % heads == 0 && (!rope || width / heads % 2 == 0)) counts.push_back(std::to_string(heads));
    return counts;
}

// 64 columns per head, as GPT-2, BERT and Llama have them, or as near as possible.
std::string likely_heads(Index width, const std::vector<std::string>& counts) {
    std::string best;
    Index nearest = 0;
    for (const std::string& count : counts) {
        const Index distance = std::abs(width / std::atoll(count.c_str()) - 64);
        if (best.empty() || distance < nearest) {
            best = count;
            nearest = distance;
        }
    }
    return best;
}

const char* bool_text(bool value) { return value ? "true" : "false"; }

// As --set writes it, and as it is read back.
std::string number_text(double value) { return OrderedJson(value).dump(); }

// What the contract assumes if one of these keys is missing: such proposals need not be written.
bool is_default(const std::string& key, const std::string& value) {
    static const std::map<std::string, std::string, std::less<>> kDefaults = {
        {"attention_scale", "0"},        {"rotary_dim", "0"},       {"sliding_window", "0"},
        {"sliding_window_layers", "[]"}, {"rope_layers", "[]"},     {"rope_short_factors", "[]"},
        {"rope_long_factors", "[]"},     {"rope_local_theta", "0"}, {"rope_attention_factor", "0"},
        {"embedding_scale", "1"},        {"update_scale", "1"},     {"rope_scaling", "none"},
        {"position_scale", "1"},         {"logit_scale", "1"},      {"embedding_norm", "false"},
        {"rope_interleaved", "false"}};
    const auto found = kDefaults.find(key);
    return found != kDefaults.end() && found->second == value;
}

const std::string* answer_to(const Overrides& answers, std::string_view key) {
    const auto found = std::ranges::find_if(answers, [&](const auto& answer) { return answer.first == key; });
    return found != answers.end() ? &found->second : nullptr;
}

class Recogniser {
public:
    Recogniser(const names::Shapes& stored, names::RecognisedNames names, StateDict& dict)
        : stored_(stored), dict_(dict), shapes_(dict.shapes), module_(known_module(stored, dict)) {
        result_.module = module_.name;
        result_.scaled_if_tied = module_.scaled_logits && module_.tied_head && dict.shapes.contains("lm_head.weight") &&
                                 !module_.settled_scale;
        result_.questions = names.questions;
        result_.names = std::move(names);
        result_.stored = stored;
    }

    Recognised take() {
        refuse_without_config();
        sizes();
        norms_and_biases();
        places_of_norms();
        activation();
        vocabulary();
        positions();
        attention();
        scales();
        heads();
        for (const Question& question : result_.questions)
            if (!question.required && !names::is_naming_key(question.key) &&
                !is_default(question.key, question.proposal) && applies(result_, question, {}))
                config_[question.key] = value_of(question);
        result_.config_json = config_.dump(2);
        return std::move(result_);
    }

private:
    static OrderedJson value_of(const Question& question) {
        if (question.key == "mask_value") return question.proposal;
        const OrderedJson parsed = OrderedJson::parse(question.proposal, nullptr, false);
        return parsed.is_discarded() ? OrderedJson(question.proposal) : parsed;
    }

    void fact(const std::string& key, const OrderedJson& value) {
        config_[key] = value;
        result_.facts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    // Asks what assets/tables/questions.json has under this name.
    void ask(const std::string& name, const names::Asking& asking = {}) {
        Question question = names::question_named(name, asking);
        if (std::ranges::find(result_.questions, question.key, &Question::key) == result_.questions.end())
            result_.questions.push_back(std::move(question));
    }
    void ask_each(std::initializer_list<const char*> names) {
        for (const char* name : names) ask(name);
    }
    [[nodiscard]] bool has(const std::string& name) const { return shapes_.contains(name); }
    [[nodiscard]] double width() const { return static_cast<double>(result_.width); }

    // No shape shows enough of these: which expert is chosen, by what, with what weight.
    void refuse_without_config() const {
        for (const auto& [name, shape] : shapes_)
            for (const char* part : {".experts.", ".router.", ".self_attn.sinks", ".self_attn.kv_down_proj."})
                if (name.find(part) != std::string::npos)
                    throw Error("{name}: its shape doesn't tell how it is computed; expected a config.json beside it",
                                {{"name", name}});
    }

    void sizes() {
        result_.query_rows = names::rows_of(shapes_, "layers.0.self_attn.q_proj.weight");
        result_.width = names::columns_of(shapes_, "layers.0.self_attn.q_proj.weight");
        if (result_.width < 1 || result_.width > limits::kSize || result_.query_rows < 1)
            throw Error(
                "its tensors are not a decoder's: expected a query projection such as "
                "layers.0.self_attn.q_proj.weight [d_model, d_model], found {tensors}",
                {{"tensors", stored_.empty() ? Sentence(message("no tensor at all"))
                                             : message("{first} and the like", {{"first", stored_.begin()->first}})}});
        fact("d_model", result_.width);
        if (const Index layers = names::count_layers(shapes_, ""); layers > 0) fact("num_layers", layers);
        fact("dim_feedforward", std::max(names::rows_of(shapes_, "layers.0.up_proj.weight"),
                                         names::columns_of(shapes_, "layers.0.down_proj.weight")));
        if (has("layers.0.gate_proj.weight")) fact("gated_mlp", true);
        fact("cross_attention", has("layers.0.cross_attn.q_proj.weight"));
        if (const Index layers = names::count_layers(shapes_, "encoder."); layers > 0) fact("encoder_layers", layers);
    }

    void norms_and_biases() {
        const bool norm_biases = names::any_norm_has_bias(shapes_);
        const bool biases = norm_biases || names::any_projection_has_bias(shapes_);
        fact("bias", biases);
        if (!module_.logit_cap.empty())
            norms_without_gains();
        else
            fact("final_norm", has("norm.weight"));
        const bool by_deviation =
            norm_biases && (names::any_name_holds(stored_, ".a_2") || names::any_name_holds(stored_, ".alpha"));
        if (!norm_biases)
            ask("norm", {module_.norm, module_.may_be_gemma && has("embed.weight") && !has("lm_head.weight")});
        else if (by_deviation)
            ask("norm:deviations");
        else
            fact("norm", "layernorm");
        by_deviation ? ask("layer_norm_eps:deviations") : ask("layer_norm_eps", {module_.eps});
        if (biases) names::add_zero_biases(dict_.shapes, norm_biases || module_.norm == "layernorm");
    }

    // Norms that learn nothing leave no trace in the tensors.
    void norms_without_gains() {
        ask_each({"norm_gain", "final_norm", "embedding_norm", "qk_norm"});
        ask("logit_soft_cap", {module_.logit_cap});
    }

    void places_of_norms() {
        const std::string block = "layers.0.";
        const bool behind = has(block + "norm1_post.weight"), before = has(block + "norm1.weight");
        const bool fed = has(block + "up_proj.weight"), crossed = has(block + "cross_attn.q_proj.weight");
        if (behind)
            fact("norm_placement", before ? "peri" : "reordered");
        else
            ask("norm_first", {bool_text(module_.norm_first)});
        if (!behind && fed && !crossed && before && !has(block + "norm2.weight")) fact("parallel_residual", "one_norm");
        if (!behind && module_.may_be_parallel && has(block + "norm2.weight")) ask("parallel_residual");
        heads_norms(block);
        const bool asked =
            std::ranges::find(result_.questions, "embedding_norm", &Question::key) != result_.questions.end();
        if (has("embed_norm.weight") && !asked) fact("embedding_norm", true);
    }

    // Norms of q and k, by head or over all heads at once.
    void heads_norms(const std::string& block) {
        const Index columns = names::rows_of(shapes_, block + "self_attn.q_norm.weight");
        if (columns == 0) return;
        fact("qk_norm", true);
        if (columns == result_.query_rows)
            fact("qk_norm_across_heads", true);
        else if (result_.query_rows % columns == 0 && dict_.heads == 0) {
            dict_.heads = result_.query_rows / columns;
            dict_.head_dim = columns;
        }
    }

    void activation() {
        if (names::rows_of(shapes_, "layers.0.up_proj.weight") > 0) ask("activation", {module_.activation});
        ask("causal");
        if (module_.mask != "-inf") ask("mask_value", {module_.mask});
    }

    void vocabulary() {
        const Index words = names::rows_of(shapes_, "embed.weight");
        fact("vocab_size", words);
        if (const Index rows = names::rows_of(shapes_, "encoder.embed.weight"); rows > 0)
            fact("encoder_vocab_size", rows);
        if (has("lm_head.weight"))
            fact("lm_head", true);
        else if (words > 0)
            ask("lm_head", {bool_text(module_.tied_head)});
        if (words > 0 && !has("lm_head.weight")) config_["tie_word_embeddings"] = true;
        if (words > 0) ask("scale_embedding", {bool_text(module_.scaled_embedding)});
    }

    void positions() {
        if (const Index rows = names::rows_of(shapes_, "pos_embed.weight"); rows > 0) {
            fact("positional_encoding", "learned");
            fact("max_positions", rows);
            return;
        }
        if (module_.makes_positions)
            throw Error("no table of positions is stored, and {module} makes one; expected the config.json beside it",
                        {{"module", module_.name}});
        if (const Index rows = names::rows_of(shapes_, "relative_bias.weight"); rows > 0) {
            fact("relative_attention_num_buckets", rows);
            ask("relative_attention_max_distance");
        }
        ask("positional_encoding", {module_.positions});
        ask("rotary_dim", {.required = module_.partly_rotary});
        ask("rope_theta");
        ask("rope_interleaved", {bool_text(module_.interleaved)});
    }

    // What changes attention and leaves no trace in the tensors.
    void attention() {
        if (module_.alibi) ask("alibi");
        if (module_.may_scale_rope)
            ask_each({"rope_scaling", "rope_factor", "rope_original_positions", "rope_beta_fast", "rope_beta_slow",
                      "rope_truncate", "rope_attention_factor", "rope_short_factors", "rope_long_factors"});
        if (module_.may_differ_by_layer) ask_each({"rope_layers", "rope_local_theta"});
        if (module_.may_have_window) ask_each({"sliding_window", "sliding_window_layers"});
        if (module_.capped) ask_each({"attention_soft_cap", "logit_soft_cap"});
    }

    // Numbers that leave no trace in the tensors.
    void scales() {
        if (module_.may_be_multiplied)
            ask_each({"embedding_scale", "update_scale", "attention_scale:granite", "logit_scale:granite"});
        const std::string by_width = number_text(1.0 / std::sqrt(width()));
        if (module_.unscaled_scores)
            ask("attention_scale:t5");
        else if (!module_.settled_scale)
            ask("attention_scale", {module_.scores_by_width ? by_width : "0", false, by_width, {{"other", by_width}}});
        if (module_.scaled_positions && has("pos_embed.weight"))
            ask("position_scale", {.proposal = by_width, .named = {{"scale", by_width}}});
        if (module_.scaled_logits) ask("logit_scale", {.proposal = by_width, .named = {{"scale", by_width}}});
    }

    void heads() {
        const Index keys = names::rows_of(shapes_, "layers.0.self_attn.k_proj.weight");
        if (keys > 0 && result_.query_rows % keys == 0) result_.queries_per_key = result_.query_rows / keys;
        const Index by_bias = names::columns_of(shapes_, "relative_bias.weight");
        const Index count = dict_.heads > 0 ? dict_.heads : by_bias;
        if (count > 0 && result_.query_rows % count == 0) {
            const Index head_dim = dict_.heads > 0 ? dict_.head_dim : result_.query_rows / count;
            fact("nhead", count);
            if (count * head_dim != result_.width) fact("head_dim", head_dim);
            return;
        }
        const bool rope = module_.positions == "rope";
        const std::vector<std::string> counts = head_counts(result_.query_rows, result_.queries_per_key, rope);
        const std::string likely = likely_heads(result_.query_rows, counts);
        const bool usual = !likely.empty() && result_.query_rows / std::atoll(likely.c_str()) == 64;
        result_.questions.insert(result_.questions.begin(), {"nhead", likely, counts, true,
                                                             usual ? message("a guess: heads of 64 columns are usual")
                                                                   : message("a guess: no shape shows how many")});
    }

    const names::Shapes& stored_;
    StateDict& dict_;
    const names::Shapes shapes_;  // as stored, without the added zeros
    KnownModule module_;
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
    const std::string& key = question.key;
    const bool scaled = settled(recognised, "rope_scaling", answers) != "none";
    if (key == "rope_factor" && !scaled) return false;
    const std::string scaling = settled(recognised, "rope_scaling", answers);
    if (key == "rope_original_positions" && scaling != "llama3" && scaling != "yarn" && scaling != "longrope")
        return false;
    if ((key.starts_with("rope_beta_") || key == "rope_truncate") && scaling != "yarn") return false;
    if ((key == "rope_short_factors" || key == "rope_long_factors") && scaling != "longrope") return false;
    if (key == "rope_attention_factor" && scaling != "yarn" && scaling != "longrope") return false;
    if (key == "sliding_window_layers" || key == "rope_local_theta")
        return settled(recognised, "sliding_window", answers) != "0";
    if (key != "rope_theta" && !key.starts_with("rope_") && key != "rotary_dim") return true;
    return settled(recognised, "positional_encoding", answers) == "rope";
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
    const OrderedJson parsed = OrderedJson::parse(value, nullptr, false);
    config[key] = parsed.is_discarded() ? OrderedJson(value) : parsed;
    recognised.config_json = config.dump(2);
}

void take_hints(Recognised& recognised, const Overrides& hints) {
    if (!recognised.problem.empty()) return;
    for (const auto& [key, value] : hints) {
        propose(recognised, key, value, message("as the recording says"));
        // Whether a head that is stored is the embedding is no question to a person: it computes the same.
        if (key != "tie_word_embeddings") continue;
        OrderedJson config = OrderedJson::parse(recognised.config_json);
        config[key] = value == "true";
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
