#include "app/core/text/numbers.h"
#include "app/views/frame/stale.h"
#include "app/views/input/input_bar.h"
#include "app/views/tabs/generate/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/chat/laid_out.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::views::generate {

namespace {

using core::generate::ConversationToken;
using core::generate::ShownConversation;

constexpr std::array<const char*, 4> kRoles = {"system", "user", "assistant", "tool"};

// ---- what is typed

// The templates of the model that is shown.
void take_model(MessagesDraft& draft, const std::shared_ptr<const load::Model>& model) {
    if (draft.model == model) return;
    draft = {.model = model};
    try {
        draft.templates = core::templates_for(*model);
    } catch (const Error& error) {
        draft.unread = error.sentence();
        for (const std::string& name : chat::formats()) draft.templates.push_back({name});
    }
    draft.conversation = core::with_template({}, *model, draft.templates.front().name);
    draft.typed = {{"user", "Hello"}, {"assistant", "Hello"}};  // not a message: most vocabularies can write it
}

void take_conversation(MessagesDraft& draft, const chat::Conversation& conversation) {
    draft.conversation = conversation;
    draft.typed = core::typed_messages(conversation.messages);
    if (draft.typed)
        for (core::TypedMessage& one : *draft.typed) one.text = to_carriers(one.text);
    draft.asks_python = false;
    draft.refused = {};
}

// After undo, or once a file brought messages, the page shows these.
void keep_in_step(const GenerateScene& scene, MessagesDraft& draft) {
    take_model(draft, scene.scenario().model());
    const std::optional<chat::Conversation>& now = scene.scenario().conversation;
    if (scene.session.stale() || now == draft.seen) return;
    draft.seen = now;
    if (now && *now != draft.conversation) take_conversation(draft, *now);
}

void run_on(const GenerateScene& scene, bool continues) {
    core::command::TypeInput command{.continues = continues};
    command.typed.messages = scene.tab().messages.conversation;
    scene.commands.push_back(std::move(command));
}

// Whether a text that a template wrote is still that of the conversation: only its labels may be others.
bool same_text(const chat::Conversation& now, const chat::Conversation& then) {
    return now.messages == then.messages && now.name == then.name && now.variables == then.variables &&
           now.generation_prompt == then.generation_prompt;
}

// Runs on what is typed; on what Python writes, once it has. `continues`: the same text as before, one letter on.
void ask(const GenerateScene& scene, bool continues = false) {
    MessagesDraft& draft = scene.tab().messages;
    if (draft.typed) {
        std::vector<core::TypedMessage> messages = *draft.typed;
        for (core::TypedMessage& one : messages) one.text = from_carriers(one.text);
        const bool same = core::typed_messages(draft.conversation.messages) == messages;
        if (!same) draft.conversation.messages = core::json_of_messages(messages);
    }
    draft.refused = {};
    const bool is_format = std::ranges::find_if(draft.templates, [&](const core::KnownTemplate& one) {
                               return !one.own && one.name == draft.conversation.name;
                           }) != draft.templates.end();
    const bool is_written = draft.seen && !draft.seen->written.empty() && same_text(draft.conversation, *draft.seen);
    draft.conversation.written = is_written ? draft.seen->written : std::string();
    draft.asks_python = !is_format && !is_written;
    if (!draft.asks_python) run_on(scene, continues);
}

// What Python made of a conversation.
struct PythonsText {
    chat::Conversation conversation;
    Sentence refused;
};

core::Resumable<PythonsText> writing_by_python(chat::Conversation conversation,
                                               std::shared_ptr<const load::Model> model) {
    co_yield core::kPause;
    PythonsText made;
    try {
        core::WritingByPython writing(std::move(conversation), *model);
        std::optional<chat::Conversation> written;
        while (!(written = writing.wait())) co_yield core::kPause;
        made.conversation = *std::move(written);
    } catch (const Error& error) {
        made.refused = error.sentence();
    }
    co_return made;
}

void wait_for_python(const GenerateScene& scene) {
    MessagesDraft& draft = scene.tab().messages;
    if (!draft.asks_python) return;
    const auto made =
        scene.session.derived().later<PythonsText>({draft.model}, std::make_tuple(draft.conversation),
                                                   [&] { return writing_by_python(draft.conversation, draft.model); });
    if (!made) return;
    draft.asks_python = false;
    draft.refused = made->refused;
    if (!draft.refused.empty()) return;
    draft.conversation = made->conversation;
    run_on(scene, false);
}

// ---- the controls

bool choose_role(std::string& role, std::size_t number, float width) {
    ImGui::SetNextItemWidth(width);
    const std::string id = "##role" + std::to_string(number), before = role;
    if (begin_list(id.c_str(), role.c_str())) {
        for (const char* known : kRoles)
            if (press_row(known, role == known)) role = known;
        ImGui::EndCombo();
    }
    return role != before;
}

// One message. Returns what happened to it.
enum class Touched { nothing, typed, changed, removed };
Touched draw_message(const GenerateScene& scene, core::TypedMessage& message, std::size_t number, float width) {
    const Ui& ui = scene.ui;
    Touched touched = Touched::nothing;
    if (choose_role(message.role, number, ui.px(120))) touched = Touched::changed;
    ImGui::SameLine(0, ui.px(8));
    if (link(ui, ui.note(), tr("remove"), static_cast<int>(number))) return Touched::removed;
    const auto lines = std::clamp<std::ptrdiff_t>(std::ranges::count(message.text, '\n') + 1, 1, 5);
    const float line = compat::font_size(ui.fonts.mono_small);
    const float height = static_cast<float>(lines + 1) * line + ImGui::GetStyle().FramePadding.y * 2.0F;
    compat::push_font(ui.fonts.mono_small);
    const std::string id = "##message" + std::to_string(number);
    if (text_area(id.c_str(), message.text, {width, height}, tr("what the message says"))) touched = Touched::typed;
    ImGui::PopFont();
    return touched;
}

void draw_typed(const GenerateScene& scene, float width) {
    const Ui& ui = scene.ui;
    MessagesDraft& draft = scene.tab().messages;
    if (!draft.typed)
        return paragraph(ui.hint(),
                         tr("These messages are several conversations, or have more than a role and a text: they come "
                            "from a file, and can't be typed here."),
                         width);
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < draft.typed->size(); ++i) {
        const Touched touched = draw_message(scene, (*draft.typed)[i], i, width);
        if (touched == Touched::nothing) continue;
        if (touched == Touched::removed) removed = i;
        const bool continues = touched == Touched::typed && draft.active == i;
        draft.active = touched == Touched::typed ? std::optional(i) : std::nullopt;
        if (touched != Touched::removed) ask(scene, continues);
    }
    if (removed && draft.typed->size() > 1) {
        draft.typed->erase(draft.typed->begin() + static_cast<std::ptrdiff_t>(*removed));
        ask(scene);
    }
    if (link(ui, {ui.fonts.caption, ui.theme.accent}, tr("add a message"), -1)) {
        const bool asks = draft.typed->back().role == "user";
        draft.typed->push_back({asks ? "assistant" : "user", ""});
        ask(scene);
    }
}

