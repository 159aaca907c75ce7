#include "app/core/files/checksum.h"
#include "app/core/files/session_file.h"
#include "app/core/run/bounds.h"
#include "app/core/run/overlay.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json_object.h"
#include "engine/load/bundled_models.h"
#include "engine/mutations/mutations.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <span>

namespace decoderscope::core::files {

namespace {

namespace fs = std::filesystem;
// Limits, so that a file can't ask for more than any session needs.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostAxes = 8;
constexpr std::size_t kMostPins = 1;  // as many as the window keeps

// The tabs that have no entry under "labs"; this list never grows.
constexpr std::array kFirstTabs = {kStepTab,   std::string_view("heads"),    std::string_view("masks"),
                                   kNormsTab,  std::string_view("generate"), kDiffTab,
                                   kCompareTab};

std::string read_path(const std::string& written, const fs::path& folder) {
    const fs::path path = written;
    return (path.is_absolute() ? path : folder / path).lexically_normal().string();
}

// Keys and values as --set takes them; numbers and booleans may be given as JSON values.
Overrides read_overrides(JsonObject& json, const char* key) {
    Overrides values;
    const Json* found = json.find(key);
    if (found == nullptr) return values;
    if (!found->is_object()) json.fail(key, message("expected an object of configuration keys and their values"));
    for (const auto& [name, value] : found->items()) {
        if (!value.is_string() && !value.is_number() && !value.is_boolean())
            json.fail(std::string(key) + "." + name, message("expected a value as --set takes it"));
        values.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return values;
}

std::string read_checksum(JsonObject& json, const char* key) {
    if (json.find(key) == nullptr) return {};
    std::string checksum = json.text(key);
    if (!is_checksum(checksum)) json.fail(key, message("expected a checksum such as \"xxh64:44bc2cf5ad770999\""));
    return checksum;
}

SavedModel read_model(JsonObject json, const fs::path& folder) {
    SavedModel model;
    model.bundled = json.find("bundled") != nullptr;
    if (model.bundled) {
        model.name = json.text("bundled");
        const auto& known = load::bundled_models();
        if (std::none_of(known.begin(), known.end(), [&](const load::BundledModel& m) { return m.name == model.name; }))
            json.fail("bundled", message("\"{name}\" is not a bundled model; `decoderscope models` lists them",
                                         {{"name", model.name}}));
    } else {
        model.name = read_path(json.text("path"), folder);
    }
    model.weights = read_checksum(json, "weights");
    model.config = read_checksum(json, "config");
    model.answers = read_overrides(json, "answers");
    model.trace = json.find("trace") != nullptr && json.boolean("trace");
    if (const Json* mapping = json.find("mapping"))
        model.mapping = naming("mapping", [&] { return load::names::parse_mapping(mapping->dump()); });
    json.finish();
    return model;
}

// ---- input

using Rows = std::vector<std::vector<Index>>;

std::optional<Rows> read_rows(JsonObject& json, const std::string& key) {
    if (json.find(key.c_str()) == nullptr) return std::nullopt;
    Rows rows;
    for (const Json& row : json.list(key.c_str())) {
        if (!row.is_array()) json.fail(key, message("expected a list of batch rows, each a list of whole numbers"));
        std::vector<Index>& read = rows.emplace_back();
        for (const Json& value : row) read.push_back(json.as_index(value, key.c_str()));
    }
    if (rows.empty()) json.fail(key, message("expected at least one batch row"));
    return rows;
}

std::optional<std::vector<std::string>> read_text_rows(JsonObject& json, const std::string& key) {
    if (json.find(key.c_str()) == nullptr) return std::nullopt;
    std::vector<std::string> rows;
    for (const Json& row : json.list(key.c_str())) {
        if (!row.is_string()) json.fail(key, message("expected a list of texts, one per batch row"));
        rows.push_back(row.get<std::string>());
    }
    if (rows.empty()) json.fail(key, message("expected at least one batch row"));
    return rows;
}

SavedSequence read_sequence(JsonObject& json, const std::string& before, const std::string& mask) {
    SavedSequence sequence;
    sequence.text = read_text_rows(json, before + "text");
    sequence.tokens = read_rows(json, before + "tokens");
    sequence.mask = read_rows(json, mask);
    if (sequence.text && sequence.tokens)
        json.fail(before + "text",
                  message("given together with {before}tokens; expected only one of them", {{"before", before}}));
    return sequence;
}

// Numbers as nested lists. The first items give the shape, which all other lists must match.
struct NestedNumbers {
    JsonObject& json;
    const char* key;
    std::vector<Index> shape;
    std::vector<float> values;

    void read(const Json& value, std::size_t axis) {
        if (!value.is_array()) {
            const std::optional<float> number = float_from_json(value);
            if (!number || axis != shape.size())
                json.fail(key, message("expected numbers as lists in lists of equal lengths"));
            values.push_back(*number);
            return;
        }
        if (axis == shape.size() || static_cast<Index>(value.size()) != shape[axis])
            json.fail(key, message("expected numbers as lists in lists of equal lengths"));
        for (const Json& inner : value) read(inner, axis + 1);
    }
};

std::optional<SavedTensor> read_tensor(JsonObject& json, const char* key, const fs::path& folder) {
    const Json* found = json.find(key);
    if (found == nullptr) return std::nullopt;
    SavedTensor tensor;
    if (found->is_object()) {
        JsonObject object = json.object(key);
        tensor.of_example = object.find("from") != nullptr;
        if (tensor.of_example)
            static_cast<void>(object.word("from", std::array{std::string_view("example")}));
        else
            tensor.file = read_path(object.text("file"), folder);
        tensor.checksum = read_checksum(object, "checksum");
        object.finish();
        return tensor;
    }
    if (!found->is_array()) json.fail(key, message("expected numbers, or an object with \"from\" or \"file\""));
    NestedNumbers numbers{json, key, {}, {}};
    for (const Json* at = found; at->is_array(); at = &at->front()) {
        if (at->empty() || numbers.shape.size() == kMostAxes)
            json.fail(key, message("expected numbers as lists in lists, none of them empty"));
        numbers.shape.push_back(static_cast<Index>(at->size()));
    }
    numbers.read(*found, 0);
    tensor.numbers = Tensor(unnamed(numbers.shape), numbers.values);
    return tensor;
}

SavedInput read_input(JsonObject json, const fs::path& folder) {
    SavedInput input;
    input.target = read_sequence(json, "", "attention_mask");
    input.source = read_sequence(json, "encoder_", "encoder_attention_mask");
    for (const InputSlot& slot : input_slots()) {
        if (!slot.only_numbers) continue;
        const std::string name(slot.name);
        if (std::optional<SavedTensor> tensor = read_tensor(json, name.c_str(), folder))
            input.numbers.emplace(name, *std::move(tensor));
    }
    json.finish();
    return input;
}

// ---- the rest

std::map<Index, std::vector<Index>> read_generated(JsonObject& json) {
    std::map<Index, std::vector<Index>> generated;
    const Json* found = json.find("generated");
    if (found == nullptr) return generated;
    JsonObject rows = json.object("generated");
    for (const auto& [row, tokens] : found->items()) {
        if (row.empty() || row.size() > 9 || row.find_first_not_of("0123456789") != std::string::npos)
            rows.fail(row, message("expected the number of a batch row"));
        generated[std::stol(row)] = rows.indices(row.c_str());
    }
    return generated;
}

chat::Conversation read_conversation(JsonObject json) {
    chat::Conversation conversation;
    conversation.messages = json.text("messages");
    static_cast<void>(json.text("template", ""));  // in Jinja: sessions of version 0.2 have it
    conversation.trained = static_cast<chat::Trained>(json.word("train_on", chat::kTrained));
    conversation.name = json.text("name", "");
    conversation.written = json.text("written", "");
    if (const Json* special = json.find("special")) {
        JsonObject tokens = json.object("special");
        for (const auto& [name, text] : special->items()) conversation.special[name] = tokens.text(name.c_str());
    }
    conversation.variables = json.text("variables", "");
    conversation.date = json.text("date", "");
    conversation.generation_prompt = json.boolean("generation_prompt", false);
    conversation.special_tokens = json.boolean("special_tokens", false);
    if (json.find("max_length") != nullptr) conversation.max_length = json.within("max_length", bounds::kMaxLength);
    json.finish();
    return conversation;
}

SavedPasses read_passes(JsonObject json) {
    SavedPasses passes{.sizes = json.indices("sizes")};
    if (passes.sizes.empty()) json.fail("sizes", message("expected how many positions each pass computes"));
    for (const Index size : passes.sizes) naming("passes", [&] { check_within("sizes", size, bounds::kPassSize); });
    const auto number_of = [&](JsonObject& object, const std::string& key, std::uint64_t number) {
        if (number >= passes.sizes.size())
            object.fail(key,
                        message("expected the number of a pass, 0 to {last}", {{"last", passes.sizes.size() - 1}}));
        return static_cast<std::size_t>(number);
    };
    if (json.find("shown") != nullptr) passes.shown = number_of(json, "shown", json.whole("shown"));
    const auto edits_at = [](JsonObject& object, const std::string& key, const Json& edits) {
        return naming(object.where() + key, [&] { return edits_of(edits); });
    };
    if (const Json* found = json.find("edits")) {
        JsonObject edits = json.object("edits");
        for (const auto& [pass, of_pass] : found->items()) {
            if (pass.empty() || pass.size() > 9 || pass.find_first_not_of("0123456789") != std::string::npos)
                edits.fail(pass,
                           message("expected the number of a pass, 0 to {last}", {{"last", passes.sizes.size() - 1}}));
            const std::size_t number = number_of(edits, pass, std::stoul(pass));
            if (number >= passes.edits.size()) passes.edits.resize(number + 1);
            passes.edits[number] = edits_at(edits, pass, of_pass);
        }
    }
    if (const Json* edits = json.find("text_edits")) passes.text_edits = edits_at(json, "text_edits", *edits);
    json.finish();
    return passes;
}

std::string read_mutation(JsonObject& json) {
    std::string name = json.text("mutation", "");
    if (!name.empty() && mutations::find_mutation(name) == nullptr)
        json.fail("mutation", message("\"{name}\" is unknown; expected the name of a mistake that this program knows",
                                      {{"name", name}}));
    return name;
}

SavedRun read_run(JsonObject& json, const fs::path& folder) {
    SavedRun run;
    run.model = read_model(json.object("model"), folder);
    run.set = read_overrides(json, "set");
    if (json.find("input") != nullptr) run.input = read_input(json.object("input"), folder);
    if (const Json* edits = json.find("edits"))
        run.edits = naming(json.where() + "edits", [&] { return edits_of(*edits); });
    if (json.find("passes") != nullptr) run.passes = read_passes(json.object("passes"));
    if (json.find("dropout_seed") != nullptr) run.dropout_seed = json.whole("dropout_seed");
    if (json.find("gradients_of") != nullptr) run.gradient_target = json.text("gradients_of");
    run.mutation = read_mutation(json);
    if (json.find("lens") != nullptr) run.lens = read_path(json.text("lens"), folder);
    if (json.find("record") != nullptr)
        run.recording = std::array{Recording::fit, Recording::all,
                                   Recording::patterns}[json.word("record", std::array{"fit", "all", "patterns"})];
    run.generated = read_generated(json);
    if (json.find("conversation") != nullptr) run.conversation = read_conversation(json.object("conversation"));
    return run;
}

Cursor read_cursor(JsonObject json) {
    Cursor cursor{json.text("step"), {}, {}};
    if (json.find("batch") != nullptr) cursor.place.batch = json.index("batch");
    if (json.find("head") != nullptr) cursor.place.head = json.index("head");
    if (json.find("outer") != nullptr) cursor.place.outer = json.index("outer");
    if (json.find("cell") != nullptr) cursor.cell = json.indices("cell");
    if (json.find("attention") != nullptr) cursor.attention = json.text("attention");
    json.finish();
    return cursor;
}

generate::Sampling read_sampling(JsonObject json) {
    generate::Sampling sampling;
    sampling.temperature = json.within("temperature", bounds::kTemperature, sampling.temperature);
    sampling.top_k = json.within("top_k", bounds::kTopK, sampling.top_k);
    sampling.top_p = json.within("top_p", bounds::kTopP, sampling.top_p);
    if (json.find("seed") != nullptr) sampling.seed = json.whole("seed");
    json.finish();
    return sampling;
}

// What the tabs saved. Only the tab can read it.
std::map<std::string, std::string> read_tabs(JsonObject& json) {
    std::map<std::string, std::string> tabs;
    const auto take = [&](std::string_view tab, JsonObject& parent, const std::string& key, const Json& saved) {
        if (!saved.is_object()) parent.fail(key, message("expected an object"));
        tabs[std::string(tab)] = saved.dump();
    };
    const std::string compare(kCompareTab);
    if (const Json* saved = json.find(kCompareKey)) take(compare, json, kCompareKey, *saved);
    if (const Json* saved = json.find(kNormsKey)) {
        if (!saved->is_object()) json.fail(kNormsKey, message("expected an object"));
        Json both = tabs.contains(compare) ? *json.find(kCompareKey) : Json::object();
        both[kNormsKey] = *saved;
        tabs[compare] = both.dump();
    }
    if (const Json* found = json.find("labs")) {
        JsonObject sections = json.object("labs");
        for (const auto& [tab, saved] : found->items()) take(tab, sections, tab, saved);
    }
    return tabs;
}

// The recording that is compared with: of Compare's object, but the session opens it.
std::string read_trace_path(JsonObject& json, SavedView& view, const fs::path& folder) {
    const Json* compare = json.find(kCompareKey);
    if (compare == nullptr || !compare->contains("file")) return {};
    std::string& saved = view.tabs.at(std::string(kCompareTab));
    Json rest = Json::parse(saved);
    rest.erase("file");
    saved = rest.dump();
    return read_path(json.object(kCompareKey).text("file"), folder);
}

// A tab that this version's files always had, or one with an entry under "labs".
std::string read_tab(JsonObject& json, const std::map<std::string, std::string>& tabs) {
    if (json.find("tab") == nullptr) return std::string(kStepTab);
    std::string tab = json.text("tab");
    if (!tabs.contains(tab)) static_cast<void>(json.word("tab", kFirstTabs));
    return tab;
}

std::vector<SavedPin> read_pins(JsonObject& json, const fs::path& folder) {
    std::vector<SavedPin> pins;
    if (json.find("pins") == nullptr) return pins;
    const Json& list = json.list("pins");
    if (list.size() > kMostPins) json.fail("pins", message("expected at most {most}", {{"most", kMostPins}}));
    for (const Json& item : list) {
        JsonObject pin(item, "pins[" + std::to_string(pins.size()) + "].");
        std::string label = pin.text("label");
        pins.push_back({std::move(label), read_run(pin, folder)});
        pin.finish();
    }
    return pins;
}

// Checked before anything else: another version may have other keys.
void check_version(JsonObject& json) {
    const Json* format = json.find("format");
    if (format == nullptr || *format != kSessionFormat)
        throw Error("not a Decoderscope session, expected \"format\": \"{format}\"", {{"format", kSessionFormat}});
    const std::uint64_t version = json.whole("version");
    if (version > kSessionVersion)
        throw Error(
            "a session of version {version}, but this program reads only up to version {newest}; open it with a newer "
            "Decoderscope",
            {{"version", version}, {"newest", kSessionVersion}});
    if (version == 0) json.fail("version", message("expected a number from 1"));
}

Notes read_notes(JsonObject& json) {
    Notes notes;
    if (json.find("notes") == nullptr) return notes;
    const Json& list = json.list("notes");
    if (list.size() > kMostNotes) json.fail("notes", message("expected at most {most}", {{"most", kMostNotes}}));
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = "notes[" + std::to_string(i) + "]";
        JsonObject one(list[i], where + ".");
        const std::string place = one.text("at");
        const bool watched = one.boolean("watched", false);
        const std::string text = watched ? one.text("text", "") : one.text("text");
        one.finish();
        notes = naming(where, [&] { return with_note(std::move(notes), note_at(place, text, watched)); });
    }
    return notes;
}

std::shared_ptr<const Overlay> read_overlay(JsonObject& json) {
    if (json.find("overlay") == nullptr) return nullptr;
    JsonObject overlay = json.object("overlay");
    std::string name = overlay.text("name");
    const Json& list = overlay.list("values");
    overlay.finish();
    const auto where = [](std::size_t i) { return "overlay.values[" + std::to_string(i) + "]"; };
    std::vector<OverlayValue> values;
    for (std::size_t i = 0; i < list.size(); ++i)
        values.push_back(read_overlay_value(JsonObject(list[i], where(i) + ".")));
    return std::make_shared<const Overlay>(make_overlay(std::move(name), std::move(values), where));
}

// What each state shows is a session that can be read, without a talk of its own.
Talk read_talk(JsonObject& json, const std::string& folder) {
    Talk talk;
    if (json.find("talk") == nullptr) return talk;
    const Json& list = json.list("talk");
    if (list.size() > kMostTalkStates)
        json.fail("talk", message("expected at most {most}", {{"most", kMostTalkStates}}));
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string where = "talk[" + std::to_string(i) + "]";
        JsonObject one(list[i], where + ".");
        TalkState state{one.text("say"), one.text("notes", ""), {}};
        const Json* shown = one.find("show");
        if (shown == nullptr || !shown->is_object()) one.fail("show", message("expected a session"));
        if (shown->contains("talk")) one.fail("show.talk", message("expected none: a talk's states have no talk"));
        state.work = naming(where + ".show", [&] { return session_text(parse_session(shown->dump(), folder), {}); });
        one.finish();
        talk.push_back(std::move(state));
    }
    return talk;
}

std::vector<WorkPart> read_changed(JsonObject& json) {
    std::vector<WorkPart> changed;
    for (const nlohmann::json& name : json.list("changed")) {
        const auto known =
            name.is_string() ? std::ranges::find(kWorkPartNames, name.get<std::string>()) : kWorkPartNames.end();
        if (known == kWorkPartNames.end())
            json.fail(
                "changed",
                message("expected a list of edits, input, settings, sampling, pin, training, notes, overlay, talk"));
        changed.push_back(static_cast<WorkPart>(known - kWorkPartNames.begin()));
    }
    return changed;
}

}  // namespace

