#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::testing {

namespace {

const std::string kBytePairs = R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
    "post_processor": null, "decoder": null,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "!": 3}, "merges": ["a b"]}})";
const std::string kUnigram = R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
    "post_processor": null, "decoder": null,
    "model": {"type": "Unigram", "unk_id": null, "vocab": [["a", -1.0], ["b", -2.0]]}})";
const std::string kWords = R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
    "post_processor": null, "decoder": null, "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"}})";

Wrong tokenizer(std::string says, const std::string& json, const std::string& text = "ab") {
    return {std::move(says), model_with({{"tokenizer.json", json}}), trace({"--text", text})};
}

// Another value at a place of the BPE's file.
Wrong byte_pairs(std::string says, const std::string& pointer, const std::string& value,
                 const std::string& text = "ab") {
    return tokenizer(std::move(says), with(kBytePairs, pointer, value), text);
}

Wrong vocabulary(std::string says, const std::string& json, const std::string& text = "a") {
    return {std::move(says), model_with({{"vocabulary.json", json}}), trace({"--text", text})};
}

// {"type": "Split"} at what this regular expression matches.
std::string split(const std::string& expression) {
    return R"({"type": "Split", "pattern": {"Regex": ")" + expression +
           R"("}, "behavior": "Isolated", "invert": false})";
}

// Writes a text in place of another.
std::string replace(const std::string& text, const std::string& content) {
    return nlohmann::json({{"type", "Replace"}, {"pattern", {{"String", text}}}, {"content", content}}).dump();
}
// Steps, each so many times.
std::string sequence(const char* list, const std::vector<std::pair<std::string, int>>& steps) {
    nlohmann::json all = {{"type", "Sequence"}, {list, nlohmann::json::array()}};
    for (const auto& [step, times] : steps)
        for (int i = 0; i < times; ++i) all[list].push_back(nlohmann::json::parse(step));
    return all.dump();
}

std::string base64(const std::string& bytes) {
    constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (int shift = 18; shift >= 0; shift -= 6) text += digits[bits >> static_cast<unsigned>(shift) & 63U];
    }
    text.resize(text.size() - (3 - bytes.size() % 3) % 3);
    return text;
}

// A table of SentencePiece's normalizer: its length, its units, and texts.
std::string charsmap(const std::vector<std::uint32_t>& units) {
    const std::string table = raw(units);
    return R"({"type": "Precompiled", "precompiled_charsmap": ")" +
           base64(raw<std::uint32_t>({static_cast<std::uint32_t>(table.size())}) + table) + R"("})";
}

// A unit of it by what it leads to: XOR `to` of the node, at `byte`; with a leaf or not.
constexpr std::uint32_t unit(std::uint32_t to, std::uint32_t byte, bool leaf) {
    return to << 10U | (leaf ? 1U << 8U : 0U) | byte;
}

std::string many_tokens() {
    nlohmann::json ids = nlohmann::json::object();
    for (int id = 0; id < 21; ++id) ids[std::string(1, static_cast<char>('a' + id))] = id;
    return ids.dump();
}

}  // namespace