void choose_template(const GenerateScene& scene, float width) {
    const Ui& ui = scene.ui;
    MessagesDraft& draft = scene.tab().messages;
    word_before(ui, tr("chat template"));
    ImGui::SetNextItemWidth(std::min(ui.px(150), width * 0.5F));
    if (begin_list("##template", draft.conversation.name.c_str())) {
        for (const core::KnownTemplate& one : draft.templates)
            if (press_row(one.name.c_str(), one.name == draft.conversation.name)) {
                draft.conversation = core::with_template(draft.conversation, *draft.model, one.name);
                ask(scene);
            }
        ImGui::EndCombo();
    }
    tooltip(tr("The formats are the program's. A checkpoint's own template is in Jinja: Python runs it."));
    if (!draft.unread.empty()) paragraph({ui.fonts.caption, ui.theme.error}, tr(draft.unread), width);
}

void choose_rest(const GenerateScene& scene, float width) {
    const Ui& ui = scene.ui;
    chat::Conversation& conversation = scene.tab().messages.conversation;
    const std::array<const char*, 3> trained = {tr("answers"), tr("last answer"), tr("everything")};
    word_before(ui, tr("trained"));
    ImGui::SetNextItemWidth(std::min(ui.px(150), width * 0.5F));
    if (begin_list("##trained", trained[static_cast<std::size_t>(conversation.trained)])) {
        for (std::size_t i = 0; i < trained.size(); ++i)
            if (press_row(trained[i], i == static_cast<std::size_t>(conversation.trained))) {
                conversation.trained = static_cast<chat::Trained>(i);
                ask(scene);
            }
        ImGui::EndCombo();
    }
    const auto toggle = [&](const char* label, bool& on, const char* tip) {
        if (!toggle_button(ui, label, on, tip)) return;
        on = !on;
        ask(scene);
    };
    toggle(tr("answer begun"), conversation.generation_prompt,
           tr("The beginning of an answer stands at the end, as the template writes it for the model to go on."));
    toggle(
        tr("tokenizer's own tokens"), conversation.special_tokens,
        tr("The tokenizer adds its own tokens around the template's text, as encode() does. A text then often begins "
           "twice."));
}

