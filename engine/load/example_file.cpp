#include "engine/load/example_file.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/model/inputs.h"

#include <algorithm>
#include <set>

namespace decoderscope::load {

namespace {

void check_keys(const nlohmann::json& object, const Sentence& what, const std::set<std::string>& known) {
    if (!object.is_object()) throw Error("{what}: expected a JSON object", {{"what", what}});
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    for (const auto& [key, value] : object.items())
        if (!known.contains(key))
            throw Error("\"{key}\": unknown key of {what}, expected one of {names}",
                        {{"key", key}, {"what", what}, {"names", names}});
}

std::string text_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_string()) throw Error("{key}: expected a text", {{"key", key}});
    return found->get<std::string>();
}

std::vector<std::string> texts_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    const auto is_text = [](const nlohmann::json& text) { return text.is_string(); };
    if (!found->is_array() || found->empty() || !std::all_of(found->begin(), found->end(), is_text))
        throw Error("{key}: expected a list of texts, one per batch row", {{"key", key}});
    return found->get<std::vector<std::string>>();
}

constexpr Index kLeftOut = -100;  // PyTorch's ignore_index

std::vector<std::vector<Index>> ids_at(const nlohmann::json& object, const char* key, bool some_left_out = false) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    const auto is_id = [&](const nlohmann::json& id) {
        return id.is_number_unsigned() || (some_left_out && id.is_number_integer() && id == kLeftOut);
    };
    const auto is_row = [&](const nlohmann::json& row) {
        return row.is_array() && !row.empty() && std::all_of(row.begin(), row.end(), is_id);
    };
    if (!found->is_array() || found->empty() || !std::all_of(found->begin(), found->end(), is_row))
        throw Error("{key}: expected a list of lists of ids, one per batch row", {{"key", key}});
    return found->get<std::vector<std::vector<Index>>>();
}

LookAt look_at_of(const nlohmann::json& example) {
    const auto found = example.find("look_at");
    if (found == example.end()) return {};
    check_keys(*found, Sentence::verbatim("look_at"), {"step", "head"});
    LookAt look_at = {.step = text_at(*found, "step")};
    if (look_at.step.empty()) throw Error("look_at: expected a \"step\" such as blocks.0.attn.pattern");
    const auto head = found->find("head");
    if (head == found->end()) return look_at;
    if (!head->is_number_unsigned()) throw Error("head: expected the number of a head, from 0");
    look_at.head = head->get<Index>();
    return look_at;
}

Overrides overrides_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_object()) throw Error("{key}: expected an object of configuration keys", {{"key", key}});
    Overrides overrides;
    for (const auto& [name, value] : found->items()) overrides.emplace_back(name, text_at(*found, name.c_str()));
    return overrides;
}

std::optional<Cell> cell_at(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    const auto is_index = [](const nlohmann::json& index) { return index.is_number_unsigned(); };
    if (!found->is_array() || found->empty() || !std::all_of(found->begin(), found->end(), is_index))
        throw Error("{key}: expected a list of indices, from 0", {{"key", key}});
    return found->get<Cell>();
}

Trial trial_of(const nlohmann::json& json) {
    check_keys(json, message("the thing to try"), {"title", "look", "tab", "step", "cell", "set", "edits"});
    Trial trial = {.title = text_at(json, "title"),
                   .look = text_at(json, "look"),
                   .tab = text_at(json, "tab"),
                   .step = text_at(json, "step"),
                   .cell = cell_at(json, "cell"),
                   .set = overrides_at(json, "set")};
    if (trial.title.empty()) throw Error("expected a \"title\", a few words");
    if (trial.cell && trial.step.empty()) throw Error("cell: expected a \"step\" that it is a cell of");
    if (const auto edits = json.find("edits"); edits != json.end()) trial.edits = edits_of(*edits);
    return trial;
}

std::vector<Trial> trials_of(const nlohmann::json& example) {
    const auto found = example.find("try");
    if (found == example.end()) return {};
    if (!found->is_array()) throw Error("try: expected a list of things to try");
    std::vector<Trial> trials;
    for (const nlohmann::json& json : *found) trials.push_back(naming("try", [&] { return trial_of(json); }));
    return trials;
}

TokenBatch batch_of(const std::vector<std::string>& texts, const tokenizer::Tokenizer& tokenizer,
                    std::string_view length_axis) {
    std::vector<std::vector<Index>> rows;
    for (const std::string& text : texts) {
        rows.push_back(tokenizer.encode(text));
        if (rows.back().empty()) throw Error("a text without a token, expected at least one");
    }
    return padded_batch(rows, length_axis, tokenizer.special().pad.value_or(0));
}

}  // namespace

ExampleFile parse_example_file(std::string_view json) {
    const nlohmann::json example = parse_json(json, message("an example"));
    check_keys(example, message("the example"),
               {"description", "source", "target", "tokens", "targets", "look_at", "try"});
    if (example.contains("target") && example.contains("tokens"))
        throw Error("tokens: given beside target, expected one of them");
    if (example.contains("targets") && !example.contains("tokens"))
        throw Error("targets: given without tokens, expected both");
    return {.description = text_at(example, "description"),
            .source = texts_at(example, "source"),
            .target = texts_at(example, "target"),
            .tokens = ids_at(example, "tokens"),
            .targets = ids_at(example, "targets", true),
            .look_at = look_at_of(example),
            .trials = trials_of(example)};
}

Inputs inputs_of(const ExampleFile& example, const tokenizer::Tokenizer& source, const tokenizer::Tokenizer& target) {
    Inputs inputs;
    if (!example.source.empty()) {
        TokenBatch batch = naming("source", [&] { return batch_of(example.source, source, axis::src); });
        inputs.encoder_tokens = std::move(batch.tokens);
        inputs.encoder_attention_mask = std::move(batch.mask);
    }
    if (!example.tokens.empty()) {
        TokenBatch batch = padded_batch(example.tokens, axis::pos, target.special().pad.value_or(0));
        inputs.tokens = std::move(batch.tokens);
        inputs.attention_mask = std::move(batch.mask);
    }
    if (!example.targets.empty()) inputs.targets = padded_batch(example.targets, axis::pos, kLeftOut).tokens;
    if (!example.target.empty()) {
        TokenBatch batch = naming("target", [&] { return batch_of(example.target, target, axis::pos); });
        inputs.tokens = std::move(batch.tokens);
        inputs.attention_mask = std::move(batch.mask);
    }
    return inputs;
}

}  // namespace decoderscope::load
