#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::generate {

namespace {

using core::generate::BeamNode;
using core::generate::BeamTree;

constexpr Index kMostBeamsHere = 8, kMostTokensHere = 24;

// Where the tree's boxes are: a column for each step, the largest sum on top.
struct Branches {
    ImVec2 start, box, gap;
    std::vector<Index> line;  // [node]: in its column

    [[nodiscard]] Area area(const BeamTree& tree, std::size_t node) const {
        const ImVec2 low = {start.x + static_cast<float>(tree.nodes[node].depth - 1) * (box.x + gap.x),
                            start.y + static_cast<float>(line[node]) * (box.y + gap.y)};
        return {low, {low.x + box.x, low.y + box.y}};
    }
    [[nodiscard]] ImVec2 end(const BeamTree& tree) const {
        Index deepest = 0, longest = 0;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            deepest = std::max(deepest, tree.nodes[i].depth);
            longest = std::max(longest, line[i] + 1);
        }
        return {start.x + static_cast<float>(deepest) * (box.x + gap.x),
                start.y + static_cast<float>(longest) * (box.y + gap.y)};
    }
};

Branches lay_out_branches(const Ui& ui, const BeamTree& tree, ImVec2 start) {
    Branches branches{start, {ui.px(88), ui.px(22)}, {ui.px(24), ui.px(4)}, {}};
    Index depth = 0, line = 0;
    for (const BeamNode& node : tree.nodes) {
        line = node.depth == depth ? line + 1 : 0;
        depth = node.depth;
        branches.line.push_back(line);
    }
    return branches;
}

std::string probability_text(double log_prob) { return core::short_number_text(std::exp(log_prob), 2); }

// The text whose way is lit: the chosen one, or the best.
std::size_t lit_node(const GenerateTabState& tab, const BeamTree& tree) {
    return tab.beam && *tab.beam < tree.nodes.size() ? *tab.beam : tree.finished.front();
}

std::string text_of(const GenerateScene& scene, const BeamTree& tree, std::size_t node) {
    return core::generate::text_of(scene.scenario(), tree, node);
}

void draw_branch(const GenerateScene& scene, const BeamTree& tree, const Branches& branches, std::size_t node,
                 bool lit) {
    const BeamNode& child = tree.nodes[node];
    if (!child.parent) return;
    const Area from = branches.area(tree, *child.parent), to = branches.area(tree, node);
    const ImVec2 a = {from.high.x, (from.low.y + from.high.y) * 0.5F}, b = {to.low.x, (to.low.y + to.high.y) * 0.5F};
    const float bend = (b.x - a.x) * 0.5F;
    const ImU32 color = lit ? scene.ui.theme.accent : scene.ui.theme.line;
    const auto width = static_cast<float>(1.0 + 3.0 * std::exp(child.log_prob));
    ImGui::GetWindowDrawList()->AddBezierCubic(a, {a.x + bend, a.y}, {b.x - bend, b.y}, b, color,
                                               scene.ui.px(width * 0.7F));
}

void node_tooltip(const GenerateScene& scene, const BeamTree& tree, std::size_t node) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    const BeamNode& at = tree.nodes[node];
    text_line(ui.number(), text_of(scene, tree, node));
    text_line(ui.caption(), tr("probability of this token {p}, sum of log-probabilities {sum}, score {score}",
                               {{"p", probability_text(at.log_prob)},
                                {"sum", core::short_number_text(at.sum, 4)},
                                {"score", core::short_number_text(tree.score(node), 4)}}));
    text_line(ui.note(), at.ended     ? tr("The text ends here, and is set aside.")
                         : at.goes_on ? tr("Among the beams: it goes on.")
                                      : tr("Not among the beams: it stops here."));
    ImGui::EndTooltip();
}

void draw_node(const GenerateScene& scene, const BeamTree& tree, std::size_t node, Area box, bool lit) {
    const Ui& ui = scene.ui;
    const BeamNode& at = tree.nodes[node];
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (press_at("beam", box, static_cast<std::int64_t>(node), text_of(scene, tree, node))) scene.tab().beam = node;
    const bool hovered = ImGui::IsItemHovered(), stays = at.goes_on || at.ended;
    if (stays || lit) list.AddRectFilled(box.low, box.high, lit ? ui.theme.accent_soft : ui.theme.raised, ui.px(4));
    compat::add_rect(list, box.low, box.high,
                     at.ended  ? ui.theme.accent
                     : hovered ? ui.theme.text
                               : ui.theme.line,
                     ui.px(4), at.ended ? ui.px(2) : 1.0F);
    const ImU32 ink = stays ? ui.theme.text : ui.theme.muted;
    const float inset = ui.px(6);
    const std::string probability = probability_text(at.log_prob);
    const float width = compat::text_size(ui.fonts.caption, probability).x;
    const float room = box.width() - 3.0F * inset - width;
    draw_text(ui, {ui.fonts.mono_small, ink}, {box.low.x + inset, box.low.y + ui.px(3)},
              fitted(ui.fonts.mono_small, scene.piece(at.token), room), room);
    draw_text(ui, ui.note(), {box.high.x - inset - width, box.low.y + ui.px(3)}, probability);
    if (hovered) node_tooltip(scene, tree, node);
}

