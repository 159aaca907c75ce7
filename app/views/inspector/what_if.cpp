#include "app/core/tabs/step/what_if.h"
#include "app/core/run/labels.h"
#include "app/core/tabs/step/explanation_text.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::inspector {

namespace {

// The companion runs: the one that is tried; and for a change of the fill, a query that sees nothing, without and with
// the change.
constexpr const char* kTried = "what-if";
constexpr const char* kBlindNow = "what-if-blind";
constexpr const char* kBlindThen = "what-if-blind-tried";

constexpr std::size_t kMostKeys = 6;

// What can be tried at the selected cell; empty without one.
core::Value<core::step::ShownWhatIfs> offered(const core::Session& session) {
    const Step& step = session.step();
    const std::optional<Cell>& cell = session.cursor().cell;
    if (!cell || !session.shown().run->value(step.id).contains(*cell)) return {};
    return core::step::shown_what_ifs(session.derived(), session.shown(), step, *cell, session.cursor().place);
}

core::CompanionRuns runs_of(const core::Session& session, const core::step::WhatIf& tried, const Cell& cell) {
    core::CompanionRuns runs = {{kTried, tried.variation}};
    if (!tried.is_fill) return runs;
    auto blind = core::step::blind_query(session.shown().scenario, session.step(), cell, session.cursor().place);
    if (!blind) return runs;
    runs[kBlindNow] = *blind;
    blind->overrides = tried.variation.overrides;
    runs[kBlindThen] = *blind;
    return runs;
}

// A companion's run, if it was computed beside the run that is shown and as it is needed now.
std::shared_ptr<const Run> run_of(const core::Session& session, const core::CompanionRuns& needed, const char* name) {
    const core::Companion* companion = session.shown().companion(name);
    const auto wanted = needed.find(name);
    const bool is_it = companion != nullptr && wanted != needed.end() && companion->variation == wanted->second;
    return is_it ? companion->run : nullptr;
}

std::string number(float value) { return core::short_number_text(static_cast<double>(value), 3); }

// "key 3 “a”        0.95 → 0.41"
void now_and_if(const Ui& ui, const std::string& what, const std::string& now, const std::string& then) {
    const std::string numbers = tr("{now} → {then}", {{"now", now}, {"then", then}});
    const float room = ImGui::GetContentRegionAvail().x - compat::text_size(ui.fonts.mono_small, numbers).x - ui.px(14);
    text_line(ui.note(), fitted(ui.fonts.caption, what, std::max(room, ui.px(60))));
    at_right_edge(ui, ui.number(), numbers);
}

void show_row(const Ui& ui, const core::step::PatternRow& row) {
    text_line({ui.fonts.mono_small, ui.theme.muted},
              fitted(ui.fonts.mono_small, row.tensor, ImGui::GetContentRegionAvail().x));
    if (row.moved.empty()) return text_line(ui.note(), tr("No weight of this query's row changes."));
    const auto now = row.of_every_key_now(), then = row.of_every_key_then();
    if (now && then) return now_and_if(ui, tr("every key"), number(*now), number(*then));
    for (std::size_t i = 0; i < std::min(kMostKeys, row.moved.size()); ++i) {
        const std::size_t key = row.moved[i];
        now_and_if(ui, row.keys[key], number(row.weights[key].now), number(row.weights[key].then));
    }
    if (row.moved.size() > kMostKeys)
        text_line(ui.note(), tr_n("and {count} more key", "and {count} more keys", row.moved.size() - kMostKeys));
}

void show_answer(const Ui& ui, const core::Session& session, const core::step::WhatIfEffect& effect) {
    if (effect.moves.all.empty()) return;
    const tokenizer::Tokenizer& tokenizer = session.shown().scenario.tokenizer();
    if (const std::optional<core::step::SaysNowAndIf>& says = effect.says) {
        const auto answer = [&](std::optional<Index> token, double probability) {
            if (!token) return std::string("NaN");
            return tr("“{token}” {probability}", {{"token", core::printable(tokenizer.piece(*token))},
                                                  {"probability", core::short_number_text(probability, 3)}});
        };
        now_and_if(ui, tr("predicts"), answer(says->token_now, says->probability_now),
                   answer(says->token_then, says->probability_then));
    }
    paragraph(ui.note(), tr(core::moves_sentence(session.shown().scenario, effect.moves, core::Mood::would)));
}

// A query that sees nothing, without the change and with it: the one place where fills always differ.
void show_blind_query(const Ui& ui, const core::Session& session, const core::CompanionRuns& needed, const Cell& cell) {
    const auto now = run_of(session, needed, kBlindNow), then = run_of(session, needed, kBlindThen);
    if (!now || !then) return;
    const core::Value<core::step::WhatIfEffect> effect = core::step::shown_effect(
        session.derived(), session.shown().scenario, now, then, session.step(), cell, session.cursor().place);
    if (!effect->row) return;
    paragraph(ui.caption(), tr("If this query saw no key at all, its row would be:"));
    show_row(ui, *effect->row);
}

void show_effect(const Ui& ui, const core::Session& session, const core::step::WhatIf& tried, const Cell& cell) {
    const core::CompanionRuns needed = runs_of(session, tried, cell);
    const auto companion = session.shown().companions.find(kTried);
    if (companion != session.shown().companions.end() && !companion->second.error.empty())
        return paragraph({ui.fonts.caption, ui.theme.error}, tr(companion->second.error));
    const std::shared_ptr<const Run> then = run_of(session, needed, kTried);
    if (!then) return text_line(ui.note(), tr("Being computed …"));
    const auto effect = core::step::shown_effect(session.derived(), session.shown().scenario, session.shown().run, then,
                                                 session.step(), cell, session.cursor().place);
    if (effect->cell) now_and_if(ui, tr("this cell"), number(effect->cell->now), number(effect->cell->then));
    if (tried.is_fill && effect->nothing_changed()) {
        paragraph(ui.caption(), tr(core::step::why_fill_changes_nothing()));
    } else {
        show_answer(ui, session, *effect);
        if (effect->row) show_row(ui, *effect->row);
    }
    if (tried.is_fill) show_blind_query(ui, session, needed, cell);
}

// The one offer whose label changes from cell to cell.
constexpr std::string_view kOfCell = "cell";

// Every offer keeps the place in which it was first made at this step; what doesn't apply to this cell is greyed. The
// one whose width changes is last.
void keep_places(InspectorState& inspector, const std::string& step, const std::vector<core::step::WhatIf>& offers) {
    if (inspector.offers_of != step) inspector.places.clear();
    inspector.offers_of = step;
    for (const core::step::WhatIf& offer : offers) {
        const auto place = std::ranges::find(inspector.places, offer.id, &OfferPlace::id);
        if (place == inspector.places.end())
            inspector.places.push_back({offer.id, offer.label});
        else
            place->label = offer.label;
    }
    std::stable_partition(inspector.places.begin(), inspector.places.end(),
                          [](const OfferPlace& place) { return place.id != kOfCell; });
}

// "What if", followed by as many buttons as fit in a line.
void choose(const Ui& ui, const std::vector<core::step::WhatIf>& offers, InspectorState& inspector) {
    word_beside(ui, tr("What if"));
    compat::push_font(ui.fonts.caption);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(4), ui.px(4)));
    const float edge = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
    for (const OfferPlace& offer : inspector.places) {
        const bool applies = std::ranges::find(offers, offer.id, &core::step::WhatIf::id) != offers.end();
        const std::string label = tr(offer.label);
        const float width = compat::text_size(ui.fonts.caption, label).x + ImGui::GetStyle().FramePadding.x * 2.0F;
        ImGui::SameLine();
        if (ImGui::GetCursorPosX() + width > edge) ImGui::NewLine();
        const bool tried = applies && inspector.what_if == offer.id;
        ImGui::BeginDisabled(!applies);
        if (toggle_button(ui, labelled(label, offer.id).c_str(), tried,
                          tr("Run it, and see what changes here, in the pattern and in the prediction")))
            inspector.what_if = tried ? std::string() : offer.id;
        ImGui::EndDisabled();
    }
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

