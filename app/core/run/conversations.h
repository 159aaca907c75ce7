#pragma once

#include "engine/chat/conversation.h"
#include "engine/load/model.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// The chat templates that a model can be given: its checkpoint's own, the default first, which Python runs, then the
// formats that the program writes itself. Throws Error naming a file of the checkpoint that can't be read.
struct KnownTemplate {
    std::string name;
    bool own = false;
};
[[nodiscard]] std::vector<KnownTemplate> templates_for(const load::Model& model);

// The conversation written by this template instead of its own.
[[nodiscard]] chat::Conversation with_template(chat::Conversation conversation, const load::Model& model,
                                               const std::string& name);

// A conversation with one of these, without messages; the first if the name is empty. Throws Error naming those that
// there are.
[[nodiscard]] chat::Conversation conversation_with(const load::Model& model, const std::string& name);

// Python at work on a conversation whose template is in Jinja: `python3 -m decoderscope chat`, started and waited for.
class WritingByPython {
public:
    WritingByPython(chat::Conversation conversation, const load::Model& model);
    ~WritingByPython();
    WritingByPython(WritingByPython&&) noexcept;
    WritingByPython& operator=(WritingByPython&&) noexcept;

    // Waits a moment; the conversation with what the template wrote, once it is there. Throws Error with Python's
    // sentence, or with the command where it can't be run.
    [[nodiscard]] std::optional<chat::Conversation> wait();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// One message as it is typed: its role and its text.
struct TypedMessage {
    std::string role, text;
    bool operator==(const TypedMessage&) const = default;
};

// Messages as JSON, and back. What has more than a role and a text (tool calls, pictures), or several conversations,
// can't be typed: nothing then.
[[nodiscard]] std::string json_of_messages(const std::vector<TypedMessage>& messages);
[[nodiscard]] std::optional<std::vector<TypedMessage>> typed_messages(const std::string& json);

}  // namespace decoderscope::core
