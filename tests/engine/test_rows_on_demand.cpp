// What a run doesn't keep is computed when it is read, a few rows at a time: the same bits as in a run that keeps all.
#include "engine/tensor/rows.h"
#include "tests/catch.h"
#include "tests/engine/random_models.h"
#include "tests/engine/same_bits.h"

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <string>

using namespace decoderscope::testing;

namespace {

// Everything comes by rows, two at a time.
constexpr Blocks kTwoRows = {.from_bytes = 1, .bytes = 1, .rows = 2};

// What a run that fits keeps at least.
bool is_kept(const Step& step) {
    return step.name.find("resid_") != std::string::npos || step.name.ends_with(".k") || step.name.ends_with(".v");
}
// What it takes at least to compute the rest a block at a time.
bool is_stream(const Step& step) { return step.name.find("resid_") != std::string::npos; }

std::shared_ptr<const Run> by_rows(const SmallModel& model, bool (*kept)(const Step&), const Run* previous = nullptr) {
    return execute(model.plan(), {.previous = previous, .asked = model.asked, .kept = kept, .blocks = kTwoRows});
}

// Some rows with others between them, and of one head if there are several, are those of the whole tensor.
void check_rows_apart(const Tensor& ours, const Tensor& theirs, Dice& dice) {
    const auto along = row_axis(theirs.axes()), heads = head_axis(theirs.axes());
    if (!along || row_count(theirs.axes()) == 0) return;
    SomeRows some = {.first = dice.below(theirs.dim(*along)), .apart = 1 + dice.below(3)};
    some.count = 1 + dice.below((theirs.dim(*along) - some.first - 1) / some.apart + 1);
    if (heads) some.head = Head{dice.below(theirs.dim(*heads)), theirs.dim(*heads)};
    const Tensor made = some_rows(ours, some);
    Axes axes = with_row_count(theirs.axes(), some.count);
    if (heads) axes.resize(*heads, 1);
    Tensor expected(axes);
    for (Index i = 0; i < expected.size(); ++i) {
        Cell cell = expected.cell(i);
        cell[*along] = some.first + cell[*along] * some.apart;
        if (heads) cell[*heads] = some.head->number;
        expected.writable()[static_cast<std::size_t>(i)] = theirs.at(cell);
    }
    INFO(some.count << " rows from " << some.first << ", " << some.apart << " apart");
    CHECK(same_bits(made, expected));
}

// Every cell that at() and row() read alone is the one that the whole tensor has.
void check_cells(const Run& some, const Run& all, Dice& dice) {
    for (const Step& step : all.plan().steps()) {
        const Tensor &theirs = all.value(step.id), &ours = some.value(step.id);
        if (step.is_source() || theirs.empty() || theirs.size() == 0) continue;
        INFO(step.name);
        check_rows_apart(ours, theirs, dice);
        for (int i = 0; i < 3; ++i) {
            Cell cell = theirs.cell(dice.below(theirs.size()));
            CHECK(same_bits(Tensor({{axis::one, 1}}, {ours.at(cell)}), Tensor({{axis::one, 1}}, {theirs.at(cell)})));
            cell.back() = 0;
            const Axes row = {{axis::one, theirs.axes().back().size}};
            CHECK(same_bits(Tensor(row, ours.row(cell)), Tensor(row, theirs.row(cell))));
        }
    }
}

}  // namespace

TEST_CASE("a run that keeps little has the bits of one that keeps all, with edits, in random models") {
    Dice dice(7301);
    for (int i = 0; i < 60; ++i) {
        SmallModel model = random_model(dice, random_configuration(dice));
        model.asked = {"*"};
        for (Index edits = dice.below(3); edits > 0; --edits) model.edits.push_back(random_edit(dice, model));
        INFO(i);
        const auto all = model.run();
        for (const auto kept : {is_kept, is_stream}) {
            check_cells(*by_rows(model, kept), *all, dice);
            CHECK(first_difference(*by_rows(model, kept), *all) == "");
        }
    }
}

TEST_CASE("an edit of a run that keeps little equals a fresh run of one that keeps all") {
    Dice dice(7302);
    for (int i = 0; i < 40; ++i) {
        SmallModel model = random_model(dice, random_configuration(dice));
        INFO(i);
        auto run = by_rows(model, is_kept);
        for (int edits = 0; edits < 3; ++edits) {
            model.edits.push_back(random_edit(dice, model));
            run = by_rows(model, is_kept, run.get());
            CHECK(first_difference(*run, *model.run()) == "");
        }
    }
}

TEST_CASE("a backward pass of a run that keeps little has the same gradients, with edits, in random models") {
    Dice dice(7303);
    for (int i = 0; i < 30; ++i) {
        SmallModel model = random_model(dice, random_configuration(dice));
        for (Index edits = dice.below(3); edits > 0; --edits) model.edits.push_back(random_edit(dice, model));
        decoder::PassRequest request{model.config, &model.weights, model.inputs, model.edits, model.dropout_seed};
        const auto forward = model.plan();
        const Ref last = forward->find(model.config.lm_head ? "logits" : "blocks.0.resid_post");
        if (last == nullptr) continue;
        request.gradient_target = cell_name(last->name, Tensor(last->axes).cell(dice.below(element_count(last->axes))));
        INFO(i << ", " << request.gradient_target);
        const auto plan = decoder::plan_decoder(request);
        const auto all = execute(plan);
        for (const auto kept : {is_kept, is_stream})
            CHECK(first_difference(*execute(plan, {.kept = kept, .blocks = kTwoRows}), *all) == "");
    }
}