bool needs_entry(std::string_view tab) { return std::ranges::find(kFirstTabs, tab) == kFirstTabs.end(); }

bool is_session_path(std::string_view path) {
    return path.size() > kSessionEnding.size() && path.ends_with(kSessionEnding);
}

SessionFile parse_session(std::string_view text, const std::string& folder) {
    const Json whole = parse_json(text, message("a Decoderscope session"));
    if (!whole.is_object()) throw Error("not a Decoderscope session, expected a JSON object");
    JsonObject json(whole, "");
    check_version(json);
    SessionFile file;
    file.run = read_run(json, folder);
    if (json.find("cursor") != nullptr) file.cursor = read_cursor(json.object("cursor"));
    if (json.find("sampling") != nullptr) file.sampling = read_sampling(json.object("sampling"));
    file.view.tabs = read_tabs(json);
    file.view.tab = read_tab(json, file.view.tabs);
    file.view.trace = read_trace_path(json, file.view, folder);
    file.view.lesson = json.text("lesson", "");
    file.notes = read_notes(json);
    file.overlay = read_overlay(json);
    file.talk = read_talk(json, folder);
    file.pins = read_pins(json, folder);
    if (json.find("saved_as") != nullptr) file.saved_as = read_path(json.text("saved_as"), folder);
    file.saved_as_was = json.text("saved_as_was", "");
    if (json.find("changed") != nullptr) file.changed = read_changed(json);
    json.finish();
    return file;
}

SessionFile read_session_file(const std::string& path) {
    const std::string folder = fs::path(absolute_path(path)).parent_path().string();
    const std::string text = read_text(path, kMostBytes);
    SessionFile file = naming(path, [&] { return parse_session(text, folder); });
    if (file.saved_as.empty()) file.saved_as_was = checksum_of(std::as_bytes(std::span(text)));
    return file;
}

bool has_changed(const std::string& path, const std::string& was) {
    if (!is_there(path)) return false;
    try {
        const std::string now = read_text(path, kMostBytes);
        return was != checksum_of(std::as_bytes(std::span(now)));
    } catch (const Error&) {
        return true;
    }
}

}  // namespace decoderscope::core::files
