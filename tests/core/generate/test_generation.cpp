// Text that grows token by token: in the session, using the KV cache, and back again.
#include "app/core/files/saved_session.h"
#include "app/core/generate/generator.h"
#include "app/core/generate/shown_generation.h"
#include "app/core/generate/shown_passes.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "engine/load/lens.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/letter_models.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;
using namespace decoderscope::load::names;

namespace {

bool same_tensors(const NamedTensors& a, const NamedTensors& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].first != b[i].first || a[i].second.axes() != b[i].second.axes() ||
            std::memcmp(a[i].second.data(), b[i].second.data(), a[i].second.values().size_bytes()) != 0)
            return false;
    return true;
}

NamedTensors everything(const Session& session) { return recorded_tensors(*session.shown().run); }

Scenario causal_lm() { return scenario_of(make_bundled_model("causal-lm-as-meant")); }

// A batch of two rows, one with four tokens and one with two, padded.
Scenario padded_batch() {
    Scenario scenario = causal_lm();
    scenario.inputs.tokens = Tensor({{axis::batch, 2}, {axis::pos, 4}}, {1, 2, 3, 4, 5, 6, 0, 0});
    scenario.inputs.attention_mask = Tensor({{axis::batch, 2}, {axis::pos, 4}}, {1, 1, 1, 1, 1, 1, 0, 0});
    return scenario;
}

std::vector<Index> generated(Generator generator, int most) {
    for (int i = 0; i < most && generator.next(); ++i) {
    }
    return generator.tokens();
}

// The last token of a row in a pass of its own, beside the full pass.
Comparison beside_full(const Scenario& scenario, const Scenario& full, Index row) {
    const Scenario pass = with_pass(scenario, {row_length(scenario.inputs, row) - 1}, 1);
    const auto whole = execute(plan_of(full)), run = execute(plan_of(pass));
    return compare(same_cells(part_of_pass(*pass.passes, 1), *whole, *run), tensors_of_pass(*run), 1e-5);
}
Comparison proof(const Scenario& scenario, Index row) { return beside_full(scenario, scenario, row); }

}  // namespace

TEST_CASE("a token goes into the row's first padding place, or makes the batch longer and pads the others") {
    Scenario scenario = padded_batch();
    scenario = with_token(scenario, 1, 7);
    CHECK(scenario.inputs.pos() == 4);
    CHECK(row_tokens(scenario.inputs, 1) == std::vector<Index>{5, 6, 7});
    scenario = with_token(scenario, 0, 8);
    CHECK(scenario.inputs.pos() == 5);
    CHECK(row_tokens(scenario.inputs, 0) == std::vector<Index>{1, 2, 3, 4, 8});
    CHECK(row_tokens(scenario.inputs, 1) == std::vector<Index>{5, 6, 7});
    CHECK(generated_count(scenario, 0) == 1);
    CHECK(generated_count(scenario, 1) == 1);
    scenario = without_last_token(without_last_token(scenario, 0), 1);
    CHECK(scenario.inputs.pos() == 4);
    CHECK(generated_count(scenario, 0) + generated_count(scenario, 1) == 0);
    CHECK(row_tokens(scenario.inputs, 1) == std::vector<Index>{5, 6});
    // Rows of one length need no mask, before and after.
    Scenario even = causal_lm();
    even.inputs.tokens = Tensor({{axis::batch, 2}, {axis::pos, 2}}, {1, 2, 3, 4});
    even.inputs.attention_mask = Tensor();
    const Index rows = even.inputs.batch(), pos = even.inputs.pos();
    for (Index row = 0; row < rows; ++row) even = with_token(even, row, 3);
    CHECK(even.inputs.pos() == pos + 1);
    CHECK(even.inputs.attention_mask.empty());
    for (Index row = 0; row < rows; ++row) even = without_last_token(even, row);
    CHECK(even.inputs.pos() == pos);
    CHECK(even.inputs.attention_mask.empty());
}

TEST_CASE("a generated token is marked until the text is changed") {
    Scenario scenario = with_token(with_token(causal_lm(), 0, 3), 0, 4);
    CHECK(generated_count(scenario, 0) == 2);
    scenario.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, 3}}, {1, 2, 3});
    scenario.inputs.attention_mask = Tensor();
    CHECK(generated_count(scenario, 0) == 0);
    CHECK(generated_count(with_token(scenario, 0, 4), 0) == 1);
    // A text of fewer rows has nothing in those that it no longer has.
    scenario.generated[7] = {3};
    CHECK(generated_count(scenario, 7) == 0);
    CHECK(sizes_of(scenario) == even_sizes(2, 1, 3));
}