std::vector<Wrong> wrong_tokenizers() {
    const std::string special =
        R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {}})";
    return {
        byte_pairs("HERE/model/tokenizer.json: model: missing, expected an object with a vocabulary", "/model", ""),
        byte_pairs("HERE/model/tokenizer.json: model.vocab: expected an object of tokens and their ids", "/model/vocab",
                   "{}"),
        byte_pairs("HERE/model/tokenizer.json: model.vocab: \"a\": id -1, expected a whole number from 0 to 1048575",
                   "/model/vocab/a", "-1"),
        byte_pairs("HERE/model/tokenizer.json: model.vocab: id 1 is both \"a\" and \"b\", expected one token per id",
                   "/model/vocab/a", "1"),
        byte_pairs("HERE/model/tokenizer.json: model.merges: missing, expected a list such as [\"Ġ t\", …] or [[\"Ġ\", "
                   "\"t\"], …]",
                   "/model/merges", ""),
        byte_pairs("HERE/model/tokenizer.json: model.merges: entry 0, expected \"a b\" or [\"a\", \"b\"]",
                   "/model/merges", "[1]"),
        byte_pairs("HERE/model/tokenizer.json: model.merges: \"abc\", expected two tokens with a space between them",
                   "/model/merges", R"(["abc"])"),
        byte_pairs("HERE/model/tokenizer.json: model.merges: merge \"a c\": \"c\" is not in the vocabulary",
                   "/model/merges", R"(["a c"])"),
        byte_pairs("HERE/model/tokenizer.json: model.merges: unk_token: \"?\" is not in the vocabulary",
                   "/model/unk_token", R"("?")"),
        byte_pairs("HERE/model/tokenizer.json: added_tokens: expected a list of tokens", "/added_tokens", "{}"),
        byte_pairs("HERE/model/tokenizer.json: added_tokens: expected a list of tokens, each with an id and a content",
                   "/added_tokens", "[1]"),
        byte_pairs("HERE/model/tokenizer.json: added_tokens: expected a list of tokens, each with an id and a content",
                   "/added_tokens", R"([{"id": 4}])"),
        byte_pairs("HERE/model/tokenizer.json: added_tokens: \"a\": has another id elsewhere, expected one",
                   "/added_tokens", R"([{"id": 4, "content": "a"}])"),
        byte_pairs("HERE/model/tokenizer.json: added_tokens: \"x\" is given twice, expected it once", "/added_tokens",
                   R"([{"id": 4, "content": "x"}, {"id": 5, "content": "x"}])"),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: post_processor.single: "
                   "\"<s>\" is not in the vocabulary.",
                   "/post_processor", special),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: post_processor: id 99 is not "
                   "in the vocabulary.",
                   "/post_processor", with(special, "/special_tokens/<s>", R"({"id": "<s>", "ids": [99]})")),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: "
                   "normalizer.precompiled_charsmap: expected Base64.",
                   "/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "!!"})"),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: "
                   "normalizer.precompiled_charsmap: expected the length of a table, the table, and texts.",
                   "/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})"),
        byte_pairs("--text: precompiled_charsmap points past its end", "/normalizer", charsmap({unit(99, 0, false)})),
        byte_pairs("--text: precompiled_charsmap points past its end", "/normalizer", charsmap([] {
                       // From the root at 0 by 'a' to 0 ^ 'a', whose leaf is one before it.
                       std::vector<std::uint32_t> units('a' + 2, 0);
                       units['a'] = unit(1, 'a', true);
                       units['a' ^ 1] = 0x7fffffffU;  // far behind the texts
                       return units;
                   }())),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: normalizer.normalizers: 101 "
                   "steps, expected at most 100.",
                   "/normalizer", sequence("normalizers", {{replace("a", "a"), 101}})),
        byte_pairs(
            "HERE/model/tokenizer.json: labels the tokens but can't tokenize text: normalizer.content: 1025 bytes, "
            "expected at most 1024.",
            "/normalizer", replace("a", std::string(1025, 'a'))),
        byte_pairs(
            "HERE/model/tokenizer.json: labels the tokens but can't tokenize text: normalizer.prepend: 1025 bytes, "
            "expected at most 1024.",
            "/normalizer", R"({"type": "Prepend", "prepend": ")" + std::string(1025, 'a') + "\"}"),
        byte_pairs(
            "HERE/model/tokenizer.json: labels the tokens but can't tokenize text: the tokenizer makes more than "
            "65568 bytes of the text.",
            "/decoder", sequence("decoders", {{replace("a", "aa"), 60}})),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: pre_tokenizer.pattern.Regex: "
                   "\"a(?:\" can't be used: missing closing parenthesis.",
                   "/pre_tokenizer", split("a(")),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: pre_tokenizer.pattern.Regex: "
                   "\"a*\" can match nothing, expected at least one character.",
                   "/pre_tokenizer", split("a*")),
        byte_pairs("HERE/model/tokenizer.json: labels the tokens but can't tokenize text: pre_tokenizer.pattern.Regex: "
                   "\"^\" in a regular expression is unknown here.",
                   "/pre_tokenizer", split("^a")),
        tokenizer("HERE/model/tokenizer.json: model.vocab: entry 0, expected a piece of its own and its score",
                  with(kUnigram, "/model/vocab", "[1]")),
        tokenizer("HERE/model/tokenizer.json: model.vocab: entry 0, expected a piece of its own and its score",
                  with(kUnigram, "/model/vocab", R"([["a", "b"]])")),
        tokenizer("HERE/model/tokenizer.json: model.vocab: entry 1, expected a piece of its own and its score",
                  with(kUnigram, "/model/vocab", R"([["a", -1.0], ["a", -2.0]])")),
        {"HERE/model/merges.txt: missing, expected the merges of vocab.json beside it",
         model_with({{"vocab.json", R"({"a": 0})"}}), trace()},
        tokenizer("HERE/model/tokenizer.json: 21 tokens, expected at most vocab_size = 20",
                  with(with(kBytePairs, "/model/vocab", many_tokens()), "/model/merges", "[]")),
        {"HERE/model/example.json: target: the model's vocabulary can't tokenize text, expected token ids",
         model_with({{"pieces.json", R"(["a", "b"])"}, {"example.json", R"({"target": ["ab"]})"}}), trace()},
        {"HERE/model/pieces.json: expected a JSON list of pieces, one per token", model_with({{"pieces.json", "{}"}}),
         trace()},
        {"HERE/model/pieces.json: piece 0: expected a string, or an object with a \"piece\"",
         model_with({{"pieces.json", "[1]"}}), trace()},
        vocabulary("HERE/model/vocabulary.json: expected a JSON object with the key tokens", "[]"),
        vocabulary("HERE/model/vocabulary.json: tokens: expected a list of characters", R"({"tokens": 3})"),
        vocabulary("HERE/model/vocabulary.json: tokens: entry 1, expected a character", R"({"tokens": ["a", 1]})"),
        vocabulary("HERE/model/vocabulary.json: tokens: \"a\" is given twice", R"({"tokens": ["a", "a"]})"),
        vocabulary("HERE/model/vocabulary.json: pad: expected one of the tokens", R"({"tokens": ["a"], "pad": "z"})"),
        vocabulary("HERE/model/vocabulary.json: \"start\": unknown key, expected one of tokens, pad, beginning, end",
                   R"({"tokens": ["a"], "start": "a"})"),
        vocabulary("HERE/model/vocabulary.json: tokens: \"bc\", expected one character", R"({"tokens": ["a", "bc"]})"),
    };
}

