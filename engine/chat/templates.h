#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where chat templates come from: a checkpoint's folder, or our own table.
namespace decoderscope::chat {

// A template, and what its variables bos_token, eos_token … are.
struct FoundTemplate {
    std::string name;    // "chatml"; "default" or another name that the checkpoint gives it
    std::string source;  // empty: the checkpoint brings none
    std::map<std::string, std::string> special;
};

// The templates of a checkpoint: chat_template.jinja, additional_chat_templates/*.jinja, chat_template.json and
// tokenizer_config.json, the first that has one being the default. `path` is a folder or a file in it. The special
// tokens are tokenizer_config.json's and special_tokens_map.json's, also if there is no template. A GGUF file has its
// templates in itself. Throws Error naming the file, the key and what was expected.
[[nodiscard]] std::vector<FoundTemplate> templates_in(const std::string& path);

// Templates for models that bring none (assets/tables/chat_templates.json), the first for any vocabulary.
[[nodiscard]] std::vector<FoundTemplate> ready_templates();

}  // namespace decoderscope::chat