TEST_CASE("for gradients, what isn't kept is made again a block at a time") {
    const SmallModel model =
        small_model({{"num_layers", "12"}, {"vocab_size", "40"}, {"lm_head", "true"}}, {.pos = 30});
    decoder::PassRequest request{model.config, &model.weights, model.inputs, {}, std::nullopt};
    request.gradient_target = "logits[1,5,7]";
    const auto plan = decoder::plan_decoder(request);
    const auto kept = [](const Step& step) { return step.backward || is_kept(step); };
    Index in_a_block = 0, most = 0;
    for (const Step& step : plan->steps())
        if (step.block == "blocks.0" && !step.is_source() && !kept(step)) in_a_block += element_count(step.axes);
    Execution execution(plan, {.kept = kept});
    while (!execution.advance()) {
        Index there = 0;
        for (const Step& step : plan->steps())
            if (const Tensor& value = execution.run()->value(step.id); !step.is_source() && !kept(step))
                there += !value.empty() && value.is_ready() ? value.size() : 0;
        most = std::max(most, there);
    }
    CHECK(most > 0);
    CHECK(most < 2 * in_a_block);
    CHECK(first_difference(*execution.run(), *execute(plan)) == "");
}

TEST_CASE("in a long text neither scores nor patterns are ever there whole, unless they are read whole") {
    const SmallModel model = small_model({{"num_layers", "2"}}, {.batch = 1, .pos = 700});
    const auto run = execute(model.plan(), {.kept = is_kept}), all = model.run();
    for (const char* name : {"blocks.0.attn.attn_scores", "blocks.1.attn.masked_scores", "blocks.1.attn.pattern"}) {
        const Tensor& value = run->value(name);
        REQUIRE(value.by_rows() != nullptr);
        CHECK(same_bits(some_rows(value, 100, 7), some_rows(all->value(name), 100, 7)));
        CHECK(value.at(Cell{0, 1, 650, 3}) == all->value(name).at(Cell{0, 1, 650, 3}));
        CHECK_FALSE(value.is_ready());
        CHECK(same_bits(value, all->value(name)));
        CHECK(value.is_ready());
    }
    CHECK(run->value("blocks.0.attn.z").is_ready() == is_kept(*run->plan().find("blocks.0.attn.z")));
    CHECK(first_difference(*run, *all) == "");
}

TEST_CASE("a large step is computed in parts: the same bits, counted, and stopped between two of them") {
    SmallModel model = small_model({{"vocab_size", "4000"}, {"lm_head", "true"}}, {.pos = 300});
    model.edits.push_back(SetCell{"logits", {0, 200, 7}, 0.5F});
    const auto plan = model.plan();
    constexpr Blocks kInParts = {.operations = 1e6, .part_rows = 64};
    std::atomic<std::size_t> done = 0;
    std::size_t slices = 1, before = 0;
    Execution execution(plan, {.done = &done, .blocks = kInParts});
    for (; !execution.advance(); ++slices) {
        CHECK(done.load() > before);  // it moves within a step, too
        before = done.load();
    }
    CHECK(slices > plan->steps().size() + 3);
    CHECK(done.load() == effort_of(*plan));
    CHECK(first_difference(*execution.run(), *execute(plan)) == "");

    std::stop_source stop;
    Execution stopped(plan, {.stop = stop.get_token(), .blocks = kInParts});
    for (std::size_t i = 0; i + 3 < slices; ++i) CHECK_FALSE(stopped.advance());
    stop.request_stop();
    CHECK(stopped.advance());
    CHECK(stopped.run() == nullptr);
}

TEST_CASE("the edited mask of a long text stays rules") {
    SmallModel model = small_model({{"num_layers", "1"}}, {.pos = 90});
    model.edits = {MaskEdit{"blocks.0.attn", 0, std::nullopt, 50, 20, false},
                   MaskEdit{"blocks.0.attn", 0, 1, std::nullopt, 3, false},
                   MaskEdit{"blocks.0.attn", 0, 0, 10, std::nullopt, true},
                   SetCell{"blocks.0.attn.masked_scores", {0, 1, 70, 8}, 2.0F}};
    constexpr Blocks kHuge = {.from_bytes = 1};
    const auto with_masks = [](const Step& step) { return is_kept(step) || step.operation.traits().masks; };
    const auto run = execute(model.plan(), {.kept = with_masks, .blocks = kHuge}), all = model.run();
    const Tensor& mask = run->value("blocks.0.attn.mask");
    CHECK(mask.lazy<LazyRows>() != nullptr);
    CHECK(same_bits(some_rows(mask, 45, 20), some_rows(all->value("blocks.0.attn.mask"), 45, 20)));
    Dice dice(7304);
    for (int i = 0; i < 30; ++i) check_rows_apart(mask, all->value("blocks.0.attn.mask"), dice);
    CHECK(mask.at(Cell{0, 1, 50, 20}) == 0.0F);
    CHECK_FALSE(mask.is_ready());
    CHECK(first_difference(*run, *all) == "");
    // Kept scores, too, are filled by these rules.
    CHECK(first_difference(*execute(model.plan(), {.blocks = kHuge}), *all) == "");
}
