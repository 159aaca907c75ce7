// The gallery's mistakes, saved as traces: bisect names the first wrong step and the cause.
#include "app/core/tabs/bisect/bisection.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/core/gallery/exercises.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <iostream>
#include <map>

using namespace decoderscope::testing;
using namespace decoderscope::core::bisect;
using namespace decoderscope::trace;

namespace {

// Two mistakes that compute the same have one name.
const std::map<std::string, std::string> kSameNumbers = {{"fill-overflows", "fill-minus-infinity"}};

// What a wrong decoder leaves behind: its tensors, by our names.
Trace trace_of(const Scenario& scenario, const TemporaryFolder& folder) {
    const std::string path = folder.file("trace.safetensors");
    write_safetensors(path, recorded_tensors(*run_of(scenario)));
    return open_trace(path);
}

std::string first_of(const Bisection& bisection) {
    return bisection.first ? bisection.checks[*bisection.first].ours : std::string();
}

}  // namespace

TEST_CASE("bisect finds every bug of the gallery") {
    std::size_t bugs = 0, named = 0, looked = 0;
    std::string missed;
    for (const Exercise& one : exercises()) {
        if (one.is_false_alarm()) continue;
        if (!is_looked_at(looked++, 20)) continue;
        const TemporaryFolder folder;
        const Trace trace = trace_of(one.mutant, folder);
        Scenario right = one.right;
        right.gradient_target.clear();  // bisect sees by itself that the loss was recorded
        const Bisection found = core::bisect::bisect(right, trace);
        const auto alias = kSameNumbers.find(one.mutant.mutation);
        const std::string& cause = alias == kSameNumbers.end() ? one.mutant.mutation : alias->second;
        const std::string first = first_of(found);
        const bool right_step =
            first == one.bug.solution || std::ranges::find(one.bug.also, first) != one.bug.also.end();
        const bool right_cause =
            !found.causes.empty() && found.causes.front().explains && found.causes.front().name == cause;
        INFO(one.name << " " << cause);
        CHECK(found.first);  // every bug raises an alarm
        ++bugs;
        named += right_step && right_cause ? 1 : 0;
        if (!right_step || !right_cause)
            missed += one.name + ": " + first + ", " + (found.causes.empty() ? "no cause" : found.causes.front().name) +
                      "; expected " + one.bug.solution + ", " + cause + "\n";
    }
    INFO(missed);
    CHECK(bugs >= (kSanitized ? 2 : 24));
    CHECK(10 * named >= 9 * bugs);
    if (!missed.empty()) std::cout << missed;
}

TEST_CASE("of a false alarm bisect says that it looks wrong and is right", "[long]") {
    for (const Exercise& one : exercises()) {
        if (!one.is_false_alarm()) continue;
        const TemporaryFolder folder;
        const Bisection found = core::bisect::bisect(one.right, trace_of(one.mutant, folder));
        INFO(one.name << " " << first_of(found));
        if (one.mutation() == nullptr) {
            CHECK(!found.first);
            continue;
        }
        if (!found.first) continue;  // below the tolerance
        REQUIRE(!found.causes.empty());
        CHECK(found.causes.front().harmless);
    }
}
