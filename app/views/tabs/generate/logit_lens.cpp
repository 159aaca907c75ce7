#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"
#include "engine/load/lens.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace decoderscope::views::generate {

namespace {

// Where the table's cells are.
struct Grid {
    Area area;
    float label = 0.0F, head = 0.0F;  // next to and above the cells
    float apart = 0.0F;               // of the column beside them
    ImVec2 cell;
    Index first = 0, columns = 0;  // the positions that are shown

    [[nodiscard]] Area box(std::size_t row, Index position) const {
        const ImVec2 low = {area.low.x + label + cell.x * static_cast<float>(position - first),
                            area.low.y + head + cell.y * static_cast<float>(row)};
        return {low, {low.x + cell.x, low.y + cell.y}};
    }
};

Grid lay_out(const GenerateScene& scene, std::size_t rows, Index length, Area area) {
    const Ui& ui = scene.ui;
    Grid grid{.area = area, .label = ui.px(78), .head = ui.px(22), .apart = ui.px(64)};
    const float width = area.width() - grid.label - grid.apart;
    const auto fit = std::max<Index>(1, static_cast<Index>(width / ui.px(48)));
    grid.columns = std::min(fit, length);
    Index& back = scene.tab().lens_back;
    back = std::clamp<Index>(back, 0, length - grid.columns);
    grid.first = length - grid.columns - back;
    grid.cell = {std::min(std::floor(width / static_cast<float>(grid.columns)), ui.px(120)),
                 std::min(std::floor((area.height() - grid.head) / static_cast<float>(rows)), ui.px(46))};
    return grid;
}

std::string row_label(const core::generate::LensTable::Row& row, bool last) {
    if (row.fitted) return tr("… fitted");
    if (row.at == "embed") return tr("embedding");
    const std::string number = row.at.substr(row.at.rfind('.') + 1);
    return last ? tr("output") : tr("block {number}", {{"number", number}});
}

void centred(const Ui& ui, Area box, ImU32 color, const std::string& text) {
    const std::string shown = fitted(ui.fonts.mono_small, text, box.width() - ui.px(4));
    const ImVec2 size = compat::text_size(ui.fonts.mono_small, shown);
    draw_text(ui, {ui.fonts.mono_small, color},
              {(box.low.x + box.high.x - size.x) * 0.5F, (box.low.y + box.high.y - size.y) * 0.5F}, shown);
}

void cell_tooltip(const GenerateScene& scene, const core::generate::LensTable& table, std::size_t row, Index position,
                  const std::string& token) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    const core::generate::LensCell& cell = table.rows[row].cells[static_cast<std::size_t>(position)];
    text_line({ui.fonts.mono_small, ui.theme.muted},
              tr("{lens}.{place}.probs, position {position} “{token}”",
                 {{"lens", table.rows[row].fitted ? "fitted_lens" : "logit_lens"},
                  {"place", table.rows[row].at},
                  {"position", position},
                  {"token", token}}));
    for (const auto& [predicted, probability] : cell.top) {
        text_line(ui.number(), core::fixed_text(static_cast<double>(probability), 4));
        ImGui::SameLine(ui.px(64));
        text_line(ui.number(), "“" + scene.piece(predicted) + "”");
    }
    if (cell.top.empty()) text_line({ui.fonts.caption, ui.theme.warning}, tr("the probabilities are NaN"));
    if (table.settled[static_cast<std::size_t>(position)] == row)
        text_line(ui.caption(), tr("from here on the final prediction stays first"));
    ImGui::EndTooltip();
}

