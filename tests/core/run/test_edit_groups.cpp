// The list of edits: what was done in one gesture is one entry.
#include "app/core/run/edit_groups.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <set>

using namespace decoderscope::testing;

namespace {

MaskEdit cell(Index query, Index key, std::optional<Index> head = 2, bool keep = false) {
    return {"blocks.0.attn", 0, head, query, key, keep};
}

std::vector<Edit> row(Index query, Index keys) {
    std::vector<Edit> edits;
    for (Index key = 0; key < keys; ++key) edits.emplace_back(cell(query, key));
    return edits;
}

void add(std::vector<Edit>& edits, const std::vector<Edit>& more) {
    edits.insert(edits.end(), more.begin(), more.end());
}

// Each edit is in one group.
void check_complete(const std::vector<EditGroup>& groups, std::size_t edits) {
    std::set<std::size_t> all;
    std::size_t count = 0;
    for (const EditGroup& group : groups) {
        all.insert(group.numbers.begin(), group.numbers.end());
        count += group.numbers.size();
    }
    CHECK(count == edits);
    CHECK(all.size() == edits);
}

}  // namespace

TEST_CASE("a masked row is one entry, not 68") {
    std::vector<Edit> edits = row(3, 68);
    const auto groups = edit_groups(edits);
    REQUIRE(groups.size() == 1);
    CHECK(groups[0].text.english() == "blocks.0.attn: row 3 masked, 68 cells (batch 0, head 2)");
    check_complete(groups, 68);
}

TEST_CASE("a column, an area, opened cells and single ones are told apart") {
    std::vector<Edit> edits;
    for (Index query = 0; query < 9; ++query) edits.emplace_back(cell(query, 4));
    CHECK(edit_groups(edits).front().text.english() == "blocks.0.attn: column 4 masked, 9 cells (batch 0, head 2)");
    edits.clear();
    for (Index query = 2; query < 8; ++query) add(edits, row(query, 5));
    auto groups = edit_groups(edits);
    REQUIRE(groups.size() == 1);
    CHECK(groups[0].text.english() == "blocks.0.attn: 30 cells masked in rows 2 to 7 (batch 0, head 2)");
    edits = {cell(1, 5, std::nullopt, true), cell(1, 6, std::nullopt, true)};
    CHECK(edit_groups(edits).front().text.english() == "blocks.0.attn: row 1 opened, 2 cells (batch 0, every head)");
    edits = {cell(1, 0)};
    groups = edit_groups(edits);
    REQUIRE(groups.size() == 1);
    CHECK(groups[0].text.english() == describe(edits[0]));
}

TEST_CASE("heads that were switched together are one entry, and so are many numbers of one tensor") {
    std::vector<Edit> edits = {ScaleHead{"blocks.0.attn", 0, 0.0F}, SetCell{"x", {0, 0, 0}, 1.0F},
                               ScaleHead{"blocks.0.attn", 2, 0.0F}, ScaleHead{"blocks.0.attn", 1, 2.0F}};
    auto groups = edit_groups(edits);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].text.english() == "blocks.0.attn: heads 0, 2 off");
    CHECK(groups[0].numbers == std::vector<std::size_t>{0, 2});
    CHECK(groups[1].text.english() == "x[0, 0, 0] = 1");
    CHECK(groups[2].text.english() == "blocks.0.attn: head 1 × 2");
    check_complete(groups, 4);
    for (Index i = 1; i < 6; ++i) edits.emplace_back(SetCell{"x", {0, 0, i}, 1.0F});
    groups = edit_groups(edits);
    REQUIRE(groups.size() == 3);
    CHECK(groups[1].text.english() == "x: 6 numbers overwritten");
    check_complete(groups, 9);
}

TEST_CASE("a group is removed in one change, which undo takes back") {
    Session session(make_bundled_model("causal-lm-as-meant"));
    const auto apply = [&](const Command& command) {
        session.apply(command);
        session.finish();
    };
    apply(command::ScaleHeadTo{"blocks.0.attn", 1, 0.0F});
    MaskStroke stroke{"blocks.0.attn", 0, 2, {}, false};
    for (Index key = 0; key <= 3; ++key) stroke.cells.emplace_back(3, key);
    apply(command::PaintMasks{stroke});
    REQUIRE(session.scenario().edits.size() == 5);
    const auto groups = edit_groups(session.scenario().edits);
    REQUIRE(groups.size() == 2);
    CHECK(groups[1].numbers.size() == 4);
    apply(command::RemoveEdits{groups[1].numbers});
    REQUIRE(session.scenario().edits.size() == 1);
    CHECK(std::holds_alternative<ScaleHead>(session.scenario().edits[0]));
    apply(command::Undo{});
    CHECK(session.scenario().edits.size() == 5);
    apply(command::RemoveEdits{{99}});
    CHECK(session.scenario().edits.size() == 5);
}
