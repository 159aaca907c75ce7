// What the user types becomes the run's input: text and ids, batches and their padding, and the effect on undo and
// edits.
#include "app/cli.h"
#include "app/core/session/session.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/largest_difference.h"
#include "tests/engine/letter_models.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <random>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::app;
using namespace decoderscope::load::names;

namespace {

using Rows = std::vector<std::vector<float>>;

Rows rows(const Tensor& tensor) {
    Rows all;
    for (Index row = 0; !tensor.empty() && row < tensor.dim(0); ++row) {
        const auto part = tensor.values().subspan(static_cast<std::size_t>(row * tensor.dim(1)),
                                                  static_cast<std::size_t>(tensor.dim(1)));
        all.emplace_back(part.begin(), part.end());
    }
    return all;
}

command::TypeInput type_target(std::string text, bool continues = false) {
    return {{.target = Typed{.text = std::move(text)}}, continues};
}
command::TypeInput type_both(std::string source, std::string target) {
    return {{.target = Typed{.text = std::move(target)}, .source = Typed{.text = std::move(source)}}};
}

const Inputs& inputs(const Session& session) { return session.shown().scenario.inputs; }

}  // namespace

TEST_CASE("lines are rows of a batch, the shorter ones padded with the vocabulary's pad and masked") {
    Session session(letter_decoder());
    apply(session, type_target("ab\nabcd\n"));
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 0, 0}, {1, 3, 4, 5, 6}, {1, 0, 0, 0, 0}});
    CHECK(rows(inputs(session).attention_mask) == Rows{{1, 1, 1, 0, 0}, {1, 1, 1, 1, 1}, {1, 0, 0, 0, 0}});
    // The computed mask also hides the padding.
    const Tensor& mask = session.shown().run->value("blocks.0.attn.mask");
    CHECK(mask.at(Cell{0, 0, 4, 2}) == 1.0F);
    CHECK(mask.at(Cell{0, 0, 4, 3}) == 0.0F);
    apply(session, type_target("e"));
    CHECK(rows(inputs(session).tokens) == Rows{{1, 7}});
    CHECK(inputs(session).attention_mask.empty());
    apply(session, type_target(""));
    CHECK(rows(inputs(session).tokens) == Rows{{1}});
}

TEST_CASE("ids are typed where a vocabulary only labels") {
    const auto model = labelled_decoder();
    Session session(model);
    apply(session, command::TypeInput{{.target = Typed{.text = "1 2; 3\n", .ids = true}}});
    CHECK(rows(inputs(session).tokens) == Rows{{1, 2}, {3, 0}});
    CHECK(typed_of(model->tokenizer, {{1, 2}, {3}}) == Typed{.text = "1 2\n3", .ids = true});
    apply(session, command::TypeInput{{.target = Typed{.text = "1 x", .ids = true}}});
    CHECK(session.input_error().english().find("\"x\"") != std::string::npos);
}

TEST_CASE("what is run can be typed again: rows to text to rows") {
    std::mt19937 random(3);
    for (const auto& model : {letter_decoder(), labelled_decoder(), byte_decoder()}) {
        const Tokenizer& tokenizer = model->tokenizer;
        for (int i = 0; i < 50; ++i) {
            TokenRows made;
            for (std::size_t row = 1 + random() % 4; row > 0; --row) {
                std::vector<Index> ids;
                if (const auto beginning = tokenizer.special().beginning) ids.push_back(*beginning);
                const auto write = [&] {
                    for (std::size_t length = 1 + random() % 6; length > 0; --length)
                        ids.push_back(3 + static_cast<Index>(random() % 5));
                };
                write();
                for (std::size_t more = random() % 3; more > 0; --more) {
                    ids.push_back(kNextDocument);
                    if (const auto beginning = tokenizer.special().beginning) ids.push_back(*beginning);
                    write();
                }
                made.push_back(ids);
            }
            CHECK(rows_of(tokenizer, typed_of(tokenizer, made)) == made);
        }
    }
    // A line break within a row has its own sign.
    const Tokenizer bytes = byte_decoder()->tokenizer;
    CHECK(typed_of(bytes, {{'a', '\n', 'b'}, {'c'}}).text == "a↵b\nc");
    CHECK(rows_of(bytes, Typed{.text = "a↵b\nc"}) == TokenRows{{'a', '\n', 'b'}, {'c'}});
    CHECK(error_of([&] { (void)rows_of(bytes, Typed{.text = "a\n\nb"}); }) ==
          "line 2 is empty, expected at least one token per line");
    CHECK(error_of([&] { (void)rows_of(bytes, Typed{}); }) == "empty, expected at least one token");
}

