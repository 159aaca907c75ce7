#pragma once

#include "engine/chat/syntax.h"
#include "engine/chat/value.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <string_view>

namespace decoderscope::chat {

// What a template is given besides the messages.
struct Prompted {
    bool generation_prompt = false;              // the beginning of the answer that comes next
    std::map<std::string, std::string> special;  // bos_token, eos_token … as text
    std::string more;                            // a JSON object of further variables, such as tools; empty: none
    std::string date;                            // for templates that ask for it: "2026-11-27"
};

struct Rendered {
    Text text;
    bool asked_for_date = false;  // the text is another one tomorrow
};

// A chat template: the Jinja program in a checkpoint's tokenizer_config.json or chat_template.jinja, as Hugging Face's
// apply_chat_template() runs it. A value. It reads no file and calls nothing of the machine; how long it may work and
// how much it may write is limited.
class ChatTemplate {
public:
    // Throws Error naming the line and what was expected: also for a filter, test or tag that is unknown here.
    explicit ChatTemplate(std::string_view source);

    // Whether it says itself, by {% generation %}, what the model is to write.
    [[nodiscard]] bool marks_generation() const { return marks_generation_; }

    // The text of messages, each an object with "role" and mostly "content". Throws Error naming the line and why: the
    // template may refuse the messages, too.
    [[nodiscard]] Rendered render(const nlohmann::ordered_json& messages, const Prompted& prompted) const;

private:
    Node whole_;
    bool marks_generation_ = false;
};

}  // namespace decoderscope::chat
