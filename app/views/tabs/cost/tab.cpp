#include "app/views/tabs/cost/tab.h"

#include "app/core/tabs/cost/cost_files.h"
#include "app/core/text/numbers.h"
#include "app/views/frame/export_choices.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keyboard_focus.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace decoderscope::views::cost {

namespace {

using core::cost::CostTable;
using core::cost::Grouping;
using core::cost::kAmounts;
using core::cost::SortedBy;

Json save(const ViewState& state) {
    const CostTabState& cost = state.part<CostTabState>();
    return {{"by", core::cost::kGroupingNames[static_cast<std::size_t>(cost.grouping)]},
            {"sort", core::cost::kSortedNames[static_cast<std::size_t>(cost.sorted)]}};
}

void restore(ViewState& state, JsonObject* saved) {
    CostTabState read;
    if (saved != nullptr) {
        read.grouping = static_cast<Grouping>(saved->word("by", core::cost::kGroupingNames));
        read.sorted = static_cast<SortedBy>(saved->word("sort", core::cost::kSortedNames));
    }
    state.part<CostTabState>() = read;
}

void add_exports(ExportScene& scene) {
    const CostTabState& cost = scene.state.part<CostTabState>();
    const core::Value<core::cost::PassCost> pass =
        core::cost::shown_cost(scene.session.derived(), scene.session.shown());
    if (!pass) return;
    scene.add(tr("What each step costs"), "cost",
              [shown = scene.shown, pass, by = cost.grouping, sorted = cost.sorted] {
                  const Plan& plan = shown.run->plan();
                  return core::cost::cost_exhibit(shown, core::cost::cost_table(plan, *pass, by, sorted), *pass);
              });
}

std::string title_of(SortedBy amount) {
    switch (amount) {
        case SortedBy::computed:
            break;
        case SortedBy::time:
            return tr("time");
        case SortedBy::memory:
            return tr("memory");
        case SortedBy::operations:
            return tr("operations");
        case SortedBy::moved:
            return tr("moved");
    }
    return {};
}

// The table's columns: names, and as many numbers as there are amounts.
class Columns {
public:
    Columns(const Ui& ui, const CostTable& table, CostTabState& cost) : ui_(ui), table_(table), cost_(cost) {
        for (const core::cost::CostRow& row : table.rows)
            for (std::size_t i = 0; i < kAmounts.size(); ++i)
                most_[i] = std::max(most_[i], core::cost::amount_of(row.cost, kAmounts[i]));
    }

    [[nodiscard]] float line() const { return compat::font_size(ui_.fonts.mono_small) + ui_.px(8); }

    void head(Area area) const {
        const std::array<std::string, 3> names = {tr("step"), tr("part"), tr("block")};
        title(area, names[static_cast<std::size_t>(cost_.grouping)], SortedBy::computed, 0);
        for (std::size_t i = 0; i < kAmounts.size(); ++i)
            title(column(area, i), title_of(kAmounts[i]), kAmounts[i], i + 1);
    }

    void row(Area area, const core::cost::CostRow& row) const {
        std::string name = row.name;
        if (table_.grouping != Grouping::step) name += " · " + tr(core::counted_steps(row.steps));
        draw_name(area, name, ui_.theme.text);
        for (std::size_t i = 0; i < kAmounts.size(); ++i) {
            const Area cell = column(area, i);
            draw_number(cell, core::cost::cost_text(row.cost, kAmounts[i]));
            draw_bar(cell, core::cost::amount_of(row.cost, kAmounts[i]), most_[i], row.meaning);
        }
    }

    void total(Area area) const {
        ImGui::GetWindowDrawList()->AddLine(area.low, {area.high.x, area.low.y}, ui_.theme.line);
        std::size_t steps = 0;
        for (const core::cost::CostRow& row : table_.rows) steps += row.steps;
        draw_name(area, tr("total of {steps}", {{"steps", tr(core::counted_steps(steps))}}), ui_.theme.text);
        for (std::size_t i = 0; i < kAmounts.size(); ++i)
            draw_number(column(area, i), core::cost::cost_text(table_.total, kAmounts[i]));
    }

private:
    [[nodiscard]] float name_width(Area area) const { return std::floor(area.width() * 0.4F); }
    [[nodiscard]] Area column(Area area, std::size_t number) const {
        const float width = (area.width() - name_width(area)) / static_cast<float>(kAmounts.size());
        const float left = area.low.x + name_width(area) + static_cast<float>(number) * width;
        return {{left + ui_.px(8), area.low.y}, {left + width, area.high.y}};
    }

    void draw_name(Area area, const std::string& name, ImU32 color) const {
        const float width = name_width(area);
        draw_text(ui_, ui_.fonts.mono_small, {area.low.x, area.low.y + ui_.px(2)}, color,
                  fitted_in_middle(ui_.fonts.mono_small, name, width), width);
    }
    void draw_number(Area cell, const std::string& number) const {
        const std::string shown = fitted(ui_.fonts.mono_small, number, cell.width());
        draw_text(ui_, ui_.fonts.mono_small,
                  {cell.high.x - compat::text_size(ui_.fonts.mono_small, shown).x, cell.low.y + ui_.px(2)},
                  ui_.theme.text, shown);
    }
    // Below its number.
    void draw_bar(Area cell, std::uint64_t amount, std::uint64_t most, Meaning meaning) const {
        if (most == 0) return;
        const float length = cell.width() * static_cast<float>(static_cast<double>(amount) / static_cast<double>(most));
        ImGui::GetWindowDrawList()->AddRectFilled({cell.high.x - length, cell.high.y - ui_.px(4)},
                                                  {cell.high.x, cell.high.y - ui_.px(1)}, color_of(meaning));
    }

