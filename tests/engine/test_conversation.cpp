// From messages to labels: which tokens are whose, what is trained, and what is wrong with it.
#include "engine/base/json.h"
#include "engine/chat/laid_out.h"
#include "engine/chat/templates.h"
#include "engine/tokenizer/read.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_gguf.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::chat;
using decoderscope::testing::error_of;

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
    for (const FoundTemplate& ready : ready_templates())
        if (ready.name == name) made.source = ready.source;
    made.messages = messages;
    made.special = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
    made.date = "2026-11-27";
    return made;
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
    for (const FoundTemplate& ready : ready_templates()) {
        INFO(ready.name);
        const LaidOut made = laid_out(conversation(ready.name), tokenizer);
        const LaidOutRow& row = made.rows.front();
        const auto spans = spans_of(row.text.bytes(), row.tokens, tokenizer);
        std::size_t place = 0;
        std::vector<std::string> content(row.roles.size());
        for (std::size_t i = 0; i < spans.size(); ++i) {
            CHECK(spans[i].first == place);
            place += spans[i].second;
            if (row.origins[i].content)
                content[static_cast<std::size_t>(row.origins[i].message)] +=
                    row.text.bytes().substr(spans[i].first, spans[i].second);
        }
        CHECK(place == row.text.bytes().size());
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

    Conversation dropping = conversation("chatml");
    dropping.source = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}";
    CHECK(has(said(dropping, true), "leaves out message 2 of conversation 1, which is by assistant"));

    Conversation dated = conversation("chatml");
    dated.source = "{{ strftime_now('%Y') }}" + dated.source;
    CHECK(has(said(dated, false), "asks for the date, which is taken as 2026-11-27"));
}

TEST_CASE("a template that marks what is generated is obeyed") {
    Conversation marked = conversation("chatml");
    marked.source =
        "{% for m in messages %}{% if m.role == 'assistant' %}A{% generation %}{{ m.content }}!{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}{% endfor %}";
    CHECK(trained_text(marked) == "Yo.!By!");
    CHECK(has(said(marked, false), "says itself what is trained"));
    marked.trained = Trained::last_answer;
    CHECK(trained_text(marked) == "By!");
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
    Conversation empty = conversation("chatml");
    empty.source = "";
    CHECK(error_of([&] { (void)laid_out(empty, letters()); }) == "the template writes nothing");
}

TEST_CASE("a checkpoint's templates are found where Hugging Face puts them") {
    const testing::TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::string& text) {
        testing::write_bytes(folder.path() + "/" + name, text);
    };
    CHECK(templates_in(folder.path()).empty());
    write("tokenizer_config.json",
          R"({"chat_template": [{"name": "default", "template": "A"}, {"name": "tool_use", "template": "B"}],
              "bos_token": {"content": "<s>"}, "eos_token": "</s>", "add_bos_token": true})");
    std::vector<FoundTemplate> found = templates_in(folder.path());
    REQUIRE(found.size() == 2);
    CHECK(found[0].source == "A");
    CHECK(found[1].name == "tool_use");
    CHECK(found[1].special == std::map<std::string, std::string>{{"bos_token", "<s>"}, {"eos_token", "</s>"}});
    write("chat_template.jinja", "C");
    found = templates_in(folder.path());
    REQUIRE(found.size() == 2);
    CHECK(found[0].source == "C");
    write("tokenizer_config.json", R"({"chat_template": 1})");
    CHECK(has({error_of([&] { (void)templates_in(folder.path()); })}, "chat_template: expected a text"));
}

TEST_CASE("a GGUF file brings its templates itself") {
    const testing::TemporaryFolder folder;
    testing::GgufBytes file;
    file.head(0, 2);
    file.text("tokenizer.chat_template.tool_use").number(std::uint32_t{8}).text("B");
    file.text("tokenizer.chat_template").number(std::uint32_t{8}).text("A");
    testing::write_bytes(folder.path() + "/model.gguf", file.bytes());
    const std::vector<FoundTemplate> found = templates_in(folder.path() + "/model.gguf");
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "default");
    CHECK(found[0].source == "A");
    CHECK(found[1].name == "tool_use");
}
