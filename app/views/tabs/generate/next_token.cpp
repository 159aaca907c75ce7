#include "app/core/figure/heatmap_image.h"
#include "app/core/generate/generator.h"
#include "app/core/text/numbers.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::views::generate {

namespace {

// Puts the next item on the same line if it fits, otherwise on the next line.
void flow(const Ui& ui, float gap, float width, float right) {
    if (ImGui::GetItemRectMax().x + ui.px(gap) + width <= right) ImGui::SameLine(0, ui.px(gap));
}

void transport(const GenerateScene& scene) {
    const Ui& ui = scene.ui;
    GenerateTabState& tab = scene.tab();
    const std::string ended = why_text_ends(scene.scenario(), scene.row);
    const bool more = ended.empty() && scene.next->next.has_value();
    const char* stopped = ended.empty() ? tr("No token can be drawn") : ended.c_str();
    if (icon_button(ui, "back", Icon::back, scene.length > 1, tr("Step back: remove the last token (,)")))
        step_back(scene.session, scene.commands);
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "one", Icon::forward, more, more ? tr("Generate one token (.)") : stopped))
        static_cast<void>(generate_token(scene.session, scene.commands));
    ImGui::SameLine(0, ui.px(2));
    if (icon_button(ui, "run", tab.running ? Icon::pause : Icon::last, more,
                    more ? tr("Generate to the end, or stop (R)") : stopped))
        tab.running = !tab.running;
}

// A slider that shows its value inside.
template <class Draw>
bool slider(const Ui& ui, const char* label, const char* name, const std::string& now, float width, float right,
            const char* tip, Draw draw) {
    flow(ui, 8, width, right);
    ImGui::SetNextItemWidth(width);
    focusable_field(label, now, name);
    for (const ImGuiCol grab : {ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive})  // keeps the value readable
        ImGui::PushStyleColor(grab, with_alpha(ui.theme.accent, 0.55F));
    const bool changed = draw();
    ImGui::PopStyleColor(2);
    if (!ImGui::IsItemActive()) tooltip(tip);
    return changed;
}

bool temperature_slider(const Ui& ui, double& temperature, float right) {
    auto value = static_cast<float>(temperature);
    const char* format = value == 0.0F ? tr("greedy") : tr("temperature %.2f");
    const bool changed = slider(
        ui, "##temperature", tr("temperature"), core::fixed_text(temperature, 2), ui.px(142), right,
        tr("Divides the logits: below 1 the probable tokens win more often, above 1 less. 0 always takes the first."),
        [&] { return ImGui::SliderFloat("##temperature", &value, 0.0F, 2.0F, format); });
    if (changed) temperature = std::max(0.0, std::round(static_cast<double>(value) * 100.0) / 100.0);
    return changed;
}

bool top_k_slider(const Ui& ui, Index& top_k, Index vocab, float right) {
    const int most = static_cast<int>(std::min<Index>(vocab, 100));
    int value = static_cast<int>(std::min<Index>(top_k, 1 << 24));
    const bool changed = slider(
        ui, "##top-k", tr("top-k"), std::to_string(top_k), ui.px(96), right,
        tr("Keeps only this many of the most probable tokens; 0 keeps all."),
        [&] { return ImGui::SliderInt("##top-k", &value, 0, most, value == 0 ? tr("top-k off") : tr("top-k %d")); });
    if (changed) top_k = std::max(0, value);
    return changed;
}

bool top_p_slider(const Ui& ui, double& top_p, float right) {
    auto value = static_cast<float>(top_p);
    const bool changed =
        slider(ui, "##top-p", tr("top-p"), core::fixed_text(top_p, 2), ui.px(104), right,
               tr("Keeps the most probable tokens that together reach this probability; 1 keeps all."), [&] {
                   return ImGui::SliderFloat("##top-p", &value, 0.01F, 1.0F,
                                             value >= 1.0F ? tr("top-p off") : tr("top-p %.2f"));
               });
    if (changed) top_p = std::clamp(std::round(static_cast<double>(value) * 100.0) / 100.0, 0.01, 1.0);
    return changed;
}

bool seed_field(const Ui& ui, std::uint64_t& seed, float right) {
    flow(ui, 12, ui.px(112), right);
    word_before(ui, tr("seed"));
    ImGui::SetNextItemWidth(ui.px(76));
    focusable_field("##seed", std::to_string(seed), tr("seed"));
    const bool changed = ImGui::InputScalar("##seed", ImGuiDataType_U64, &seed);
    tooltip(tr("The same seed draws the same tokens again, also after stepping back."));
    return changed;
}