void draw_tree(const GenerateScene& scene, const BeamTree& tree, Area area) {
    ImGui::SetCursorScreenPos(area.low);
    compat::begin_child("beam-tree", {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)},
                        {.flags = ImGuiWindowFlags_HorizontalScrollbar});
    const Branches branches = lay_out_branches(scene.ui, tree, ImGui::GetCursorScreenPos());
    const std::size_t chosen = lit_node(scene.tab(), tree);
    const auto is_lit = [&](std::size_t node) { return tree.is_on_the_way(node, chosen); };
    for (std::size_t node = 0; node < tree.nodes.size(); ++node)
        if (!is_lit(node)) draw_branch(scene, tree, branches, node, false);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node)
        if (is_lit(node)) draw_branch(scene, tree, branches, node, true);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node)
        draw_node(scene, tree, node, branches.area(tree, node), is_lit(node));
    const ImVec2 end = branches.end(tree);
    ImGui::SetCursorScreenPos(branches.start);
    ImGui::Dummy({end.x - branches.start.x, end.y - branches.start.y});
    ImGui::EndChild();
}

// How many texts go on, how many tokens are added, and how lengths are weighed. Returns the height used.
float draw_choices_of_beams(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    core::generate::BeamSearch& search = scene.tab().beams;
    ImGui::SetCursorScreenPos(area.low);
    search.beams += counter(ui, tr("beams"), search.beams, kMostBeamsHere + 1);
    search.beams = std::clamp<Index>(search.beams, 1, kMostBeamsHere);
    ImGui::SameLine(0, ui.px(16));
    search.length += counter(ui, tr("tokens"), search.length, kMostTokensHere + 1);
    search.length = std::clamp<Index>(search.length, 1, kMostTokensHere);
    ImGui::SameLine(0, ui.px(16));
    const std::array<const char*, 3> penalties = {tr("sum"), tr("mean"), tr("long texts")};
    constexpr std::array kPenalties = {0.0, 1.0, 2.0};
    word_beside(ui, tr("score by"));
    ImGui::SameLine(0, ui.px(6));
    const auto now = std::ranges::find(kPenalties, search.length_penalty) - kPenalties.begin();
    const int clicked = segmented(ui, "penalty", penalties, static_cast<int>(now));
    if (clicked >= 0) search.length_penalty = kPenalties[static_cast<std::size_t>(clicked)];
    return ImGui::GetFrameHeight() + ui.px(8);
}

// The texts found, and the button that takes one.
void draw_texts(const GenerateScene& scene, const BeamTree& tree, Area area) {
    const Ui& ui = scene.ui;
    const std::size_t chosen = lit_node(scene.tab(), tree);
    ImGui::SetCursorScreenPos(area.low);
    if (button(tr("Take this text"), "take-beam") && !scene.session.stale()) {
        const std::vector<Index> tokens = tree.tokens(chosen);
        scene.commands.push_back(
            core::command::AppendToken{scene.row, tokens.front(), {tokens.begin() + 1, tokens.end()}});
        scene.tab().beam.reset();
    }
    float y = area.low.y + ImGui::GetFrameHeight() + ui.px(4);
    const float line = compat::font_size(ui.fonts.mono_small) + ui.px(6);
    for (std::size_t i = 0; i < tree.finished.size() && y + line <= area.high.y; ++i, y += line) {
        const std::size_t node = tree.finished[i];
        const Area row = {{area.low.x, y}, {area.high.x, y + line}};
        if (press_at("beam-text", row, static_cast<std::int64_t>(i))) scene.tab().beam = node;
        if (ImGui::IsItemHovered() || node == chosen)
            ImGui::GetWindowDrawList()->AddRectFilled(
                row.low, row.high, node == chosen ? ui.theme.accent_soft : ui.theme.raised, ui.px(3));
        const float score = ui.px(64);
        draw_text(ui, {ui.fonts.mono_small, ui.theme.muted}, {row.low.x + ui.px(4), y + ui.px(2)},
                  core::short_number_text(tree.score(node), 3), score);
        draw_text(ui, ui.number(), {row.low.x + score, y + ui.px(2)}, text_of(scene, tree, node), area.width() - score);
    }
}

using core::generate::DraftedToken;
using core::generate::Speculated;
using core::generate::SpeculatedRound;

constexpr Index kMostDraftedHere = 8, kMostDraftLength = 48;