void keep_or_drop(const core::step::WhatIf& tried, InspectorState& inspector, Commands& commands) {
    const bool keep = button(tr("Keep"), "keep-what-if");
    tooltip(tr("Keep the change; undo reverts it"));
    ImGui::SameLine();
    const bool drop = button(tr("Drop"), "drop-what-if");
    if (keep) commands.push_back(core::command::KeepVariation{tried.variation});
    if (keep || drop) inspector.what_if.clear();
}

constexpr int kFramesToTakeBack = 4;

// The field shows the run's number, unless it is being edited or holds what was refused.
void follow_the_run(TypeOverState& typed, const std::string& name, const std::string& value) {
    const std::string shows = name + " = " + value;
    if (typed.editing || typed.refused || typed.entered || typed.shows == shows) return;
    typed.text.fill('\0');
    std::copy_n(value.begin(), std::min(value.size(), typed.text.size() - 1), typed.text.begin());
    typed.shows = shows;
}

// The place of a field with this label, whatever the number before it: at the right of its line if there is room beside
// the longest number, otherwise below. Beside a long number the label is left out.
void place_beside_number(const Ui& ui, const std::string& label) {
    const float width = ui.px(112), gap = ui.px(12), word = compat::text_size(ui.fonts.caption, label).x;
    const float longest = compat::text_size(ui.fonts.heading, "−8.88888888e−88").x;
    const float left = ImGui::GetCursorScreenPos().x, edge = left + ImGui::GetContentRegionAvail().x;
    const float ends = ImGui::GetItemRectMax().x;  // the number
    const auto go_to = [](float x) { ImGui::SetCursorScreenPos({x, ImGui::GetCursorScreenPos().y}); };
    if (left + longest + gap + width > edge) {
        word_beside(ui, label);
        ImGui::SameLine();
        return ImGui::SetNextItemWidth(std::min(ui.px(150), ImGui::GetContentRegionAvail().x));
    }
    ImGui::SameLine();
    if (ends + gap + word + gap <= edge - width) {
        go_to(edge - width - gap - word);
        word_beside(ui, label);
        ImGui::SameLine();
    } else {
        ImGui::AlignTextToFramePadding();  // the line is as high without it
    }
    go_to(edge - width);
    ImGui::SetNextItemWidth(width);
}

