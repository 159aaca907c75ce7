#include "app/views/tabs/ask/tab.h"

#include "app/core/text/numbers.h"
#include "app/views/frame/answer_view.h"
#include "app/views/frame/books.h"
#include "app/views/frame/stale.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::ask {

namespace {

using core::ask::NumberKind;
using core::ask::OtherKind;

void open(ViewState& state, AskPage page) {
    AskTabState& ask = state.part<AskTabState>();
    ask.question.page = page;
    if (core::ask::is_about_number(page)) ask.about_number = page;
}

Action opens(Sentence label, AskPage page) {
    return {.label = std::move(label), .run = [page](const core::Session&, ViewState& state, Commands&) {
                state.tab = "ask";
                open(state, page);
            }};
}

// ---- sessions

void put(Json& json, const char* key, const std::optional<Index>& value) {
    if (value) json[key] = *value;
}

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

Json save(const ViewState& state) {
    const core::ask::Question& question = state.part<AskTabState>().question;
    const core::ask::NumberChoice& chosen = question.number;
    Json number = {{"kind", name_of(core::ask::kNumberKindNames, chosen.kind)}};
    if (chosen.kind == NumberKind::cell) {
        number["tensor"] = chosen.tensor;
        number["cell"] = chosen.cell;
    }
    put(number, "position", chosen.position);
    put(number, "token", chosen.token);
    put(number, "minus", chosen.minus);
    Json other = {{"kind", name_of(core::ask::kOtherKindNames, question.other.kind)}};
    put(other, "position", question.other.position);
    put(other, "token", question.other.token);
    save_option(other, question.other.option);
    return {{"page", name_of(core::ask::kPageNames, question.page)},
            {"vary", question.sweep.vary},
            {"row", question.sweep.row},
            {"seek", question.sweep.seek},
            {"number", number},
            {"other", other},
            {"every_step", question.every_step},
            {"by", name_of(core::ask::kGroupingNames, question.by)},
            {"sort", question.sort}};
}

std::optional<Index> read_index(JsonObject& json, const char* key) {
    return json.find(key) == nullptr ? std::nullopt : std::optional<Index>(json.index(key));
}

core::ask::NumberChoice read_number(JsonObject json) {
    core::ask::NumberChoice number{.kind = static_cast<NumberKind>(json.word("kind", core::ask::kNumberKindNames))};
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

core::ask::OtherChoice read_other(JsonObject json) {
    core::ask::OtherChoice other{.kind = static_cast<OtherKind>(json.word("kind", core::ask::kOtherKindNames))};
    other.position = read_index(json, "position");
    other.token = read_index(json, "token");
    other.option = restored_option(json);
    json.finish();
    return other;
}

// The tabs that this one was before saved a part of it each: that alone is read.
void restore(ViewState& state, JsonObject* saved) {
    AskTabState& ask = state.part<AskTabState>();
    if (saved == nullptr) {
        ask = {};
        return;
    }
    core::ask::Question read = ask.question;
    if (saved->find("page") != nullptr) read.page = static_cast<AskPage>(saved->word("page", core::ask::kPageNames));
    if (saved->find("vary") != nullptr) read.sweep = {saved->text("vary"), saved->text("row"), saved->text("seek")};
    if (saved->find("number") != nullptr) {
        read.number = read_number(saved->object("number"));
        read.other = read_other(saved->object("other"));
        read.every_step = saved->boolean("every_step", false);
    }
    if (saved->find("by") != nullptr) {
        read.by = static_cast<core::ask::Grouping>(saved->word("by", core::ask::kGroupingNames));
        read.sort = core::ask::kSorts[static_cast<std::size_t>(saved->word("sort", core::ask::kSorts))];
    }
    ask.question = std::move(read);
    ask.typed = ask.question.sweep;
    open(state, ask.question.page);
}

// What was shown holds its run. What is being measured goes on where it was when the tab is opened again.
void leave(ViewState& state) {
    AskTabState& ask = state.part<AskTabState>();
    for (const core::SharedProgress& progress : ask.progress)
        if (progress) progress->look_away();
    ask.last = {};
}

// ---- what is asked now

core::ask::Asked asked_now(const core::Session& session, const AskTabState& ask) {
    return core::ask::asked_about(session.derived(), session.shown(), session.cursor().place.batch, ask.question,
                                  training_of(session));
}

void add_exports(ExportScene& scene) {
    constexpr std::array kLabels = {message("What the sweep shows"), message("What moves it"),
                                    message("How much comes back"), message("Who wrote it"),
                                    message("What each step costs")};
    constexpr std::array kFiles = {"sweep", "effects", "patching", "attribution", "cost"};
    const AskTabState& ask = scene.state.part<AskTabState>();
    const core::ask::Asked asked = asked_now(scene.session, ask);
    if (!core::ask::why_not_measured(asked).empty() || ask.stopped == ask.question) return;
    const auto page = static_cast<std::size_t>(ask.question.page);
    const auto measured = core::ask::measured(scene.session.derived(), asked, std::make_shared<core::WorkProgress>());
    if (!measured || core::ask::answer_of(asked, *measured).parts.empty()) return;  // a sentence alone is no picture
    scene.add(tr(kLabels[page]), kFiles[page], [asked, measured] { return core::ask::exhibit_of(asked, *measured); });
}

// ---- the answer

// Makes a run the work.
void keep(core::Variation variation, const Sentence& where, Commands& commands) {
    commands.push_back(core::command::KeepVariation{std::move(variation)});
    commands.push_back(core::command::Tell{
        message("This run is now the work: {where}. Undo (Ctrl+Z) goes back.", {{"where", where}}), false});
}

// The chosen run, in a line or two, and what can be done with it. Returns the height used, from the bottom.
float draw_chosen(const Scene& s, const core::ask::ShownSweep& shown, Area area, Commands& commands) {
    const Ui& ui = s.ui;
    if (!s.ask.chosen || *s.ask.chosen >= shown.sweep.results.size()) return 0.0F;
    const core::ask::Result& result = shown.sweep.results[*s.ask.chosen];
    const Sentence where = core::ask::where_sentence(shown.sweep, result);
    const float small = compat::font_size(ui.fonts.caption), height = ImGui::GetFrameHeight() + small + ui.px(12);
    const float y = area.high.y - height;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, y}, {area.high.x, y}, ui.theme.line);
    ImGui::SetCursorScreenPos({area.low.x, y + ui.px(4)});
    if (const Sentence obstacle = core::ask::obstacle_to_keeping(shown, *s.ask.chosen); !obstacle.empty())
        word_beside(ui, tr(obstacle));
    else if (button(tr("Open this run"), "open-run"))
        keep(core::ask::kept_variation(shown, *s.ask.chosen), where, commands);
    ImGui::SameLine(0, ui.px(10));
    const std::string value = core::ask::text_of_value(result);
    word_beside(ui, value.empty() ? tr(where) : tr(where) + ": " + value);
    if (result.effect)
        draw_text(ui, ui.caption(), {area.low.x, area.high.y - small - ui.px(2)}, tr(result.effect->said),
                  area.width());
    return height + ui.px(4);
}