TEST_CASE("a row holds several documents, each tokenized as alone, and none sees another") {
    Session session(letter_decoder());
    apply(session, type_target("abc‖de\nbb"));
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 5, 1, 6, 7}, {1, 4, 4, 0, 0, 0, 0}});
    CHECK(rows(inputs(session).segments) == Rows{{0, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0}});
    const auto logits = [&] { return session.shown().run->value("logits"); };
    apply(session, command::SetOption{"positions", "from_segments"});
    const Tensor packed = logits();
    const auto packed_row = [&](Index row, Index first, Index count) {
        return part_of(packed, {row, first, 0}, {{axis::batch, 1}, {axis::pos, count}, packed.axes()[2]});
    };
    apply(session, type_target("de"));
    CHECK(inputs(session).segments.empty());
    CHECK(largest_difference(packed_row(0, 4, 3), logits()) < 1e-5);
    apply(session, command::Undo{});
    CHECK(rows(inputs(session).segments) == Rows{{0, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0}});

    const Tokenizer bytes = byte_decoder()->tokenizer;
    CHECK(error_of([&] { (void)rows_of(bytes, Typed{.text = "a\nb‖‖c", .name = "--text"}); }) ==
          "--text: document 2 of line 2 is empty, expected at least one token");
    CHECK(error_of([&] { (void)rows_of(bytes, Typed{.text = "‖ 1 2", .ids = true}); }) ==
          "document 1 of line 1 is empty, expected at least one token");
    // One that is about to be typed isn't there yet.
    CHECK(rows_of(bytes, Typed{.text = "a‖"}) == TokenRows{{'a'}});
    CHECK(rows_of(bytes, Typed{.text = "1 2 ‖", .ids = true}) == TokenRows{{1, 2}});
}

TEST_CASE("what can't be run leaves the last run, and says why until something can") {
    Session session(letter_decoder());
    apply(session, type_target("abc"));
    const auto version = session.shown().version;
    for (const std::string& bad : {std::string("abz"), std::string(60, 'a')}) {
        apply(session, type_target(bad));
        CHECK_FALSE(session.input_error().empty());
        CHECK_FALSE(session.message());
        CHECK(session.shown().version == version);
        CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 5}});
    }
    check_message(session.input_error(), {"61", "at most 40 (max_positions)"});
    apply(session, type_target("ab"));
    CHECK(session.input_error().empty());
    apply(session, type_target("z"));
    apply(session, command::Undo{});
    CHECK(session.input_error().empty());
}

TEST_CASE("why a text can't be run is said as long as it stands there, whatever else is changed meanwhile") {
    Session session(make_bundled_model("reverse"));
    apply(session, command::TypeInput{{.source = Typed{.text = "X"}}});
    const Sentence refused = session.input_error();
    CHECK(refused.english() == "\"X\" is not in the vocabulary");
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    CHECK(session.scenario().edits.size() == 1);
    CHECK(session.input_error() == refused);
    apply(session, command::Undo{});
    CHECK(session.input_error() == refused);
    apply(session, command::OpenModel{"causal-lm", {}, {}});
    session.finish();
    CHECK(session.input_error().empty());
}

TEST_CASE(
    "source and target typed at once must have as many lines; typed alone, the shorter one gets texts just begun") {
    Session session(letter_translator());
    apply(session, type_both("ab\ncd", "ba"));
    check_message(session.input_error(), {"source has 2 lines", "target 1"});
    apply(session, type_both("ab\ncde", "ba\ne"));
    CHECK(session.input_error().empty());
    CHECK(rows(inputs(session).encoder_tokens) == Rows{{1, 3, 4, 0}, {1, 5, 6, 7}});
    CHECK(rows(inputs(session).encoder_attention_mask) == Rows{{1, 1, 1, 0}, {1, 1, 1, 1}});
    CHECK(rows(inputs(session).attention_mask) == Rows{{1, 1, 1}, {1, 1, 0}});
    // Typing only one of them keeps the other.
    apply(session, type_target("a\nb"));
    CHECK(rows(inputs(session).encoder_tokens) == Rows{{1, 3, 4, 0}, {1, 5, 6, 7}});
    apply(session, type_target("a"));
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3}, {1, 0}});
    CHECK(rows(inputs(session).attention_mask) == Rows{{1, 1}, {1, 0}});
    CHECK(rows(inputs(session).encoder_tokens) == Rows{{1, 3, 4, 0}, {1, 5, 6, 7}});
    apply(session, type_target("a\nb\nc"));
    CHECK(rows(inputs(session).encoder_tokens) == Rows{{1, 3, 4, 0}, {1, 5, 6, 7}, {1, 0, 0, 0}});
    apply(session, type_target("a\nb"));
    CHECK(rows(inputs(session).encoder_tokens) == Rows{{1, 3, 4, 0}, {1, 5, 6, 7}});
}

