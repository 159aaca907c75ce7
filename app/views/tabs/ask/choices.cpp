#include "app/core/compare/shown_comparison.h"
#include "app/core/generate/prediction.h"
#include "app/core/text/token_text.h"
#include "app/views/tabs/ask/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/row_layout.h"
#include "engine/base/translate.h"

#include <algorithm>

// What a person asks: the controls above the answers.
namespace decoderscope::views::ask {

namespace {

using core::ask::NumberKind;
using core::ask::OtherKind;

constexpr Index kMostListed = 400;  // of a vocabulary
constexpr float kLine = 32.0F;

struct Choice {
    Phrase title, tip;
};
constexpr std::array kKinds = {
    Choice{message("Cell"), message("The selected cell of the step: any number of this run")},
    Choice{message("Logit"), message("The logit of a token")},
    Choice{message("Probability"), message("The probability of a token")},
    Choice{message("Difference"), message("The logit of one token minus that of another")}};
constexpr std::array kOthers = {
    Choice{message("Another token"), message("This run with one token of its input replaced")},
    Choice{message("Unedited"), message("The same run without its edits")},
    Choice{message("Pinned"), message("A run that was pinned before, of the same shape")},
    Choice{message("Configuration"), message("The same weights and input with one configuration key changed")}};

// Returns whether another one was chosen.
template <class Enum>
bool choose(const Ui& ui, Phrase word, std::span<const Choice> choices, std::span<const std::string_view> names,
            Enum& chosen) {
    bool clicked = false;
    word_before(ui, tr(word));
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, ui.px(2));
        const bool on = chosen == static_cast<Enum>(i);
        if (!toggle_button(ui, labelled(tr(choices[i].title), names[i]).c_str(), on, tr(choices[i].tip))) continue;
        chosen = static_cast<Enum>(i);
        clicked = true;
    }
    return clicked;
}

// A list of what can be chosen, each with its id.
void choose_from(const Ui& ui, const char* id, const std::string& now, float width,
                 const std::function<void(const std::function<bool(const std::string&, bool)>&)>& list) {
    ImGui::SetNextItemWidth(ui.px(width));
    if (!begin_list(id, now.c_str(), ImGuiComboFlags_HeightLarge)) return;
    int number = 0;
    list([&](const std::string& text, bool chosen) {
        return press_row(labelled(text, std::to_string(number++)).c_str(), chosen);
    });
    ImGui::EndCombo();
}

// ---- which number

void choose_number(const Scene& s, float width) {
    const Ui& ui = s.ui;
    core::ask::NumberChoice& choice = s.ask.question.number;
    const float start = ImGui::GetCursorScreenPos().x;
    if (choose(ui, message("number"), kKinds, core::ask::kNumberKindNames, choice.kind) &&
        choice.kind == NumberKind::cell && s.session.cursor().cell) {
        choice.tensor = s.session.step().name;
        choice.cell = *s.session.cursor().cell;
    }
    const core::Snapshot& shown = s.session.shown();
    if (choice.kind == NumberKind::cell || !core::ask::number_obstacle(shown.scenario, *shown.run, choice).empty())
        return;
    if (width < ui.px(620))
        ImGui::SetCursorScreenPos({start, ImGui::GetCursorScreenPos().y});
    else
        ImGui::SameLine(0, ui.px(12));
    const core::ask::ResolvedNumber now =
        *core::ask::asked_about(s.session.derived(), shown, s.session.cursor().place.batch, s.ask.question, nullptr)
             .number;
    if (const int moved = counter(ui, tr("position"), now.position, shown.scenario.inputs.pos()); moved != 0) {
        choice.position = now.position + moved;
        choice.token.reset();
        choice.minus.reset();
    }
    const auto answer =
        core::generate::shown_answer(s.session.derived(), shown.run, now.batch, now.position, std::nullopt);
    const tokenizer::Tokenizer& tokenizer = shown.scenario.tokenizer();
    const auto choose_token = [&](const char* id, Index token, std::optional<Index>& chosen) {
        choose_from(ui, id, core::token_text(tokenizer, token), 96, [&](const auto& row) {
            for (const core::generate::Answer& one : answer->likely)
                if (row(core::token_text(tokenizer, one.token), one.token == token)) chosen = one.token;
        });
    };
    ImGui::SameLine(0, ui.px(8));
    choose_token("##token", now.token, choice.token);
    if (choice.kind != NumberKind::difference) return;
    ImGui::SameLine(0, ui.px(4));
    word_before(ui, "−");
    choose_token("##minus", now.minus, choice.minus);
}

// ---- run B

