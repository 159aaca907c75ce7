#include "app/views/causes/lab.h"

#include "app/views/causes/causes_tab.h"
#include "engine/error.h"
#include "engine/json.h"
#include "engine/json_object.h"
#include "engine/translate.h"

#include <optional>

namespace decoderscope {

namespace {

constexpr std::string_view kId = "causes";

void add_exports(ExportScene& scene) {
    const CausesTabState& causes = scene.state.lab<CausesTabState>();
    if (!causes.shown) return;
    const Snapshot& shown = scene.session.shown();
    const ResolvedNumber& number = *causes.shown;
    if (causes.page == CausesPage::patching) {
        const auto measured =
            shown_patching(scene.session.derived(), shown, number, causes.other, causes.every_step, causes.patching);
        if (measured && !measured->patching.steps.empty())
            scene.add_if_any(tr("How much comes back"), "patching",
                             [&] { return patching_exhibit(shown.scenario, *shown.run, measured->patching, number); });
    }
    if (causes.page == CausesPage::writers && causes.number.kind != NumberKind::cell) {
        const bool difference = causes.number.kind == NumberKind::difference;
        const auto written = shown_attribution(scene.session.derived(), shown, number, difference);
        if (written->obstacle.empty())
            scene.add_if_any(tr("Who wrote it"), "attribution",
                             [&] { return attribution_exhibit(shown.scenario, written->attribution, number); });
    }
}

std::vector<Action> actions_of_causes() {
    return {{.label = message("What moves this number? (the selected cell)"),
             .key = Key::w,
             .run = [](const Session& session, ViewState& state, Commands&) { ask_what_moves(session, state); }}};
}

// ---- sessions

void put(nlohmann::ordered_json& json, const char* key, const std::optional<Index>& value) {
    if (value) json[key] = *value;
}

void save(const ViewState& state, SavedView& saved) {
    const CausesTabState& causes = state.lab<CausesTabState>();
    nlohmann::ordered_json number = {{"kind", kNumberKindNames[static_cast<std::size_t>(causes.number.kind)]}};
    if (causes.number.kind == NumberKind::cell) {
        number["tensor"] = causes.number.tensor;
        number["cell"] = causes.number.cell;
    }
    put(number, "position", causes.number.position);
    put(number, "token", causes.number.token);
    put(number, "minus", causes.number.minus);
    nlohmann::ordered_json other = {{"kind", kOtherKindNames[static_cast<std::size_t>(causes.other.kind)]}};
    put(other, "position", causes.other.position);
    put(other, "token", causes.other.token);
    if (!causes.other.option.first.empty()) other["set"] = {{causes.other.option.first, causes.other.option.second}};
    const nlohmann::ordered_json json = {{"page", kCausesPageNames[static_cast<std::size_t>(causes.page)]},
                                         {"number", number},
                                         {"other", other},
                                         {"every_step", causes.every_step}};
    saved.labs[std::string(kId)] = json.dump();
}

std::optional<Index> read_index(JsonObject& json, const char* key) {
    return json.find(key) == nullptr ? std::nullopt : std::optional<Index>(json.index(key));
}

NumberChoice read_number(JsonObject json) {
    NumberChoice number{.kind = static_cast<NumberKind>(json.word("kind", kNumberKindNames))};
    if (number.kind == NumberKind::cell) {
        number.tensor = json.text("tensor");
        number.cell = json.indices("cell");
    }
    number.position = read_index(json, "position");
    number.token = read_index(json, "token");
    number.minus = read_index(json, "minus");
    json.finish();
    return number;
}

OtherChoice read_other(JsonObject json) {
    OtherChoice other{.kind = static_cast<OtherKind>(json.word("kind", kOtherKindNames))};
    other.position = read_index(json, "position");
    other.token = read_index(json, "token");
    if (const nlohmann::json* set = json.find("set")) {
        const bool one = set->is_object() && set->size() == 1 && set->begin().value().is_string();
        if (!one) json.fail("set", message("expected one configuration key with a text"));
        other.option = {set->begin().key(), set->begin().value().get<std::string>()};
    }
    json.finish();
    return other;
}

void restore(ViewState& state, const SavedView& saved) {
    CausesTabState& causes = state.lab<CausesTabState>();
    const auto found = saved.labs.find(std::string(kId));
    CausesTabState read;
    if (found != saved.labs.end()) {
        const nlohmann::json text = parse_json(found->second, message("an object"));
        JsonObject json(text, "labs.causes.");
        read.page = static_cast<CausesPage>(json.word("page", kCausesPageNames));
        read.number = read_number(json.object("number"));
        read.other = read_other(json.object("other"));
        read.every_step = json.boolean("every_step", false);
        json.finish();
    }
    causes = read;
}

}  // namespace

Lab causes_lab() {
    return {.id = kId,
            .title = message("Causes"),
            .question = message("What causes what?"),
            .key = Key::k,
            .term = "cause",
            .draw = draw_causes_tab,
            .least_height = [](float) { return 420.0F; },
            .inspect = inspect_causes,
            .add_exports = add_exports,
            .actions = actions_of_causes,
            .save = save,
            .restore = restore,
            .computes = true};
}

}  // namespace decoderscope
