
#include "app/core/figure/crop.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "app/core/run/bounds.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/platform/files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

namespace decoderscope::views::dialogs {

namespace {

constexpr float kChoicesWidth = 360.0F;  // of the column beside the picture

struct Format {
    const char* label;
    const char* ending;
    bool picture;
};
constexpr std::string_view kPdf = "PDF";
constexpr std::array kFormats = {
    Format{"PNG", ".png", true},  Format{"SVG", ".svg", true},  Format{kPdf.data(), ".pdf", true},
    Format{"TXT", ".txt", false}, Format{"CSV", ".csv", false}, Format{"JSON", ".json", false},
    Format{"NPY", ".npy", false}, Format{"NPZ", ".npz", false}, Format{"safetensors", ".safetensors", false}};

void close_export(ViewState& state) {
    state.part<ExportDialogState>().choices.clear();
    close_dialog(state);
}

// ---- the path

// Names the file after the choice, in the typed folder, with the format's extension.
void rename(ExportDialogState& dialog) {
    const std::string now = dialog.path;
    const std::size_t name = platform::name_in_path(now);
    std::string stem = dialog.choices[dialog.chosen].file_name;
    if (dialog.typed) {
        stem = now.substr(name);
        for (const Format& format : kFormats)
            if (stem.ends_with(format.ending)) stem.erase(stem.size() - std::string_view(format.ending).size());
    }
    dialog.path =
        now.substr(0, name) + stem + (dialog.choices[dialog.chosen].each ? "" : kFormats[dialog.format].ending);
}

// The typed extension also chooses the format.
void read_ending(ExportDialogState& dialog) {
    dialog.typed = true;
    for (std::size_t i = 0; i < kFormats.size(); ++i)
        if (dialog.path.ends_with(kFormats[i].ending)) dialog.format = i;
}

void open(ExportDialogState& dialog, const core::Session& session, const ViewState& state) {
    dialog.choices = export_choices(session, state);
    dialog.chosen = 0;
    dialog.typed = false;
    dialog.said.clear();
    dialog.options.crop = {.special = dialog.options.crop.special};
    dialog.options.style.sequential = state.settings.sequential;
    dialog.preview.reset();
    if (!dialog.choices.empty()) rename(dialog);  // none while what is shown is being computed
}

// ---- the picture

// A font's size and ascent for a letter of one pixel's em size. Dear ImGui counts a font's size from line to line.
struct Metrics {
    float size = 1.0F, ascent = 1.0F;
};

Metrics metrics_of(ImFont* font, bool bold, bool monospace) {
    constexpr std::string_view sample = "0123456789";
    const float loaded = compat::font_size(font), width = compat::text_size(font, sample).x;
    const auto em = static_cast<float>(core::text_width_em(sample, bold, monospace));
    const float size = width > 0.0F ? em * loaded / width : 1.0F;
    return {size, size * compat::ascent(*font) / loaded};
}

struct Pen {
    const Ui& ui;
    ImDrawList& list;
    PlacedFigure placed;
    std::uint64_t version;
    std::uint64_t grids = 0;

    [[nodiscard]] float length(double units) const { return placed.scale * static_cast<float>(units); }
    // Thin lines stay visible.
    [[nodiscard]] float stroke(double units) const { return std::max(length(units), 0.6F); }
    [[nodiscard]] Area area(const core::figure::Box& box) const {
        return {placed.at(box.x, box.y), placed.at(box.right(), box.bottom())};
    }

    void operator()(const core::figure::FilledRectangle& rectangle) const {
        const Area box = area(rectangle.box);
        list.AddRectFilled(box.low, box.high, to_imgui(rectangle.fill));
    }

    void operator()(const core::figure::Line& line) const {
        list.AddLine(placed.at(line.x1, line.y1), placed.at(line.x2, line.y2), to_imgui(line.color),
                     stroke(line.width));
    }

    // Without dashes: what they tell apart is also told by the legend's words.
    void operator()(const core::figure::Polyline& line) const {
        std::vector<ImVec2> points;
        for (const core::figure::Point& point : line.points) points.push_back(placed.at(point.x, point.y));
        if (line.dash <= 0) return compat::add_polyline(list, points, to_imgui(line.color), stroke(line.width));
        for (std::size_t i = 0; i + 1 < points.size(); i += 2)
            list.AddLine(points[i], points[i + 1], to_imgui(line.color), stroke(line.width));
    }

