// A token's text: one way to write it, everywhere.
#include "app/core/text/token_text.h"

#include "app/core/run/labels.h"
#include "app/core/run/scenario.h"
#include "app/core/text/characters.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <string>
#include <utility>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::tokenizer;

TEST_CASE("a token shows what can't be seen") {
    CHECK(token_text("the") == "the");
    CHECK(token_text(" the") == "␣the");
    CHECK(token_text("  ") == "␣␣");
    CHECK(token_text("of the") == "of␣the");
    CHECK(token_text("\n\t") == "↵→");
    CHECK(token_text("\xE4\xBD") == "\\E4\\BD");
    CHECK(token_text("é文") == "é文");
    CHECK(token_text("\x01") == "\\01");
    CHECK(token_text("\xE2\x80\x8B") == "\\E2\\80\\8B");  // a space of no width
    CHECK(token_text("").empty());
    // A figure makes every text printable: a token's text stays as it is.
    for (const char* piece : {" the", "\n\t", "\xE4\xBD", "é文", " "})
        CHECK(printable(token_text(piece)) == token_text(piece));
}

TEST_CASE("every axis over the vocabulary is labelled by tokens") {
    const Scenario scenario = scenario_of(make_bundled_model("dates"));
    const auto plan = plan_of(scenario);
    const Tokenizer& target = scenario.tokenizer();
    const Tokenizer& source = scenario.encoder_tokenizer();
    REQUIRE(target.size() != source.size());
    const auto labels = [&](const char* name, std::size_t axis) {
        const Ref step = plan->find(name);
        REQUIRE(step != nullptr);
        return axis_labels(scenario, *step, axis, 0);
    };
    for (const auto& [name, axis] : {std::pair("logits", 2), std::pair("probs", 2), std::pair("lm_head.weight", 0),
                                     std::pair("lm_head.bias", 0), std::pair("embed.weight", 0)}) {
        const auto found = labels(name, static_cast<std::size_t>(axis));
        REQUIRE(found.size() == static_cast<std::size_t>(target.size()));
        for (Index id = 0; id < target.size(); ++id) CHECK(found[static_cast<std::size_t>(id)] == target.piece(id));
    }
    const auto read = labels("encoder.embed.weight", 0);
    REQUIRE(read.size() == static_cast<std::size_t>(source.size()));
    for (Index id = 0; id < source.size(); ++id)
        CHECK(read[static_cast<std::size_t>(id)] == token_text(source.piece(id)));
    CHECK(std::find(read.begin(), read.end(), "␣") != read.end());
}

TEST_CASE("without a vocabulary the axis keeps its ids") {
    const Scenario scenario = scenario_of(make_bundled_model("causal-lm-as-meant"));
    const auto labels = axis_labels(scenario, *plan_of(scenario)->find("logits"), 2, 0);
    for (std::size_t id = 0; id < labels.size(); ++id) CHECK(labels[id] == std::to_string(id));
}