TEST_CASE("stepping back takes the token away, and the run is what it was, bit for bit") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto before = everything(session);
    apply(session, command::AppendToken{0, 5});
    CHECK_FALSE(session.message());
    CHECK(session.shown().run->value("logits").dim(1) == before.back().second.dim(1) + 1);
    apply(session, command::RemoveLastToken{0});
    CHECK(same_tensors(everything(session), before));
    apply(session, command::Undo{});
    CHECK(generated_count(session.scenario(), 0) == 1);
    apply(session, command::Undo{});
    CHECK(same_tensors(everything(session), before));
    CHECK(generated_count(session.scenario(), 0) == 0);
}

TEST_CASE("the same seed gives the same tokens, whatever was stepped back over") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::SetSampling{{.temperature = 1.5, .seed = 9}});
    const auto one = [&] {
        const Index position = row_length(session.scenario().inputs, 0);
        const auto next = next_token(session.shown().scenario, *session.shown().run, 0, session.sampling());
        const Draw drawn = draw(*next, sampling_number(session.sampling().seed, 0, position));
        apply(session, command::AppendToken{0, next->candidates[drawn.rank].token});
    };
    for (int i = 0; i < 6; ++i) one();
    const auto text = row_tokens(session.scenario().inputs, 0);
    for (int i = 0; i < 4; ++i) apply(session, command::RemoveLastToken{0});
    for (int i = 0; i < 4; ++i) one();
    CHECK(row_tokens(session.scenario().inputs, 0) == text);
    // The generator writes the same text with the cache and with full passes.
    for (const bool cached : {true, false})
        CHECK(generated(Generator(causal_lm(), 0, {.temperature = 1.5, .seed = 9}, cached), 6) == text);
    CHECK(generated(Generator(causal_lm(), 0, {.temperature = 1.5, .seed = 10}), 6) != text);
}

TEST_CASE("stepping back drops the edits of the cells that go, and undo brings them back") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const Index last = session.scenario().inputs.pos();
    apply(session, command::AppendToken{0, 5});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 1, last, 0, false});
    apply(session, command::PaintMask{"blocks.0.attn", 0, 1, 2, 0, false});
    apply(session, command::TypeOver{"blocks.1.resid_pre", {0, last, 3}, 2.0F});
    CHECK(session.scenario().edits.size() == 3);
    apply(session, command::RemoveLastToken{0});
    CHECK_FALSE(session.message());
    CHECK(session.scenario().edits.size() == 1);
    apply(session, command::Undo{});
    CHECK(session.scenario().edits.size() == 3);
}

TEST_CASE("what can't be generated is reported in a sentence") {
    CHECK(generation_obstacle(causal_lm()).empty());
    CHECK(generation_obstacle(with_override(causal_lm(), "lm_head", "false")).english().find("language head") !=
          std::string::npos);
    CHECK(generation_obstacle(scenario_of(make_bundled_model("pre-ln-layer"))).english().find("reads vectors") !=
          std::string::npos);
    CHECK(generation_obstacle(with_override(causal_lm(), "causal", "false")).english().find("not causal") !=
          std::string::npos);
    Session session(make_bundled_model("pre-ln-layer"));
    apply(session, command::AppendToken{0, 1});
    REQUIRE(session.message());
    CHECK(session.message()->failed);
    CHECK(session.message()->text.english().find("reads vectors") != std::string::npos);
    CHECK_FALSE(session.can_undo());
    apply(session, command::SetSampling{{.top_p = 2.0}});
    CHECK(session.message()->text.english().starts_with("top_p"));
    CHECK(session.sampling() == Sampling{});

    Scenario full = causal_lm();
    full = with_override(full, "max_positions", std::to_string(full.inputs.pos() + 1));
    full = with_token(full, 0, 3);
    CHECK(row_is_full(full, 0).english().find("max_positions") != std::string::npos);
    CHECK(error_of([&] { static_cast<void>(with_token(full, 0, 3)); }) == row_is_full(full, 0).english());
    CHECK_FALSE(Generator(full, 0, {}).next());
    CHECK(error_of([&] {
              static_cast<void>(with_token(causal_lm(), 0, 99));
          }).starts_with("token 99: expected an id from 0 to 11"));
    Scenario one = causal_lm();
    one.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, 1}}, {1});
    CHECK(error_of([&] { static_cast<void>(without_last_token(one, 0)); }).find("only token") != std::string::npos);
}

