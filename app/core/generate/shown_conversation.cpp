#include "app/core/generate/shown_conversation.h"

#include "app/core/generate/generator.h"
#include "app/core/generate/prediction.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/text/token_text.h"
#include "engine/base/error.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace decoderscope::core::generate {

namespace {

std::vector<ConversationToken> tokens_of(const chat::LaidOutRow& row) {
    std::vector<ConversationToken> tokens;
    for (std::size_t i = 0; i < row.tokens.size(); ++i) {
        const chat::Origin& origin = row.origins[i];
        tokens.push_back({.token = row.tokens[i],
                          .message = origin.message,
                          .role = origin.message < 0 ? "" : row.roles[static_cast<std::size_t>(origin.message)],
                          .content = origin.content,
                          .trained = row.trained[i]});
    }
    return tokens;
}

// Whether a batch holds exactly these rows.
bool holds(const Inputs& inputs, const std::vector<chat::LaidOutRow>& rows) {
    if (inputs.tokens.empty() || inputs.tokens.dim(0) != static_cast<Index>(rows.size())) return false;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (row_tokens(inputs, static_cast<Index>(i)) != rows[i].tokens) return false;
    return true;
}

void add_losses(ShownConversation& shown, const Run& run) {
    double sum = 0.0;
    Index count = 0;
    for (std::size_t r = 0; r < shown.rows.size(); ++r)
        for (std::size_t i = 1; i < shown.rows[r].size(); ++i) {
            ConversationToken& token = shown.rows[r][i];
            if (!token.trained) continue;
            token.loss = -std::log(probability_of(run, static_cast<Index>(r), static_cast<Index>(i) - 1, token.token));
            sum += *token.loss;
            ++count;
        }
    if (count > 0) shown.loss = sum / static_cast<double>(count);
}

}  // namespace

ShownConversation conversation_of(const Scenario& scenario, const Run& run) {
    ShownConversation shown;
    try {
        shown.laid_out = chat::laid_out(*scenario.conversation, scenario.tokenizer());
    } catch (const Error& error) {
        shown.wrong = error.sentence();
        return shown;
    }
    for (const chat::LaidOutRow& row : shown.laid_out.rows) shown.rows.push_back(tokens_of(row));
    shown.is_run = holds(scenario.inputs, shown.laid_out.rows);
    if (shown.is_run && run.plan().find("logits") != nullptr) add_losses(shown, run);
    return shown;
}

Value<ShownConversation> shown_conversation(Derived& derived, const Scenario& scenario,
                                            const std::shared_ptr<const Run>& run) {
    if (!scenario.conversation) return {};
    return derived.get<ShownConversation>({run}, std::make_tuple(), [&] { return conversation_of(scenario, *run); });
}

Exhibit losses_exhibit(const Scenario& scenario, const ShownConversation& shown, Index row) {
    const std::vector<ConversationToken>& tokens = shown.rows[static_cast<std::size_t>(row)];
    DepthCurve curve{.name = tr("loss")};
    for (std::size_t i = 0; i < tokens.size(); ++i)
        curve.points.push_back({static_cast<double>(i),
                                tokens[i].loss.value_or(std::numeric_limits<double>::quiet_NaN()),
                                token_text(scenario.tokenizer(), tokens[i].token)});
    Chart chart{.name = "losses",
                .title = tr("Loss by token"),
                .caption = tr("−ln of the probability of each trained token"),
                .blocks = static_cast<Index>(tokens.size()) - 1,
                .may_be_logarithmic = false,
                .curves = {{curve.name, curve, curve_color(0)}},
                .across = tr("token")};
    Exhibit exhibit;
    exhibit.caption = caption_of(scenario, tr("loss by token"), tr("batch row {row}", {{"row", row}}));
    exhibit.charts.push_back(std::move(chart));
    return exhibit;
}

}  // namespace decoderscope::core::generate