void draw_controls(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    begin_part("messages", area);
    const float width = std::max(area.width() - ui.px(16), 1.0F);
    draw_typed(scene, width);
    ImGui::Dummy({1, ui.px(4)});
    choose_template(scene, width);
    choose_rest(scene, width);
    ImGui::EndChild();
}

// ---- the tokens

ImU32 role_color(const Ui& ui, const std::string& role, bool content) {
    if (role.empty()) return ui.theme.raised;
    const auto known = std::ranges::find(kRoles, role) - kRoles.begin();
    const ImU32 color = input::chip_color(known, ui.theme.dark);
    return content ? color : with_alpha(color, 0.45F);
}

void token_tooltip(const GenerateScene& scene, const ConversationToken& token, std::size_t position, Area chip) {
    const Ui& ui = scene.ui;
    if (!begin_tooltip_beside(chip)) return;
    const Arguments of = {{"token", scene.piece(token.token)},
                          {"id", token.token},
                          {"position", position},
                          {"role", token.role.empty() ? tr("the template") : token.role}};
    text_line(ui.body(), tr(message("“{token}”, id {id}, position {position}", of)));
    text_line(ui.note(), tr(token.role.empty() ? message("It belongs to no message: the template put it here.", of)
                            : token.content    ? message("It is what {role} says.", of)
                                               : message("The template put it around what {role} says.", of)));
    text_line(ui.note(),
              tr(!token.trained ? message("Its label is −100: it is not trained.", of)
                 : position > 0 ? message("Its label is {id}: the position before is to predict it.", of)
                                : message("Its label is {id}, but no position before it could predict it.", of)));
    if (token.loss)
        text_line(ui.caption(), tr("loss {loss} = −ln of the probability {p} that the run gives it",
                                   {{"loss", core::short_number_text(*token.loss, 4)},
                                    {"p", core::short_number_text(std::exp(-*token.loss), 4)}}));
    ImGui::EndTooltip();
}

// What stands below a token: its loss, its label if there is no run of it, or that it has none.
std::string label_of(const ConversationToken& token) {
    if (!token.trained) return "−100";
    return token.loss ? core::short_number_text(*token.loss, 3) : std::to_string(token.token);
}

void draw_token(const GenerateScene& scene, const ConversationToken& token, std::size_t position, Area chip) {
    const Ui& ui = scene.ui;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = chip.low.y + compat::font_size(ui.fonts.mono_small) + ui.px(5);
    list.AddRectFilled(chip.low, {chip.high.x, middle}, role_color(ui, token.role, token.content), ui.px(3));
    if (token.trained) compat::add_rect(list, chip.low, {chip.high.x, middle}, ui.theme.accent, ui.px(3), ui.px(1.5F));
    draw_text(ui, ui.number(), {chip.low.x + ui.px(4), chip.low.y + ui.px(2)}, scene.piece(token.token));
    draw_text(ui, {ui.fonts.caption, token.trained ? ui.theme.text : ui.theme.muted}, {chip.low.x + ui.px(4), middle},
              label_of(token));
    static_cast<void>(press_at("message-token", chip, static_cast<std::int64_t>(position), scene.piece(token.token)));
    if (ImGui::IsItemHovered()) token_tooltip(scene, token, position, chip);
}

// The row's tokens, in as many lines as they need.
void draw_tokens(const GenerateScene& scene, const std::vector<ConversationToken>& row, Area area) {
    const Ui& ui = scene.ui;
    scrolled("message-tokens", area, [&](ImVec2 start) {
        const float right = start.x + area.width() - ui.px(16);
        const float height = compat::font_size(ui.fonts.mono_small) + compat::font_size(ui.fonts.caption) + ui.px(10);
        ImVec2 at = start;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const float wide = std::max(compat::text_size(ui.fonts.mono_small, scene.piece(row[i].token)).x,
                                        compat::text_size(ui.fonts.caption, label_of(row[i])).x) +
                               ui.px(8);
            if (at.x > start.x && at.x + wide > right) at = {start.x, at.y + height};
            draw_token(scene, row[i], i, {at, {at.x + wide, at.y + height - ui.px(4)}});
            at.x += wide + ui.px(3);
        }
        return at.y + height + 1;
    });
}

