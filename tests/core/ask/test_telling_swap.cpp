// The swap that a comparison begins with changes the answer, where one does.
#include "app/core/ask/number.h"

#include "app/core/run/output_moves.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::ask;
using namespace decoderscope::load;

namespace {

std::optional<Index> answer(const Tensor& logits, Index position) {
    const auto width = static_cast<std::size_t>(logits.dim(2));
    return predicted_token(
        logits.values().subspan(static_cast<std::size_t>(logits.offset(Cell{0, position, 0})), width));
}

}  // namespace

TEST_CASE("the swap that is proposed changes the prediction at the number's position, by another run") {
    for (const char* name : {"reverse", "induction", "verses"}) {
        INFO(name);
        const Scenario scenario = scenario_of(make_bundled_model(name));
        const auto run = execute(plan_of(scenario));
        const ResolvedNumber number = resolved(scenario, *run, 0, {});
        const TellingSwap found = finished(find_telling_swap(scenario, run, number));
        REQUIRE(found.swap);
        CHECK(found.changes_answer);
        CHECK(swap_sentence(found).empty());
        Scenario other = scenario;
        Tensor& tokens = found.swap->in_source ? other.inputs.encoder_tokens : other.inputs.tokens;
        CHECK(static_cast<Index>(tokens.at(Cell{0, found.swap->position})) == found.swap->before);
        tokens.writable()[static_cast<std::size_t>(found.swap->position)] = static_cast<float>(found.swap->after);
        const auto swapped = execute(plan_of(other));
        CHECK(answer(run->value("logits"), number.position) != answer(swapped->value("logits"), number.position));
    }
}

TEST_CASE("where no swap was found, that is said, and a choice that was made stays") {
    TellingSwap none{.swap = ReplacedToken{true, 0, 3, 1, 2}, .changes_answer = false, .change = 0.1, .tried = 44};
    CHECK(swap_sentence(none).english() ==
          "None of the 44 swaps that were tried changes the answer; this one moves the number most.");
    CHECK(with_swap({}, none).position == Index{3});
    CHECK(with_swap({.position = 5}, none).position == Index{5});
    CHECK_FALSE(with_swap({.position = 5}, none).token);
    CHECK(with_swap({.kind = OtherKind::pinned}, none) == OtherChoice{.kind = OtherKind::pinned});
}