// Draws what was measured, and what can be done with it.
void draw_measured(const Scene& s, Area area, Commands& commands) {
    const core::ask::Asked& asked = s.ask.last.question();
    const core::Value<core::ask::Measured>& measured = s.ask.last.answer();
    const core::ask::Question& now = s.ask.question;
    const auto key = std::make_tuple(measured.number(), static_cast<int>(now.page),
                                     asked.number ? asked.number->number.cell : Cell(),
                                     static_cast<int>(now.number.kind), now.by, now.sort);
    const core::Value<core::Answer> answer = s.session.derived().get<core::Answer>({asked.shown.run}, key, [&] {
        core::ask::Asked sorted = asked;
        sorted.question.by = now.by;
        sorted.question.sort = now.sort;
        core::Answer made = core::ask::answer_of(sorted, *measured);
        for (core::AnswerPart& part : made.parts)  // so that the largest stand above the fold
            if (now.page == AskPage::writers && part.table) sort_by(*part.table, 0);
        return made;
    });
    const core::ask::ShownSweep* runs = measured->sweep ? &*measured->sweep : nullptr;
    std::optional<std::size_t> marked;
    if (runs != nullptr && runs->error.empty()) {
        marked = s.ask.chosen;
        if (marked && runs->form == core::ask::Form::table)
            marked = static_cast<std::size_t>(std::ranges::find(runs->order, *marked) - runs->order.begin());
        area.high.y -= draw_chosen(s, *runs, area, commands);
    }
    const AnswerGesture gesture =
        draw_answer_parts(s.ui, "ask", *answer, answer.number(), area, s.state, commands, marked);
    if (gesture.sort) s.ask.question.sort = *gesture.sort;
    if (runs != nullptr && gesture.clicked)
        s.ask.chosen = runs->result_at(gesture.picture, gesture.row, gesture.column);
    if (runs == nullptr || !runs->found) return;
    ImGui::SetCursorScreenPos({area.low.x, gesture.end});
    if (button(tr("Keep this change"), "keep-found"))
        keep(core::ask::found_variation(*runs), Sentence::verbatim(runs->found->varied), commands);
}

