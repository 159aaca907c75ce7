#include "app/core/tabs/step/explanation_text.h"
#include "app/core/tabs/step/history.h"
#include "app/core/tabs/step/readers.h"
#include "app/core/text/numbers.h"
#include "app/views/inspector/inspector.h"
#include "app/views/widgets/heatmap_view.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cstddef>
#include <string>

// Where the selected cell goes next, and what made its coordinate of the stream.
namespace decoderscope::views::inspector {

namespace {

constexpr std::size_t kMostReaders = 8;

// A step's name at the left, cut to what the number at the right leaves; returns whether it was clicked.
bool link_with_number(const Ui& ui, const std::string& name, const std::string& number, ImU32 color, int id) {
    const float room = ImGui::GetContentRegionAvail().x - compat::text_size(ui.fonts.mono_small, number).x - ui.px(8);
    return link(ui, ui.fonts.mono_small, color, fitted_in_middle(ui.fonts.mono_small, name, room), id);
}

void list_reader(const Ui& ui, const Plan& plan, const decoderscope::sheet::Reader& reader, int id,
                 Commands& commands) {
    const Step& step = plan[reader.step];
    const std::string name = core::step::reader_text(plan, reader),
                      count = core::grouped(static_cast<Index>(reader.count));
    if (link_with_number(ui, name, count, ink_of(step.meaning, ui.theme), id))
        commands.push_back(core::command::Follow{step.name, reader.nearest});
    tooltip((name + "\n" + tr(core::counted_numbers(reader.count)) + "\n" +
             tr("Go to {step}", {{"step", cell_name(step.name, reader.nearest)}}))
                .c_str());
    at_right_edge(ui, ui.fonts.mono_small, ui.theme.muted, count);
}

// A head's keys side by side: as wide as the line, filled by weight, hatched if a mask hides the key.
void draw_keys(const Ui& ui, const core::step::HistoryRow& row) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(8);
    ImGui::Dummy({width, height + ui.px(2)});
    const float each = width / static_cast<float>(row.keys.size());
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
        const float left = at.x + each * static_cast<float>(i);
        const Area box = {{left, at.y}, {left + each - ui.px(1), at.y + height}};
        const core::step::GatheredKey& key = row.keys[i];
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, ui.theme.raised);
        if (key.hidden != core::hidden_by::nothing)
            draw_hatch(ui, key.hidden, box, ui.px(4));
        else
            ImGui::GetWindowDrawList()->AddRectFilled(
                box.low, box.high, with_alpha(color_of(Meaning::attention), std::clamp(key.weight, 0.0F, 1.0F)));
    }
}

void list_row(const Ui& ui, const core::step::HistoryRow& row, Meaning meaning, int id, Commands& commands) {
    const std::string numbers = short_number(row.write) + "  " + short_number(row.total);
    const std::string name = tr(core::step::name_of(row.writer));
    if (link_with_number(ui, name, numbers, ink_of(meaning, ui.theme), id))
        commands.push_back(core::command::Follow{row.step, row.cell});
    const Sentence hidden = core::step::hidden_sentence(row);
    tooltip(
        (tr("{name} writes {write}; the stream then holds {total}.",
            {{"name", name}, {"write", core::number_text(row.write, 6)}, {"total", core::number_text(row.total, 6)}}) +
         (hidden.empty() ? std::string() : "\n" + std::string(tr(hidden))))
            .c_str());
    at_right_edge(ui, ui.fonts.mono_small, ui.theme.text, numbers);
    if (!row.keys.empty()) draw_keys(ui, row);
}

void list_history(const Ui& ui, const core::Session& session, const core::step::History& history, Commands& commands) {
    const Plan& plan = session.shown().run->plan();
    paragraph(ui.fonts.caption, ui.theme.muted,
              tr("What each part wrote into this column at this position, and the sum so far. Under a head: how much "
                 "each key weighed; hatched, the keys that the mask hides."));
    for (std::size_t i = 0; i < history.rows.size(); ++i) {
        const Ref step = plan.find(history.rows[i].step);
        list_row(ui, history.rows[i], step == nullptr ? Meaning::residual : step->meaning, 8600 + static_cast<int>(i),
                 commands);
    }
}

}  // namespace

void inspect_history(const Ui& ui, const core::Session& session, Commands& commands) {
    const Step& step = session.step();
    if (!core::step::is_stream(session.shown().run->plan(), step)) return;
    section_line(ui);
    text_line(ui.fonts.caption, ui.theme.muted, tr("History: who wrote this number?"));
    const core::Value<core::step::History> history =
        core::step::shown_history(session.derived(), session.shown(), step, *session.cursor().cell);
    if (!history) return text_line(ui.fonts.caption, ui.theme.muted, tr("Being computed …"));
    list_history(ui, session, *history, commands);
}

void inspect_readers(const Ui& ui, const core::Session& session, Commands& commands) {
    const core::Value<core::step::ShownReaders> shown =
        core::step::shown_readers(session.derived(), session.shown(), session.step(), *session.cursor().cell);
    section_line(ui);
    text_line(ui.fonts.caption, ui.theme.muted, tr("Read by"));
    if (!shown) return text_line(ui.fonts.caption, ui.theme.muted, tr("Being computed …"));
    if (shown->readers.empty()) return text_line(ui.fonts.caption, ui.theme.muted, tr("No step reads it."));
    const std::size_t listed = std::min(shown->readers.size(), kMostReaders);
    for (std::size_t i = 0; i < listed; ++i)
        list_reader(ui, session.shown().run->plan(), shown->readers[i], 8400 + static_cast<int>(i), commands);
    if (listed < shown->readers.size())
        text_line(ui.fonts.caption, ui.theme.muted,
                  tr_n("… and {count} more", "… and {count} more", shown->readers.size() - listed));
}

}  // namespace decoderscope::views::inspector
