// Counting and wrapping.
#include "app/core/run/labels.h"
#include "app/core/run/scenario.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "app/core/text/token_text.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <string>
#include <utility>

using namespace decoderscope::testing;

using Lines = std::vector<std::string>;

TEST_CASE("numbers have their thousands apart, and one thing no plural") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped(-123) == "-123");
    CHECK(grouped(-1234) == "-1,234");
    CHECK(counted_rows(1).english() == "1 row");
    CHECK(counted_rows(0).english() == "0 rows");
    CHECK(counted_rows(2304).english() == "2,304 rows");
}

TEST_CASE("a text is broken at spaces, by the width that it is measured with") {
    const auto letters = [](const std::string& line) { return line.size(); };
    CHECK(wrapped("", std::size_t{5}, letters).empty());
    CHECK(wrapped("one two three", std::size_t{7}, letters) == Lines{"one two", "three"});
    CHECK(wrapped("one two three", std::size_t{6}, letters) == Lines{"one", "two", "three"});
    CHECK(wrapped("a considerable word", std::size_t{4}, letters) == Lines{"a", "considerable", "word"});
    CHECK(wrapped("one two three", std::size_t{3}, letters, 2) == Lines{"one", "two three"});
    CHECK(wrapped("a   b", std::size_t{9}, letters) == Lines{"a   b"});
}

TEST_CASE("a line break in a text stays one") {
    const auto letters = [](const std::string& line) { return line.size(); };
    CHECK(wrapped("one\ntwo three", std::size_t{9}, letters) == Lines{"one", "two three"});
    CHECK(wrapped("one\n\ntwo", std::size_t{9}, letters) == Lines{"one", "", "two"});
}

TEST_CASE("Chinese is broken between its characters, and no line begins or ends with the wrong mark") {
    // A Chinese character is as wide as two Latin letters.
    const auto columns = [](const std::string& line) {
        std::size_t width = 0;
        for (const Utf8Character& character : characters(line)) width += character.code < 0x80 ? 1 : 2;
        return width;
    };
    const auto lines = [&](std::string_view text, std::size_t width) { return wrapped(text, width, columns); };
    CHECK(lines("注意力权重", 6) == Lines{"注意力", "权重"});
    CHECK(lines("注意力权重", 10) == Lines{"注意力权重"});
    // Latin words and numbers stay whole, with no space added at the border.
    CHECK(lines("每个query得分", 9) == Lines{"每个query", "得分"});
    CHECK(lines("每个query得分", 8) == Lines{"每个", "query得", "分"});
    CHECK(lines("共 0.25 分", 4) == Lines{"共", "0.25", "分"});
    // Closing marks don't begin a line; opening ones don't end it.
    CHECK(lines("残差流。", 6) == Lines{"残差", "流。"});
    CHECK(lines("掩码（因果）", 6) == Lines{"掩码", "（因", "果）"});
    CHECK(lines("称为“键”", 6) == Lines{"称为", "“键”"});
    // A Japanese word with a long vowel.
    CHECK(lines("モデルー", 6) == Lines{"モデ", "ルー"});
}

// A token's text: one way to write it, everywhere.

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