std::vector<Wrong> wrong_texts() {
    return {
        byte_pairs("--text: the text can't be cut into words from byte 0 on", "/pre_tokenizer", split("(a+)+$"),
                   std::string(40, 'a') + "!"),
        byte_pairs("--text: the vocabulary has no token for \"z\"", "/model/type", R"("BPE")", "az"),
        // Steps that double a text: in place of a letter two, before the text as much again, two bytes for each.
        byte_pairs("--text: the tokenizer makes more than 65600 bytes of the text", "/normalizer",
                   sequence("normalizers", {{replace("a", "aa"), 60}})),
        byte_pairs(
            "--text: the tokenizer makes more than 65600 bytes of the text", "/normalizer",
            sequence("normalizers", {{R"({"type": "Prepend", "prepend": ")" + std::string(1000, 'a') + "\"}", 99}})),
        byte_pairs("--text: the tokenizer makes more than 65600 bytes of the text", "/pre_tokenizer",
                   sequence("pretokenizers",
                            {{R"({"type": "ByteLevel", "add_prefix_space": true, "use_regex": false})", 60}})),
        byte_pairs("--text: the text is not UTF-8", "/model/type", R"("BPE")", "a\xff"),
        tokenizer("--text: the vocabulary has no token for \"z\"", kUnigram, "az"),
        tokenizer("--text: the vocabulary has no token for \"z\"", kWords, "z"),
        vocabulary("--text: \"z\" is not in the vocabulary", R"({"tokens": ["a"]})", "az"),
        vocabulary("--text: the text is not UTF-8", R"({"tokens": ["a"]})", "a\xff"),
    };
}

}  // namespace decoderscope::testing