struct Chip {
    std::string text;
    float width = 0.0F;
    Index position = 0;  // equal to the row's length: the token sampled next
};

// Breaks the chips into lines of the given width; a chip is never wider than a line.
std::vector<std::vector<Chip>> lines_of(const Ui& ui, const std::vector<Chip>& chips, float width) {
    std::vector<std::vector<Chip>> lines(1);
    float x = 0.0F;
    for (const Chip& chip : chips) {
        if (x > 0.0F && x + chip.width > width) {
            lines.emplace_back();
            x = 0.0F;
        }
        lines.back().push_back(chip);
        x += chip.width + ui.px(3);
    }
    return lines;
}

std::vector<Chip> chips_of(const GenerateScene& scene, float most) {
    const Ui& ui = scene.ui;
    std::vector<Chip> chips;
    const auto add = [&](const std::string& piece, Index position) {
        const std::string text = fitted(ui.fonts.mono_small, piece.empty() ? "∅" : piece, most - ui.px(10));
        chips.push_back({text, compat::text_size(ui.fonts.mono_small, text).x + ui.px(10), position});
    };
    for (Index position = 0; position < scene.length; ++position) add(scene.piece(scene.token_at(position)), position);
    const core::generate::ShownNextToken& shown = *scene.next;
    if (shown.next && why_text_ends(scene.scenario(), scene.row).empty())
        add(scene.piece(shown.next->candidates[shown.draw.rank].token), scene.length);
    return chips;
}

void chip_tooltip(const GenerateScene& scene, Index position, bool generated) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    if (position == scene.length) {
        text_line(ui.caption(), tr("drawn next; not in the text yet"));
    } else {
        const Index token = scene.token_at(position);
        text_line(ui.number(), tr("“{token}”  id {id}", {{"token", scene.piece(token)}, {"id", token}}));
        text_line(ui.note(), generated ? tr("position {position}, generated", {{"position", position}})
                                       : tr("position {position}, given", {{"position", position}}));
    }
    ImGui::EndTooltip();
}

void draw_chip(const GenerateScene& scene, const Chip& chip, Area box, Index first_generated) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool next = chip.position == scene.length, generated = !next && chip.position >= first_generated;
    if (!next) list.AddRectFilled(box.low, box.high, generated ? ui.theme.accent_soft : ui.theme.raised, ui.px(4));
    if (next) compat::add_rect(list, box.low, box.high, ui.theme.line, ui.px(4), ui.px(1));
    if (generated)
        list.AddRectFilled({box.low.x + ui.px(3), box.high.y - ui.px(2)}, {box.high.x - ui.px(3), box.high.y},
                           ui.theme.accent);
    draw_text(ui, {ui.fonts.mono_small, next ? ui.theme.muted : ui.theme.text},
              {box.low.x + ui.px(5), box.low.y + ui.px(4)}, chip.text);
    if (ImGui::IsWindowHovered() && box.contains(ImGui::GetIO().MousePos))
        chip_tooltip(scene, chip.position, generated);
}

// The page of the next token: its data, and how many rows are shown.
struct Bars {
    const GenerateScene& scene;
    const core::generate::ShownNextToken& shown;
    const core::generate::NextToken& next;
    bool draws = true;  // no token is sampled after a text that has ended; a click still appends one
    std::size_t rows = 0;
    double scale = 1.0;                             // the largest probability of both columns
    float before = 0.0F, after = 0.0F, bar = 0.0F;  // where the columns of bars begin, and how long a bar can be
};

std::string percent(double part) {
    if (part <= 0.0) return "0 %";
    return part < 0.0005 ? "< 0.1 %" : core::fixed_text(part * 100.0, 1) + " %";
}

const char* cut_name(core::generate::RemovedBy by) {
    const std::array<const char*, 4> names = {"", tr("not the first"), tr("cut by top-k"), tr("cut by top-p")};
    return names[static_cast<std::size_t>(by)];
}

// Each cut has its own hatch: top-k leans forward, top-p backward, greedy is dots.
std::uint8_t hatch_of_cut(core::generate::RemovedBy by) {
    return by == core::generate::RemovedBy::top_k   ? core::hidden_by::causal
           : by == core::generate::RemovedBy::top_p ? core::hidden_by::padding
                                                    : core::hidden_by::custom;
}