    void operator()(const core::figure::Circle& circle) const {
        const ImVec2 center = placed.at(circle.center.x, circle.center.y);
        list.AddCircleFilled(center, length(circle.radius), to_imgui(circle.fill));
        list.AddCircle(center, length(circle.radius), to_imgui(circle.edge), 0, stroke(circle.edge_width));
    }

    void operator()(const core::figure::HatchedRectangle& rectangle) const {
        for (const core::figure::Segment& segment : core::figure::hatch_segments(rectangle)) {
            const ImVec2 from = placed.at(segment.x1, segment.y1), to = placed.at(segment.x2, segment.y2);
            const float width = stroke(core::figure::stroke_width(rectangle));
            if (from.x == to.x && from.y == to.y)
                list.AddCircleFilled(from, width / 2, to_imgui(rectangle.color), 6);
            else
                list.AddLine(from, to, to_imgui(rectangle.color), width);
        }
    }

    void operator()(const core::figure::CellGrid& grid) {
        if (grid.rows == 0 || grid.columns == 0) return;
        const std::uint64_t key = 0x6669677572650000ULL + grids++;
        ImTextureID texture = ui.textures.find(key, version);
        if (texture == ImTextureID()) {
            texture = ui.textures.upload(key, static_cast<int>(grid.columns), static_cast<int>(grid.rows),
                                         to_imgui(grid.colors), version);
        }
        const Area box = area(grid.box);
        compat::add_pixels(list, texture, box.low, box.high);
    }

