// A page doesn't run chat templates.
#include "app/core/run/conversations.h"
#include "engine/base/error.h"

namespace decoderscope::core {

namespace {

[[noreturn]] void refuse() {
    throw Error(
        "chat templates run in the desktop program alone: with their language a page would take longer to load");
}

}  // namespace

bool runs_templates() { return false; }

chat::LaidOut laid_out(const chat::Conversation&, const tokenizer::Tokenizer&) { refuse(); }

std::vector<chat::FoundTemplate> templates_for(const load::Model&) { refuse(); }

chat::Conversation conversation_with(const load::Model&, const std::string&) { refuse(); }

std::string json_of_messages(const std::vector<TypedMessage>&) { refuse(); }

std::optional<std::vector<TypedMessage>> typed_messages(const std::string&) { refuse(); }

}  // namespace decoderscope::core