void row_tooltip(const Bars& bars, const core::generate::Candidate& candidate, std::size_t rank) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = bars.scene.ui;
    const auto line = [&](const std::string& text) { text_line(ui.note(), text); };
    text_line(ui.number(),
              tr("“{token}”  id {id}", {{"token", bars.scene.piece(candidate.token)}, {"id", candidate.token}}));
    line(tr("rank {rank} of {count}", {{"rank", rank + 1}, {"count", bars.next.candidates.size()}}));
    line(tr("logit {logit}", {{"logit", core::number_text(static_cast<double>(candidate.logit), 4)}}));
    line(tr("the model's probability {probability}", {{"probability", core::number_text(candidate.before, 4)}}));
    if (candidate.removed_by == core::generate::RemovedBy::nothing)
        line(tr("drawn with probability {probability}", {{"probability", core::number_text(candidate.after, 4)}}));
    else
        line(cut_name(candidate.removed_by));
    const Sentence full = core::generate::row_is_full(bars.scene.scenario(), bars.scene.row);
    line(full.empty() ? tr("click to append it") : tr(full));
    ImGui::EndTooltip();
}

void draw_bar(const Ui& ui, float x, Area row, float length, ImU32 color) {
    const float inset = std::min(ui.px(3), row.height() * 0.15F);
    ImGui::GetWindowDrawList()->AddRectFilled({x, row.low.y + inset},
                                              {x + std::max(length, ui.px(1)), row.high.y - inset}, color, ui.px(2));
}

void draw_row(const Bars& bars, std::size_t rank, Area row) {
    const Ui& ui = bars.scene.ui;
    const core::generate::Candidate& candidate = bars.next.candidates[rank];
    const bool cut = candidate.removed_by != core::generate::RemovedBy::nothing,
               drawn = bars.draws && rank == bars.shown.draw.rank;
    const bool clicked = press_at("token", row, static_cast<Index>(rank));
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered || drawn)
        list.AddRectFilled(row.low, row.high, drawn ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
    const float y = row.low.y + (row.height() - compat::font_size(ui.fonts.mono_small)) * 0.5F;
    const ImU32 ink = cut ? ui.theme.muted : ui.theme.text;
    draw_text(ui, {ui.fonts.mono_small, ink}, {row.low.x + ui.px(6), y}, bars.scene.piece(candidate.token),
              bars.before - row.low.x - ui.px(14));
    const auto length = [&](double p) { return static_cast<float>(p / bars.scale) * bars.bar; };
    const ImU32 color = color_of(Meaning::output);
    const float past_bar = ui.px(6);
    draw_bar(ui, bars.before, row, length(candidate.before), cut ? with_alpha(color, 0.35F) : color);
    if (cut && length(candidate.before) > ui.px(6))
        draw_hatch(
            ui, hatch_of_cut(candidate.removed_by),
            {{bars.before, row.low.y + ui.px(3)}, {bars.before + length(candidate.before), row.high.y - ui.px(3)}},
            ui.px(6));
    draw_text(ui, {ui.fonts.mono_small, ink}, {bars.before + length(candidate.before) + past_bar, y},
              percent(candidate.before));
    if (cut) {
        draw_text(ui, ui.note(), {bars.after, y}, cut_name(candidate.removed_by));
    } else {
        draw_bar(ui, bars.after, row, length(candidate.after), color);
        draw_text(ui, {ui.fonts.mono_small, ink}, {bars.after + length(candidate.after) + past_bar, y},
                  percent(candidate.after));
    }
    if (drawn) list.AddRectFilled(row.low, {row.low.x + ui.px(3), row.high.y}, ui.theme.accent);
    if (hovered) row_tooltip(bars, candidate, rank);
    if (clicked && !bars.scene.session.stale())
        bars.scene.commands.push_back(core::command::AppendToken{bars.scene.row, candidate.token});
}

void draw_titles(const Bars& bars, float y, float right) {
    const Ui& ui = bars.scene.ui;
    const core::generate::Sampling& sampling = bars.scene.session.sampling();
    const auto title = [&](float x, float end, const std::string& text) {
        draw_text(ui, ui.note(), {x, y}, text, end - x);
    };
    title(bars.before, bars.after - ui.px(8), tr("the model: softmax of the logits"));
    const bool some = bars.next.kept < bars.next.candidates.size();
    const std::string drawn_from =
        sampling.temperature == 0.0 ? tr("drawn from: the first, always")
        : some ? tr_n("drawn from: {count} token", "drawn from: {count} tokens, summing to 1 again", bars.next.kept)
               : tr_n("drawn from: all {count} token", "drawn from: all {count} tokens", bars.next.kept);
    title(bars.after, right, drawn_from);
}