void draw_cell(const GenerateScene& scene, const core::generate::LensTable& table, std::size_t row, Index position,
               const std::string& token, Area box) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const core::generate::LensCell& cell = table.rows[row].cells[static_cast<std::size_t>(position)];
    const Area inner = {{box.low.x + 1, box.low.y + 1}, {box.high.x - 1, box.high.y - 1}};
    const float p = cell.top.empty() ? std::nanf("") : cell.top.front().second;
    const core::Rgba color =
        core::color_of(p, {0.0F, 1.0F}, core::Scale::sequential, ui.theme.sequential, ui.theme.dark);
    list.AddRectFilled(inner.low, inner.high, to_imgui(color), ui.px(2));
    const ImU32 ink = to_imgui(core::text_color_on(color));
    const float line = compat::font_size(ui.fonts.mono_small);
    const std::string piece = cell.top.empty() ? "NaN" : scene.piece(cell.top.front().first);
    if (inner.height() >= line * 2.3F && !cell.top.empty()) {
        const float middle = (inner.low.y + inner.high.y) * 0.5F;
        centred(ui, {{inner.low.x, middle - line * 1.1F}, {inner.high.x, middle}}, ink, piece);
        centred(ui, {{inner.low.x, middle}, {inner.high.x, middle + line * 1.1F}}, ink,
                core::fixed_text(static_cast<double>(p), 2));
    } else if (inner.height() >= line) {
        centred(ui, inner, ink, piece);
    }
    if (table.settled[static_cast<std::size_t>(position)] == row)
        compat::add_rect(list, inner.low, inner.high, ui.theme.accent, ui.px(2), ui.px(3));
    if (ImGui::IsWindowHovered() && box.contains(ImGui::GetIO().MousePos))
        cell_tooltip(scene, table, row, position, token);
}

void draw_table(const GenerateScene& scene, const core::generate::LensTable& table,
                const std::vector<std::string>& tokens, const Grid& grid) {
    const Ui& ui = scene.ui;
    const auto token = [&](Index position) -> const std::string& { return tokens[static_cast<std::size_t>(position)]; };
    for (Index position = grid.first; position < grid.first + grid.columns; ++position) {
        const Area box = grid.box(0, position);
        centred(ui, {{box.low.x, grid.area.low.y}, {box.high.x, box.low.y}}, ui.theme.text, token(position));
    }
    const float beside = grid.box(0, grid.first + grid.columns).low.x;
    const auto in_column = [&](float top, float bottom, const std::string& text) {
        centred(ui, {{beside, top}, {beside + grid.apart, bottom}}, ui.theme.muted, text);
    };
    in_column(grid.area.low.y, grid.box(0, grid.first).low.y, tr("KL, bits"));
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const Area first = grid.box(row, grid.first);
        const bool last = row == table.output();
        if (grid.cell.y >= compat::font_size(ui.fonts.mono_small))
            in_column(first.low.y, first.high.y, core::short_number_text(table.rows[row].apart, 3));
        const float y = (first.low.y + first.high.y - compat::font_size(ui.fonts.caption)) * 0.5F;
        if (grid.cell.y >= compat::font_size(ui.fonts.caption) || last)
            draw_text(ui, {ui.fonts.caption, last ? ui.theme.text : ui.theme.muted}, {grid.area.low.x, y},
                      row_label(table.rows[row], last), grid.label - ui.px(4));
        for (Index position = grid.first; position < grid.first + grid.columns; ++position)
            draw_cell(scene, table, row, position, token(position), grid.box(row, position));
    }
}

// The scale of the colours, and what the outline means.
void draw_key(const GenerateScene& scene, const Grid& grid, Index length, ImVec2 at, float right) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float width = ui.px(96), height = ui.px(10), top = at.y + ui.px(3);
    at.x += draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, at, "0") + ui.px(6);
    draw_color_bar(ui, {{at.x, top}, {at.x + width, top + height}}, {0.0F, 1.0F}, core::Scale::sequential,
                   ui.theme.sequential, 32);
    at.x += width + ui.px(6);
    at.x += draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, at, "1") + ui.px(8);
    at.x += draw_text(ui, ui.note(), at, tr("probability")) + ui.px(18);
    compat::add_rect(list, {at.x, top}, {at.x + ui.px(16), top + height}, ui.theme.accent, ui.px(2), ui.px(2));
    at.x += ui.px(22);
    at.x += draw_text(ui, ui.note(), at, tr("the final prediction, from here on"), right - at.x) + ui.px(18);
    if (grid.columns < length)
        draw_text(ui, ui.note(), at,
                  tr("positions {first}–{last} of {count}: wheel",
                     {{"first", grid.first}, {"last", grid.first + grid.columns - 1}, {"count", length}}),
                  right - at.x);
}

