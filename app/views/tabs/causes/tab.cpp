#include "app/views/tabs/causes/tab.h"

#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/frame/terms.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/widgets.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace decoderscope::views::causes {

namespace {

constexpr std::string_view kId = "causes";

void add_exports(ExportScene& scene) {
    const CausesTabState& causes = scene.state.part<CausesTabState>();
    if (!causes.shown) return;
    const core::Snapshot& shown = scene.session.shown();
    const core::causes::ResolvedNumber& number = *causes.shown;
    if (causes.page == CausesPage::patching) {
        const auto measured = core::causes::shown_patching(scene.session.derived(), shown, number, causes.compared,
                                                           causes.every_step, causes.patching);
        if (measured && !measured->patching.steps.empty())
            scene.add_if_any(tr("How much comes back"), "patching", [&] {
                return core::causes::patching_exhibit(shown.scenario, *shown.run, measured->patching, number);
            });
    }
    if (causes.page == CausesPage::writers && causes.number.kind != core::causes::NumberKind::cell) {
        const bool difference = causes.number.kind == core::causes::NumberKind::difference;
        const auto written = core::causes::shown_attribution(scene.session.derived(), shown, number, difference);
        if (written->obstacle.empty())
            scene.add_if_any(tr("Who wrote it"), "attribution", [&] {
                return core::causes::attribution_exhibit(shown.scenario, written->attribution, number);
            });
    }
}

std::vector<Action> actions_of_causes() {
    return {{.label = message("What moves this number? (the selected cell)"),
             .key = Key::w,
             .mods = with_shift,
             .run = [](const core::Session& session, ViewState& state, Commands&) { ask_what_moves(session, state); }}};
}

// ---- sessions

void put(Json& json, const char* key, const std::optional<Index>& value) {
    if (value) json[key] = *value;
}

Json save(const ViewState& state) {
    const CausesTabState& causes = state.part<CausesTabState>();
    Json number = {{"kind", core::causes::kNumberKindNames[static_cast<std::size_t>(causes.number.kind)]}};
    if (causes.number.kind == core::causes::NumberKind::cell) {
        number["tensor"] = causes.number.tensor;
        number["cell"] = causes.number.cell;
    }
    put(number, "position", causes.number.position);
    put(number, "token", causes.number.token);
    put(number, "minus", causes.number.minus);
    Json other = {{"kind", core::causes::kOtherKindNames[static_cast<std::size_t>(causes.other.kind)]}};
    put(other, "position", causes.other.position);
    put(other, "token", causes.other.token);
    save_option(other, causes.other.option);
    return {{"page", kCausesPageNames[static_cast<std::size_t>(causes.page)]},
            {"number", number},
            {"other", other},
            {"every_step", causes.every_step}};
}

std::optional<Index> read_index(JsonObject& json, const char* key) {
    return json.find(key) == nullptr ? std::nullopt : std::optional<Index>(json.index(key));
}

core::causes::NumberChoice read_number(JsonObject json) {
    core::causes::NumberChoice number{
        .kind = static_cast<core::causes::NumberKind>(json.word("kind", core::causes::kNumberKindNames))};
    if (number.kind == core::causes::NumberKind::cell) {
        number.tensor = json.text("tensor");
        number.cell = json.indices("cell");
    }
    number.position = read_index(json, "position");
    number.token = read_index(json, "token");
    number.minus = read_index(json, "minus");
    json.finish();
    return number;
}

core::causes::OtherChoice read_other(JsonObject json) {
    core::causes::OtherChoice other{
        .kind = static_cast<core::causes::OtherKind>(json.word("kind", core::causes::kOtherKindNames))};
    other.position = read_index(json, "position");
    other.token = read_index(json, "token");
    other.option = restored_option(json);
    json.finish();
    return other;
}

void restore(ViewState& state, JsonObject* saved) {
    CausesTabState read;
    if (saved != nullptr) {
        read.page = static_cast<CausesPage>(saved->word("page", kCausesPageNames));
        read.number = read_number(saved->object("number"));
        read.other = read_other(saved->object("other"));
        read.every_step = saved->boolean("every_step", false);
    }
    state.part<CausesTabState>() = read;
}

// What was shown holds its run. What is being measured goes on where it was when the tab is opened again.
void leave(ViewState& state) {
    CausesTabState& causes = state.part<CausesTabState>();
    causes.moving->look_away();
    causes.patching->look_away();
    causes.moves = {};
    causes.slopes = {};
    causes.patched = {};
}

constexpr std::array kPages = {message("What moves it"), message("What comes back"), message("Who wrote it")};
constexpr std::array kPageTips = {
    message("Its gradients with respect to scores, residual stream and input, beside the effect of switching heads off "
            "and swapping tokens"),
    message("Activation patching: rows of another run replace those of this one, one at a time"),
    message(
        "Direct logit attribution: the logit as a sum of what each head and each MLP wrote into the residual stream")};

void choose_page(const Ui& ui, CausesTabState& causes) {
    for (std::size_t i = 0; i < kPages.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const auto page = static_cast<CausesPage>(i);
        if (toggle_button(ui, labelled(tr(kPages[i]), kCausesPageNames[i]).c_str(), causes.page == page,
                          tr(kPageTips[i])))
            causes.page = page;
    }
}

void say(const Ui& ui, ViewState& state, const char* text) {
    say(ui, state, ui.fonts.caption, ui.theme.text, text);
    ImGui::Dummy({1, ui.px(4)});
}

void say_page(const Ui& ui, ViewState& state, CausesPage page) {
    switch (page) {
        case CausesPage::moves:
            say(ui, state,
                tr("A gradient is the slope at one point: how much the number would change for a tiny change. It says "
                   "little about the effect of switching a head off, which is a large change."));
            say(ui, state,
                tr("So beside each gradient you see the measured effect, and the mean of the gradients along 8 steps "
                   "from off to on (integrated gradients), which gets it right."));
            break;
        case CausesPage::patching:
            say(ui, state,
                tr("A is this run, B another one. One row of B, a step at a position, is patched into A, and "
                   "everything after it is recomputed. The picture shows how much of the difference comes back."));
            say(ui, state,
                tr("1: all of the difference passes through there. 0: none of it does. With B the clean run and A the "
                   "corrupted one this is causal tracing (Meng et al. 2022)."));
            break;
        case CausesPage::writers:
            say(ui, state,
                tr("The residual stream is a sum, so the logit is one, too: what each head, each MLP and the embedding "
                   "wrote, divided by the final norm's scale and read by the language head."));
            say(ui, state,
                tr("Only the direct path counts here. What a head changes in later heads and MLPs is in their terms."));
            break;
    }
}

}  // namespace