// The colours of the roles. Returns the height used.
float draw_legend(const Ui& ui, const std::vector<ConversationToken>& row, Area area) {
    std::vector<std::string> roles;
    for (const ConversationToken& token : row)
        if (std::ranges::find(roles, token.role) == roles.end()) roles.push_back(token.role);
    float x = area.low.x;
    for (const std::string& role : roles) {
        const std::string name = role.empty() ? tr("the template") : role;
        const float wide = compat::text_size(ui.fonts.caption, name).x + ui.px(8);
        const Area box = {{x, area.low.y}, {x + wide, area.low.y + compat::font_size(ui.fonts.caption) + ui.px(4)}};
        ImGui::GetWindowDrawList()->AddRectFilled(box.low, box.high, role_color(ui, role, true), ui.px(3));
        draw_text(ui, ui.caption(), {x + ui.px(4), area.low.y + ui.px(2)}, name);
        x += wide + ui.px(6);
    }
    draw_text(ui, ui.note(), {x + ui.px(6), area.low.y + ui.px(2)}, tr("framed: trained, with its loss"),
              std::max(area.high.x - x, 1.0F));
    return compat::font_size(ui.fonts.caption) + ui.px(10);
}

core::Value<ShownConversation> shown_of(const GenerateScene& scene) {
    const core::Snapshot& shown = scene.session.shown();
    return core::generate::shown_conversation(scene.session.derived(), shown.scenario, shown.run);
}

void draw_result(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    if (const Sentence& refused = scene.session.input_error(); !refused.empty()) {
        text_block(ui, {ui.fonts.text, ui.theme.error}, area,
                   tr("{error}. The run still shows the previous input.", {{"error", refused}}));
        return;
    }
    const MessagesDraft& draft = scene.tab().messages;
    if (draft.asks_python) {
        text_block(ui, ui.hint(), area, tr("Python lays the messages out …"));
        return;
    }
    if (!draft.refused.empty()) {
        text_block(ui, {ui.fonts.text, ui.theme.error}, area, tr(draft.refused));
        return;
    }
    const core::Value<ShownConversation> shown = shown_of(scene);
    if (!shown || !shown->wrong.empty() || !shown->is_run) {
        const std::string why = !shown                 ? tr("The run is not on these messages yet.")
                                : shown->wrong.empty() ? tr("The text has been changed since the messages were taken.")
                                                       : tr(shown->wrong);
        area.low.y += text_block(ui, ui.hint(), area, why) + ui.px(8);
        ImGui::SetCursorScreenPos(area.low);
        if (button(tr("Run on these messages"), "run-messages")) ask(scene);
        return;
    }
    const std::size_t row = static_cast<std::size_t>(scene.row);
    if (row >= shown->rows.size()) return;
    area.low.y += draw_legend(ui, shown->rows[row], area);
    for (const chat::Finding& finding : shown->laid_out.findings)
        if (finding.wrong)
            area.low.y += text_block(ui, {ui.fonts.caption, ui.theme.error}, area, tr(finding.what)) + ui.px(4);
    draw_tokens(scene, shown->rows[row], area);
}

}  // namespace

void draw_messages(const GenerateScene& scene, Area area) {
    const Ui& ui = scene.ui;
    keep_in_step(scene, scene.tab().messages);
    wait_for_python(scene);
    const float width = std::clamp(area.width() * 0.38F, ui.px(220), ui.px(420));
    draw_controls(scene, {area.low, {area.low.x + width, area.high.y}});
    const Area result = {{area.low.x + width + ui.px(14), area.low.y}, area.high};
    if (!scene.session.stale()) return draw_result(scene, result);
    draw_stale(
        ui, "coming-messages", result, [&](Commands&) { draw_result(scene, result); }, computing(ui));
}

core::Command take_messages(MessagesDraft& draft, const std::shared_ptr<const load::Model>& model,
                            const std::string& path) {
    take_model(draft, model);
    chat::Conversation conversation = draft.conversation;
    conversation.written.clear();
    const std::string text = text_of_file(path);
    conversation = naming(path, [&] { return chat::conversation_in(text, std::move(conversation)); });
    core::command::TypeInput command;
    command.typed.messages = std::move(conversation);
    return command;
}

std::vector<Sentence> message_sentences(const GenerateScene& scene) {
    if (!scene.session.input_error().empty()) return {};  // they would be about the messages before
    const core::Value<ShownConversation> shown = shown_of(scene);
    if (!shown || !shown->is_run)
        return {
            message("A chat template writes messages as one text. The run is on that text, and the loss is measured "
                    "on the tokens that are trained.")};
    std::vector<Sentence> said;
    if (shown->loss)
        said.push_back(message("The mean loss of the trained tokens is {loss}.",
                               {{"loss", core::short_number_text(*shown->loss, 4)}}));
    for (const auto& [token, count] : shown->laid_out.special)
        said.push_back(message_n("{token} stands here {count} time.", "{token} stands here {count} times.", count,
                                 {{"token", scene.piece(token)}}));
    for (const chat::Finding& finding : shown->laid_out.findings) said.push_back(finding.what);
    return said;
}

}  // namespace decoderscope::views::generate
