#include "app/core/run/conversations.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/chat/laid_out.h"

#include <algorithm>

namespace decoderscope::core {

chat::LaidOut laid_out(const chat::Conversation& conversation, const tokenizer::Tokenizer& tokenizer) {
    return chat::laid_out(conversation, tokenizer);
}

std::vector<chat::FoundTemplate> templates_for(const load::Model& model) {
    std::vector<chat::FoundTemplate> all = chat::templates_in(model.path);
    std::map<std::string, std::string> special = all.empty() ? std::map<std::string, std::string>() : all[0].special;
    const tokenizer::SpecialTokens ids = model.tokenizer.special();
    if (ids.beginning) special.emplace("bos_token", model.tokenizer.piece(*ids.beginning));
    if (ids.end) special.emplace("eos_token", model.tokenizer.piece(*ids.end));
    std::erase_if(all, [](const chat::FoundTemplate& one) { return one.source.empty(); });
    for (chat::FoundTemplate& ready : chat::ready_templates()) all.push_back(std::move(ready));
    for (chat::FoundTemplate& one : all) one.special = special;
    return all;
}

chat::Conversation conversation_with(const load::Model& model, const std::string& name) {
    std::string known;
    for (const chat::FoundTemplate& one : templates_for(model)) {
        if (name.empty() || one.name == name) return with_template({.date = chat::today()}, one);
        known += (known.empty() ? "" : ", ") + one.name;
    }
    throw Error("chat template \"{name}\": expected a file, or one of {known}", {{"name", name}, {"known", known}});
}

std::string json_of_messages(const std::vector<TypedMessage>& messages) {
    OrderedJson list = OrderedJson::array();
    for (const TypedMessage& one : messages) list.push_back({{"role", one.role}, {"content", one.text}});
    return list.dump();
}

std::optional<std::vector<TypedMessage>> typed_messages(const std::string& json) {
    try {
        const std::vector<OrderedJson> rows = chat::read_messages(json);
        if (rows.size() != 1) return std::nullopt;
        std::vector<TypedMessage> messages;
        for (const OrderedJson& one : rows.front()) {
            if (one.size() != 2 || !one.contains("content") || !one["content"].is_string()) return std::nullopt;
            messages.push_back({one["role"].get<std::string>(), one["content"].get<std::string>()});
        }
        return messages;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace decoderscope::core
