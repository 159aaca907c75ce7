// What nobody expects to be thrown, thrown where work is done: it becomes a message, and the session goes on.
#include "app/core/session/session.h"
#include "app/core/session/user_state.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

using namespace decoderscope::testing;

namespace {

enum class Surprise { logic_error, length_error, json, no_exception };
constexpr Surprise kSurprises[] = {Surprise::logic_error, Surprise::length_error, Surprise::json,
                                   Surprise::no_exception};

// Throws it; returns where there is nothing to throw.
int surprising(Surprise surprise) {
    switch (surprise) {
        case Surprise::logic_error:
            throw std::logic_error("planted");
        case Surprise::length_error:
            throw std::length_error("planted");
        case Surprise::json:
            return nlohmann::json("text").get<int>();
        case Surprise::no_exception:
            throw 7;  // NOLINT: of no type that is an exception
    }
    return 0;
}

// An operation that throws when it is computed.
struct Throws {
    Surprise surprise;

    [[nodiscard]] OpDescription about() const { return {}; }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {{axis::batch, 1}, {axis::pos, 2}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands&, const Axes& axes) const {
        return {axes, {static_cast<float>(surprising(surprise)), 0.0F}};
    }
    [[nodiscard]] Explanation explain(const Operands&, const Tensor&, const Cell&) const { return {}; }
    bool operator==(const Throws&) const = default;
};

// A recording of one step, which throws.
Scenario throwing(Surprise surprise) {
    auto plan = std::make_shared<Plan>(nullptr);
    plan->step("thrown", Throws{surprise}, {});
    auto run = std::make_shared<RecordedRun>();
    run->name = "planted";
    run->plan = std::move(plan);
    return Scenario(std::shared_ptr<const RecordedRun>(std::move(run)));
}

}  // namespace

TEST_CASE("whatever a step throws becomes a message, and the next edit works") {
    for (const Surprise surprise : kSurprises) {
        CAPTURE(static_cast<int>(surprise));
        Session session(make_bundled_model("simple-decoder"));
        const std::shared_ptr<const Run> before = session.shown().run;
        apply(session,
              command::OpenScenario{std::make_shared<const Scenario>(throwing(surprise)), std::string("thrown")});
        REQUIRE(session.message());
        CHECK(session.message()->failed);
        CHECK_FALSE(session.message()->text.english().empty());
        CHECK_FALSE(session.stale());
        CHECK(session.shown().run == before);
        CHECK(session.scenario().computes());
        apply(session, command::ScaleHeadTo{"blocks.0.attn", 0, 0.0F});
        CHECK(session.scenario().edits.size() == 1);
    }
}

// ---- what can't be run leaves the history as it was

namespace {

Scenario with_factor(const Scenario& scenario, float factor) {
    Scenario next = scenario;
    next.edits = {ScaleHead{"blocks.0.attn", 0, factor}};
    return next;
}

float factor_of(const Scenario* scenario) {
    REQUIRE(scenario != nullptr);
    return scenario->edits.empty() ? 1.0F : std::get<ScaleHead>(scenario->edits.front()).factor;
}

}  // namespace

TEST_CASE("a scenario that can't be run leaves the history, and nothing else does") {
    const Scenario first = scenario_of(make_bundled_model("simple-decoder"));
    UserState state(first);
    state.note_shown();
    state.change(with_factor(first, 0.5F));
    state.note_shown();

    SECTION("a change") {
        state.change(with_factor(first, 0.25F));
        state.give_up(with_factor(first, 0.5F));
        CHECK(factor_of(&state.scenario()) == 0.5F);
        CHECK(factor_of(state.undone()) == 1.0F);
    }
    SECTION("one that is a part of the last one") {
        state.change(with_factor(first, 0.25F), true);
        state.give_up(with_factor(first, 0.5F));
        CHECK(factor_of(&state.scenario()) == 0.5F);
        CHECK(factor_of(state.undone()) == 1.0F);
    }
    SECTION("one that undo led to") {
        state.change(with_factor(first, 0.25F));
        state.note_shown();
        state.undo();
        state.give_up(with_factor(first, 0.25F));
        CHECK(factor_of(&state.scenario()) == 0.25F);
        CHECK(factor_of(state.undone()) == 1.0F);
        CHECK(state.redone() == nullptr);
    }
    SECTION("one behind which a note was pinned") {
        state.change(with_factor(first, 0.25F));
        state.change_notes({Note{.step = "embed", .cell = {}, .text = "here"}});
        state.give_up(with_factor(first, 0.5F));
        CHECK(state.notes().size() == 1);
        CHECK(factor_of(&state.scenario()) == 0.5F);
        state.undo();
        CHECK(state.notes().empty());
        CHECK(factor_of(&state.scenario()) == 0.5F);
    }
}