// What is below the rows shown, and what each cut removed.
std::string removed_text(const Bars& bars) {
    const core::generate::NextToken& next = bars.next;
    const auto count = [&](core::generate::RemovedBy by) {
        return std::count_if(next.candidates.begin(), next.candidates.end(),
                             [&](const core::generate::Candidate& candidate) { return candidate.removed_by == by; });
    };
    std::string text;
    const auto cut = [&](const char* name, core::generate::RemovedBy by, double mass) {
        text += tr_n("{name} cut {count} token, {percent} of the probability mass.",
                     "{name} cut {count} tokens, {percent} of the probability mass.", count(by),
                     {{"name", name}, {"percent", percent(mass)}}) +
                " ";
    };
    const core::generate::Sampling& sampling = bars.scene.session.sampling();
    if (sampling.temperature == 0.0)
        cut(tr("Temperature 0"), core::generate::RemovedBy::temperature, next.cut_by_temperature);
    if (sampling.temperature != 0.0 && sampling.top_k > 0)
        cut(tr("Top-k"), core::generate::RemovedBy::top_k, next.cut_by_top_k);
    if (sampling.temperature != 0.0 && sampling.top_p < 1.0)
        cut(tr("Top-p"), core::generate::RemovedBy::top_p, next.cut_by_top_p);
    if (bars.rows < next.candidates.size()) {
        double before = 0.0, after = 0.0;
        for (std::size_t i = bars.rows; i < next.candidates.size(); ++i) {
            before += next.candidates[i].before;
            after += next.candidates[i].after;
        }
        text += tr_n("{count} more token below these: {model} of the model's mass, {drawn} of what is drawn from.",
                     "{count} more tokens below these: {model} of the model's mass, {drawn} of what is drawn from.",
                     next.candidates.size() - bars.rows, {{"model", percent(before)}, {"drawn", percent(after)}});
    }
    return text.empty() ? tr("Nothing is cut.") : text;
}

// The probabilities end to end, and where the random number falls.
void draw_sum(const Bars& bars, Area area) {
    const Ui& ui = bars.scene.ui;
    const core::generate::ShownNextToken& shown = bars.shown;
    const core::generate::Candidate& drawn = bars.next.candidates[shown.draw.rank];
    const std::string text =
        tr("number {number} (seed {seed}, position {position}) falls on “{token}”: {from} to {to} of the running sum",
           {{"number", core::fixed_text(shown.number, 4)},
            {"seed", shown.sampling.seed},
            {"position", bars.scene.length},
            {"token", bars.scene.piece(drawn.token)},
            {"from", core::fixed_text(shown.draw.from, 4)},
            {"to", core::fixed_text(shown.draw.to, 4)}});
    draw_text(ui, ui.caption(), area.low, text, area.width());
    const Area strip = {{area.low.x, area.low.y + ui.px(22)}, {area.high.x, area.low.y + ui.px(38)}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(strip.low, strip.high, ui.theme.raised, ui.px(2));
    const auto x = [&](double part) {
        return strip.low.x + strip.width() * static_cast<float>(std::clamp(part, 0.0, 1.0));
    };
    double sum = 0.0;
    for (std::size_t rank = 0; rank < bars.next.kept; ++rank) {
        const double to = sum + bars.next.candidates[rank].after;
        const bool lit = rank == shown.draw.rank;
        const float left = x(sum), right = x(to);
        sum = to;
        // Stretches narrower than a pixel are drawn as one grey end.
        if (right - left < 1.0F && !lit) continue;
        const ImU32 color = lit ? ui.theme.accent : with_alpha(color_of(Meaning::output), rank % 2 == 0 ? 0.75F : 0.5F);
        list.AddRectFilled({left, strip.low.y}, {std::max(right - 1.0F, left + 1.0F), strip.high.y}, color);
        const std::string piece = bars.scene.piece(bars.next.candidates[rank].token);
        const float width = compat::text_size(ui.fonts.mono_small, piece).x;
        if (width + ui.px(6) < right - left)
            draw_text(ui, {ui.fonts.mono_small, ui.theme.background},
                      {(left + right - width) * 0.5F, strip.low.y + ui.px(1)}, piece);
    }
    const float needle = x(shown.number);
    list.AddLine({needle, strip.low.y - ui.px(3)}, {needle, strip.high.y + ui.px(3)}, ui.theme.text, ui.px(2));
    list.AddTriangleFilled({needle, strip.high.y + ui.px(2)}, {needle - ui.px(4), strip.high.y + ui.px(9)},
                           {needle + ui.px(4), strip.high.y + ui.px(9)}, ui.theme.text);
}

}  // namespace

