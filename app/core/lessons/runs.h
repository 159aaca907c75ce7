#pragma once

#include "app/core/run/scenario.h"
#include "app/core/session/command.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::core::lessons {

// One pass of a text that is computed in several: "1 of 10, 8".
struct PassOf {
    std::size_t pass = 0;
    std::vector<Index> sizes;
    bool operator==(const PassOf&) const = default;
};

// Changes to a scenario: what a place opens with, what `with(…)` asks about, and what a solution does.
struct Changes {
    std::optional<std::string> source, target;  // a line per batch row
    Overrides set;
    std::vector<Edit> edits;
    std::optional<std::string> mutation;  // empty: none
    std::optional<PassOf> pass;           // of the text; its edits are in the cells of the pass's own tensors
    std::optional<std::uint64_t> dropout_seed;
    std::optional<std::string> gradient_target;
    bool operator==(const Changes&) const = default;
};

// "attention_scale=1 ; [{"edit": …}]": parts separated by " ; ". Throws Error naming the part.
[[nodiscard]] Changes parse_changes(std::string_view text);

// The scenario with these changes on top. Throws Error if they don't fit.
[[nodiscard]] Scenario changed(Scenario scenario, const Changes& changes);

// The commands by which the window makes them. A change that the window has no command for is an Error.
[[nodiscard]] std::vector<Command> commands_of(const Changes& changes);

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
    // A run of the current text, without what the learner changed. Throws Error if another model is open.
    [[nodiscard]] const Ran& before();
    // A run with changes on top. Throws Error if they don't fit.
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

}  // namespace decoderscope::core::lessons
