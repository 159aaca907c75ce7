#include "app/core/run/labels.h"
#include "app/core/run/watched.h"
#include "app/core/text/numbers.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

// The numbers that stay on the screen, above the stage of every tab.
namespace decoderscope::views::shell {

namespace {

constexpr int kDigits = 4, kAllDigits = 9;
constexpr std::size_t kMostLines = 2;  // more chips are behind a button
constexpr float kLongestPlace = 230.0F, kEdge = 16.0F, kWithin = 8.0F, kBetween = 6.0F;

struct Chip {
    core::Note note;
    std::string place, value, change, tip;
    std::optional<core::Command> goes;
};

// "L1 pattern[0, 3, 2, 1]": the name without what is around it, and its layer.
std::string short_place(const core::Note& note, const Plan& plan) {
    const Ref step = plan.find(note.step);
    const std::size_t around = core::part_around(note.step).size();
    if (step == nullptr || core::block_number(*step) < 0 || around == 0) return core::place_text(note);
    const core::Note inner{note.step.substr(around + 1), note.cell, {}};
    return "L" + std::to_string(core::block_number(*step)) + " " + core::place_text(inner);
}

// What stands behind the number if it differs from the one without edits: "↑ was 0.25"; behind a row "≠".
std::string change_text(const core::WatchedNumber& number) {
    if (number.change == core::Change::no_edits || number.change == core::Change::none) return {};
    if (number.change == core::Change::only_here) return tr("only with the edits");
    const std::string mark = core::change_mark(number.change);
    if (number.now.size() > 1) return mark;  // a row's other numbers are in the tooltip
    return mark + " " + tr("was {value}", {{"value", core::before_text(number, kDigits)}});
}

// Whether the numbers are those of a run that another is to follow.
bool is_old(const core::Session& session) { return session.stale() || !session.input_error().empty(); }

std::string tip_of(const core::Session& session, const core::Note& note, const core::WatchedNumber* number) {
    std::string tip = core::place_text(note);
    if (number != nullptr) tip += std::string("\n") + tr(core::number_sentence(*number, kAllDigits));
    if (!note.text.empty()) tip += "\n" + note.text;
    if (is_old(session)) tip += std::string("\n") + tr("As it was before the change that is being computed");
    return tip;
}

// An on-demand step is computed when it is gone to.
std::optional<core::Command> goes_to(const core::Note& note, const Run& run) {
    if (std::optional<core::Command> there = core::command_to(note, run)) return there;
    const Ref step = run.plan().find(note.step);
    return step != nullptr && run.value(step->id).empty() ? std::optional<core::Command>(core::command::GoTo{note.step})
                                                          : std::nullopt;
}

Chip chip_of(const core::Session& session, const core::Note& note) {
    const Run& run = *session.shown().run;
    const core::Value<core::WatchedNumber> number = core::shown_watched(session.derived(), session.shown(), note);
    Chip chip{.note = note, .place = short_place(note, run.plan()), .goes = goes_to(note, run)};
    chip.tip = tip_of(session, note, number ? &*number : nullptr);
    chip.value = !number ? "…" : number->missing.empty() ? core::now_text(*number, kDigits) : "–";
    if (number) chip.change = change_text(*number);
    return chip;
}

std::vector<Chip> chips_of(const core::Session& session) {
    std::vector<Chip> chips;
    for (const core::Note* note : core::watched_among(session.notes())) chips.push_back(chip_of(session, *note));
    // Two chips that would read alike have their whole names.
    std::vector<std::string> places;
    for (const Chip& chip : chips) places.push_back(chip.place);
    for (Chip& chip : chips)
        if (std::ranges::count(places, chip.place) > 1) chip.place = core::place_text(chip.note);
    return chips;
}

// The texts of a chip from left to right, each with its colour.
struct Piece {
    std::string text;
    ImU32 color;
};
std::vector<Piece> pieces_of(const Ui& ui, const Chip& chip, float room) {
    const float longest = std::min(ui.px(kLongestPlace), room * 0.5F);
    std::vector<Piece> pieces = {{fitted_in_middle(ui.fonts.mono_small, chip.place, longest), ui.theme.muted},
                                 {chip.value, ui.theme.text}};
    if (!chip.change.empty()) pieces.push_back({chip.change, ui.theme.accent});
    return pieces;
}

float width_of(const Ui& ui, const std::vector<Piece>& pieces) {
    float width = ui.px(kWithin);
    for (const Piece& piece : pieces) width += compat::text_size(ui.fonts.mono_small, piece.text).x + ui.px(kWithin);
    return width;
}

// At ImGui's cursor: the chip, which leads to its cell, and the button that ends the watching.
void draw_chip(const Ui& ui, const Chip& chip, const std::vector<Piece>& pieces, bool stale, ViewState& state,
               Commands& commands) {
    const float height = ImGui::GetFrameHeight(), width = width_of(ui, pieces);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const Area body = {low, {low.x + width, low.y + height}},
               end = {{body.high.x, low.y}, {body.high.x + height, low.y + height}};
    ImGui::PushID(core::place_text(chip.note).c_str());
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, end.high, ui.theme.raised, ui.px(5));
    if (press_at("go", body) && chip.goes) {
        state.tab = core::files::kStepTab;
        commands.push_back(*chip.goes);
    }
    if (ImGui::IsItemHovered() && chip.goes) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    tooltip(chip.tip.c_str());
    const float y = low.y + (height - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    float x = low.x + ui.px(kWithin);
    for (const Piece& piece : pieces) {
        draw_text(ui, {ui.fonts.mono_small, stale ? with_alpha(piece.color, 0.5F) : piece.color}, {x, y}, piece.text);
        x += compat::text_size(ui.fonts.mono_small, piece.text).x + ui.px(kWithin);
    }
    if (press_at("end", end)) {
        core::Note ended = chip.note;
        ended.watched = false;
        commands.push_back(core::command::PinNote{std::move(ended)});
    }
    const bool hovered = ImGui::IsItemHovered();
    tooltip(tr("Stop watching it (W, where it is selected)"));
    const ImVec2 cross = compat::text_size(ui.fonts.text, "×");
    draw_text(ui, {ui.fonts.text, hovered ? ui.theme.text : ui.theme.muted},
              {end.low.x + (height - cross.x) * 0.5F, low.y + (height - cross.y) * 0.5F}, "×");
    ImGui::PopID();
}

}  // namespace

float draw_watches(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const std::vector<Chip> chips = chips_of(session);
    if (chips.empty()) return 0.0F;
    const float pad = ui.px(kEdge), width = area.width() - 2.0F * pad, top = ui.px(kBetween);
    std::vector<FlowItem> items;
    for (const Chip& chip : chips) {
        std::vector<Piece> pieces = pieces_of(ui, chip, width);
        const float wide = width_of(ui, pieces) + ImGui::GetFrameHeight();
        items.push_back({wide, ui.px(kBetween), [&, pieces = std::move(pieces)] {
                             draw_chip(ui, chip, pieces, is_old(session), state, commands);
                         }});
    }
    const ImVec2 low = {area.low.x + pad, area.low.y + top};
    return top + draw_flow(ui, items, {low, {low.x + width, area.high.y}}, kMostLines);
}

}  // namespace decoderscope::views::shell