void choose_changed_token(const Scene& s) {
    const Ui& ui = s.ui;
    const core::Scenario& scenario = s.session.shown().scenario;
    const auto now = core::ask::changed_token(scenario, s.session.cursor().place.batch, s.ask.compared);
    if (!now) return;
    const Inputs& inputs = scenario.inputs;
    const tokenizer::Tokenizer& tokenizer = now->in_source ? scenario.encoder_tokenizer() : scenario.tokenizer();
    const Index length = now->in_source ? inputs.encoder_tokens.dim(1) : inputs.tokens.dim(1);
    if (const int moved = counter(ui, now->in_source ? "src" : "pos", now->position, length); moved != 0) {
        s.ask.question.other.position = now->position + moved;
        s.ask.question.other.token.reset();
    }
    ImGui::SameLine(0, ui.px(8));
    word_before(ui, tr("“{before}” becomes", {{"before", core::token_text(tokenizer, now->before)}}).c_str());
    const Index vocabulary = now->in_source ? scenario.config().encoder_vocab_size : scenario.config().vocab_size;
    choose_from(ui, "##after", core::token_text(tokenizer, now->after), 96, [&](const auto& row) {
        for (Index id = 0; id < std::min(vocabulary, kMostListed); ++id)
            if (row(core::token_text(tokenizer, id), id == now->after)) {
                s.ask.question.other.position = now->position;
                s.ask.question.other.token = id;
            }
        if (vocabulary > kMostListed)
            text_line(ui.note(),
                      tr("the first {count} of {all} tokens", {{"count", kMostListed}, {"all", vocabulary}}));
    });
}

core::Value<core::diff::Alternatives> alternatives(const Scene& s) {
    const core::Snapshot& shown = s.session.shown();
    return core::diff::shown_alternatives(s.session.derived(), shown.scenario, shown.run);
}

void choose_option(const Scene& s) {
    auto& option = s.ask.question.other.option;
    const core::Value<core::diff::Alternatives> others = alternatives(s);
    if (option.first.empty()) option = core::flipped_norm(s.session.shown().scenario);
    choose_from(s.ui, "##option", option.first + " = " + option.second, 230, [&](const auto& row) {
        if (!others) text_line(s.ui.note(), tr("Being tried out …"));
        for (const auto& other : others ? others->options : Overrides())
            if (row(other.first + " = " + other.second, other == option)) option = other;
    });
}

void choose_details(const Scene& s) {
    const OtherKind kind = s.ask.question.other.kind;
    if (kind == OtherKind::token)
        choose_changed_token(s);
    else if (kind == OtherKind::configuration)
        choose_option(s);
    else if (kind == OtherKind::unedited)
        ImGui::Dummy({1, ImGui::GetFrameHeight()});
    else if (button(tr("Pin this run"), "pin"))
        s.commands.push_back(core::command::Pin{});
    ImGui::SameLine(0, s.ui.px(14));
    if (toggle_button(s.ui, labelled(tr("every step"), "every").c_str(), s.ask.question.every_step,
                      tr("Every step that can be patched, not only the residual stream and what is added to it")))
        s.ask.question.every_step = !s.ask.question.every_step;
}

// ---- what varies

using Texts = std::vector<std::string>;

// A text with a list of what it can be, which is made while it is open. `asked` is set where it is to be asked.
FlowItem field_item(const Scene& s, const char* word, const char* id, float wanted, std::string& text, std::string hint,
                    std::function<Texts()> proposals, bool& asked, float most) {
    const float list = ImGui::GetFrameHeight(), label = compat::text_size(s.ui.fonts.caption, word).x + s.ui.px(6),
                width = std::min(label + s.ui.px(wanted) + list, most);
    return {width, s.ui.px(12),
            [&s, &text, &asked, word, id, width, list, hint = std::move(hint), proposals = std::move(proposals)] {
                const float end = ImGui::GetCursorScreenPos().x + width;
                word_before(s.ui, word);
                ImGui::SetNextItemWidth(end - ImGui::GetCursorScreenPos().x - list - s.ui.px(2));
                asked |= text_field(labelled("", std::string(id) + "-text").c_str(), text,
                                    ImGuiInputTextFlags_EnterReturnsTrue, hint.c_str());
                ImGui::SameLine(0, s.ui.px(2));
                ImGui::SetNextItemWidth(list);
                if (!begin_list(labelled("", std::string(id) + "-list").c_str(), "", ImGuiComboFlags_NoPreview)) return;
                int number = 0;
                for (const std::string& proposal : proposals())
                    if (press_row(labelled(proposal, std::to_string(number++)).c_str(), proposal == text)) {
                        text = proposal;
                        asked = true;
                    }
                ImGui::EndCombo();
            }};
}

core::Value<core::ask::Proposals> proposals(const Scene& s) {
    return core::ask::proposals(s.session.derived(), s.session.shown(), s.ask.typed.row, s.session.step().name,
                                s.session.cursor().cell);
}

