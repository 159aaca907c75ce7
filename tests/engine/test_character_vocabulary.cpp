// Vocabularies of characters: a text becomes ids and comes back.
#include "engine/base/error.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"

using namespace decoderscope::testing;

namespace {

constexpr const char* kVocabulary = R"({"tokens": ["<pad>", "<bos>", "a", "b", "é", "文"], "pad": "<pad>",
                                        "beginning": "<bos>"})";

}  // namespace

TEST_CASE("a text in characters becomes ids after the beginning token, and round-trips") {
    const Tokenizer tokenizer = parse_character_vocabulary(kVocabulary);
    const std::vector<Index> ids = tokenizer.encode("ab文éa");
    CHECK(ids == std::vector<Index>{1, 2, 3, 5, 4, 2});
    CHECK(tokenizer.decode(ids) == "ab文éa");
    CHECK(tokenizer.encode("") == std::vector<Index>{1});
    CHECK(tokenizer.piece(1) == "<bos>");
    CHECK(tokenizer.piece(77) == "77");
    CHECK(tokenizer.special().pad == Index{0});
    CHECK_FALSE(tokenizer.special().end);
}

TEST_CASE("a text that a character vocabulary can't write is refused by its first such character") {
    const Tokenizer tokenizer = parse_character_vocabulary(kVocabulary);
    CHECK(error_of([&] { (void)tokenizer.encode("abz"); }) == "\"z\" is not in the vocabulary");
    CHECK(error_of([&] { (void)tokenizer.encode("a\xC3"); }) == "the text is not UTF-8");
    CHECK(error_of([&] { (void)tokenizer.encode("<pad>"); }) == "\"<\", \"p\", \"d\", \">\" are not in the vocabulary");
}

TEST_CASE("a broken vocabulary is refused by its key") {
    const auto said = [](const char* json) { return error_of([&] { (void)parse_character_vocabulary(json); }); };
    CHECK(said(R"({})") == "tokens: expected a list of characters");
    CHECK(said(R"({"tokens": ["a", 1]})") == "tokens: entry 1, expected a character");
    CHECK(said(R"({"tokens": ["a", "a"]})") == "tokens: \"a\" is given twice");
    CHECK(said(R"({"tokens": ["ab"]})") == "tokens: \"ab\", expected one character");
    CHECK(said(R"({"tokens": ["a"], "pad": "b"})") == "pad: expected one of the tokens");
    CHECK(said(R"({"tokens": ["a"], "bos": "a"})").find("\"bos\": unknown key") == 0);
}
