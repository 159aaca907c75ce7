#include "app/core/files/session_file.h"

#include "app/core/files/checksum.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <span>

namespace decoderscope::core::files {

namespace {

bool same(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (a.axes() != b.axes()) return false;
    return a.shares_values_with(b) ||
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

bool same(const Inputs& a, const Inputs& b) {
    return std::ranges::all_of(input_slots(), [&](const InputSlot& slot) {
        return slot.member == &Inputs::targets || same(a.*slot.member, b.*slot.member);  // the loss alone reads these
    });
}

bool same_settings(const Scenario& a, const Scenario& b) {
    return a.same_model(b) && a.dropout_seed == b.dropout_seed && a.gradient_target == b.gradient_target &&
           a.mutation == b.mutation && a.recording == b.recording && a.lens() == b.lens();
}

bool same_passes(const Scenario& a, const Scenario& b) {
    if (!a.passes || !b.passes) return a.passes.has_value() == b.passes.has_value();
    return a.passes->sizes == b.passes->sizes && a.passes->shown == b.passes->shown &&
           a.passes->edits == b.passes->edits;
}

namespace fs = std::filesystem;
// A path next to or below the session is relative, so that both can be moved together.
std::string written_path(const std::string& path, const fs::path& folder) {
    if (folder.empty()) return path;
    const fs::path relative = fs::path(path).lexically_relative(folder);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return below ? relative.generic_string() : path;
}

// Sorted by key, so that the same values always give the same file; the last value of a repeated key counts.
OrderedJson object_of(const Overrides& values) {
    std::map<std::string, std::string> sorted;
    for (const auto& [key, value] : values) sorted[key] = value;
    return sorted.empty() ? OrderedJson::object() : OrderedJson(sorted);
}

OrderedJson json_of(const SavedModel& model, const fs::path& folder) {
    OrderedJson json;
    if (model.bundled)
        json["bundled"] = model.name;
    else
        json["path"] = written_path(model.name, folder);
    if (!model.weights.empty()) json["weights"] = model.weights;
    if (!model.config.empty()) json["config"] = model.config;
    if (!model.answers.empty()) json["answers"] = object_of(model.answers);
    if (model.trace) json["trace"] = true;
    if (!model.mapping.empty()) json["mapping"] = OrderedJson::parse(load::names::mapping_to_json(model.mapping));
    return json;
}

// The numbers of a tensor as nested lists, from an axis on.
OrderedJson nested(const Tensor& tensor, std::size_t axis, Index offset, Index stride) {
    OrderedJson list = OrderedJson::array();
    const Index inner = stride / tensor.dim(axis);
    for (Index i = 0; i < tensor.dim(axis); ++i) {
        const Index at = offset + i * inner;
        list.push_back(axis + 1 == tensor.rank() ? float_to_json(tensor.data()[at])
                                                 : nested(tensor, axis + 1, at, inner));
    }
    return list;
}

OrderedJson json_of(const SavedTensor& tensor, const fs::path& folder) {
    if (!tensor.of_example && tensor.file.empty()) return nested(tensor.numbers, 0, 0, tensor.numbers.size());
    OrderedJson json;
    if (tensor.of_example)
        json["from"] = "example";
    else
        json["file"] = written_path(tensor.file, folder);
    if (!tensor.checksum.empty()) json["checksum"] = tensor.checksum;
    return json;
}

void put_sequence(OrderedJson& json, const SavedSequence& sequence, const std::string& before, const char* mask) {
    if (sequence.text) json[before + "text"] = *sequence.text;
    if (sequence.tokens) json[before + "tokens"] = *sequence.tokens;
    if (sequence.mask) json[mask] = *sequence.mask;
}

OrderedJson json_of(const SavedInput& input, const fs::path& folder) {
    OrderedJson json = OrderedJson::object();
    put_sequence(json, input.target, "", "attention_mask");
    put_sequence(json, input.source, "encoder_", "encoder_attention_mask");
    for (const auto& [name, tensor] : input.numbers) json[name] = json_of(tensor, folder);
    return json;
}

OrderedJson json_of(const chat::Conversation& conversation) {
    OrderedJson json = {{"messages", conversation.messages},
                        {"train_on", chat::kTrained[static_cast<std::size_t>(conversation.trained)]}};
    if (!conversation.name.empty()) json["name"] = conversation.name;
    if (!conversation.written.empty()) json["written"] = conversation.written;
    if (!conversation.special.empty()) json["special"] = conversation.special;
    if (!conversation.variables.empty()) json["variables"] = conversation.variables;
    if (!conversation.date.empty()) json["date"] = conversation.date;
    if (conversation.generation_prompt) json["generation_prompt"] = true;
    if (conversation.special_tokens) json["special_tokens"] = true;
    if (conversation.max_length) json["max_length"] = *conversation.max_length;
    return json;
}

OrderedJson json_of(const SavedPasses& passes) {
    OrderedJson json = {{"sizes", passes.sizes}};
    if (passes.shown) json["shown"] = *passes.shown;
    for (std::size_t i = 0; i < passes.edits.size(); ++i)
        if (!passes.edits[i].empty() && passes.shown != i) json["edits"][std::to_string(i)] = json_of(passes.edits[i]);
    if (!passes.text_edits.empty()) json["text_edits"] = json_of(passes.text_edits);
    return json;
}

void put_run(OrderedJson& json, const SavedRun& run, const fs::path& folder) {
    json["model"] = json_of(run.model, folder);
    json["set"] = object_of(run.set);
    json["input"] = json_of(run.input, folder);
    json["edits"] = json_of(run.edits);
    if (run.passes) json["passes"] = json_of(*run.passes);
    if (run.dropout_seed) json["dropout_seed"] = *run.dropout_seed;
    if (!run.gradient_target.empty()) json["gradients_of"] = run.gradient_target;
    if (!run.mutation.empty()) json["mutation"] = run.mutation;
    if (!run.lens.empty()) json["lens"] = written_path(run.lens, folder);
    if (run.recording != Recording::fit) json["record"] = run.recording == Recording::all ? "all" : "patterns";
    for (const auto& [row, tokens] : run.generated)
        if (!tokens.empty()) json["generated"][std::to_string(row)] = tokens;
    if (run.conversation) json["conversation"] = json_of(*run.conversation);
}

OrderedJson json_of(const Cursor& cursor) {
    OrderedJson json = {{"step", cursor.step}, {"batch", cursor.place.batch}, {"head", cursor.place.head}};
    if (cursor.place.outer > 0) json["outer"] = cursor.place.outer;
    if (cursor.cell) json["cell"] = *cursor.cell;
    if (!cursor.attention.empty()) json["attention"] = cursor.attention;
    return json;
}

OrderedJson json_of(const generate::Sampling& sampling) {
    return {{"temperature", sampling.temperature},
            {"top_k", sampling.top_k},
            {"top_p", sampling.top_p},
            {"seed", sampling.seed}};
}

OrderedJson json_of(const Note& note) {
    OrderedJson json = {{"at", place_text(note)}};
    if (!note.text.empty()) json["text"] = note.text;
    if (note.watched) json["watched"] = true;
    return json;
}

OrderedJson json_of(const Overlay& overlay) {
    OrderedJson json = {{"name", overlay.name}, {"values", OrderedJson::array()}};
    for (const OverlayValue& value : overlay.values) {
        OrderedJson one = {{"name", place_text(value)}, {"value", float_to_json(value.value)}};
        if (!value.text.empty()) one["text"] = value.text;
        json["values"].push_back(std::move(one));
    }
    return json;
}

// Members are sorted, so that what is read back is written as the same bytes.
void put_tabs(OrderedJson& json, const SavedView& view, const fs::path& folder) {
    std::map<std::string, std::string> tabs = view.tabs;
    if (needs_entry(view.tab)) tabs.try_emplace(view.tab, "{}");  // otherwise it would be no tab
    for (const auto& [tab, saved] : tabs) {
        OrderedJson& place = tab == kCompareTab ? json[kCompareKey] : json["labs"][tab];
        place = OrderedJson(nlohmann::json::parse(saved));
    }
    if (!view.trace.empty()) json[kCompareKey]["file"] = written_path(view.trace, folder);
}

}  // namespace

std::string place_of_saved(std::string_view tab) {
    return (tab == kCompareTab ? kCompareKey : "labs." + std::string(tab)) + ".";
}

std::vector<WorkPart> changed_parts(const WorkMark& before, const WorkMark& now) {
    std::vector<WorkPart> changed;
    const auto note = [&](WorkPart part, bool is_same) {
        if (!is_same) changed.push_back(part);
    };
    note(WorkPart::edits, before.scenario.edits == now.scenario.edits && same_passes(before.scenario, now.scenario));
    note(WorkPart::input, same(text_of(before.scenario), text_of(now.scenario)));
    note(WorkPart::settings, same_settings(before.scenario, now.scenario));
    note(WorkPart::sampling, before.sampling == now.sampling);
    note(WorkPart::pin, before.pinned == now.pinned);
    note(WorkPart::training, before.training == now.training);
    note(WorkPart::notes, before.notes == now.notes);
    note(WorkPart::overlay, same_overlay(before.overlay, now.overlay));
    note(WorkPart::talk, before.talk == now.talk);
    return changed;
}

std::string session_text(const SessionFile& file, const std::string& folder) {
    OrderedJson json = {{"format", kSessionFormat}, {"version", kSessionVersion}};
    put_run(json, file.run, folder);
    json["sampling"] = json_of(file.sampling);
    if (!file.cursor.step.empty()) json["cursor"] = json_of(file.cursor);
    json["tab"] = file.view.tab;
    put_tabs(json, file.view, folder);
    if (!file.view.lesson.empty()) json["lesson"] = file.view.lesson;
    for (const Note& note : file.notes) json["notes"].push_back(json_of(note));
    if (file.overlay) json["overlay"] = json_of(*file.overlay);
    for (const TalkState& state : file.talk) {
        OrderedJson one = {{"say", state.sentence}};
        if (!state.notes.empty()) one["notes"] = state.notes;
        one["show"] = OrderedJson::parse(session_text(parse_session(state.work, {}), folder));
        json["talk"].push_back(std::move(one));
    }
    json["pins"] = OrderedJson::array();
    for (const SavedPin& pin : file.pins) {
        OrderedJson pinned = {{"label", pin.label}};
        put_run(pinned, pin.run, folder);
        json["pins"].push_back(std::move(pinned));
    }
    if (!file.saved_as.empty()) json["saved_as"] = file.saved_as;
    if (!file.saved_as.empty() && !file.saved_as_was.empty()) json["saved_as_was"] = file.saved_as_was;
    for (const WorkPart part : file.changed) json["changed"].push_back(kWorkPartNames[static_cast<std::size_t>(part)]);
    return laid_out(json);
}

std::string write_session_file(const std::string& path, const SessionFile& file) {
    const fs::path absolute = absolute_path(path);
    const std::string text = naming(path, [&] { return session_text(file, absolute.parent_path().string()); });
    write_whole(path, [&](std::ostream& out) { out << text; });
    return checksum_of(std::as_bytes(std::span(text)));
}

}  // namespace decoderscope::core::files
