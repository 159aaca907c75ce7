// What a run can be compared with, and the pictures of the difference.
#include "app/core/run/comparison.h"

#include "app/core/session/session.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/messages.h"
#include "tests/engine/raw_safetensors.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cmath>

using namespace decoderscope::testing;

namespace {

DifferencePictures pictures(const Snapshot& shown, const ReferenceRun& reference, const std::string& name, Place place,
                            double tolerance = 0.0) {
    const Step& step = *shown.run->plan().find(name);
    return difference_pictures(shown.scenario, *shown.run, step, place, *reference.find(name), reference.run.get(),
                               tolerance);
}

}  // namespace

TEST_CASE("a pinned run stays as it was while the session continues") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    CHECK_FALSE(session.shown().pinned);
    apply(session, command::Pin{});
    const auto pinned = session.shown().pinned;
    REQUIRE(pinned);
    CHECK(pinned->label == "causal-lm-as-meant, Post-Norm");
    apply(session, command::ScaleHeadTo{"blocks.2.attn", 1, 0.0F});
    CHECK(session.shown().pinned == pinned);
    const Comparison comparison = compare(recorded_tensors(*session.shown().run), pinned->tensors, 0.0);
    CHECK(comparison.tensors[*comparison.first].name == "blocks.2.attn.z");
    apply(session, command::SetOption{"norm_first", "true"});
    apply(session, command::Pin{});
    CHECK(session.shown().pinned->label == "causal-lm-as-meant, Pre-Norm, 1 edit");
    CHECK_FALSE(compare(recorded_tensors(*session.shown().run), session.shown().pinned->tensors, 0.0).differs());
}

TEST_CASE("a trace that was written is read back equal, and what cannot be read leaves the one before") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("pre-ln-layer"));
    write_safetensors(folder.file("t.safetensors"), recorded_tensors(*session.shown().run));
    apply(session, command::CompareWithFile{folder.file("t.safetensors")});
    const auto file = session.shown().trace_file;
    REQUIRE(file);
    CHECK(file->label == "t.safetensors");
    const Comparison comparison = compare(recorded_tensors(*session.shown().run), file->tensors, 0.0);
    CHECK(comparison.same_bits);
    CHECK_FALSE(comparison.differs());
    CHECK(file->tensors.front().first == recorded_tensors(*session.shown().run).front().first);
    decoderscope::testing::write_bytes(folder.file("bad.safetensors"), "12345678not a header");
    for (const std::string name : {"bad.safetensors", "none.safetensors"}) {
        apply(session, command::CompareWithFile{folder.file(name)});
        REQUIRE(session.message());
        CHECK(session.message()->text.english().find(name) != std::string::npos);
        CHECK(session.shown().trace_file == file);
    }
    apply(session, command::CompareWithFile{});
    CHECK_FALSE(session.shown().trace_file);
}

TEST_CASE("the pictures are A, B and A − B of one slice, A and B over one range") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::ScaleHeadTo{"blocks.0.attn", 1, 2.0F});
    const ReferenceRun before = reference_of("without edits", session.shown().unedited);
    const std::string name = "blocks.0.attn.z";
    const Place place{1, 1};
    const DifferencePictures p = pictures(session.shown(), before, name, place, 0.1);
    CHECK(p.a.range == p.b.range);
    CHECK(p.a.rows == p.difference.rows);
    Index over = 0;
    for (Index r = 0; r < p.a.rows; ++r) {
        for (Index c = 0; c < p.a.columns; ++c) {
            const Cell cell = {1, 1, r, c};
            const float a = session.shown().run->value(name).at(cell),
                        b = session.shown().unedited->value(name).at(cell);
            CHECK(p.a.at(r, c) == a);
            CHECK(p.b.at(r, c) == b);
            CHECK(p.difference.at(r, c) == a - b);
            CHECK((p.over[static_cast<std::size_t>(r * p.a.columns + c)] != 0) == (std::abs(b) > 0.1F));  // a = 2b
            over += p.over[static_cast<std::size_t>(r * p.a.columns + c)];
        }
    }
    CHECK(over > 0);
    // Doubled numbers reach further, so the range is A's; the difference has its own, about zero.
    CHECK(p.a.range.high >= *std::ranges::max_element(p.a.values));
    CHECK(p.difference.range.low == -p.difference.range.high);
    // The other head is unchanged.
    const DifferencePictures other = pictures(session.shown(), before, name, {1, 0});
    CHECK(std::ranges::all_of(other.difference.values, [](float v) { return v == 0.0F; }));
    CHECK(std::ranges::count(other.over, 1) == 0);
}

TEST_CASE("cells that both mask are hatched; one that is masked on one side only is not") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    apply(session, command::PaintMask{"blocks.0.attn", 0, 0, 2, 1, false});
    const ReferenceRun before = reference_of("without edits", session.shown().unedited);
    const DifferencePictures p = pictures(session.shown(), before, "blocks.0.attn.masked_scores", {0, 0});
    const auto at = [](Index q, Index k) { return static_cast<std::size_t>(q * 4 + k); };
    CHECK(p.a.hidden[at(2, 1)] == hidden_by::hand);
    CHECK(p.b.hidden[at(2, 1)] == hidden_by::nothing);
    CHECK(p.difference.hidden[at(2, 1)] == hidden_by::nothing);
    CHECK(p.difference.hidden[at(0, 3)] == hidden_by::causal);
    CHECK(p.over[at(2, 1)] == 1);
    CHECK(p.over[at(0, 3)] == 0);
    CHECK(std::isinf(p.difference.at(2, 1)));
    // Another fill differs only in cells that both mask; it doesn't affect the range.
    const Scenario filled = with_override(scenario_of(make_bundled_model("causal-lm-as-meant")), "mask_value", "-1e9");
    const ReferenceRun finite = reference_of("mask_value = -1e9", execute(plan_of(filled)));
    const DifferencePictures f = pictures(session.shown(), finite, "blocks.0.attn.masked_scores", {0, 1});
    CHECK(f.difference.hidden[at(0, 3)] == hidden_by::nothing);
    CHECK(f.difference.range == Range{-1.0F, 1.0F});
    CHECK(f.b.range.high < 100.0F);
}

TEST_CASE("a file's cells are hatched where they hold what a masked cell of A holds") {
    const Session session(make_bundled_model("causal-lm-as-meant"));
    ReferenceRun file{.label = "f", .tensors = recorded_tensors(*session.shown().run)};
    const std::string name = "blocks.0.attn.masked_scores";
    for (auto& [other, tensor] : file.tensors)
        if (other == name) tensor.writable()[3] = 5.0F;  // [0, 0, 0, 3]
    const DifferencePictures p = pictures(session.shown(), file, name, {0, 0});
    CHECK(p.b.hidden[3] == hidden_by::nothing);
    CHECK(p.b.hidden[2] == hidden_by::causal);
    CHECK(p.over[3] == 1);
    CHECK(p.a.range.high >= 5.0F);
}