Tab causes_tab() {
    return {.id = kId,
            .title = message("Causes"),
            .question = message("What causes what?"),
            .key = Key::k,
            .term = "cause",
            .draw = draw_causes_tab,
            .least_height = [](float) { return 240.0F; },  // its lists scroll themselves
            .inspect = inspect_causes,
            .leave = leave,
            .add_exports = add_exports,
            .actions = actions_of_causes,
            .save = save,
            .restore = restore,
            .about_steps = [](const ViewState&) { return false; },
            .computes = true};
}

std::string cause_text(double value) { return core::short_number_text(value, 3); }

void draw_signed_bar(const Ui& ui, Area area, double value, double most) {
    if (most <= 0.0 || !std::isfinite(value)) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = std::floor((area.low.x + area.high.x) * 0.5F);
    const float length = static_cast<float>(std::clamp(value / most, -1.0, 1.0)) * area.width() * 0.5F;
    list.AddRectFilled({std::min(middle, middle + length), area.low.y},
                       {std::max(middle, middle + length), area.high.y},
                       value < 0.0 ? ui.theme.warning : ui.theme.accent);
    list.AddLine({middle, area.low.y - ui.px(2)}, {middle, area.high.y + ui.px(2)}, ui.theme.line);
}

void ask_what_moves(const core::Session& session, ViewState& state) {
    CausesTabState& causes = state.part<CausesTabState>();
    state.tab = "causes";
    causes.page = CausesPage::moves;
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell) return;
    causes.number = {.kind = core::causes::NumberKind::cell, .tensor = session.step().name, .cell = *cell};
}

void draw_causes_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CausesTabState& causes = state.part<CausesTabState>();
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(10)}};
    ImGui::SetCursorScreenPos(rest.low);
    choose_page(ui, causes);
    rest.low.y += ui.px(36);
    rest.low.y += draw_causes_choices(ui, session, causes, rest, commands);
    const core::Snapshot& shown = session.shown();
    const Sentence obstacle = core::causes::number_obstacle(shown.scenario, *shown.run, causes.number);
    causes.shown.reset();
    if (!obstacle.empty()) {
        text_block(ui, ui.fonts.text, ui.theme.muted, rest, tr(obstacle));
        return;
    }
    causes.shown = *core::causes::shown_number(session.derived(), shown, session.cursor().place.batch, causes.number);
    const core::causes::ResolvedNumber number = *causes.shown;
    switch (causes.page) {
        case CausesPage::moves:
            return draw_moves(ui, session, state, number, rest, commands);
        case CausesPage::patching:
            return draw_patching(ui, session, state, number, rest, commands);
        case CausesPage::writers:
            return draw_writers(ui, session, causes, number, rest, commands);
    }
}

void inspect_causes(const Ui& ui, const core::Session& session, ViewState& state, Commands&) {
    const CausesTabState& causes = state.part<CausesTabState>();
    if (causes.shown) {
        const Tensor& values = session.shown().run->value(causes.shown->number.tensor);
        paragraph(ui.fonts.text, ui.theme.text, tr(causes.shown->name));
        if (!values.empty() && values.contains(causes.shown->number.cell))
            text_line(ui.fonts.heading, ui.theme.text, cause_text(causes.shown->number.in(values)));
        section_line(ui);
    }
    say_page(ui, state, causes.page);
}

}  // namespace decoderscope::views::causes
