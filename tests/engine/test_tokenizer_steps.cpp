// Steps of tokenizers: regular expressions, the unigram model, tokens around a text.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/read.h"
#include "engine/tokenizer/regular_expression.h"
#include "engine/tokenizer/unicode.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

using namespace decoderscope::testing;

namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

Texts found(const char* oniguruma, const std::string& text) {
    Texts parts;
    for (const Span& span : RegularExpression(pcre2_pattern(oniguruma)).matches(text))
        parts.push_back(text.substr(span.begin, span.end - span.begin));
    return parts;
}

std::string refused(const std::string& oniguruma) {
    return error_of([&] { (void)RegularExpression(pcre2_pattern(oniguruma)); });
}

// The largest sum of scores of any way to cut the text, by trying all; an unknown character costs 10 more than the
// worst.
double best_by_trying(const std::vector<Unigram::Piece>& pieces, std::string_view text) {
    if (text.empty()) return 0.0;
    double worst = 0.0, best = -std::numeric_limits<double>::infinity();
    bool known = false;
    for (const auto& [piece, score] : pieces) worst = std::min(worst, score);
    for (const auto& [piece, score] : pieces) {
        if (!text.starts_with(piece)) continue;
        known = known || piece.size() == 1;
        best = std::max(best, score + best_by_trying(pieces, text.substr(piece.size())));
    }
    if (!known) best = std::max(best, worst - 10.0 + best_by_trying(pieces, text.substr(1)));
    return best;
}

Config with_source(Index vocab_size) {
    Config config;
    config.vocab_size = config.encoder_vocab_size = vocab_size;
    config.cross_attention = true;
    config.encoder_layers = 1;
    return config;
}

}  // namespace

