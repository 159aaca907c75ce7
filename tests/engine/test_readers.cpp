// What reads a cell next, against brute force: the cell is changed, each of its readers is computed alone, and what
// changes in it is compared with what is listed.
#include "engine/formulas/reach.h"
#include "engine/sheet/readers.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/random_models.h"
#include "tests/engine/small_models.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

using namespace decoderscope::testing;

namespace {

bool lists(const formulas::Box& box, const Cell& cell) {
    if (box.size() != cell.size()) return false;
    for (std::size_t axis = 0; axis < cell.size(); ++axis)
        if (std::ranges::find(box[axis], cell[axis]) == box[axis].end()) return false;
    return true;
}

// The step computed alone, with another number at a cell of one of its tensors.
Tensor computed_with(const Run& run, const Step& reader, StepId changed, const Cell& cell, float value) {
    Tensor other = run.value(changed);
    other.writable()[static_cast<std::size_t>(other.offset(cell))] = value;
    Operands in;
    for (const StepId operand : reader.operands) in.add(operand == changed ? other : run.value(operand));
    return reader.operation.compute(in, reader.axes);
}

std::vector<Cell> differing(const Tensor& a, const Tensor& b) {
    std::vector<Cell> cells;
    for (Index i = 0; i < a.size(); ++i)
        if (std::memcmp(a.data() + i, b.data() + i, sizeof(float)) != 0) cells.push_back(a.cell(i));
    return cells;
}

// The cell's own readers' cells change with it, and no others. `all`: NaN reaches all of them.
void check_readers(const Run& run, const Step& step, const Cell& cell, bool all) {
    const std::vector<sheet::Reader> readers = sheet::readers_of(run, step, cell);
    for (const Step& reader : run.plan().steps()) {
        if (std::ranges::find(reader.operands, step.id) == reader.operands.end()) continue;
        INFO(cell_name(step.name, cell) << " read by " << reader.name);
        const auto found = std::ranges::find(readers, reader.id, &sheet::Reader::step);
        const formulas::Box box = found == readers.end() ? formulas::Box() : found->cells;
        const float value = run.value(step.id).at(cell);
        const Tensor before = computed_with(run, reader, step.id, cell, value);
        for (const float other : {value + 0.75F, value - 40.0F, 1e4F})
            for (const Cell& changed : differing(before, computed_with(run, reader, step.id, cell, other))) {
                INFO(cell_name(reader.name, changed));
                CHECK(lists(box, changed));
            }
        if (found == readers.end()) continue;
        std::size_t count = 1;
        for (const std::vector<Index>& along : box) count *= along.size();
        CHECK(found->count == count);
        CHECK(lists(box, found->nearest));
        if (!all) continue;
        const Tensor with_nan = computed_with(run, reader, step.id, cell, std::numeric_limits<float>::quiet_NaN());
        CHECK(differing(before, with_nan).size() == count);
    }
}

}  // namespace

TEST_CASE("the readers of a cell are those that change with it: attention, norm, MLP, head") {
    const SmallModel model = small_model(keys_of("vocab_size=7 lm_head=true norm_first=true num_layers=2 "
                                                 "positional_encoding=rope num_key_value_heads=1"),
                                         {.batch = 2, .pos = 4});
    const auto run = model.run();
    Dice dice(3);
    for (const Step& step : run->plan().steps()) {
        if (step.role == Role::input || run->value(step.id).empty() || step.operation.traits().masks) continue;
        // Numbers that a mask replaces or multiplies by 0 reach nothing.
        const bool hidden = step.is_scores || step.meaning == Meaning::value;
        check_readers(*run, step, run->value(step.id).cell(dice.below(run->value(step.id).size())), !hidden);
    }
}

TEST_CASE("the readers of a cell are those that change with it, in random models") {
    Dice dice(5);
    for (int round = 0; round < 60; ++round) {
        const SmallModel model = random_model(dice, random_configuration(dice));
        const auto run = model.run();
        for (const Step& step : run->plan().steps()) {
            if (step.role == Role::input || run->value(step.id).empty() || step.operation.traits().masks) continue;
            if (!step.axes.empty() && step.axes.back().name == axis::slot) continue;  // numbers of experts
            check_readers(*run, step, run->value(step.id).cell(dice.below(run->value(step.id).size())), false);
        }
    }
}

TEST_CASE("a cell's readers are listed as boxes of cells") {
    const SmallModel model = small_model({{"vocab_size", "7"}, {"lm_head", "true"}, {"norm_first", "true"}});
    const auto run = model.run();
    const auto only = [&](std::string_view step, const Cell& cell, std::string_view reader) {
        for (const sheet::Reader& one : sheet::readers_of(*run, *run->plan().find(step), cell))
            if (run->plan()[one.step].name == reader) return one.cells;
        return formulas::Box();
    };
    // A key's row is read by all queries of its head; a number of a pattern by its query's output.
    CHECK(only("blocks.0.attn.k", {1, 0, 2, 3}, "blocks.0.attn.attn_scores") ==
          formulas::Box{{1}, {0}, {0, 1, 2}, {2}});
    CHECK(only("blocks.0.attn.pattern", {0, 1, 2, 1}, "blocks.0.attn.z") ==
          formulas::Box{{0}, {1}, {2}, {0, 1, 2, 3, 4, 5}});
    CHECK(only("blocks.0.attn.masked_scores", {0, 1, 2, 1}, "blocks.0.attn.pattern") ==
          formulas::Box{{0}, {1}, {2}, {0, 1, 2}});
    CHECK(only("blocks.0.resid_pre", {1, 2, 5}, "blocks.0.ln1.scale") == formulas::Box{{1}, {2}, {0}});
    CHECK(only("blocks.0.resid_pre", {1, 2, 5}, "blocks.0.resid_mid") == formulas::Box{{1}, {2}, {5}});
    // A row of the embedding by the positions that have its token.
    const Tensor& tokens = run->value("tokens");
    const auto token = static_cast<Index>(tokens.at(Cell{0, 1}));
    const formulas::Box looked_up = only("embed.weight", {token, 4}, "embed");
    CHECK(lists(looked_up, {0, 1, 4}));
    CHECK(looked_up[2] == std::vector<Index>{4});
    // The last step is read by none.
    CHECK(sheet::readers_of(*run, *run->plan().find("logits"), {0, 0, 0}).size() <= 1);
}
