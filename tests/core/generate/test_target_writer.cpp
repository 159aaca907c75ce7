// A target that the model writes itself.
#include "app/core/generate/generator.h"

#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/letter_models.h"

using namespace decoderscope;
using namespace decoderscope::core::generate;
using namespace decoderscope::core;
using namespace decoderscope::load::names;
using namespace decoderscope::load;

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
    session.apply(command::Undo{});
    session.finish();
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
    session.apply(command::WriteTarget{});
    session.finish();
    CHECK(target_of(session) != "dcba");
    CHECK(session.scenario().edits.size() == 4);
}

TEST_CASE("what is typed meanwhile wins, and a model without a source writes none") {
    Translating session("abcd");
    session.apply(command::WriteTarget{});
    session.apply(command::TypeInput{{.target = Typed{.text = "zz"}}});
    session.finish();
    CHECK(target_of(session) == "zz");
    CHECK_FALSE(session.writing());
    session.apply(command::WriteTarget{});
    session.apply(command::StopWriting{});
    session.finish();
    CHECK(target_of(session) == "zz");
    for (const char* name : {"verses", "causal-lm", "simple-decoder"}) {
        Session other(make_bundled_model(name));
        other.apply(command::WriteTarget{});
        REQUIRE(other.message());
        CHECK(other.message()->failed);
        CHECK_FALSE(other.writing());
    }
}
