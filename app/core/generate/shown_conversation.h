#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/run/scenario.h"
#include "engine/chat/laid_out.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// What became of messages: the tokens of each row with the message they belong to, what they are trained on, and how
// surprising the run found each of these.
namespace decoderscope::core::generate {

// One position of a row.
struct ConversationToken {
    Index token = 0;
    Index message = -1;          // that it belongs to; −1: none, the template's own
    std::string role;            // of the message whose turn it is; empty: the template's own
    bool content = false;        // of the message's text, not of what the template puts around it
    bool trained = false;        // its label is itself: the position before, if there is one, is to predict it
    std::optional<double> loss;  // −ln of the probability that the run gave it there, in nats; of trained tokens alone,
                                 // but for the first, which nothing predicts
};

struct ShownConversation {
    chat::LaidOut laid_out;
    std::vector<std::vector<ConversationToken>> rows;  // [row][pos]
    bool is_run = false;         // whether the run is on these tokens: it may have been typed into since
    std::optional<double> loss;  // the mean over all trained tokens
    Sentence wrong;              // why it can't be laid out: then there is nothing else
};

// Of a scenario's conversation, beside a run of that scenario.
[[nodiscard]] ShownConversation conversation_of(const Scenario& scenario, const Run& run);
// As above, from the cache; empty if there is no conversation.
[[nodiscard]] Value<ShownConversation> shown_conversation(Derived& derived, const Scenario& scenario,
                                                          const std::shared_ptr<const Run>& run);

// The losses of a row's trained tokens, position by position; a gap where nothing is trained.
[[nodiscard]] Exhibit losses_exhibit(const Scenario& scenario, const ShownConversation& shown, Index row);

}  // namespace decoderscope::core::generate