    void operator()(const core::figure::Text& text) const {
        ImFont* font = text.monospace ? ui.fonts.mono : text.bold ? ui.fonts.heading : ui.fonts.text;
        const Metrics metrics = metrics_of(font, text.bold, text.monospace);
        const std::string shown = core::printable(text.text);
        const float em = length(text.size), size = em * metrics.size;
        const float width = compat::text_size(font, shown).x * size / compat::font_size(font);
        const float back = text.anchor == core::figure::Anchor::start    ? 0.0F
                           : text.anchor == core::figure::Anchor::middle ? width / 2
                                                                         : width;
        const ImVec2 base = placed.at(text.x, text.y);
        const compat::Turned upright{base};
        compat::add_sized_text(list, font, size, {base.x - back, base.y - em * metrics.ascent}, to_imgui(text.color),
                               shown, text.vertical ? &upright : nullptr);
    }
};

// Draws a figure as large as an area has room for, at its middle. `version` is another one whenever the figure is.
PlacedFigure draw_figure(const Ui& ui, const core::Figure& figure, std::uint64_t version, Area area) {
    const float scale =
        std::min(area.width() / static_cast<float>(figure.width), area.height() / static_cast<float>(figure.height));
    const ImVec2 size = {scale * static_cast<float>(figure.width), scale * static_cast<float>(figure.height)};
    const PlacedFigure placed{{area.low.x + (area.width() - size.x) / 2, area.low.y + (area.height() - size.y) / 2},
                              scale};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(area.low, area.high, true);
    list.AddRectFilled(placed.origin, {placed.origin.x + size.x, placed.origin.y + size.y},
                       to_imgui(figure.background));
    Pen pen{ui, list, placed, version};
    for (const core::figure::Primitive& primitive : figure.primitives) std::visit(pen, primitive);
    list.PopClipRect();
    return placed;
}

// What is drawn in a window must be drawn at once: of more cells than this nothing is shown before they are written.
constexpr Index kMostShown = 4'000'000;

// The picture of what is chosen, made again when that or how it is drawn has changed.
const ExportDialogState::Preview& preview_of(ExportDialogState& dialog) {
    const ExportChoice& choice = dialog.choices[dialog.chosen];
    if (dialog.preview && dialog.preview->chosen == dialog.chosen && dialog.preview->options == dialog.options)
        return *dialog.preview;
    const std::uint64_t version = dialog.preview ? dialog.preview->version + 1 : 1;
    ExportDialogState::Preview made{.chosen = dialog.chosen, .options = dialog.options, .version = version};
    try {
        const core::Exhibit exhibit = core::cropped(choice.in_english(), dialog.options.crop);
        Index cells = 0;
        for (const core::Panel& panel : exhibit.panels) cells += panel.rows * panel.columns;
        if (cells > kMostShown)
            throw Error("{cells} numbers: too many to be shown here before they are written", {{"cells", cells}});
        if (!exhibit.panels.empty()) made.shown = exhibit.panels.front().heatmap();
        made.figure = core::exhibit_figure(exhibit, dialog.options.style);
    } catch (const Error& error) {
        made.why_not = error.sentence();
    }
    dialog.preview = std::move(made);
    return *dialog.preview;
}

// Where the cells of a figure's heatmaps are: whichever grid is as large as the one that is shown.
const core::figure::Box* cells_at(const ExportDialogState::Preview& preview, double x, double y, bool anywhere) {
    for (const core::figure::Primitive& primitive : preview.figure->primitives) {
        const auto* grid = std::get_if<core::figure::CellGrid>(&primitive);
        if (grid == nullptr || grid->rows != preview.shown.rows || grid->columns != preview.shown.columns) continue;
        const core::figure::Box& box = grid->box;
        const bool across = x >= box.x && x < box.right(), down = y >= box.y && y < box.bottom();
        if (anywhere || (across && down) || (across && y < box.y) || (down && x < box.x)) return &box;
    }
    return nullptr;
}

// The row and column at a point of the figure; −1 for the column of what is left of the cells, and for the row of what
// is above them: labels, along which one drags as well.
std::array<Index, 2> cell_at(const ExportDialogState::Preview& preview, const core::figure::Box& box, double x,
                             double y) {
    const auto along = [](double at, double from, double length, Index count) {
        const auto number = static_cast<Index>(std::floor((at - from) / length * static_cast<double>(count)));
        return std::clamp<Index>(number, -1, count - 1);
    };
    return {along(y, box.y, box.height, preview.shown.rows), along(x, box.x, box.width, preview.shown.columns)};
}

// What is kept of an axis once this part of what is kept of it now is chosen.
core::Extent narrowed(const std::vector<Index>& kept, Index a, Index b) {
    const auto number = [&](Index at) { return kept.empty() ? at : kept[static_cast<std::size_t>(at)]; };
    return {number(std::min(a, b)), number(std::max(a, b)) + 1};
}

// A drag over cells keeps these, over labels those rows or columns.
void drag_crop(const Ui& ui, ExportDialogState& dialog, const ExportDialogState::Preview& preview, Area area) {
    const PlacedFigure& placed = dialog.placed;
    const bool can_crop = preview.shown.rows * preview.shown.columns > 1 && !dialog.options.style.lines;
    ImGui::SetCursorScreenPos(area.low);
    press_area("picture", {area.width(), area.height()});
    if (!can_crop) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const double x = (mouse.x - placed.origin.x) / placed.scale, y = (mouse.y - placed.origin.y) / placed.scale;
    const core::figure::Box* box = cells_at(preview, x, y, dialog.dragged_from.has_value());
    if (ImGui::IsItemActivated() && box != nullptr) dialog.dragged_from = cell_at(preview, *box, x, y);
    if (!dialog.dragged_from || box == nullptr) return;
    const std::array<Index, 2> from = *dialog.dragged_from;
    std::array<Index, 2> to = cell_at(preview, *box, x, y);
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
        if (from[axis] >= 0 && to[axis] < 0) to[axis] = 0;
    const bool rows = from[0] >= 0, columns = from[1] >= 0;
    if (ImGui::IsItemActive()) {
        const auto edge = [](double low, double length, Index count, Index at) {
            return low + length * static_cast<double>(at) / static_cast<double>(count);
        };
        const Index count_y = preview.shown.rows, count_x = preview.shown.columns;
        const ImVec2 low = placed.at(columns ? edge(box->x, box->width, count_x, std::min(from[1], to[1])) : box->x,
                                     rows ? edge(box->y, box->height, count_y, std::min(from[0], to[0])) : box->y),
                     high = placed.at(
                         columns ? edge(box->x, box->width, count_x, std::max(from[1], to[1]) + 1) : box->right(),
                         rows ? edge(box->y, box->height, count_y, std::max(from[0], to[0]) + 1) : box->bottom());
        compat::add_rect(*ImGui::GetWindowDrawList(), low, high, ui.theme.accent, 0.0F, ui.px(2));
        return;
    }
    dialog.dragged_from.reset();
    if (from == to) return;  // a click keeps no single cell by mistake
    if (rows) dialog.options.crop.rows = narrowed(preview.shown.kept_rows, from[0], to[0]);
    if (columns) dialog.options.crop.columns = narrowed(preview.shown.kept_columns, from[1], to[1]);
}

void draw_picture(const Ui& ui, ExportDialogState& dialog, Area area) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.low, area.high, ui.theme.background, ui.px(4));
    const ExportDialogState::Preview& preview = preview_of(dialog);
    const float line = compat::font_size(ui.fonts.caption), pad = ui.px(12);
    Area room{{area.low.x + pad, area.low.y + pad + line}, {area.high.x - pad, area.high.y - pad - line}};
    if (!preview.figure) {
        text_block(ui, ui.hint(), room, tr(preview.why_not));
        return;
    }
    dialog.placed = draw_figure(ui, *preview.figure, preview.version, room);
    const double cm = preview.figure->width / 96 * 2.54, high = preview.figure->height / 96 * 2.54;
    const std::string size =
        dialog.inches ? tr("{width} × {height} in", {{"width", core::short_number_text(cm / 2.54, 3)},
                                                     {"height", core::short_number_text(high / 2.54, 3)}})
                      : tr("{width} × {height} cm",
                           {{"width", core::short_number_text(cm, 3)}, {"height", core::short_number_text(high, 3)}});
    draw_text(ui, ui.note(), {area.low.x + pad, area.low.y + ui.px(6)}, size, room.width());
    if (!dialog.options.style.lines)
        draw_text(ui, ui.note(), {area.low.x + pad, area.high.y - ui.px(6) - line},
                  tr("Drag over cells, or over the words beside them, to keep only those."), room.width());
    drag_crop(ui, dialog, preview, area);
}