TEST_CASE("generation stops at the token that ends a text") {
    Model model = *make_bundled_model("causal-lm-as-meant");
    const Scenario free = scenario_of(std::make_shared<const Model>(model));
    const auto text = generated(Generator(free, 0, {.temperature = 0.0}), 3);
    const Index third = text.back();
    const std::size_t prompt = row_tokens(free.inputs, 0).size();
    std::vector<std::string> pieces;
    for (int i = 0; i < 12; ++i) pieces.push_back(std::string(1, static_cast<char>('a' + i)));
    model.tokenizer = Tokenizer(pieces, {.end = third}, nullptr);
    const Scenario ending = scenario_of(std::make_shared<const Model>(model));
    const auto ended = generated(Generator(ending, 0, {.temperature = 0.0}), 50);
    CHECK(ended.back() == third);
    CHECK(ended.size() <= prompt + 3);
    CHECK(has_ended(with_token(ending, 0, third), 0));
    // At each of several.
    model.tokenizer = Tokenizer(pieces, {.end = third == 0 ? 1 : 0, .other_ends = {third}}, nullptr);
    const Scenario several = scenario_of(std::make_shared<const Model>(model));
    CHECK(generated(Generator(several, 0, {.temperature = 0.0}), 50).size() <= prompt + 3);
    CHECK(has_ended(with_token(several, 0, third), 0));
    CHECK_FALSE(has_ended(free, 0));
}

TEST_CASE("the cached pass agrees with the full pass in every tensor, for a padded row and an encoder, too") {
    for (Index row = 0; row < 2; ++row) {
        const Comparison found = proof(padded_batch(), row);
        CHECK(found.in_both > 60);
        CHECK(found.unmatched == 0);
        CHECK(found.over == 0);
    }
    const Scenario encdec = scenario_of(make_bundled_model("post-ln-encdec"));
    const Comparison found = proof(encdec, 1);
    CHECK(found.unmatched == 0);
    CHECK(found.over == 0);
    bool cross = false;
    for (const TensorDifference& tensor : found.tensors) cross = cross || tensor.name == "blocks.0.cross_attn.k";
    CHECK(cross);
}

TEST_CASE("the cached pass goes by the edits, wherever their cells lie") {
    Scenario scenario = padded_batch();
    scenario.edits = {MaskEdit{"blocks.0.attn", 0, 1, 3, 1, false}, MaskEdit{"blocks.1.attn", 1, {}, 1, 0, false},
                      ScaleHead{"blocks.2.attn", 3, 0.5F},          SetCell{"blocks.1.resid_pre", {0, 1, 2}, 4.0F},
                      SetCell{"blocks.1.mlp_out", {0, 3, 2}, 4.0F}, SetCell{"blocks.1.attn.k", {0, 2, 3, 1}, -2.0F},
                      SetCell{"layers.0.up_proj.weight", {3, 3}, 1}};
    const auto edits_at = [&](InputsPart part) { return edits_of_part(scenario, part).size(); };
    CHECK(edits_at({0, 4, 0}) == 6);
    CHECK(edits_at({0, 3, 0}) == 3);
    CHECK(edits_at({0, 2, 1}) == 3);
    for (Index row = 0; row < 2; ++row) CHECK(proof(scenario, row).over == 0);
    // The edits have an effect: without them the rows differ.
    Scenario plain = scenario;
    plain.edits.clear();
    CHECK(beside_full(plain, scenario, 0).over > 10);
}

TEST_CASE(
    "where a painted mask lets a position see the future, the cache is not the full pass, and the proof says so") {
    Scenario scenario = causal_lm();
    const Index last = scenario.inputs.pos() - 1;
    scenario.edits = {MaskEdit{"blocks.0.attn", 0, {}, 0, last, true}};
    CHECK(proof(scenario, 0).over > 0);
}

TEST_CASE("a session proves the cache and computes the logit lens beside the run") {
    Session session(make_bundled_model("post-ln-encdec"));
    apply(session, command::RequestAuxRun{"lens", Variation{.logit_lens = true}});
    const auto proven = [&] {
        static_cast<void>(shown_proof(session.derived(), session.scenario(), session.shown().run, 0));
        session.derived().finish();
        return shown_proof(session.derived(), session.scenario(), session.shown().run, 0);
    };
    for (int i = 0; i < 2; ++i) {
        const Snapshot& shown = session.shown();
        REQUIRE(shown.companion("lens") != nullptr);
        CHECK(shown.companion("lens")->beside == shown.run);
        const Run& lens = *shown.companion("lens")->run;
        CHECK(lens.value("logit_lens.blocks.1.logits").size() == shown.run->value("logits").size());
        CHECK(lens.value("blocks.0.attn.k").shares_values_with(shown.run->value("blocks.0.attn.k")));
        CHECK(proven()->comparison.in_both > 30);
        CHECK(proven()->comparison.largest < 1e-5);
        apply(session, command::AppendToken{0, 3});
    }
    apply(session, command::SetDropout{1});
    CHECK(proven()->error.english().find("dropout is on") != std::string::npos);
}

