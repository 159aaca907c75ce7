#pragma once

#include "app/core/tabs/bisect/tensor_check.h"
#include "engine/formulas/edits.h"
#include "engine/graph/run.h"
#include "engine/mutations/mutations.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace decoderscope::core::bisect {

// So many additions may be spent on trying formulas: some seconds.
inline constexpr double kMostSteps = 2e10;

// A step whose formula may be the wrong one, with all formulas that are one node away (engine/formulas/edits.h).
class SuspectStep {
public:
    // The run is of the decoder as it should be. `numbers` are the configuration's, by key. What differs is `wrong`:
    // the step itself, or one that is computed from it.
    SuspectStep(const Run& run, StepId step, StepId wrong, const std::map<std::string, double, std::less<>>& numbers);

    // How many formulas there are to try; none for a step without a formula.
    [[nodiscard]] std::size_t size() const { return edits_.size(); }
    // What the wrong step would be under one of them; nothing if that formula doesn't fit the step, or what it
    // makes doesn't fit a later one. Adds to `steps`
    // what computing it takes.
    [[nodiscard]] std::optional<Tensor> outcome(std::size_t edit, double& steps) const;

    [[nodiscard]] const std::string& name() const { return run_.plan()[step_].name; }
    [[nodiscard]] std::string formula(std::size_t edit) const;
    [[nodiscard]] const Sentence& sentence(std::size_t edit) const { return edits_[edit].sentence; }

private:
    [[nodiscard]] bool is_its_own(const formulas::Formula& formula) const;

    const Run& run_;
    StepId step_, wrong_;
    const std::map<std::string, double, std::less<>>& numbers_;
    std::vector<formulas::Edit> edits_;
};

// A step that reads something else than it should: another tensor of the same shape, of its own block, of what stands
// around the blocks or of any block's stream, or another module's parameters; or that is another tensor, where what
// lies between was left out.
class SuspectReading {
public:
    SuspectReading(const Run& run, StepId step, StepId wrong);

    [[nodiscard]] const std::vector<mutations::ReadingEdit>& edits() const { return edits_; }
    // As of SuspectStep.
    [[nodiscard]] std::optional<Tensor> outcome(const mutations::ReadingEdit& edit, double& steps) const;
    [[nodiscard]] Sentence sentence(const mutations::ReadingEdit& edit) const;

private:
    const Run& run_;
    StepId step_, wrong_;
    std::vector<mutations::ReadingEdit> edits_;
};

// The step that differs, and the steps just before that it is computed from as far as they weren't recorded.
[[nodiscard]] std::vector<StepId> suspects(const Plan& plan, StepId wrong, const std::set<StepId>& recorded);

// What a later step would be if one were what is made of it; nothing if what follows can't read that: a token or a
// position that no table has.
[[nodiscard]] std::optional<Tensor> wrong_after(const Run& run, StepId step, StepId wrong,
                                                const std::function<Tensor()>& make);

}  // namespace decoderscope::core::bisect