// Where nothing is asked yet: a click asks one of these.
void list_ready_questions(const Scene& s, Area area) {
    scrolled("ready-questions", with_scroll_bar(area), [&](ImVec2 start) {
        ImGui::SetCursorScreenPos(start);
        int number = 700;
        for (const core::ask::ReadyQuestion& ready : questions_that_fit(s.session)->fitting)
            if (link_in_lines(s.ui, {s.ui.fonts.text, s.ui.theme.accent}, tr(ready.title), number++))
                open_question(s.state, ready.question);
        return ImGui::GetCursorScreenPos().y;
    });
}

void draw_answer_to(const Scene& s, const core::ask::Asked& asked, Area area) {
    AskTabState& ask = s.ask;
    const Ui& ui = s.ui;
    if (const Sentence hint = core::ask::why_not_measured(asked); !hint.empty()) {
        area.low.y += text_block(ui, ui.hint(), area, tr(hint)) + ui.px(12);
        if (ask.question.page == AskPage::vary) list_ready_questions(s, area);
        return;
    }
    if (ask.stopped == ask.question) {
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Measure"), "measure")) ask.stopped.reset();
        return;
    }
    if (ask.last && ask.last.question().question.page != ask.question.page) ask.last = {};
    core::SharedProgress& progress = ask.progress[static_cast<std::size_t>(ask.question.page)];
    if (!progress) progress = std::make_shared<core::WorkProgress>();
    ask.last.take(load::about(asked.shown.scenario.opened()), core::ask::measured(s.session.derived(), asked, progress),
                  [&] { return asked; });
    draw_answer(
        ui, "coming", ask.last, area, s.commands,
        [&](const core::ask::Measured&, Commands& heard) { draw_measured(s, area, heard); },
        [&](Area note) {
            if (ask.question.page == AskPage::cost)
                draw_text(ui, ui.note(), note.low, tr("Measuring some passes …"));
            else if (draw_progress(ui, *progress, note))
                ask.stopped = ask.question;
        });
    ask.compared = ask.last && !ask.last.stale() ? ask.last.answer()->compared : ask.question.other;
}

// ---- the tab

struct PageChoice {
    Phrase title, tip;
    std::vector<Phrase> about;  // what its inspector says, a paragraph each
};
const std::array kPages = {
    PageChoice{
        message("Vary"),
        message("The model run many times with one thing varied: which predictions change, and "
                "what becomes of a number?"),
        {message("What varies: a number from A to B (attention_scale=0.1..1:10) or from a list, a cell, a head's "
                 "factor (blocks.0.attn.head.3=0..1:5), dropout_seed, training_step, training_seed, or each "
                 "head, layer, neuron, position or source letter, left out one at a time, or each replaced "
                 "token; two of them with a “;” between."),
         message("What is watched: a tensor, a cell such as logits[0, 3, 5], or a formula. Runs with changed "
                 "predictions are marked. A click chooses a run, and “Open this run” makes it the work."),
         message("What is sought: with a number under Watch that is to become 0.25, > 0, < 1 or, for a logit, "
                 "largest, Vary is what may change: a number (attention_scale, or attention_scale=0.1..2) or a "
                 "tensor with all of its numbers (blocks.0.attn.z), along the gradient.")}},
    PageChoice{message("What moves it"),
               message("Its gradients with respect to scores, residual stream and input, "
                       "beside the effect of switching heads off and swapping tokens"),
               {message("A gradient is the slope at one point: how much the number would change for a tiny change. It "
                        "says little about the effect of switching a head off, which is a large change."),
                message("So beside each gradient you see the measured effect, and the mean of the gradients along 8 "
                        "steps from off to on (integrated gradients), which gets it right.")}},
    PageChoice{message("What comes back"),
               message("Activation patching: rows of another run replace those of this one, one at a time"),
               {message("A is this run, B another one. One row of B, a step at a position, is patched into A, and "
                        "everything after it is recomputed. The picture shows how much of the difference comes back."),
                message("1: all of the difference passes through there. 0: none of it does. With B the clean run and A "
                        "the corrupted one this is causal tracing (Meng et al. 2022).")}},
    PageChoice{message("Who wrote it"),
               message("Direct logit attribution: the logit as a sum of what each head and "
                       "each MLP wrote into the residual stream"),
               {message("The residual stream is a sum, so the logit is one, too: what each head, each MLP and the "
                        "embedding wrote, divided by the final norm's scale and read by the language head."),
                message("Only the direct path counts here. What a head changes in later heads and MLPs is in their "
                        "terms.")}},
    PageChoice{
        message("Cost"),
        message("What each step takes of time, memory, operations and bytes moved"),
        {message(
            "Times are measured, all else is counted. A click on a title sorts, a click on a row opens its step.")}}};