// ---- its choices

// By a click, or by the arrow keys, which take the file's name out of the field until it is another one.
void choose_what(const Ui& ui, ExportDialogState& dialog) {
    const auto now = static_cast<int>(dialog.chosen);
    int chosen = row_by_arrows(now, dialog.choices.size());
    if (chosen != now && typing()) {
        compat::clear_active();
        dialog.refocus = true;
    }
    text_line(ui.note(), tr("Picture"));
    ImGui::SetNextItemWidth(ui.px(kChoicesWidth));
    if (begin_list("##what", dialog.choices[dialog.chosen].label.c_str(), ImGuiComboFlags_HeightLarge)) {
        for (std::size_t i = 0; i < dialog.choices.size(); ++i)
            if (press_row(labelled(dialog.choices[i].label, std::to_string(i)).c_str(), i == dialog.chosen))
                chosen = static_cast<int>(i);
        ImGui::EndCombo();
    }
    if (chosen == now) return;
    core::Crop& crop = dialog.options.crop;
    // A part of other heads is the same part; one of a tensor of another shape isn't.
    std::vector<core::Panel> panels;
    if (crop.rows || crop.columns)
        for (const int choice : {now, chosen})
            std::ranges::move(dialog.choices[static_cast<std::size_t>(choice)].exhibit().panels,
                              std::back_inserter(panels));
    const auto alike = [&](const core::Panel& panel) {
        return panel.rows == panels.front().rows && panel.columns == panels.front().columns;
    };
    if (!std::ranges::all_of(panels, alike)) crop = {.special = crop.special};
    dialog.chosen = static_cast<std::size_t>(chosen);
    dialog.typed = false;
    rename(dialog);
}