LensQuestion question_of(const GenerateScene& scene) {
    LensQuestion question;
    for (Index position = 0; position < scene.length; ++position)
        question.tokens.push_back(scene.piece(scene.token_at(position)));
    return question;
}

void show_lens(const GenerateScene& scene, const core::generate::LensTable& table,
               const std::vector<std::string>& tokens, Area area) {
    const Ui& ui = scene.ui;
    const auto length = static_cast<Index>(tokens.size());
    const Area cells = {area.low, {area.high.x, area.high.y - ui.px(24)}};
    const Grid grid = lay_out(scene, table.rows.size(), length, cells);
    draw_table(scene, table, tokens, grid);
    // The wheel scrolls through the positions if not all of them fit.
    if (grid.columns != length && ImGui::IsWindowHovered() && cells.contains(ImGui::GetIO().MousePos))
        scene.tab().lens_back += static_cast<Index>(std::lround(ImGui::GetIO().MouseWheel * 2.0F));
    draw_key(scene, grid, length, {area.low.x, grid.box(table.rows.size(), grid.first).low.y + ui.px(6)}, area.high.x);
}

// Which lens was fitted, and how to have one. Returns the height used.
float draw_fitted_lens(const GenerateScene& scene, ImVec2 at) {
    const Ui& ui = scene.ui;
    ImGui::SetCursorScreenPos(at);
    const auto& lens = scene.scenario().lens();
    if (lens == nullptr)
        text_line(ui.note(), tr("A file of “python3 -m decoderscope lens”, dropped here, is a fitted lens beside it."));
    else if (link(ui, {ui.fonts.caption, ui.theme.accent},
                  tr("Without the fitted lens {file}",
                     {{"file", std::filesystem::path(lens->path).filename().string()}}),
                  1))
        scene.commands.push_back(core::command::UseLens{});
    return compat::font_size(ui.fonts.caption) + ui.px(8);
}

}  // namespace

void draw_lens(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const float prose =
        ui.px(4) - area.low.y +
        draw_prose(ui, area.low, area.width(), ui.theme.muted,
                   tr("What the model would predict next if it ended early: the final norm and the language head on "
                      "the residual stream after each block. The most probable token of each, by layer and position, "
                      "and how far from the output it is on average (KL)."),
                   3);
    const float lens_note = draw_fitted_lens(scene, {area.low.x, area.low.y + prose});
    const float text = prose + lens_note;
    const auto say = [&](ImU32 color, const std::string& line) {
        draw_prose(ui, {area.low.x, area.low.y + text}, area.width(), color, line, 3);
    };
    const auto& companions = scene.session.shown().companions;
    const auto found = companions.find(kLensRun);
    if (found != companions.end() && !found->second.error.empty()) return say(ui.theme.error, tr(found->second.error));
    const core::Companion* computed = scene.session.shown().companion(kLensRun);
    const auto read = computed != nullptr
                          ? core::generate::shown_lens(scene.session.derived(), computed->run, scene.row, scene.length)
                          : core::Value<core::generate::LensTable>();
    auto& lens = scene.tab().lens;
    lens.take(load::about(scene.scenario().opened()), read, [&] { return question_of(scene); });
    const Area body = {{area.low.x, area.low.y + text}, area.high};
    draw_answer(
        ui, "coming-lens", lens, body, scene.commands,
        [&](const core::generate::LensTable& table, Commands&) {
            show_lens(scene, table, lens.question().tokens, body);
        },
        computing(ui));
}

}  // namespace decoderscope::views::generate