// The ready question that is asked; otherwise what the page asks.
std::string title_of_question(const Scene& s) {
    constexpr std::array kTitles = {message("What if something were otherwise?"), message("What moves this number?"),
                                    message("What brings this number back?"), message("Who wrote this number?"),
                                    message("What does each step cost?")};
    if (s.ask.question.page == AskPage::vary)
        for (const core::ask::ReadyQuestion& ready : questions_that_fit(s.session)->fitting)
            if (ready.question == s.ask.question.sweep) return tr(ready.title);
    return tr(kTitles[static_cast<std::size_t>(s.ask.question.page)]);
}

void draw_ask_tab(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands) {
    const Scene s = {ui, session, state, state.part<AskTabState>(), commands};
    const float pad = ui.px(16);
    Area rest = {{area.low.x + pad, area.low.y + ui.px(10)}, {area.high.x - pad, area.high.y - ui.px(8)}};
    std::vector<FlowItem> pages;
    for (std::size_t i = 0; i < kPages.size(); ++i)
        pages.push_back(toggle_item(ui, tr(kPages[i].title), std::string(core::ask::kPageNames[i]),
                                    s.ask.question.page == static_cast<AskPage>(i), tr(kPages[i].tip), ui.px(2),
                                    [&state, i] { open(state, static_cast<AskPage>(i)); }));
    rest.low.y +=
        draw_titled(ui, {title_of_question(s), {}}, {}, rest);  // of any length: the pages stay where they are
    draw_flow_on_top(ui, pages, rest, ui.px(2));
    rest.low.y += draw_choices(s, rest);
    const core::ask::Asked asked = asked_now(session, s.ask);
    s.ask.shown = asked.number;
    draw_answer_to(s, asked, rest);
}

void inspect_ask(const Ui& ui, const core::Session& session, ViewState& state, Commands&) {
    const AskTabState& ask = state.part<AskTabState>();
    if (!core::ask::is_about_number(ask.question.page)) {
        const bool varies = ask.question.page == AskPage::vary;
        term_line(ui, state, ui.title(), varies ? tr("Sweep") : tr("Cost"),
                  core::glossary::find_term(varies ? "sweep" : "flop"));
    } else if (ask.shown) {
        const Tensor& values = session.shown().run->value(ask.shown->number.tensor);
        paragraph(ui.body(), tr(ask.shown->name));
        if (!values.empty() && values.contains(ask.shown->number.cell))
            text_line(ui.title(), core::short_number_text(ask.shown->number.in(values), 3));
        section_line(ui);
    }
    for (const Phrase text : kPages[static_cast<std::size_t>(ask.question.page)].about) {
        say(ui, state, ui.caption(), tr(text));
        ImGui::Dummy({1, ui.px(4)});
    }
}

}  // namespace

Tab ask_tab() {
    return {.id = "ask",
            .title = message("Ask"),
            .question = message("What if something were otherwise?"),
            .term = "cause",
            .draw = draw_ask_tab,
            .pages = {{.id = "causes",
                       .title = message("Causes"),
                       .question = message("What causes what?"),
                       .key = Key::k,
                       .open = [](ViewState& state) { open(state, state.part<AskTabState>().about_number); }},
                      {.id = "sweep",
                       .title = message("Sweep"),
                       .question = message("What if it were each of these?"),
                       .key = Key::o,
                       .term = "sweep",
                       .open = [](ViewState& state) { open(state, AskPage::vary); }},
                      {.id = "cost",
                       .title = message("Cost"),
                       .question = message("Which steps cost most time, memory and operations?"),
                       .key = Key::q,
                       .term = "flop",
                       .open = [](ViewState& state) { open(state, AskPage::cost); },
                       .words = R"(slow fast takes time long spent seconds speed bottleneck profile memory )"
                                R"(compute flops expensive cheap layer head part)"}},
            .least_height = [](const core::Session&) { return 360.0F; },
            .inspect = inspect_ask,
            .explains_cells = true,
            .leave = leave,
            .add_exports = add_exports,
            .actions =
                [] {
                    return std::vector<Action>{
                        {.label = message("What moves this number? (the selected cell)"),
                         .key = Key::w,
                         .mods = with_shift,
                         .run = [](const core::Session& session, ViewState& state,
                                   Commands&) { ask_what_moves(session, state); }},
                        opens(message("Patching: what brings a number back from another run"), AskPage::patching),
                        opens(message("Writers: what each part wrote into a number (direct "
                                      "logit attribution)"),
                              AskPage::writers)};
                },
            .save = save,
            .restore = restore,
            .about_steps = false,
            .computes = true};
}

}  // namespace decoderscope::views::ask
