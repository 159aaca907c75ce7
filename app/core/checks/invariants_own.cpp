#include "app/core/checks/invariants.h"
#include "app/core/text/numbers.h"
#include "engine/sheet/scope.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace decoderscope::core::checks {

namespace {

bool must_hold(const Step& step) { return step.operation.traits().must_hold; }

bool is_true(float value) { return value != 0.0F && !std::isnan(value); }

// The check that this step is a layer of; a new one if it is the first.
Invariant& check_of(std::vector<Invariant>& found, const std::string& step) {
    const std::string everywhere = sheet::for_all_layers(step);
    const auto same = [&](const Invariant& one) { return sheet::for_all_layers(one.row) == everywhere; };
    if (const auto known = std::ranges::find_if(found, same); known != found.end()) {
        known->row = everywhere;
        return *known;
    }
    return found.emplace_back(Invariant{.row = step, .verdict = Verdict::kept});
}

Sentence finding_of(const Invariant& check, std::size_t untrue) {
    const Sentence numbers = counted_numbers(check.checked);
    if (untrue == 0) return message("{numbers}: none is 0 or NaN.", {{"numbers", numbers}});
    return message_n("{count} of {numbers} is 0 or NaN; the first is {value}.",
                     "{count} of {numbers} are 0 or NaN; the first is {value}.", untrue,
                     {{"numbers", numbers}, {"value", measure_text(check.measured)}});
}

}  // namespace

bool ask_the_same(const Plan& a, const Plan& b) {
    return std::ranges::equal(a.steps(), b.steps(), {}, must_hold, must_hold);
}

Resumable<std::vector<Invariant>> measure_own_rows(const Run& run) {
    std::vector<Invariant> found;
    std::vector<std::size_t> untrue;  // numbers of each check
    Reader read;
    for (const Step& step : run.plan().steps()) {
        if (!must_hold(step)) continue;
        co_yield kPause;
        Invariant& check = check_of(found, step.name);
        untrue.resize(found.size());
        const Tensor& tensor = run.value(step.id);
        const auto values = read(tensor);
        check.checked += values.size();
        const auto first = std::ranges::find_if_not(values, is_true);
        if (first == values.end()) continue;
        untrue[static_cast<std::size_t>(&check - found.data())] +=
            static_cast<std::size_t>(std::count_if(first, values.end(), std::not_fn(is_true)));
        if (check.verdict == Verdict::broken) continue;
        check.verdict = Verdict::broken;
        check.measured = static_cast<double>(*first);
        check.step = step.name;
        check.cell = tensor.cell(first - values.begin());
    }
    for (std::size_t i = 0; i < found.size(); ++i) found[i].finding = finding_of(found[i], untrue[i]);
    co_return found;
}

}  // namespace decoderscope::core::checks
