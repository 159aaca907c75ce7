#pragma once

#include "engine/chat/conversation.h"
#include "engine/chat/laid_out.h"
#include "engine/chat/templates.h"
#include "engine/load/model.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::core {

// Whether chat templates can be run already. A page's first part lacks their language, which comes when the first
// picture is there (scripts/browser.sh); until then nothing below may be called.
[[nodiscard]] bool runs_templates();

// As chat::laid_out().
[[nodiscard]] chat::LaidOut laid_out(const chat::Conversation& conversation, const tokenizer::Tokenizer& tokenizer);

// The chat templates that a model can be given: its own, the default first, then the ready ones. Each has the texts of
// bos_token, eos_token …, from the checkpoint's files or from its vocabulary. Throws Error naming a file of the
// checkpoint that can't be read.
[[nodiscard]] std::vector<chat::FoundTemplate> templates_for(const load::Model& model);

// The conversation written by this template instead of its own.
[[nodiscard]] inline chat::Conversation with_template(chat::Conversation conversation,
                                                      const chat::FoundTemplate& chosen) {
    conversation.name = chosen.name;
    conversation.source = chosen.source;
    conversation.special = chosen.special;
    return conversation;
}

// A conversation with one of these, with today's date and without messages; the first if the name is empty. Throws
// Error naming those that there are.
[[nodiscard]] chat::Conversation conversation_with(const load::Model& model, const std::string& name);

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