TEST_CASE("a trained Llama's greedy continuation is reproduced token for token, by full passes and by the cache") {
    const std::string folder = DECODERSCOPE_TESTS_DIR "/../../shared/models/stories260K";
    if (!std::filesystem::exists(folder)) return;  // not part of the repository
    const auto golden = nlohmann::json::parse(read_text(folder + "/golden.json"));
    const auto prompt = golden["prompt_tokens"].get<std::vector<float>>();
    auto expected = golden["prompt_tokens"].get<std::vector<Index>>();
    for (const auto& token : golden["greedy_tokens"]) expected.push_back(token.get<Index>());
    Scenario scenario = scenario_of(load_model(folder));
    scenario.inputs.tokens = Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(prompt.size())}}, prompt);
    const int count = static_cast<int>(golden["greedy_tokens"].size());
    for (const bool cached : {true, false}) {
        Generator generator(scenario, 0, {.temperature = 0.0}, cached);
        for (int i = 0; i < count; ++i) REQUIRE(generator.next());
        CHECK(generator.tokens() == expected);
        const auto length = static_cast<Index>(prompt.size()), more = static_cast<Index>(count);
        CHECK(generator.computed_positions() == (cached ? length + more - 1 : more * length + more * (more - 1) / 2));
    }
}

TEST_CASE("the logit lens's table has the most probable tokens, and where the final one first appears and stays") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::RequestAuxRun{"lens", Variation{.logit_lens = true}});
    const auto run = session.shown().companion("lens")->run;
    const Index length = session.scenario().inputs.pos();
    LensReading all(run, 0, length), little_by_little(run, 0, length);
    CHECK(all.advance(1 << 30));
    int frames = 0;
    while (!little_by_little.advance(1)) ++frames;
    CHECK(frames == 6 * length - 1);
    const LensTable& table = all.table();
    REQUIRE(table.rows.size() == 6);
    CHECK(table.rows.front().at == "embed");
    CHECK(table.rows.back().at == "blocks.4");
    const Tensor& probs = run->value("probs");
    for (Index position = 0; position < length; ++position) {
        const auto p = static_cast<std::size_t>(position);
        const LensCell& output = table.rows.back().cells[p];
        REQUIRE(output.top.size() == 5);
        for (const auto& [token, probability] : output.top) CHECK(probability == probs.at(Cell{0, position, token}));
        CHECK(std::is_sorted(output.top.begin(), output.top.end(),
                             [](const auto& a, const auto& b) { return a.second > b.second; }));
        for (Index token = 0; token < 12; ++token) CHECK(probs.at(Cell{0, position, token}) <= output.top[0].second);
        const std::size_t settled = table.settled[p];
        for (std::size_t row = settled; row < 6; ++row) CHECK(table.rows[row].cells[p].agrees_with(output));
        if (settled > 0) CHECK_FALSE(table.rows[settled - 1].cells[p].agrees_with(output));
        CHECK(little_by_little.table().rows[2].cells[p].top == table.rows[2].cells[p].top);
    }
    CHECK(little_by_little.table().settled == table.settled);
}