// A number that was entered may still be refused when it is run: a token outside the vocabulary. Then the keyboard
// returns to it.
void await_the_run(TypeOverState& typed, const core::Session& session) {
    if (!typed.entered || session.stale()) return;
    typed.entered = false;
    typed.shows = typed.shows.substr(0, typed.shows.find(" = ") + 3);  // shown anew, however it was written
    typed.refused = session.message() && session.message()->failed;
    if (typed.refused) typed.take_back = kFramesToTakeBack;
}

}  // namespace

core::CompanionRuns what_if_runs(const core::Session& session, const ViewState& state) {
    const InspectorState& inspector = state.part<InspectorState>();
    const std::string& id = inspector.what_if;
    if (id.empty() || inspector.section != Section::what_if) return {};
    const core::Value<core::step::ShownWhatIfs> made = offered(session);
    if (!made) return {};
    const auto tried = std::ranges::find(made->offers, id, &core::step::WhatIf::id);
    return tried == made->offers.end() ? core::CompanionRuns() : runs_of(session, *tried, *session.cursor().cell);
}

void inspect_what_ifs(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    auto& inspector = state.part<InspectorState>();
    const core::Value<core::step::ShownWhatIfs> made = offered(session);
    if (!made) return;
    keep_places(inspector, session.step().name, made->offers);
    if (inspector.places.empty()) return;
    choose(ui, made->offers, inspector);
    const auto tried = std::ranges::find(made->offers, inspector.what_if, &core::step::WhatIf::id);
    if (tried == made->offers.end()) {
        ImGui::Dummy({1, ui.px(3)});
        return;
    }
    ImGui::Dummy({1, ui.px(2)});
    keep_or_drop(*tried, inspector, commands);
    show_effect(ui, session, *tried, *session.cursor().cell);
    section_line(ui);
}

bool type_over(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    const Step& step = session.step();
    if (step.operation.traits().recorded_elsewhere) return false;  // nothing would follow from it
    const Cell& cell = *session.cursor().cell;
    const float value = session.shown().run_of(step).value(step.id).at(cell);
    TypeOverState& typed = state.part<InspectorState>().typed;
    const std::string name = cell_name(step.name, cell);
    if (!typed.shows.starts_with(name + " = ")) typed = {};  // another cell
    await_the_run(typed, session);
    follow_the_run(typed, name, core::step::exact_number(value));

    ImGui::PushID(name.c_str());
    const std::string label = tr("overwrite");
    place_beside_number(ui, label);
    compat::push_font(ui.fonts.mono_small);
    const bool was_editing = typed.editing;
    if (typed.take_back > 0) {
        compat::take_keyboard();
        --typed.take_back;
    }
    focusable_field("##typed", typed.text.data(), label);
    const bool entered = ImGui::InputText("##typed", typed.text.data(), typed.text.size(),
                                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopFont();
    typed.editing = ImGui::IsItemActive();
    if (typed.editing) typed.take_back = 0;
    const bool left = was_editing && !typed.editing && !entered;
    if (left) typed = {};  // what was not entered is given up
    float number = 0.0F;
    const bool is_number = core::step::parse_number(typed.text.data(), number);
    if (entered && is_number) {
        commands.push_back(core::command::TypeOver{step.name, cell, number});
        typed.entered = true;
    }
    if (entered && !is_number) {
        typed.refused = true;
        typed.take_back = kFramesToTakeBack;
    }
    ImGui::PopID();
    return !is_number;
}

}  // namespace decoderscope::views::inspector