// A strip of each map with its name; the one that is used is outlined. Lines have a colour of their own.
void choose_colors(const Ui& ui, ExportDialogState& dialog) {
    text_line(ui.note(), tr("Colours"));
    core::FigureStyle& style = dialog.options.style;
    const bool has_picture = dialog.preview && !dialog.preview->shown.values.empty();
    const bool sequential = !has_picture || dialog.preview->shown.scale == core::Scale::sequential;
    const core::ColorMap own = sequential ? style.sequential : style.diverging, used = style.map.value_or(own);
    const float gap = ui.px(6), height = ui.px(18), line = compat::font_size(ui.fonts.caption);
    const auto maps = core::export_color_maps();
    const float width =
        (ui.px(kChoicesWidth) - gap * static_cast<float>(maps.size() - 1)) / static_cast<float>(maps.size());
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::BeginDisabled(style.lines);
    for (std::size_t i = 0; i < maps.size(); ++i) {
        const core::ColorMap map = maps[i].first;
        const char* name = tr(maps[i].second);
        const bool outlined = map == used && !style.lines;
        const float x = start.x + static_cast<float>(i) * (width + gap);
        const Area strip{{x, start.y}, {x + width, start.y + height}};
        constexpr int kParts = 24;
        const bool diverging = map == core::ColorMap::blue_orange;
        for (int part = 0; part < kParts; ++part) {
            const float at = (static_cast<float>(part) + 0.5F) / kParts;
            const core::Rgba color =
                core::color_of(diverging ? 2 * at - 1 : at, {diverging ? -1.0F : 0.0F, 1.0F},
                               diverging ? core::Scale::diverging : core::Scale::sequential, map, style.dark);
            list.AddRectFilled({x + width * static_cast<float>(part) / kParts, strip.low.y},
                               {x + width * static_cast<float>(part + 1) / kParts, strip.high.y}, to_imgui(color));
        }
        if (outlined)
            compat::add_rect(list, {x - ui.px(2), start.y - ui.px(2)}, {x + width + ui.px(2), strip.high.y + ui.px(2)},
                             ui.theme.accent, ui.px(2), ui.px(2));
        const float text = compat::text_size(ui.fonts.caption, name).x;
        draw_text(ui, {ui.fonts.caption, outlined ? ui.theme.text : ui.theme.muted},
                  {x + std::max(0.0F, (width - text) / 2), strip.high.y + ui.px(4)}, name, width + gap);
        if (press_at("map", {{x, start.y}, {x + width, strip.high.y + ui.px(4) + line}}, static_cast<std::int64_t>(i),
                     name))
            style.map = map == own ? std::nullopt : std::optional(map);
    }
    ImGui::EndDisabled();
    if (style.lines)
        list.AddRectFilled(start, {start.x + ui.px(kChoicesWidth), start.y + height},
                           with_alpha(ui.theme.background, 0.6F));
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({ui.px(kChoicesWidth), height + ui.px(4) + line});
}

// A field for a number with its unit; what can't be read is said, and changes nothing.
void number_field(const Ui& ui, ExportDialogState& dialog, const char* id, std::string& text, const std::string& hint,
                  const std::function<void()>& take) {
    ImGui::SetNextItemWidth(ui.px(64));
    text_field(id, text, ImGuiInputTextFlags_AutoSelectAll, hint.c_str());
    if (!ImGui::IsItemEdited()) return;
    dialog.said.clear();
    try {
        take();
    } catch (const Error& error) {
        dialog.said = tr(error.sentence());
    }
}

void choose_size(const Ui& ui, ExportDialogState& dialog) {
    static constexpr std::array<const char*, 2> units = {"cm", "in"};
    text_line(ui.note(), tr("Width, and size of letters"));
    const auto take_width = [&] {
        dialog.options.style.width =
            dialog.width.empty() ? 0.0 : core::width_from(dialog.width + units[dialog.inches ? 1 : 0]);
    };
    number_field(ui, dialog, "##width", dialog.width, tr("own"), take_width);
    tooltip(tr("Of the whole figure; empty: as wide as reads best. A column of a paper is often 8.5 cm."));
    ImGui::SameLine();
    if (const int clicked = segmented(ui, "unit", units, dialog.inches ? 1 : 0); clicked >= 0) {
        dialog.inches = clicked == 1;
        if (dialog.options.style.width > 0)
            dialog.width = core::short_number_text(dialog.options.style.width / 96 * (dialog.inches ? 1 : 2.54), 3);
    }
    ImGui::SameLine(0, ui.px(20));
    number_field(ui, dialog, "##letters", dialog.font_size, "8.25", [&] {
        dialog.options.style.font_size = core::font_size_from(dialog.font_size.empty() ? "8.25" : dialog.font_size);
    });
    ImGui::SameLine();
    word_beside(ui, "pt");
}