TEST_CASE(
    "below each layer's logit lens stands the fitted one, with its distance from the output; a session keeps its "
    "file") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const testing::TemporaryFolder folder;
    const Config& config = session.scenario().config();
    const auto width = static_cast<std::size_t>(config.d_model);
    std::vector<float> identity(width * width);
    for (std::size_t i = 0; i < width; ++i) identity[i * (width + 1)] = 1.0F;
    const Tensor same({{axis::out, config.d_model}, {axis::in, config.d_model}}, identity);
    write_safetensors(folder.file("lens.safetensors"), {{"blocks.1.weight", same}});
    apply(session, command::RequestAuxRun{"lens", Variation{.logit_lens = true}});
    apply(session, command::UseLens{folder.file("lens.safetensors")});
    const auto run = session.shown().companion("lens")->run;
    LensReading reading(run, 0, session.scenario().inputs.pos());
    reading.advance(1 << 30);
    const LensTable& table = reading.table();
    REQUIRE(table.rows.size() == 7);
    CHECK(table.output() == 6);
    CHECK(table.rows[3].fitted);
    CHECK(table.rows[3].at == "blocks.1");
    CHECK(table.rows[3].apart == Approx(table.rows[2].apart));  // the identity
    CHECK(table.rows[6].apart == 0.0);
    const Tensor &output = run->value("probs"), &lens = run->value("logit_lens.blocks.1.probs");
    double bits = 0.0;
    for (Index position = 0; position < output.dim(1); ++position)
        for (Index token = 0; token < output.dim(2); ++token) {
            const auto p = static_cast<double>(output.at(Cell{0, position, token}));
            bits += p * std::log2(p / static_cast<double>(lens.at(Cell{0, position, token})));
        }
    CHECK(table.rows[2].apart == Approx(bits / static_cast<double>(output.dim(1))));
    CHECK(session.can_undo());
    const files::SavedSession work{.scenario = session.scenario(), .cursor = session.cursor()};
    files::write_session_file(folder.file("kept.dscope"), files::session_file_of(work));
    CHECK(files::open_session(folder.file("kept.dscope")).scenario.lens()->maps.size() == 1);
    std::filesystem::remove(folder.file("lens.safetensors"));
    const files::SavedSession without = files::open_session(folder.file("kept.dscope"));
    CHECK(without.scenario.lens() == nullptr);
    CHECK(without.remarks.size() == 1);
}

// A target that the model writes itself.

namespace {

// The model that writes words backwards, with this source.
struct Translating : Session {
    explicit Translating(const char* source) : Session(make_bundled_model("reverse")) {
        apply(command::TypeInput{{.source = Typed{.text = source}}});
        finish();
    }
};

std::string target_of(const Session& session, Index row = 0) {
    const Inputs& inputs = session.scenario().inputs;
    const TokenRows rows = rows_of(inputs.tokens, inputs.attention_mask);
    return session.scenario().tokenizer().decode(rows[static_cast<std::size_t>(row)]);
}

}  // namespace

TEST_CASE("the model writes its target, row by row, as if it had been typed, and it is undone as one") {
    Translating session("spread\nsheet\nattention");
    const Tensor before = session.scenario().inputs.tokens;
    session.apply(command::WriteTarget{});
    CHECK(session.writing());
    session.finish();
    CHECK_FALSE(session.writing());
    CHECK(target_of(session, 0) == "daerps");
    CHECK(target_of(session, 1) == "teehs");
    CHECK(target_of(session, 2) == "noitnetta");
    CHECK(session.scenario().inputs.tokens.at(Cell{0, 0}) == 1.0F);  // <bos>
    CHECK(session.shown().scenario.inputs.tokens.shares_values_with(session.scenario().inputs.tokens));
    apply(session, command::Undo{});
    CHECK(session.scenario().inputs.tokens.shares_values_with(before));
}

TEST_CASE("the end token isn't part of what was written, and what has no end is stopped") {
    const Scenario scenario = Translating("abc").scenario();
    const WrittenTarget written = finished(written_target(scenario));
    REQUIRE(written.rows.size() == 1);
    CHECK(written.rows[0].size() == 4);
    CHECK(written.unfinished == 0);
    // With random weights no end is in sight.
    Scenario endless = scenario_of(testing::letter_translator());
    const WrittenTarget long_one = finished(written_target(endless));
    const Index end = *endless.tokenizer().special().end;
    for (const auto& row : long_one.rows) {
        CHECK(static_cast<Index>(row.size()) <= 1 + most_written(endless));
        CHECK(row.back() != end);
    }
}

TEST_CASE("edits count: with the cross-attention switched off the source isn't reversed") {
    Translating session("abcd");
    for (Index head = 0; head < 4; ++head) session.apply(command::ScaleHeadTo{"blocks.1.cross_attn", head, 0.0F});
    apply(session, command::WriteTarget{});
    CHECK(target_of(session) != "dcba");
    CHECK(session.scenario().edits.size() == 4);
}

TEST_CASE("what is typed meanwhile wins, and a model without a source writes none") {
    Translating session("abcd");
    session.apply(command::WriteTarget{});
    apply(session, command::TypeInput{{.target = Typed{.text = "zz"}}});
    CHECK(target_of(session) == "zz");
    CHECK_FALSE(session.writing());
    session.apply(command::WriteTarget{});
    apply(session, command::StopWriting{});
    CHECK(target_of(session) == "zz");
    for (const char* name : {"verses", "causal-lm", "simple-decoder"}) {
        Session other(make_bundled_model(name));
        other.apply(command::WriteTarget{});
        REQUIRE(other.message());
        CHECK(other.message()->failed);
        CHECK_FALSE(other.writing());
    }
}
