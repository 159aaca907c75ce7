// Tokenizer files in a model's folder: which one is read, the remarks about an incomplete one, and what is refused.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/tokenizer/read.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/reduced_gpt2_tokens.h"
#include "tests/engine/temporary_folder.h"

using namespace decoderscope::testing;

namespace {

using Json = nlohmann::json;

Config config_with_tokens(Index vocab_size, Index encoder_vocab_size = 0) {
    Config config;
    config.vocab_size = vocab_size;
    config.encoder_vocab_size = encoder_vocab_size;
    config.cross_attention = encoder_vocab_size > 0;
    config.encoder_layers = encoder_vocab_size > 0 ? 1 : 0;
    return config;
}

// GPT-2's tokenizer.json as Hugging Face writes it, with the reduced tables.
Json gpt2_json(bool pairs) {
    Json merges = Json::array();
    const std::string text = read_text(kReducedGpt2Tokens + "/merges.txt");
    for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1) {
        const std::string line = text.substr(at, text.find('\n', at) - at);
        const std::size_t space = line.find(' ');
        if (pairs)
            merges.push_back({line.substr(0, space), line.substr(space + 1)});
        else
            merges.push_back(line);
    }
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"added_tokens",
             {{{"id", 50256},
               {"special", true},
               {"content", "<|endoftext|>"},
               {"single_word", false},
               {"lstrip", false},
               {"rstrip", false},
               {"normalized", true}}}},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
            {"post_processor", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}}},
            {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}}},
            {"model",
             {{"type", "BPE"},
              {"dropout", nullptr},
              {"unk_token", nullptr},
              {"continuing_subword_prefix", ""},
              {"end_of_word_suffix", ""},
              {"fuse_unk", false},
              {"vocab", Json::parse(read_text(kReducedGpt2Tokens + "/vocab.json"))},
              {"merges", merges}}}};
}

ReadTokenizer read(const Json& file) { return parse_tokenizer_json(file.dump()); }

std::string said(const Json& file) {
    return error_of([&] { (void)read(file); });
}

void write_gpt2(const TemporaryFolder& folder) {
    write_bytes(folder.file("vocab.json"), read_text(kReducedGpt2Tokens + "/vocab.json"));
    write_bytes(folder.file("merges.txt"), read_text(kReducedGpt2Tokens + "/merges.txt"));
}

}  // namespace

TEST_CASE("tokenizer.json gives GPT-2's ids, with merges as text and as pairs") {
    const auto golden = parse_json(read_text(kReducedGpt2Tokens + "/golden.json"), message("texts and ids"));
    for (const bool pairs : {false, true}) {
        const ReadTokenizer read_one = read(gpt2_json(pairs));
        CHECK(read_one.labels_alone_because.empty());
        for (const auto& entry : golden) {
            const auto text = entry["text"].get<std::string>();
            if (text.find("<|endoftext|>") != std::string::npos) continue;  // here it is one token
            INFO(entry.dump());
            CHECK(read_one.tokenizer.encode(text) == entry["ids"].get<std::vector<Index>>());
        }
        CHECK(read_one.tokenizer.encode("a<|endoftext|>b") == std::vector<Index>{64, 50256, 65});
        CHECK(read_one.tokenizer.piece(50256) == "<|endoftext|>");
        CHECK(read_one.tokenizer.special().end == Index{50256});
    }
}