// Buttons that look pressed while their part is shown, in as many lines as they need.
void choose_parts(const Ui& ui, ExportDialogState& dialog) {
    text_line(ui.note(), tr("Show"));
    core::FigureStyle& style = dialog.options.style;
    std::vector<FlowItem> items;
    const auto add = [&](const char* text, const char* id, bool on, std::function<void()> act, const char* tip = "") {
        items.push_back(toggle_item(ui, text, id, on, tip, ui.px(6), std::move(act)));
    };
    const auto flip = [](bool& part) { return [&part] { part = !part; }; };
    add(tr("Title"), "title", style.title, flip(style.title));
    add(tr("Numbers"), "numbers", style.numbers, flip(style.numbers));
    add(tr("Colour bar"), "bar", style.bar, flip(style.bar));
    add(tr("Caption"), "caption", style.notes, flip(style.notes), tr("What was run and changed, in a line below"));
    add(tr("Special tokens"), "special", dialog.options.crop.special, flip(dialog.options.crop.special),
        tr("The rows and columns of tokens that begin, end and pad a text"));
    add(tr("Lines"), "lines", style.lines, flip(style.lines),
        tr("An attention's weights as lines from queries to keys, in place of cells"));
    add(tr("Dark ground"), "dark", style.dark, flip(style.dark));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ui.px(kChoicesWidth), height = draw_flow(ui, items, {start, {start.x + width, start.y}});
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({width, height});
}

// "“animal” to “tired”, 11 of 12 × 11 of 12", and a way back.
void draw_crop(const Ui& ui, ExportDialogState& dialog) {
    word_before(ui, tr("Part"), 12.0F);
    core::Crop& crop = dialog.options.crop;
    const bool is_part = crop.rows || crop.columns;
    const core::Heatmap* shown = dialog.preview ? &dialog.preview->shown : nullptr;
    std::string text = tr("All of it");
    if (is_part && shown != nullptr)
        text = std::to_string(shown->rows) + " × " + std::to_string(shown->columns) + "  [" + core::text_of(crop) + "]";
    // As high with the button as without: what stands below doesn't move.
    const float height = ImGui::GetFrameHeight(),
                room = ui.px(kChoicesWidth) - button_width(tr("All of it")) - ui.px(80);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float y = at.y + (height - compat::font_size(ui.fonts.text)) * 0.5F;
    const float width = draw_text(ui, ui.body(), {at.x, y}, text, room);
    ImGui::Dummy({width, height});
    if (!is_part) return;
    ImGui::SameLine(0, ui.px(12));
    if (button(tr("All of it"), "uncrop")) {
        crop.rows.reset();
        crop.columns.reset();
    }
}

// What a format has no use for is out of use, and keeps its place: what stands below doesn't move.
void choose_format(const Ui& ui, ExportDialogState& dialog) {
    const Sentence obstacle = core::pdf_obstacle();
    text_line(ui.note(), tr("Format"));
    ImGui::SetNextItemWidth(ui.px(150));
    if (begin_list("##format", kFormats[dialog.format].label, ImGuiComboFlags_HeightLarge)) {
        for (std::size_t i = 0; i < kFormats.size(); ++i) {
            const bool offered = kFormats[i].label != kPdf || obstacle.empty();
            if (offered && press_row(kFormats[i].label, i == dialog.format)) {
                dialog.format = i;
                rename(dialog);
            }
        }
        ImGui::EndCombo();
    }
    if (!obstacle.empty()) tooltip(tr(obstacle).c_str());
    ImGui::SameLine(0, ui.px(20));
    ImGui::BeginDisabled(dialog.format != 0);
    number_field(ui, dialog, "##dpi", dialog.dpi, "192", [&] {
        const auto dpi = number_within<double>(dialog.dpi.empty() ? "192" : dialog.dpi, core::bounds::kDpi);
        if (!dpi)
            throw Error("“{text}”: expected pixels per inch from 36 to 2400, such as 300", {{"text", dialog.dpi}});
        dialog.options.scale = *dpi / 96;
    });
    ImGui::SameLine();
    word_beside(ui, "dpi");
    ImGui::EndDisabled();
}

// The folder that the file comes into, or the question whether to replace what is there.
void draw_where(const Ui& ui, const ViewState& state, const std::string& path) {
    if (replacing(state, path)) return draw_replacing(ui, state, path, ui.px(kChoicesWidth));
    const std::string folder = std::filesystem::path(absolute_path(path)).parent_path().string();
    text_line(ui.note(), fitted(ui.fonts.caption, tr("in {folder}", {{"folder", folder}}), ui.px(kChoicesWidth)));
}

// Limited, as copying everything by mistake would flood the clipboard.
Sentence copy_as_csv(const core::Exhibit& exhibit) {
    constexpr Index kMostCells = 1'000'000;
    Index cells = 0;
    for (const core::Panel& panel : exhibit.panels) cells += panel.rows * panel.columns;
    if (cells > kMostCells)
        return message("Not copied: {cells} numbers are too many, at most {most}. Export them instead.",
                       {{"cells", cells}, {"most", kMostCells}});
    std::ostringstream text;
    core::write_csv(text, exhibit);
    ImGui::SetClipboardText(text.str().c_str());
    return message("Copied as CSV.");
}

