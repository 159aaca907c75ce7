// From messages to labels: which tokens are whose, what is trained, and what is wrong with it.
#include "engine/base/json.h"
#include "engine/chat/laid_out.h"
#include "engine/tokenizer/read.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::chat;

namespace {

// Each character is a token, and so is each of these names.
tokenizer::Tokenizer letters(const std::vector<std::string>& names = {"<s>", "</s>", "<|im_start|>", "<|im_end|>"},
                             const std::string& end = "<|im_end|>") {
    OrderedJson vocabulary = OrderedJson::object(), added = OrderedJson::array();
    Index id = 0;
    for (const std::string& name : names) {
        vocabulary[name] = id;
        added.push_back({{"id", id++},
                         {"content", name},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
    vocabulary["\n"] = id++;
    for (char c = ' '; c <= '~'; ++c) vocabulary[std::string(1, c)] = id++;
    const OrderedJson json = {
        {"version", "1.0"},
        {"added_tokens", added},
        {"pre_tokenizer",
         {{"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}, {"invert", false}}},
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single",
           {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
          {"pair", OrderedJson::array()},
          {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}}},
        {"decoder", {{"type", "Fuse"}}},
        {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "~"}}}};
    const tokenizer::Tokenizer read = tokenizer::parse_tokenizer_json(json.dump()).tokenizer;
    const auto found = std::find(names.begin(), names.end(), end);
    return found == names.end() ? read : read.ending_with({found - names.begin()});
}

const std::string kTalk = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo."},
                              {"role": "user", "content": "Ok"}, {"role": "assistant", "content": "By"}])";

Conversation conversation(const std::string& name, const std::string& messages = kTalk) {
    Conversation made;
    made.name = name;
    made.messages = messages;
    made.special = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
    return made;
}

// One conversation, as `python3 -m decoderscope chat` writes it.
OrderedJson document_of(const std::string& text, const std::string& spans, const std::string& around = "[]") {
    OrderedJson row = {{"messages", OrderedJson::parse(kTalk)},
                       {"text", text},
                       {"roles", {"user", "assistant", "user", "assistant"}},
                       {"spans", OrderedJson::parse(spans)},
                       {"around", OrderedJson::parse(around)}};
    return {{"template", "default"}, {"train_on", "answers"}, {"conversations", {row}}};
}

// What is trained, as text.
std::string trained_text(const LaidOutRow& row, const tokenizer::Tokenizer& tokenizer) {
    std::string text;
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
        if (row.trained[i]) text += tokenizer.piece(row.tokens[i]);
    return text;
}

std::string trained_text(const Conversation& given, const tokenizer::Tokenizer& tokenizer = letters()) {
    return trained_text(laid_out(given, tokenizer).rows.front(), tokenizer);
}

std::vector<std::string> said(const Conversation& given, bool wrong,
                              const tokenizer::Tokenizer& tokenizer = letters()) {
    std::vector<std::string> all;
    for (const Finding& finding : laid_out(given, tokenizer).findings)
        if (finding.wrong == wrong) all.push_back(finding.what.english());
    return all;
}

bool has(const std::vector<std::string>& sentences, const std::string& part) {
    return std::ranges::any_of(sentences, [&](const auto& one) { return one.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("the answers are trained, each with the token that ends it") {
    CHECK(trained_text(conversation("chatml")) == "Yo.<|im_end|>By<|im_end|>");
    CHECK(said(conversation("chatml"), true).empty());
    Conversation last = conversation("chatml");
    last.trained = Trained::last_answer;
    CHECK(trained_text(last) == "By<|im_end|>");
    Conversation everything = conversation("chatml");
    everything.trained = Trained::everything;
    CHECK(trained_text(everything).starts_with("<|im_start|>user\nHi<|im_end|>\n"));
    CHECK(trained_text(conversation("inst"), letters({"<s>", "</s>"}, "</s>")) == "Yo.</s>By</s>");
}

TEST_CASE("labels are the tokens' own, and targets those of the next position") {
    const tokenizer::Tokenizer tokenizer = letters();
    const LaidOut made = laid_out(conversation("chatml"), tokenizer);
    const LaidOutRow& row = made.rows.front();
    const std::vector<Index> labels = labels_of(row);
    const Inputs inputs = inputs_of(made, tokenizer);
    REQUIRE(inputs.pos() == static_cast<Index>(row.tokens.size()));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        CHECK(labels[i] == (row.trained[i] ? row.tokens[i] : -100));
        const float target = inputs.targets.at(Cell{0, static_cast<Index>(i)});
        CHECK(target == (i + 1 < labels.size() ? static_cast<float>(labels[i + 1]) : -100.0F));
    }
}

TEST_CASE("rows of several lengths are padded, and padding has no target") {
    const std::string two = kTalk.substr(0, kTalk.find(']') + 1);
    const std::string lines = OrderedJson{{"messages", OrderedJson::parse(two)}}.dump() + "\n" +
                              R"({"messages": [{"role": "assistant", "content": "A"}]})" + "\n";
    const tokenizer::Tokenizer tokenizer = letters();
    const LaidOut made = laid_out(conversation("chatml", lines), tokenizer);
    REQUIRE(made.rows.size() == 2);
    const Inputs inputs = inputs_of(made, tokenizer);
    const auto length = static_cast<Index>(made.rows[1].tokens.size());
    REQUIRE(inputs.pos() > length);
    for (Index i = 0; i < inputs.pos(); ++i) {
        CHECK(inputs.attention_mask.at(Cell{1, i}) == (i < length ? 1.0F : 0.0F));
        if (i + 1 >= length) CHECK(inputs.targets.at(Cell{1, i}) == -100.0F);
    }
}

TEST_CASE("every byte of the text belongs to one token, and each message's bytes to it") {
    const tokenizer::Tokenizer tokenizer = letters();
    for (const std::string& name : formats()) {
        INFO(name);
        const LaidOut made = laid_out(conversation(name), tokenizer);
        const LaidOutRow& row = made.rows.front();
        const auto spans = spans_of(row.text.bytes, row.tokens, tokenizer);
        std::size_t place = 0;
        std::vector<std::string> content(row.roles.size());
        for (std::size_t i = 0; i < spans.size(); ++i) {
            CHECK(spans[i].first == place);
            place += spans[i].second;
            if (row.origins[i].content)
                content[static_cast<std::size_t>(row.origins[i].message)] +=
                    row.text.bytes.substr(spans[i].first, spans[i].second);
        }
        CHECK(place == row.text.bytes.size());
        CHECK(content == std::vector<std::string>{"Hi", "Yo.", "Ok", "By"});
    }
}

TEST_CASE("what can go wrong between messages and labels is said") {
    const std::string questions = R"([{"role": "user", "content": "Hi"}])";
    CHECK(has(said(conversation("chatml", questions), true), "Nothing is trained in conversation 1"));

    // The answers end with a token that the vocabulary has no name for, or that generation doesn't stop at.
    CHECK(has(said(conversation("chatml"), true, letters({"<s>", "</s>"}, "</s>")), "</s>, is never trained"));
    CHECK(has(said(conversation("chatml"), false, letters({"<s>", "</s>"}, "</s>")), "<|im_end|> is no token"));
    CHECK(has(said(conversation("headers"), true), "<|im_end|>, is never trained"));

    Conversation cut = conversation("chatml");
    const auto length = static_cast<Index>(laid_out(cut, letters()).rows.front().tokens.size());
    cut.max_length = length - 4;  // "y<|im_end|>\n" and one more
    CHECK(has(said(cut, true), "4 tokens of conversation 1 are cut off at the end; 3 of them"));
    cut.max_length = length;
    CHECK(said(cut, true).empty());

    Conversation twice = conversation("headers");
    CHECK(has(said(twice, false), "would add a second one"));
    twice.special_tokens = true;
    CHECK(has(said(twice, true), "begins with <s> twice"));
    const LaidOutRow doubled = laid_out(twice, letters()).rows.front();
    CHECK(std::count(doubled.tokens.begin(), doubled.tokens.end(), 0) == 2);
    CHECK(trained_text(twice) == trained_text(conversation("headers")));

    Conversation written = conversation("default");
    OrderedJson document = document_of("HiOk", "[[0, 2, 0], [2, 4, 2]]");
    document["date"] = "2026-11-27";
    written.written = document.dump();
    CHECK(has(said(written, true), "leaves out message 2 of conversation 1, which is by assistant"));
    CHECK(has(said(written, false), "asks for the date, which is taken as 2026-11-27"));
}

TEST_CASE("a format writes what it always wrote") {
    const std::string talk = R"([{"role": "user", "content": " Hé "}, {"role": "assistant", "content": "Yo\n"}])";
    const auto text = [&](const std::string& name, bool prompt) {
        Conversation given = conversation(name, talk);
        given.generation_prompt = prompt;
        try {
            return laid_out(given, letters({"<s>", "</s>", "é"}, "")).rows.front().text.bytes;
        } catch (const Error& error) {
            return error.sentence().english();
        }
    };
    CHECK(text("names", true) == "user:  Hé  assistant: Yo\n assistant:");
    CHECK(text("chatml", true) ==
          "<|im_start|>user\n Hé <|im_end|>\n<|im_start|>assistant\nYo\n<|im_end|>\n<|im_start|>assistant\n");
    CHECK(text("headers", true) ==
          "<s><|start_header_id|>user<|end_header_id|>\n\nHé<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
          "\n\nYo<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
    CHECK(text("inst", true) == "<s>[INST]  Hé  [/INST] Yo\n</s>");
    CHECK(text("turns", false) == "<s><start_of_turn>user\nHé<end_of_turn>\n<start_of_turn>model\nYo<end_of_turn>\n");
    const auto wrong = [](const std::string& name, const std::string& messages) {
        return error_of([&] { (void)laid_out(conversation(name, messages), letters()); });
    };
    CHECK(wrong("inst", R"([{"role": "system", "content": "x"}])") ==
          "conversation 1, message 1: only user and assistant can speak here, not system");
    CHECK(wrong("chatml", R"([{"role": "user", "content": [1]}])").find("\"content\" is not a text") !=
          std::string::npos);
    CHECK(wrong("default", kTalk).find("The chat template default is in Jinja, which Python runs") == 0);
}

TEST_CASE("what Python laid out is read: the text, whose it is, and what is trained") {
    const std::string text = "<s>HiYo.</s>OkBy</s>";
    const std::string spans = "[[3, 5, 0], [5, 8, 1], [12, 14, 2], [14, 16, 3]]";
    const tokenizer::Tokenizer tokenizer = letters({"<s>", "</s>"}, "</s>");
    OrderedJson document = document_of(text, spans, "[[8, 12, 1], [16, 20, 3]]");
    const auto made = [&] { return conversation_in(document.dump(), {}); };
    CHECK(made().name == "default");
    CHECK(Json::parse(made().messages) == Json::parse(kTalk));
    CHECK(laid_out(made(), tokenizer).rows.front().text.bytes == text);
    CHECK(trained_text(made(), tokenizer) == "Yo.</s>By</s>");
    document["train_on"] = "last-answer";
    CHECK(trained_text(made(), tokenizer) == "By</s>");
    Conversation everything = made();
    everything.trained = Trained::everything;
    CHECK(trained_text(everything, tokenizer) == text);

    // Characters, not bytes.
    CHECK(laid_out(conversation_in(document_of("é<s>Yo", "[[4, 6, 1]]").dump(), {}), letters({"<s>", "é"}, ""))
              .rows.front()
              .origins.back() == Origin{1, true});

    // Tokens and labels that were cut elsewhere, also with a token that the tokenizer put before the text.
    document = document_of("HiYo.", "[[0, 2, 0], [2, 5, 1]]");
    std::vector<Index> tokens = tokenizer.encode("HiYo.");
    REQUIRE(tokens.size() == 6);
    document["conversations"][0]["tokens"] = tokens;
    CHECK(trained_text(made(), tokenizer) == "Yo.");
    CHECK(laid_out(made(), tokenizer).rows.front().tokens == tokens);
    document["conversations"][0]["labels"] = {-100, -100, -100, -100, -100, tokens[5]};
    document["conversations"][0]["findings"] = {{{"wrong", true}, {"what", "2 tokens are cut off."}}};
    CHECK(trained_text(made(), tokenizer) == ".");
    CHECK(has(said(made(), true, tokenizer), "2 tokens are cut off."));
    everything = made();
    everything.trained = Trained::everything;
    CHECK(trained_text(everything, tokenizer) == "<s>HiYo.");
}

TEST_CASE("a template that marks what is generated is obeyed") {
    OrderedJson document = document_of("HiAYo.!OkABy!", "[[0, 2, 0], [3, 6, 1], [7, 9, 2], [10, 12, 3]]",
                                       "[[2, 3, 1], [6, 7, 1], [9, 10, 3], [12, 13, 3]]");
    document["conversations"][0]["generated"] = {{3, 7}, {10, 13}};
    Conversation marked = conversation_in(document.dump(), {});
    CHECK(trained_text(marked) == "Yo.!By!");
    CHECK(has(said(marked, false), "says itself what is trained"));
    marked.trained = Trained::last_answer;
    CHECK(trained_text(marked) == "By!");
}

TEST_CASE("what isn't what Python writes gets a sentence") {
    const auto wrong = [](const char* key, const OrderedJson& value) {
        OrderedJson document = document_of("HiYo", "[[0, 2, 0]]");
        document["conversations"][0][key] = value;
        return error_of([&] { (void)laid_out(conversation_in(document.dump(), {}), letters()); });
    };
    CHECK(wrong("spans", {{0, 9, 0}}) ==
          "conversation 1: spans: [0,9,0], expected [begin, end, message], characters of the text from 0 to 4, and "
          "the number of a message");
    for (const char* spans : {"1", "[1]", "[[0, 1]]", "[[1, 0, 0]]", "[[0, 1, 4]]", "[[-1, 1, 0]]", "[[0, 1, \"a\"]]"})
        CHECK(wrong("spans", OrderedJson::parse(spans)).find("conversation 1: spans: ") == 0);
    CHECK(wrong("text", 1).find("conversation 1: text: ") == 0);
    CHECK(wrong("roles", 1).find("conversation 1: roles: ") == 0);
    CHECK(wrong("tokens", {"a"}).find("conversation 1: tokens: ") == 0);
    CHECK(wrong("labels", {1, 2}).find("conversation 1: labels: expected one for each") == 0);
    CHECK(wrong("tokens", {1000000}) == "messages: token 1000000 is not in the vocabulary, which has 100");
    CHECK(error_of([] { (void)conversation_in(R"({"conversations": []})", {}); }).find("conversations: ") == 0);
    CHECK(error_of([] { (void)conversation_in(R"({"conversations": [1]})", {}); }) != "(no error)");
}

TEST_CASE("messages that are none get a sentence") {
    const auto wrong = [](const std::string& json) { return error_of([&] { (void)read_messages(json); }); };
    for (const char* broken :
         {"", "{", "[]", "{}", "1", "[1]", "[[]]", "[{}]", R"([{"role": 1}])", R"([{"content": "x"}])",
          R"({"messages": {}})", R"({"messages": []})", R"([{"role": "user"}, 1])", "[{\"role\"",
          "{\"messages\": [{\"role\": \"user\"}]}\n{\"messages\": 1}\n"})
        CHECK(wrong(broken) != "(no error)");
    CHECK(wrong(R"([{"role": "user"}, {"content": "x"}])") ==
          "conversation 1, message 2: expected an object with \"role\", a text, and \"content\"");
    CHECK(read_messages(R"([[{"role": "a"}], [{"role": "b"}]])").size() == 2);
    CHECK(read_messages(R"({"messages": [{"role": "a"}]})").size() == 1);
    Conversation empty = conversation("default");
    empty.written = document_of("", "[]").dump();
    CHECK(error_of([&] { (void)laid_out(empty, letters()); }) == "the template writes nothing");
}