    // Sorts by its column when it is pressed.
    void title(Area area, const std::string& text, SortedBy by, std::size_t number) const {
        const bool is_name = by == SortedBy::computed, chosen = cost_.sorted == by;
        const std::string shown = fitted(ui_.fonts.caption, chosen && !is_name ? text + " ▾" : text,
                                         is_name ? name_width(area) : area.width());
        const float width = compat::text_size(ui_.fonts.caption, shown).x;
        const ImVec2 at = {is_name ? area.low.x : area.high.x - width, area.low.y + ui_.px(2)};
        if (press_at("sort", {{at.x, area.low.y}, {at.x + width, area.high.y}}, static_cast<std::int64_t>(number)))
            cost_.sorted = by;
        tooltip(is_name ? tr("Sort in the order of computation") : tr("The largest first"));
        draw_text(ui_, ui_.fonts.caption, at, chosen ? ui_.theme.text : ui_.theme.muted, shown);
    }

    const Ui& ui_;
    const CostTable& table_;
    CostTabState& cost_;
    std::array<std::uint64_t, kAmounts.size()> most_{};
};

void draw_table(const Ui& ui, const CostTable& table, ViewState& state, Area area, Commands& commands) {
    const Columns columns(ui, table, state.part<CostTabState>());
    const float line = columns.line(), bar = ui.px(14);  // beside the rows: their scroll bar
    const Area inner = {area.low, {area.high.x - bar, area.high.y}};
    columns.head({inner.low, {inner.high.x, inner.low.y + line}});
    const Area rows = {{area.low.x, area.low.y + line}, {area.high.x, area.high.y - line - ui.px(4)}};
    scrolled_rows(ui, "costs", rows, line, table.rows.size(), [&](std::size_t i, Area row) {
        row.high.x = inner.high.x;
        if (press_at("cost", row, static_cast<std::int64_t>(i))) {
            state.tab = core::files::kStepTab;
            commands.push_back(core::command::GoTo{table.rows[i].step});
        }
        if (ImGui::IsItemHovered()) ImGui::GetWindowDrawList()->AddRectFilled(row.low, row.high, ui.theme.raised);
        tooltip(tr("Go to {step}", {{"step", table.rows[i].step}}).c_str());
        columns.row(row, table.rows[i]);
    });
    columns.total({{inner.low.x, rows.high.y + ui.px(4)}, inner.high});
}

void choose_grouping(const Ui& ui, CostTabState& cost, ImVec2 at) {
    ImGui::SetCursorScreenPos(at);
    const std::array<const char*, 3> labels = {tr("By step"), tr("By part"), tr("By block")};
    if (const int chosen = segmented(ui, "grouping", labels, static_cast<int>(cost.grouping)); chosen >= 0)
        cost.grouping = static_cast<Grouping>(chosen);
}

}  // namespace

Tab cost_tab() {
    return {.id = "cost",
            .title = message("Cost"),
            .question = message("Which steps cost most time, memory and operations?"),
            .key = Key::q,
            .term = "flop",
            .draw = draw_cost_tab,
            .least_height = [](float) { return 320.0F; },
            .leave = [](ViewState& state) { state.part<CostTabState>().last = {}; },
            .add_exports = add_exports,
            .save = save,
            .restore = restore,
            .computes = true};
}

void draw_cost_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    CostTabState& cost = state.part<CostTabState>();
    const core::Snapshot& shown = session.shown();
    cost.last.take(load::about(shown.scenario.opened()), core::cost::shown_cost(session.derived(), shown),
                   [&] { return shown.run->shared_plan(); });
    const float pad = ui.px(16), gap = ui.px(8);
    Area rest = {{area.low.x + pad, area.low.y + gap}, {area.high.x - pad, area.high.y - gap}};
    choose_grouping(ui, cost, rest.low);
    rest.low.y = ImGui::GetItemRectMax().y + gap;
    draw_answer(
        ui, "coming-costs", cost.last, rest, commands,
        [&](Commands& heard) {
            const core::Value<core::cost::PassCost>& pass = cost.last.answer();
            Area page = rest;
            for (const Sentence& said : {core::cost::measured_sentence(*pass), core::cost::counted_sentence(),
                                         core::cost::weights_sentence(*pass)})
                page.low.y += text_block(ui, ui.fonts.caption, ui.theme.muted, page, tr(said)) + ui.px(2);
            page.low.y += gap;
            const auto table =
                core::cost::shown_table(session.derived(), cost.last.question(), pass, cost.grouping, cost.sorted);
            draw_table(ui, *table, state, page, heard);
            return rest;
        },
        [&](Area note) { draw_text(ui, ui.fonts.caption, note.low, ui.theme.muted, tr("Measuring some passes …")); });
}

}  // namespace decoderscope::views::cost