TEST_CASE("a regular expression means what it means in tokenizer.json") {
    CHECK(found("\\s+", "a\u0085 \ufeffb\u00a0") == Texts{"\u0085 ", "\u00a0"});
    CHECK(found("\\S", " a\ufeff") == Texts{"a", "\ufeff"});
    CHECK(found("(?i:'s|'t)", "'S'\u017f't") == Texts{"'S", "'\u017f", "'t"});
    CHECK(found("[a[b-d]-]+", "x-abcd-e") == Texts{"-abcd-"});
    CHECK(found("a{,2}b", "aaab") == Texts{"aab"});
    CHECK(found("{a}", "a{a}") == Texts{"{a}"});
    CHECK(found("[0-9]+$", "12\n34") == Texts{"12", "34"});
    CHECK(found("a.", "a\nab") == Texts{"ab"});
    CHECK(found("\\p{Han}+", "ab中文、ー") == Texts{"中文"});  // not the signs that Han shares with other scripts
    CHECK(found("\\w+", "ab\u0301_1²-") == Texts{"ab\u0301_1"});
    CHECK(found("\\v\\x41\\u4e2d",
                "\x0B"
                "A中") == Texts{"\x0B"
                                "A中"});
    CHECK(found("(a)(b)", "ab") == Texts{"ab"});

    for (const char* unknown : {"(?i)a", "(?<name>a)", "(*ACCEPT)", "^a", "a\\b", "\\h", "\\1", "\\xFF", "[]a]", "[a",
                                "[a&&b]", "[[:space:]]", "[a[^b]]", "[a-[b]]", "a{2}+", "\\p{}", "\\p", "\\", "\\u12"})
        CHECK(refused(unknown).find("unknown here") != std::string::npos);
    CHECK(refused(std::string(100'000, '[')).find("unknown here") != std::string::npos);
    CHECK(refused(std::string(100'000, '(')).find("can't be used") != std::string::npos);
    for (const char* wrong : {"a(", "*a", "\\p{Unheard}", "(?<=a+)b"})
        CHECK(refused(wrong).find("can't be used") != std::string::npos);
    CHECK(refused("a*|b").find("can match nothing") != std::string::npos);
}

TEST_CASE("the unigram model finds the cut of the largest score") {
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        std::vector<Unigram::Piece> pieces = {{"<unk>", 0.0}};
        for (const char* piece : {"a", "b", "ab", "ba", "aab", "bb", "abab", "c"})
            if (random() % 3 != 0) pieces.emplace_back(piece, -static_cast<double>(random() % 1000) / 100.0);
        std::string text;
        for (std::size_t left = random() % 9; left > 0; --left) text += "abc"[random() % 3];
        std::vector<Index> ids;
        const Unigram model(pieces, Index{0}, false);
        model.encode(text, ids);
        double worst = 0.0, score = 0.0, whole = 0.0;
        for (const auto& piece : pieces) worst = std::min(worst, piece.second);
        std::size_t bytes = 0;
        for (const Index id : ids) {
            const auto& [piece, own] = pieces[static_cast<std::size_t>(id)];
            score += id == 0 ? 0.0 : own;
            bytes += id == 0 ? 0 : piece.size();
        }
        // What is left are unknown characters.
        whole = score + static_cast<double>(text.size() - bytes) * (worst - 10.0);
        INFO(text);
        CHECK(std::abs(whole - best_by_trying(pieces, text)) < 1e-9);
    }
}

TEST_CASE("wrong pieces of a unigram model are named") {
    const auto said = [](std::vector<Unigram::Piece> pieces) {
        return error_of([&] { Unigram(std::move(pieces), std::nullopt, false); });
    };
    check_message(said({{"a", 0.0}, {"b", 0.0}, {"a", 0.0}}), {"entry 2", "a piece of its own"});
    check_message(said({{"a", std::nan("")}}), {"entry 0", "finite"});
    std::vector<Index> ids;
    const Unigram model({{"a", -1.0}}, std::nullopt, false);
    check_message(error_of([&] { model.encode("a文", ids); }), {"no token", "文"});
    const auto file = [](const Json& model_json) {
        return error_of([&] { (void)parse_tokenizer_json(Json{{"model", model_json}}.dump()); });
    };
    check_message(file({{"type", "Unigram"},
                        {"unk_id", 2},
                        {"vocab", Json::array({Json::array({"a", -1}), Json::array({"b", -1})})}}),
                  {"model.unk_id", "2"});
    check_message(file({{"type", "Unigram"}, {"vocab", Json::array({Json::array({"a", "x"})})}}),
                  {"model.vocab", "entry 0"});
    check_message(file({{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", Json::array()}, {"unk_token", "<unk>"}}),
                  {"<unk>", "not in the vocabulary"});
}

TEST_CASE("a map of characters that points past its end is refused, whatever the text") {
    std::mt19937 random(4);
    for (int i = 0; i < 2000; ++i) {
        std::string table = {'\x40', 0, 0, 0};
        while (table.size() < 4 + 64 + 8) table += static_cast<char>(random());
        const PrecompiledMap map(table);
        for (const char* text : {"a", "\x01\x02", "e\u0301", "文字"}) {
            TextSpan stretch{text, true};
            const std::string error = error_of([&] { map(stretch); });
            if (error != "(no error)") check_message(error, {"precompiled_charsmap", "past its end"});
        }
    }
    for (const char* table : {"", "abc", "\x03zzz", "\xFF\xFF\xFF\x7F"})
        check_message(error_of([&] { (void)PrecompiledMap(std::string_view(table)); }), {"expected the length"});
}

TEST_CASE("tokens around a text, and where a target begins and ends") {
    const std::string t5 = read_text(DECODERSCOPE_TESTS_DIR "/reference/foreign/tokenizers/t5/tokenizer.json");
    const TemporaryFolder folder;
    write_bytes(folder.file("tokenizer.json"), t5);
    const Tokenizers alone = read_tokenizers(folder.path(), with_source(420));
    CHECK(alone.source.encode("the").back() == 1);
    CHECK(alone.source.special().end == Index{1});
    CHECK(alone.source.decode(alone.source.encode("the decoder")) == "the decoder");

    write_bytes(folder.file("config.json"), R"({"decoder_start_token_id": 0, "eos_token_id": 1})");
    const Tokenizers both = read_tokenizers(folder.path(), with_source(420));
    CHECK(both.source.encode("the").back() == 1);
    const std::vector<Index> target = both.target.encode("the");
    CHECK(target.front() == 0);
    CHECK(target.back() != 1);
    CHECK(both.target.special().beginning == Index{0});
    CHECK(both.target.decode(target) == "the");

    // What generation says comes first; the first of several ends.
    write_bytes(folder.file("generation_config.json"), R"({"eos_token_id": [5, 1]})");
    const SpecialTokens ends = read_tokenizers(folder.path(), with_source(420)).target.special();
    CHECK(ends.end == Index{5});
    CHECK(ends.other_ends == std::vector<Index>{1});
    CHECK(ends.ends_at(5));
    CHECK(ends.ends_at(1));
    CHECK_FALSE(ends.ends_at(0));
    for (const char* odd :
         {"{", "[]", R"({"eos_token_id": "x"})", R"({"eos_token_id": 99999})", R"({"eos_token_id": []})"}) {
        write_bytes(folder.file("generation_config.json"), odd);
        write_bytes(folder.file("config.json"), odd);
        CHECK(read_tokenizers(folder.path(), with_source(420)).target.special().end == Index{1});
    }
}

TEST_CASE("a model's remarks name the part of its tokenizer that is unknown here") {
    Json file = parse_json(read_text(DECODERSCOPE_TESTS_DIR "/reference/foreign/tokenizers/gpt2/tokenizer.json"),
                           message("JSON"));
    file["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
    const TemporaryFolder folder;
    write_bytes(folder.file("tokenizer.json"), file.dump());
    Config config;
    config.vocab_size = 595;
    const Tokenizers labels = read_tokenizers(folder.path(), config);
    CHECK_FALSE(labels.target.can_encode());
    REQUIRE(labels.remarks.size() == 1);
    check_message(labels.remarks[0].english(), {folder.file("tokenizer.json"), "pre_tokenizer.type", "UnicodeScripts"});
}

TEST_CASE("any number of marks on a letter is put in Unicode's order, those of one class as they come") {
    // By their classes in UnicodeData.txt: 1, 202, 220, and 230 twice. 0F73 has class 0, and is 0F71 (129), 0F72 (130).
    const std::string overlay = "\u0334", cedilla = "\u0327", below = "\u0316", grave = "\u0300", dot = "\u0307";
    CHECK(normalized("q" + dot + grave + below + cedilla + overlay + grave, false, false) ==
          "q" + overlay + cedilla + below + dot + grave + grave);
    CHECK(normalized("\u0F73\u0F71", false, false) == "\u0F71\u0F71\u0F72");
    CHECK(normalized("e\u0316\u0301" + dot, true, false) == "\u00E9\u0316" + dot);
    CHECK(normalized("\uD55C\uFB01\u00B2", false, true) == "\u1112\u1161\u11ABfi2");
    std::string mixed = "q", first, last;
    for (int i = 0; i < 200'000; ++i) {
        mixed += grave + overlay;
        first += overlay;
        last += grave;
    }
    CHECK(normalized(mixed, false, false) == "q" + first + last);
}

TEST_CASE("a token shows its space and its byte, as in its text") {
    const auto pieces = [](const char* family) {
        const Tokenizer tokenizer =
            parse_tokenizer_json(read_text(DECODERSCOPE_TESTS_DIR "/reference/foreign/tokenizers/" +
                                           std::string(family) + "/tokenizer.json"))
                .tokenizer;
        Texts shown;
        for (const Index id : tokenizer.encode("the ǽ\n")) shown.push_back(tokenizer.piece(id));
        return shown;
    };
    CHECK(pieces("gpt2") == Texts{"the", " ", "\xC7", "\xBD", "\n"});
    CHECK(pieces("llama-2") == Texts{"<s>", " the", " ", "\xC7", "\xBD", "\n"});
    CHECK(pieces("mistral") == Texts{"<s>", " the", " ", "\xC7", "\xBD", "\n"});
    CHECK(pieces("t5") == Texts{" the", " ", "<unk>", "</s>"});
}

// Run by its tag: ./test_engine "[tokenizer-time]"
TEST_CASE("the time for the longest texts grows as they do", "[.][bench][tokenizer-time]") {
    for (const char* family : {"gpt2", "llama-3", "llama-2", "mistral", "gemma", "t5", "unigram-bytes", "gpt-neox"}) {
        const Tokenizer tokenizer =
            parse_tokenizer_json(read_text(DECODERSCOPE_TESTS_DIR "/reference/foreign/tokenizers/" +
                                           std::string(family) + "/tokenizer.json"))
                .tokenizer;
        for (const char* unit : {"a", " ", "the decoder reads ", "注意力 😀 text\n"}) {
            std::string line = std::string(family) + " " + Json(unit).dump() + ":";
            for (const std::size_t size : {100'000U, 200'000U, 400'000U}) {
                std::string text;
                while (text.size() < size) text += unit;
                const auto start = std::chrono::steady_clock::now();
                const std::size_t count = tokenizer.encode(text).size();
                const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
                line +=
                    " " + std::to_string(static_cast<int>(took.count())) + " ms (" + std::to_string(count) + " ids)";
            }
            WARN(line);
        }
    }
}
