#include "app/cli/commands.h"
#include "app/core/generate/shown_conversation.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <iomanip>
#include <memory>
#include <ostream>

namespace decoderscope::cli {

namespace {

using core::generate::ConversationToken;
using core::generate::ShownConversation;

OrderedJson json_of(const ConversationToken& token, const tokenizer::Tokenizer& tokenizer) {
    OrderedJson json = {{"token", token.token},     {"piece", core::valid_utf8(tokenizer.piece(token.token))},
                        {"message", token.message}, {"role", token.role},
                        {"content", token.content}, {"label", token.trained ? token.token : Index{-100}}};
    if (token.loss) json["loss"] = *token.loss;
    return json;
}

// Which characters of the text are whose: [begin, end, message], as `python3 -m decoderscope chat` has them.
OrderedJson spans_of(const chat::Text& text) {
    OrderedJson spans = OrderedJson::array();
    std::int64_t character = 0;
    for (std::size_t i = 0; i < text.bytes.size(); ++i) {
        if ((static_cast<unsigned char>(text.bytes[i]) & 0xC0U) == 0x80U) continue;
        ++character;
        const chat::Origin& origin = text.origins[i];
        if (!origin.content) continue;
        const bool goes_on = !spans.empty() && spans.back()[1] == character - 1 && spans.back()[2] == origin.message;
        if (!goes_on) spans.push_back({character - 1, character, origin.message});
        spans.back()[1] = character;
    }
    return spans;
}

void write_json(std::ostream& out, const ShownConversation& shown, const tokenizer::Tokenizer& tokenizer) {
    OrderedJson json = {
        {"rows", OrderedJson::array()}, {"special_tokens", OrderedJson::array()}, {"findings", OrderedJson::array()}};
    for (std::size_t i = 0; i < shown.rows.size(); ++i) {
        const chat::LaidOutRow& row = shown.laid_out.rows[i];
        OrderedJson tokens = OrderedJson::array();
        for (const ConversationToken& token : shown.rows[i]) tokens.push_back(json_of(token, tokenizer));
        json["rows"].push_back({{"text", core::valid_utf8(row.text.bytes)},
                                {"spans", spans_of(row.text)},
                                {"tokens", std::move(tokens)},
                                {"cut", row.cut},
                                {"trained_cut", row.trained_cut}});
    }
    for (const auto& [token, count] : shown.laid_out.special)
        json["special_tokens"].push_back(
            {{"token", token}, {"piece", core::valid_utf8(tokenizer.piece(token))}, {"count", count}});
    for (const chat::Finding& finding : shown.laid_out.findings)
        json["findings"].push_back({{"wrong", finding.wrong}, {"what", finding.what.english()}});
    if (shown.loss) json["loss"] = *shown.loss;
    out << json.dump(2) << "\n";
}

void write_text(std::ostream& out, const ShownConversation& shown, const tokenizer::Tokenizer& tokenizer) {
    for (std::size_t r = 0; r < shown.rows.size(); ++r) {
        if (shown.rows.size() > 1) out << "conversation " << r + 1 << "\n";
        for (std::size_t i = 0; i < shown.rows[r].size(); ++i) {
            const ConversationToken& token = shown.rows[r][i];
            out << std::setw(5) << i << "  " << std::left << std::setw(10)
                << (token.role.empty() ? "template" : token.role) << (token.content ? "  " : "- ") << std::setw(8)
                << (token.trained ? std::to_string(token.token) : "-100") << std::setw(8)
                << (token.loss ? core::short_number_text(*token.loss, 4) : "") << std::right
                << core::token_text(tokenizer, token.token) << "\n";
        }
    }
    for (const auto& [token, count] : shown.laid_out.special)
        out << "special token " << core::token_text(tokenizer, token) << ": " << count << "\n";
    if (shown.loss) out << "mean loss of the trained tokens: " << core::short_number_text(*shown.loss, 5) << "\n";
    for (const chat::Finding& finding : shown.laid_out.findings)
        out << (finding.wrong ? "wrong: " : "note: ") << finding.what.english() << "\n";
}

}  // namespace

void add_chat(CLI::App& app, const Context& context) {
    const auto json = std::make_shared<bool>(false);
    CLI::App& command =
        add_running(app, context, "chat",
                    "Show messages as a chat template lays them out: whose each token is, its label, its loss");
    command.get_option("--messages")->required();
    command.add_flag("--json", *json, "machine-readable output");
    command.callback([context, json] {
        context.work = [context, json] {
            const core::Scenario scenario = scenario_of(context.run);
            const ShownConversation shown = core::generate::conversation_of(scenario, *run_of(scenario, context.run));
            if (*json)
                write_json(context.out, shown, scenario.tokenizer());
            else
                write_text(context.out, shown, scenario.tokenizer());
        };
    });
}

}  // namespace decoderscope::cli