TEST_CASE("a template's first token stands before every text") {
    Json file = gpt2_json(false);
    file["post_processor"] = {{"type", "Sequence"},
                              {"processors",
                               {{{"type", "ByteLevel"}},
                                {{"type", "TemplateProcessing"},
                                 {"single",
                                  {{{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}},
                                   {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}}}}};
    const Tokenizer tokenizer = read(file).tokenizer;
    CHECK(tokenizer.encode("a") == std::vector<Index>{50256, 64});
    CHECK(tokenizer.decode(tokenizer.encode("a")) == "a");
}

TEST_CASE("a tokenizer with a part that is unknown here labels, and names the part's key") {
    struct Case {
        const char* pointer;
        Json value;
        const char* why;
    };
    const auto split = [](const char* pattern) {
        return Json{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    };
    for (const Case& one : {
             Case{"/normalizer", {{"type", "Nmt"}}, "normalizer.type: \"Nmt\" is unknown here"},
             Case{"/normalizer",
                  {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}},
                  "normalizer.normalizers[1].type: \"Lowercase\""},
             Case{"/normalizer", {{"type", "NFC"}, {"version", 2}}, "\"version\""},
             Case{"/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}}, "precompiled_charsmap"},
             Case{"/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAQA"}}, "precompiled_charsmap"},
             Case{"/pre_tokenizer", {{"type", "UnicodeScripts"}}, "pre_tokenizer.type: \"UnicodeScripts\""},
             Case{"/pre_tokenizer", split("a|(?i)b"), "pre_tokenizer.pattern.Regex: \"(?i)\""},
             Case{"/pre_tokenizer", split("^a"), "\"^\""},
             Case{"/pre_tokenizer", split("\\bword"), "pre_tokenizer.pattern.Regex"},
             Case{"/pre_tokenizer", split("[a&&b]"), "\"&&b]\""},
             Case{"/pre_tokenizer", split("[[:alpha:]]"), "\"[:al\""},
             Case{"/pre_tokenizer", split("a{1,2}+"), "\"{1,2}+\""},
             Case{"/pre_tokenizer", split("\\p{Klingon}"), "Klingon"},
             Case{"/pre_tokenizer", split("a*"), "can match nothing"},
             Case{"/pre_tokenizer", split("a(b"), "pre_tokenizer.pattern.Regex"},
             Case{"/pre_tokenizer/use_regex", 7, "pre_tokenizer.use_regex"},
             Case{"/post_processor", {{"type", "New"}}, "post_processor.type"},
             Case{"/post_processor",
                  {{"type", "TemplateProcessing"}, {"single", Json::array()}},
                  "post_processor.single: expected the sequence A once"},
             Case{"/decoder", {{"type", "CTC"}}, "decoder.type"},
             Case{"/model/dropout", 0.1, "model.dropout: 0.1"},
             Case{"/model/new_key", true, "\"new_key\""},
             Case{"/new_key", 1, "\"new_key\""},
         }) {
        Json file = gpt2_json(false);
        file[Json::json_pointer(one.pointer)] = one.value;
        INFO(one.pointer << " " << one.value.dump());
        const ReadTokenizer labels = read(file);
        CHECK_FALSE(labels.tokenizer.can_encode());
        INFO(labels.labels_alone_because.english());
        CHECK(labels.labels_alone_because.english().find(one.why) != std::string::npos);
        CHECK(labels.tokenizer.piece(262) == (std::string_view(one.pointer) == "/decoder" ? "Ġthe" : " the"));
    }
    const ReadTokenizer pieces = parse_tokenizer_json(
        R"({"model": {"type": "WordPiece", "vocab": {"<unk>": 0, "▁the▁cat": 1, "<0x0A>": 2, "<0xZZ>": 3}}})");
    CHECK(pieces.labels_alone_because.english() == "model.type: \"WordPiece\" is unknown here");
    CHECK(pieces.tokenizer.size() == 4);
    CHECK(pieces.tokenizer.piece(1) == " the cat");
    CHECK(pieces.tokenizer.piece(2) == "\n");
    CHECK(pieces.tokenizer.piece(3) == "<0xZZ>");
}

TEST_CASE("pieces with the ranks of SentencePiece's BPE cut a text, and others only label") {
    const auto read_pieces = [](const Json& list) {
        const TemporaryFolder folder;
        write_bytes(folder.file("pieces.json"), list.dump());
        return read_tokenizers(folder.path(), config_with_tokens(static_cast<Index>(list.size()))).target;
    };
    Json list = Json::array();
    const auto add = [&](const char* piece, double score) { list.push_back({{"piece", piece}, {"score", score}}); };
    add("<unk>", 0);
    add("\n<s>\n", 0);
    add("\n</s>\n", 0);
    double rank = 0;
    for (const char* piece : {" a", "bc", "abc", " abc", " ", "a", "b", "c"}) add(piece, rank--);
    const Tokenizer cuts = read_pieces(list);
    REQUIRE(cuts.can_encode());
    // A space before the text; then the best rank of all neighbours is joined first (llama2.c's bpe_encode).
    CHECK(cuts.encode("abc") == std::vector<Index>{1, 6});
    CHECK(cuts.encode("bcabc") == std::vector<Index>{1, 7, 4, 5});
    CHECK(cuts.decode(std::vector<Index>{1, 7, 4, 5}) == "bcabc");

    Json of_unigram = list, twice = list;
    of_unigram[5]["score"] = -2.5;
    twice[5]["piece"] = "bc";
    for (const Json& other : {of_unigram, twice, Json({"<s>", "one"})}) CHECK_FALSE(read_pieces(other).can_encode());
}

TEST_CASE("a broken tokenizer.json is refused by its key") {
    const auto changed = [](const char* pointer, const Json& value) {
        Json file = gpt2_json(false);
        file[Json::json_pointer(pointer)] = value;
        return said(file);
    };
    check_message(changed("/model/merges", nullptr), {"model.merges", "missing"});
    check_message(changed("/model/merges", {{"a", "b", "c"}}), {"model.merges", "entry 0"});
    check_message(changed("/model/merges", {"ab"}), {"model.merges", "\"ab\"", "two tokens"});
    check_message(changed("/model/merges", {"a 文"}), {"a 文", "not in the vocabulary"});
    check_message(changed("/model/vocab", nullptr), {"model.vocab", "object"});
    check_message(changed("/model/vocab/a", 50), {"model.vocab", "id 50"});
    check_message(changed("/added_tokens/0/id", 7), {"added_tokens", "<|endoftext|>"});
    Json doubled = gpt2_json(false);
    doubled["added_tokens"].push_back({{"id", 64}, {"content", "<x>"}});
    check_message(said(doubled), {"added_tokens", "64", "<x>", "one token per id"});
    check_message(changed("/added_tokens/0/lstrip", 1), {"added_tokens", "<|endoftext|>", "lstrip", "true or false"});
    check_message(changed("/added_tokens/0/id", "x"), {"added_tokens", "<|endoftext|>", "whole number"});
    check_message(changed("/added_tokens/0/content", ""), {"added_tokens", "content"});
    check_message(changed("/added_tokens", 7), {"added_tokens", "list"});
    check_message(said(Json::array()), {"model", "missing"});
    check_message(said({{"model", 3}}), {"model", "missing"});
    check_message(error_of([] {
                      (void)parse_tokenizer_json(R"({"model": {"type": "Unigram", "vocab": [["a", 0], ["a", 1]]}})");
                  }),
                  {"model.vocab", "entry 1"});
}

TEST_CASE("GPT-2's two files are read from a folder, and the one that is missing is named") {
    const TemporaryFolder folder;
    write_gpt2(folder);
    const Tokenizers read_both = read_tokenizers(folder.path(), config_with_tokens(50257));
    CHECK(read_both.target.encode("hello world") == std::vector<Index>{31373, 995});
    // The reduced table has pieces for only a few ids, and a remark says so.
    REQUIRE(read_both.remarks.size() == 1);
    check_message(read_both.remarks[0].english(), {"vocab.json", "1321", "50257", "vocab_size"});
    CHECK(read_both.target.piece(40000) == "40000");

    std::filesystem::remove(folder.file("merges.txt"));
    check_message(error_of([&] { (void)read_tokenizers(folder.path(), config_with_tokens(50257)); }),
                  {folder.file("merges.txt"), "missing", "vocab.json"});
}

TEST_CASE("a tokenizer and an embedding of different sizes") {
    const TemporaryFolder folder;
    write_bytes(folder.file("vocabulary.json"), R"({"tokens": ["a", "b", "c"]})");
    CHECK(read_tokenizers(folder.path(), config_with_tokens(3)).remarks.empty());
    const Tokenizers padded = read_tokenizers(folder.path(), config_with_tokens(5));
    REQUIRE(padded.remarks.size() == 1);
    check_message(padded.remarks[0].english(), {folder.file("vocabulary.json"), "3 of the 5", "numbers"});
    CHECK(padded.target.piece(4) == "4");
    check_message(error_of([&] { (void)read_tokenizers(folder.path(), config_with_tokens(2)); }),
                  {folder.file("vocabulary.json"), "3 tokens", "vocab_size = 2"});
    // A model that reads no tokens ignores it.
    CHECK(read_tokenizers(folder.path(), config_with_tokens(0)).target.size() == 0);
}

TEST_CASE("the source has its own vocabulary, or the target's where that fits") {
    const TemporaryFolder folder;
    write_bytes(folder.file("vocabulary.json"), R"({"tokens": ["a", "b", "c"]})");
    CHECK(read_tokenizers(folder.path(), config_with_tokens(3, 3)).source.encode("c") == std::vector<Index>{2});
    CHECK(read_tokenizers(folder.path(), config_with_tokens(3, 2)).source.size() == 0);
    write_bytes(folder.file("encoder_vocabulary.json"), R"({"tokens": ["c", "d"]})");
    CHECK(read_tokenizers(folder.path(), config_with_tokens(3, 2)).source.encode("c") == std::vector<Index>{0});
    check_message(error_of([&] { (void)read_tokenizers(folder.path(), config_with_tokens(3, 1)); }),
                  {folder.file("encoder_vocabulary.json"), "2 tokens", "encoder_vocab_size = 1"});
}
