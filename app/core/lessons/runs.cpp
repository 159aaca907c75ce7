#include "app/core/lessons/runs.h"

#include "engine/error.h"

#include <algorithm>
#include <cstring>

namespace decoderscope::lessons {

namespace {

Ran ran(Scenario scenario, const Run* previous) {
    std::shared_ptr<const Run> run = execute(plan_of(scenario), {.previous = previous});
    return {std::move(scenario), std::move(run)};
}

bool same(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.axes() == b.axes() && std::ranges::equal(a.values(), b.values());
}

}  // namespace

Runs::Runs(Scenario now, std::shared_ptr<const Run> run, std::shared_ptr<const Scenario> opened)
    : now_{std::move(now), std::move(run)}, opened_(std::move(opened)) {
    if (!now_.run) now_ = ran(now_.scenario, nullptr);
}

const Ran& Runs::before() {
    if (!opened_) return now_;
    if (before_) return *before_;
    if (opened_->model()->name != now_.scenario.model()->name)
        throw Error("{model}: expected the model that the lesson opened, {opened}",
                    {{"model", now_.scenario.model()->name}, {"opened", opened_->model()->name}});
    Scenario scenario = *opened_;
    const Inputs &theirs = opened_->inputs, &ours = now_.scenario.inputs;
    // The same text: then with the masks that it was opened with, too.
    if (!same(theirs.tokens, ours.tokens) || !same(theirs.encoder_tokens, ours.encoder_tokens)) scenario.inputs = ours;
    before_ = ran(std::move(scenario), now_.run.get());
    return *before_;
}

const Ran& Runs::with(const Ran& from, const std::string& changes) {
    std::unique_ptr<Ran>& found = others_[{&from, changes}];
    if (!found) found = std::make_unique<Ran>(ran(changed(from.scenario, parse_changes(changes)), from.run.get()));
    return *found;
}

Tensor Runs::tensor(const Ran& of, const std::string& name) {
    const Ref step = of.run->plan().find(name);
    if (step == nullptr) return lens(of, name);
    Tensor value = of.run->value(step->id);
    if (!value.empty()) return value;
    Tensor& made = on_demand_[{&of, name}];
    if (made.empty()) {
        const std::vector<std::string> asked = {name};
        made = execute(of.run->shared_plan(), {.previous = of.run.get(), .asked = asked})->value(step->id);
    }
    return made;
}

// What the stream says early is no part of a run: it is computed beside it.
Tensor Runs::lens(const Ran& of, const std::string& name) {
    std::shared_ptr<const Run>& run = lenses_[&of];
    if (!run) run = execute(plan_of(of.scenario, true), {.previous = of.run.get()});
    const Tensor& value = run->value(name);
    if (value.empty()) throw Error("{name}: the run has no such tensor", {{"name", name}});
    return value;
}

std::size_t Runs::edits() const {
    const std::size_t now = now_.scenario.edits.size(), before = opened_ ? opened_->edits.size() : 0;
    return now > before ? now - before : 0;
}

}  // namespace decoderscope::lessons