float draw_generate_controls(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    ImGui::SetCursorScreenPos(area.low);
    ImGui::BeginGroup();
    transport(scene);
    core::generate::Sampling sampling = scene.session.sampling();
    bool changed = temperature_slider(ui, sampling.temperature, area.high.x);
    changed = top_k_slider(ui, sampling.top_k, scene.scenario().config().vocab_size, area.high.x) || changed;
    changed = top_p_slider(ui, sampling.top_p, area.high.x) || changed;
    changed = seed_field(ui, sampling.seed, area.high.x) || changed;
    ImGui::EndGroup();
    if (changed) scene.commands.push_back(core::command::SetSampling{sampling});
    return ImGui::GetItemRectSize().y;
}

float draw_generated_text(const GenerateScene& scene, Area area) {
    constexpr std::size_t kMostLines = 4;  // the newest ones
    const Ui& ui = scene.ui;
    const auto lines = lines_of(ui, chips_of(scene, area.width()), area.width());
    const Index first_generated = scene.length - core::generate::generated_count(scene.scenario(), scene.row);
    const std::size_t first = lines.size() - std::min(lines.size(), kMostLines);
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(12);
    float y = area.low.y;
    for (std::size_t i = first; i < lines.size(); ++i, y += line) {
        float x = area.low.x;
        for (const Chip& chip : lines[i]) {
            draw_chip(scene, chip, {{x, y}, {x + chip.width, y + line - ui.px(4)}}, first_generated);
            x += chip.width + ui.px(3);
        }
    }
    const std::string ended = why_text_ends(scene.scenario(), scene.row);
    std::string note;
    if (first > 0)
        note = tr_n("… {count} token before these.", "… {count} tokens before these.", lines[first].front().position) +
               " ";
    note += ended;
    if (!note.empty()) {
        draw_text(ui, ui.note(), {area.low.x, y}, note, area.width());
        y += compat::font_size(ui.fonts.caption) + ui.px(4);
    }
    return y - area.low.y;
}

void draw_next_token(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    const core::generate::ShownNextToken& shown = *scene.next;
    if (!shown.next) {
        draw_prose(ui, area.low, area.width(), ui.theme.warning,
                   tr("The logits of the last position hold NaN or an infinity: no token can be drawn."), 2);
        return;
    }
    // What was removed takes one more line if there is less room.
    const int lines = area.width() < ui.px(620) ? 3 : 2;
    const float title = ui.px(20), sum = ui.px(52), note = ui.px(6.0F + 18.0F * static_cast<float>(lines)),
                least = ui.px(16);
    const float room = std::max(area.height() - title - sum - note, least);
    Bars bars{scene, shown, *shown.next, why_text_ends(scene.scenario(), scene.row).empty()};
    bars.rows = std::min({bars.next.candidates.size(), std::size_t{20}, static_cast<std::size_t>(room / least)});
    bars.rows = std::max<std::size_t>(bars.rows, 1);
    const float line = std::min(std::floor(room / static_cast<float>(bars.rows)), ui.px(24));
    const float pieces = std::min(ui.px(128), area.width() * 0.2F), number = ui.px(68);
    bars.before = area.low.x + pieces;
    bars.bar = std::floor((area.width() - pieces) * 0.5F - number);
    bars.after = bars.before + bars.bar + number;
    bars.scale = std::max(bars.next.candidates.front().before, bars.next.candidates.front().after);
    draw_titles(bars, area.low.y, area.high.x);
    float y = area.low.y + title;
    for (std::size_t rank = 0; rank < bars.rows; ++rank, y += line)
        draw_row(bars, rank, {{area.low.x, y}, {area.high.x, y + line}});
    draw_prose(ui, {area.low.x, y + ui.px(4)}, area.width(), ui.theme.muted, removed_text(bars), lines);
    if (bars.draws) draw_sum(bars, {{area.low.x, y + note + ui.px(4)}, area.high});
}

}  // namespace decoderscope::views::generate