request::CopyPicture picture_of(const ExportChoice& choice, const ViewState& state) {
    core::ExportOptions options = state.part<ExportDialogState>().options;  // in the window's colour map
    options.style.sequential = state.settings.sequential;
    return {std::make_shared<const core::Exhibit>(choice.in_english()), options};
}

// A small export's progress would be nothing but a flash.
bool is_worth_showing(const std::optional<core::Exporter::Progress>& progress) {
    constexpr std::size_t kWorthShowing = 8;
    return progress && progress->total >= kWorthShowing;
}

}  // namespace

Sentence copy_shown_as_csv(const core::Session& session, const ViewState& state) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (choices.empty())
        return message("{name} is being computed: nothing was copied", {{"name", session.step().name}});
    return copy_as_csv(choices.front().in_english());
}

std::vector<Sentence> shown_in_words(const core::Session& session, const ViewState& state) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    return choices.empty() ? std::vector<Sentence>() : core::said(choices.front().exhibit());
}

void copy_shown_as_picture(const core::Session& session, const ViewState& state, Commands& commands) {
    const std::vector<ExportChoice> choices = export_choices(session, state);
    if (!choices.empty()) commands.push_back(picture_of(choices.front(), state));
}

namespace {

// The command that writes the same file, to the clipboard. Returns the message to show.
Sentence copy_command(const core::Session& session, const ExportDialogState& dialog, const std::string& path) {
    const ExportChoice& choice = dialog.choices[dialog.chosen];
    if (choice.command.empty()) return message("There is no command for this: choose a step, or all of its heads.");
    const std::string file = session.unsaved() ? "" : session.file();
    const std::optional<std::string> run = core::arguments_of_run(session.shown().scenario, file);
    if (!run) return message("Save your work first: the command then takes its file.");
    core::ExportOptions options = dialog.options;
    // What the settings chose is said, too, where it is used.
    const bool sequential = dialog.preview && dialog.preview->shown.scale == core::Scale::sequential;
    if (!options.style.map && sequential && options.style.sequential != core::FigureStyle().sequential)
        options.style.map = options.style.sequential;
    std::string command = "decoderscope export ";  // not a message: what is typed
    command += *run + " " + choice.command + core::command_options(options) + " --out " + path;
    if (choice.each) command += std::string(" --format ") + (kFormats[dialog.format].ending + 1);
    ImGui::SetClipboardText(command.c_str());
    return message("Copied the command.");
}

// The rest: other ways to take the picture along.
void draw_more(const core::Session& session, ViewState& state, const std::string& path, Commands& commands) {
    ExportDialogState& dialog = state.part<ExportDialogState>();
    const ExportChoice& choice = dialog.choices[dialog.chosen];
    if (!begin_list("##copy", tr("Copy …"), ImGuiComboFlags_HeightLarge)) return;
    if (press_row(tr("Copy as CSV")))
        dialog.said = tr(copy_as_csv(core::cropped(choice.in_english(), dialog.options.crop)));
    if (press_row(tr("Copy the command"))) dialog.said = tr(copy_command(session, dialog, path));
    if (press_row(tr("Copy link"))) {
        ImGui::EndCombo();
        close_export(state);
        return copy_link(session, state, commands);
    }
    tooltip(tr("A link that opens all of this as it is now: the model, its input, the edits and the view"));
    ImGui::EndCombo();
}

}  // namespace

