#pragma once

#include "app/core/lessons/changes.h"
#include "app/core/session/scenario.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::lessons {

// A scenario and its run.
struct Ran {
    Scenario scenario;
    std::shared_ptr<const Run> run;
};

// The run that is open, and the runs that expressions compare it with. Each is computed once, when it is first asked
// for. Not to be shared between threads.
class Runs {
public:
    // `run` may be nullptr: it is then computed. `opened` is the scenario as the lesson's place opened it.
    explicit Runs(Scenario now, std::shared_ptr<const Run> run = nullptr,
                  std::shared_ptr<const Scenario> opened = nullptr);

    [[nodiscard]] const Ran& now() const { return now_; }
    // The same text as of now, without what the learner changed. Throws Error if another model is open.
    [[nodiscard]] const Ran& before();
    // A run with changes on top. Throws Error where they don't fit.
    [[nodiscard]] const Ran& with(const Ran& from, const std::string& changes);
    // A tensor of one of these runs: recorded, on demand, a parameter or an input. Throws Error if there is none.
    [[nodiscard]] Tensor tensor(const Ran& of, const std::string& name);
    // How many more edits there are than the place had.
    [[nodiscard]] std::size_t edits() const;

private:
    [[nodiscard]] Tensor lens(const Ran& of, const std::string& name);

    Ran now_;
    std::shared_ptr<const Scenario> opened_;
    std::optional<Ran> before_;
    std::map<std::pair<const Ran*, std::string>, std::unique_ptr<Ran>> others_;
    std::map<std::pair<const Ran*, std::string>, Tensor> on_demand_;
    std::map<const Ran*, std::shared_ptr<const Run>> lenses_;  // runs with the logit lens
};

}  // namespace decoderscope::lessons