TEST_CASE("continued typing is one step of undo, and another change begins a new one") {
    Session session(letter_decoder());
    apply(session, type_target("e"));
    for (const char* text : {"a", "ab", "abc"}) apply(session, type_target(text, text[1] != '\0'));
    apply(session, command::Undo{});
    CHECK(rows(inputs(session).tokens) == Rows{{1, 7}});
    apply(session, command::Redo{});
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 5}});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
    apply(session, type_target("abcd", true));
    apply(session, command::Undo{});
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 5}});
    CHECK(session.scenario().edits.size() == 1);
}

TEST_CASE("edits that no longer fit are dropped with a message, and return with further typing or undo") {
    Session session(letter_decoder());
    apply(session, type_target("abcd"));
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 4, 3, false});
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 1, 0.5F});
    const std::vector<Edit> edits = session.scenario().edits;
    REQUIRE(edits.size() == 2);
    apply(session, type_target("abc"));
    REQUIRE(session.message());
    CHECK(session.message()->text.english().find("undo brings it back") != std::string::npos);
    CHECK(session.scenario().edits == std::vector<Edit>{edits[1]});
    apply(session, type_target("abce", true));
    CHECK(session.scenario().edits == edits);
    CHECK_FALSE(session.message());
    apply(session, type_target("ab", true));
    CHECK(session.scenario().edits.size() == 1);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits == edits);
    CHECK(rows(inputs(session).tokens) == Rows{{1, 3, 4, 5, 6}});
}

TEST_CASE("the command line runs on text for both sequences") {
    const TemporaryFolder folder;
    const auto model = letter_translator();
    write_bytes(folder.file("config.json"), model->config_json);
    write_bytes(folder.file("vocabulary.json"), kLetters);
    write_safetensors(folder.file("model.safetensors"), {model->weights.begin(), model->weights.end()});
    const std::string out = folder.file("trace.safetensors");
    const auto run = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"trace", folder.path(), "--out", out};
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::ostringstream said, err;
        const int status = run_cli(arguments, said, err).status;
        return std::pair(status, err.str());
    };
    const auto traced = [&] {
        const SafetensorsFile file(out);
        return std::pair(file.floats("encoder.embed"), file.floats("embed"));
    };
    REQUIRE(run({"--source", "ab\nabc", "--text", "ba\ncba"}).first == 0);
    const auto [source, target] = traced();
    CHECK(shape_text(source.axes()) == "[2, 4, 8]");
    CHECK(shape_text(target.axes()) == "[2, 4, 8]");
    REQUIRE(run({"--encoder-tokens", "1 3 4; 1 3 4 5", "--tokens", "1 4 3; 1 5 4 3"}).first == 0);
    CHECK(std::ranges::equal(traced().first.values(), source.values()));
    CHECK(std::ranges::equal(traced().second.values(), target.values()));
    REQUIRE(run({"--encoder-text", "ab", "--text", ""}).first == 0);
    CHECK(shape_text(traced().second.axes()) == "[1, 1, 8]");

    CHECK(run({"--source", "ab\ncd", "--text", "a"}).second.find("the source has 2 lines, the target 1") !=
          std::string::npos);
    CHECK(run({"--source", "xyz"}).second.find("--source: \"x\", \"y\", \"z\" are not in the vocabulary") !=
          std::string::npos);
    CHECK(run({"--source", "a", "--encoder-tokens", "1"}).first == 2);
    // Only labels: ids must be typed.
    std::filesystem::remove(folder.file("vocabulary.json"));
    write_bytes(folder.file("pieces.json"), R"(["<s>", "one"])");
    CHECK(run({"--text", "one"}).second.find("only labels tokens, expected --tokens") != std::string::npos);
    CHECK(run({"--source", "one"}).second.find("expected --encoder-tokens") != std::string::npos);
}