void draw_export_dialog(const Ui& ui, const core::Session& session, ViewState& state, Commands& commands) {
    ExportDialogState& dialog = state.part<ExportDialogState>();
    if (state.dialog_opens || dialog.choices.empty()) open(dialog, session, state);
    text_line(ui.title(), tr("Export"));
    if (dialog.choices.empty()) {  // what is shown has no values yet; the dialog goes on once they are there
        text_line(ui.hint(), tr("{name}: being computed …", {{"name", session.step().name}}).c_str());
        if (button(tr("Cancel"), "cancel") || (!state.dialog_opens && pressed(Key::escape))) close_export(state);
        return;
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize, start = ImGui::GetCursorScreenPos();
    const float gap = ui.px(16), column = ui.px(kChoicesWidth);
    const float width = std::clamp(screen.x - column - 4 * gap - ui.px(24), ui.px(200), ui.px(760));
    const float height = std::clamp(screen.y - start.y - 2 * gap - ui.px(12), ui.px(240), ui.px(560));
    draw_picture(ui, dialog, {start, {start.x + width, start.y + height}});
    ImGui::SetCursorScreenPos({start.x + width + gap, start.y});
    ImGui::BeginGroup();
    choose_what(ui, dialog);
    choose_colors(ui, dialog);
    choose_size(ui, dialog);
    choose_parts(ui, dialog);
    draw_crop(ui, dialog);
    choose_format(ui, dialog);
    const ExportChoice& choice = dialog.choices[dialog.chosen];
    text_line(ui.note(), choice.each ? tr("Folder") : tr("File"));
    ImGui::SetNextItemWidth(column);
    if (std::exchange(dialog.refocus, false) || state.dialog_opens) compat::take_keyboard();
    const bool entered =
        text_field("##path", dialog.path, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    if (ImGui::IsItemEdited()) read_ending(dialog);
    const std::string path = core::path_of(dialog.path);
    draw_where(ui, state, path);
    ImGui::PushStyleColor(ImGuiCol_Button, ui.theme.accent);
    ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.background);
    const bool clicked = write_button(replacing(state, path), tr("Save"), "export");
    ImGui::PopStyleColor(2);
    ImGui::SameLine();
    if (button(tr("Copy picture"), "picture")) commands.push_back(picture_of(choice, state));
    ImGui::SameLine();
    ImGui::SetNextItemWidth(button_width(tr("Copy …")) + ImGui::GetFrameHeight());
    draw_more(session, state, path, commands);
    if (state.dialog != Dialog::export_file) return ImGui::EndGroup();
    ImGui::SameLine();
    const bool cancelled = button(tr("Cancel"), "cancel");
    paragraph(ui.note(), dialog.said, column);
    ImGui::EndGroup();
    // Escape first takes back what was cropped.
    if (!state.dialog_opens && pressed(Key::escape)) {
        if (!dialog.options.crop.rows && !dialog.options.crop.columns) return close_export(state);
        dialog.options.crop = {.special = dialog.options.crop.special};
    }
    if (cancelled) return close_export(state);
    const bool again = replacing(state, path) && pressed(Key::enter);
    const bool wanted = (entered || clicked || again) && !dialog.path.empty();
    // A folder that isn't empty is refused anyway.
    if (choice.each ? !wanted : !may_write(state, path, wanted)) return;
    commands.push_back(core::command::Export{path, std::make_shared<const core::Exhibit>(choice.in_english()),
                                             dialog.options, choice.each ? kFormats[dialog.format].ending : ""});
    close_export(state);
}

float export_progress_height(const Ui& ui, const core::Session& session) {
    if (!is_worth_showing(session.exporting())) return 0.0F;
    return ImGui::GetFrameHeight() + compat::font_size(ui.fonts.caption) + ui.px(20);
}

void draw_export_progress(const Ui& ui, const core::Session& session, Area area, Commands& commands) {
    const std::optional<core::Exporter::Progress> progress = session.exporting();
    if (!is_worth_showing(progress)) return;
    ImGui::GetWindowDrawList()->AddRectFilled(area.low, area.high, ui.theme.raised);
    const float pad = ui.px(14), gap = ui.px(8), frame = ImGui::GetFrameHeight();
    const std::string count = tr("{done} of {total}", {{"done", progress->done}, {"total", progress->total}});
    const float cancel_x = area.high.x - pad - button_width(tr("Cancel"));
    ImGui::SetCursorScreenPos({area.low.x + pad, area.low.y + ui.px(6)});
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, ui.theme.accent_soft);
    ImGui::ProgressBar(static_cast<float>(progress->done) / static_cast<float>(progress->total),
                       {cancel_x - gap - area.low.x - pad, 0.0F}, count.c_str());
    ImGui::PopStyleColor();
    ImGui::SetCursorScreenPos({cancel_x, area.low.y + ui.px(6)});
    if (button(tr("Cancel"), "stop")) commands.push_back(core::command::StopExport{});
    draw_text(ui, ui.note(), {area.low.x + pad, area.low.y + ui.px(10) + frame},
              tr("Writing {path}", {{"path", progress->path}}), area.width() - 2.0F * pad);
}

}  // namespace decoderscope::views::dialogs