Index layers_of(const GenerateScene& scene) { return scene.scenario().config().num_layers; }

core::generate::DraftQuestion draft_question(const GenerateScene& scene) {
    core::generate::DraftQuestion question = scene.tab().draft;
    question.blocks = std::clamp<Index>(question.blocks, 1, layers_of(scene));
    question.speculation.sampling = scene.session.sampling();
    return question;
}

// Returns the height used.
float draw_choices_of_draft(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    core::generate::DraftQuestion& asked = scene.tab().draft;
    asked = draft_question(scene);
    ImGui::SetCursorScreenPos(area.low);
    asked.blocks = std::clamp<Index>(
        asked.blocks + counter(ui, tr("blocks of the draft"), asked.blocks, layers_of(scene) + 1), 1, layers_of(scene));
    Index &drafted = asked.speculation.drafted, &length = asked.speculation.length;
    ImGui::SameLine(0, ui.px(16));
    drafted = std::clamp<Index>(drafted + counter(ui, tr("drafted at a time"), drafted, kMostDraftedHere + 1), 1,
                                kMostDraftedHere);
    ImGui::SameLine(0, ui.px(16));
    length = std::clamp<Index>(length + counter(ui, tr("tokens"), length, kMostDraftLength + 1), 1, kMostDraftLength);
    return ImGui::GetFrameHeight() + ui.px(8);
}

void token_tooltip(const GenerateScene& scene, const DraftedToken& one, bool judged) {
    if (!compat::begin_tooltip()) return;
    const Ui& ui = scene.ui;
    text_line(ui.number(), scene.piece(one.token));
    if (!judged) {
        text_line(ui.note(), tr("After a token that was not accepted: thrown away."));
        return ImGui::EndTooltip();
    }
    const Arguments numbers = {{"q", core::short_number_text(one.of_draft, 3)},
                               {"p", core::short_number_text(one.of_model, 3)},
                               {"ratio", core::short_number_text(one.accepted_below(), 3)},
                               {"number", core::fixed_text(one.number, 4)}};
    text_line(
        ui.caption(),
        tr(message("the draft gives it q = {q}, the model p = {p}: accepted below min(1, p / q) = {ratio}", numbers)));
    text_line(ui.note(), one.accepted ? tr(message("{number} was drawn: accepted", numbers))
                                      : tr(message("{number} was drawn: not accepted", numbers)));
    ImGui::EndTooltip();
}

// A token of a round. Returns its width.
float draw_token(const GenerateScene& scene, ImVec2 at, Index token, ImU32 ground, ImU32 ink, bool struck,
                 std::int64_t number) {
    const Ui& ui = scene.ui;
    ImFont* font = ui.fonts.mono_small;
    const std::string text = scene.piece(token);
    const float inset = ui.px(6), width = compat::text_size(font, text).x + 2.0F * inset, height = ui.px(20);
    const Area box = {at, {at.x + width, at.y + height}};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(box.low, box.high, ground, ui.px(4));
    draw_text(ui, {font, ink}, {at.x + inset, at.y + ui.px(3)}, text);
    const float middle = (box.low.y + box.high.y) * 0.5F;
    if (struck) list.AddLine({box.low.x + ui.px(3), middle}, {box.high.x - ui.px(3), middle}, ink, ui.px(1.5F));
    click_at("drafted", box, number);
    return width;
}

void draw_round(const GenerateScene& scene, const SpeculatedRound& round, std::size_t number, Area row) {
    const Ui& ui = scene.ui;
    float x = row.low.x;
    const float y = row.low.y + ui.px(2);
    draw_text(ui, ui.note(), {x, y + ui.px(3)}, tr("pass {pass}", {{"pass", number}}));
    x += ui.px(64);
    for (std::size_t i = 0; i < round.drafted.size() && x < row.high.x - ui.px(30); ++i) {
        const DraftedToken& one = round.drafted[i];
        const bool judged = i <= round.accepted;
        x += draw_token(scene, {x, y}, one.token, one.accepted ? ui.theme.accent_soft : ui.theme.raised,
                        one.accepted ? ui.theme.text
                        : judged     ? ui.theme.warning
                                     : ui.theme.muted,
                        !one.accepted, static_cast<std::int64_t>(number * kMostDraftedHere * 2 + i)) +
             ui.px(4);
        if (ImGui::IsItemHovered()) token_tooltip(scene, one, judged);
    }
    if (!round.then) return;
    x += ui.px(8);
    draw_text(ui, ui.note(), {x, y + ui.px(3)}, "→");
    x += ui.px(18);
    draw_token(scene, {x, y}, *round.then, ui.theme.raised, ui.theme.text, false,
               static_cast<std::int64_t>(number * kMostDraftedHere * 2 + kMostDraftedHere));
    if (!ImGui::IsItemHovered() || !compat::begin_tooltip()) return;
    text_line(ui.caption(), round.accepted < round.drafted.size()
                                ? tr("drawn in its place, from what the model has above the draft: p = {p}",
                                     {{"p", core::short_number_text(round.of_model, 3)}})
                                : tr("drawn after all of them, from the model's own: p = {p}",
                                     {{"p", core::short_number_text(round.of_model, 3)}}));
    ImGui::EndTooltip();
}

}  // namespace