// What is proposed, and the keys of the configuration with the values that they can have: "norm_first=true,false".
Texts what_may_vary(const Scene& s) {
    Texts vary = proposals(s)->vary;
    if (const core::Value<core::diff::Alternatives> others = alternatives(s))
        for (const core::Setting& setting : others->settings) {
            if (setting.alike.empty() || setting.has_others) continue;
            std::string& text = vary.emplace_back(setting.key + "=" + setting.value);
            for (const std::string& other : setting.alike) text += "," + other;
        }
    return vary;
}

void ask_typed(AskTabState& ask) {
    ask.question.sweep = ask.typed;
    ask.stopped.reset();
    ask.chosen.reset();
}

float draw_number_choices(const Scene& s, Area area) {
    const Ui& ui = s.ui;
    const float line = ui.px(kLine);
    const core::ask::NumberChoice before = s.ask.question.number;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    ImGui::SetCursorScreenPos(area.low);
    choose_number(s, area.width());
    const bool two_lines = area.width() < ui.px(620) && s.ask.question.number.kind != NumberKind::cell;
    float height = line * (two_lines ? 2.0F : 1.0F);
    if (s.ask.question.page == AskPage::patching) {
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + height});
        static_cast<void>(choose(ui, message("run B"), kOthers, core::ask::kOtherKindNames, s.ask.question.other.kind));
        ImGui::SetCursorScreenPos({area.low.x, area.low.y + height + line});
        choose_details(s);
        height += 2.0F * line;
    }
    ImGui::PopStyleVar();
    if (before != s.ask.question.number) s.ask.stopped.reset();
    return height + ui.px(6);
}

float draw_question(const Scene& s, Area area) {
    const Ui& ui = s.ui;
    core::ask::SweepQuestion& typed = s.ask.typed;
    bool asked = false;
    const auto field = [&](const char* word, const char* id, float wanted, std::string& text, const char* hint,
                           std::function<Texts()> proposed) {
        return field_item(s, word, id, wanted, text, hint, std::move(proposed), asked, area.width());
    };
    const std::string compute = tr("Compute");
    const std::array items = {
        field(tr("Vary"), "vary", 360, typed.vary, tr("each head, attention_scale=0.1..1:10 …"),
              [&] { return what_may_vary(s); }),
        field(tr("and watch"), "watch", 340, typed.row, tr("the predictions, a tensor, or a formula"),
              [&] { return proposals(s)->rows; }),
        field(tr("and seek"), "seek", 220, typed.seek, tr("nothing, or 0.25, > 0, largest"),
              [] {
                  return Texts{"0.5", "> 0", "largest"};
              }),
        FlowItem{button_width(compute.c_str()), ui.px(12), [&] { asked |= button(compute, "compute"); }},
        FlowItem{ui.px(220), ui.px(8), [&] {
                     choose_from(ui, "##ready", tr("Ready questions"), 220, [&](const auto& row) {
                         for (const core::ask::ReadyQuestion& ready : questions_that_fit(s.session)->fitting)
                             if (row(tr(ready.title), ready.question == s.ask.question.sweep)) {
                                 typed = ready.question;
                                 asked = true;
                             }
                     });
                 }}};
    const float height = draw_flow(ui, items, area);
    if (asked) ask_typed(s.ask);
    return height;
}

}  // namespace

float draw_choices(const Scene& s, Area area) {
    if (core::ask::is_about_number(s.ask.question.page)) return draw_number_choices(s, area);
    if (s.ask.question.page == AskPage::vary) return draw_question(s, area) + s.ui.px(4);
    ImGui::SetCursorScreenPos(area.low);
    const std::array<const char*, 3> labels = {tr("By step"), tr("By part"), tr("By block")};
    core::ask::Grouping& by = s.ask.question.by;
    if (const int chosen = segmented(s.ui, "grouping", labels, static_cast<int>(by)); chosen >= 0)
        by = static_cast<core::ask::Grouping>(chosen);
    return ImGui::GetItemRectMax().y - area.low.y + s.ui.px(8);
}

std::shared_ptr<const core::train::Recipe> training_of(const core::Session& session) {
    return core::ask::training_of(session.derived(), session.shown(), session.training().seen());
}

core::Value<core::ask::ReadyQuestions> questions_that_fit(const core::Session& session) {
    return core::ask::ready_questions(session.derived(), session.shown(), {session.attention(), session.cursor().place},
                                      training_of(session));
}

void open_question(ViewState& state, core::ask::SweepQuestion question) {
    AskTabState& ask = state.part<AskTabState>();
    ask.typed = std::move(question);
    ask_typed(ask);
    state.tab = "sweep";
}

void ask_what_moves(const core::Session& session, ViewState& state) {
    AskTabState& ask = state.part<AskTabState>();
    state.tab = "causes";
    ask.question.page = ask.about_number = AskPage::moves;
    if (const std::optional<Cell>& cell = session.cursor().cell)
        ask.question.number = {.kind = NumberKind::cell, .tensor = session.step().name, .cell = *cell};
}

}  // namespace decoderscope::views::ask