void draw_beams(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    area.low.y += draw_choices_of_beams(scene, area);
    if (const std::string end = why_text_ends(scene.scenario(), scene.row); !end.empty()) {
        text_block(ui, ui.hint(), area, end);
        return;
    }
    const core::Value<core::generate::ShownBeams> shown = core::generate::shown_beams(
        scene.session.derived(), scene.scenario(), scene.session.shown().run, scene.row, scene.tab().beams);
    auto& beams = scene.tab().found;
    beams.take(load::about(scene.scenario().opened()), shown, [&] { return scene.tab().beams; });
    draw_answer(
        ui, "coming-beams", beams, area, scene.commands,
        [&](const core::generate::ShownBeams& found, Commands&) {
            if (!found.error.empty()) {
                text_block(ui, {ui.fonts.text, ui.theme.error}, area, tr(found.error));
            } else if (!found.tree.finished.empty()) {
                const float texts =
                    std::min(area.height() * 0.4F, ImGui::GetFrameHeight() + ui.px(8) +
                                                       static_cast<float>(found.tree.finished.size()) *
                                                           (compat::font_size(ui.fonts.mono_small) + ui.px(6)));
                draw_tree(scene, found.tree, {area.low, {area.high.x, area.high.y - texts - ui.px(6)}});
                draw_texts(scene, found.tree, {{area.low.x, area.high.y - texts}, area.high});
            }
        },
        computing(ui));
}

std::vector<Sentence> beam_sentences(const GenerateScene& scene) {
    const auto& beams = scene.tab().found;
    if (!beams || !beams.answer()->error.empty() || beams.answer()->tree.finished.empty()) return {};
    const BeamTree& tree = beams.answer()->tree;
    const std::size_t best = tree.finished.front();
    const Arguments numbers = {{"best", text_of(scene, tree, best)},
                               {"score", core::short_number_text(tree.score(best), 3)},
                               {"first", scene.piece(tree.nodes.front().token)}};
    const bool same = tree.tokens(best).front() == tree.nodes.front().token;
    return {message("Each column is a step of beam search. The texts with the largest sums of log-probabilities go on, "
                    "and all others "
                    "stop. A line is as thick as the token after it is probable."),
            same ? message("The best text found is “{best}”, with score {score}. It begins with the most probable "
                           "token.",
                           numbers)
                 : message("The best text found is “{best}”, with score {score}. It does not begin with the most "
                           "probable token, “{first}”.",
                           numbers)};
}

void draw_draft(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    area.low.y += draw_choices_of_draft(scene, area);
    if (const std::string end = why_text_ends(scene.scenario(), scene.row); !end.empty()) {
        text_block(ui, ui.hint(), area, end);
        return;
    }
    const core::Value<core::generate::ShownDraft> shown = core::generate::shown_draft(
        scene.session.derived(), scene.scenario(), scene.session.shown().run, scene.row, draft_question(scene));
    auto& drafted = scene.tab().speculated;
    drafted.take(load::about(scene.scenario().opened()), shown, [&] { return draft_question(scene); });
    draw_answer(
        ui, "coming-draft", drafted, area, scene.commands,
        [&](const core::generate::ShownDraft& found, Commands& heard) {
            if (!found.error.empty()) {
                text_block(ui, {ui.fonts.text, ui.theme.error}, area, tr(found.error));
                return;
            }
            const float below = ImGui::GetFrameHeight() + ui.px(8);
            scrolled_rows(ui, "rounds", {area.low, {area.high.x, area.high.y - below}}, ui.px(26),
                          found.speculated.rounds.size(),
                          [&](std::size_t i, Area row) { draw_round(scene, found.speculated.rounds[i], i, row); });
            ImGui::SetCursorScreenPos({area.low.x, area.high.y - below + ui.px(4)});
            const std::vector<Index>& tokens = found.speculated.tokens;
            if (!tokens.empty() && button(tr("Take this text"), "take-draft") && !scene.session.stale())
                heard.push_back(
                    core::command::AppendToken{scene.row, tokens.front(), {tokens.begin() + 1, tokens.end()}});
        },
        computing(ui));
}

std::vector<Sentence> draft_sentences(const GenerateScene& scene) {
    const auto& drafted = scene.tab().speculated;
    if (!drafted || !drafted.answer()->error.empty()) return {};
    return core::generate::sentences_of_draft(drafted.answer()->speculated);
}

}  // namespace decoderscope::views::generate
