#pragma once

#include "app/core/run/scenario.h"
#include "engine/decoder/kv_cache.h"
#include "engine/model/inputs.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

// A text that is computed in several passes. Each computes some of its positions, and reads the keys and values that
// the passes before it have kept. A pass is a scenario like any other: its inputs are its part of the text, its edits
// are in the cells of its own tensors, and whatever can be asked of a run can be asked of it.
namespace decoderscope::core {

// The scenario's edits as they apply to the plan of a pass over this part; edits of cells outside it are left out.
// `scenario.inputs` may be the whole input or, if nothing precedes the part, the part itself. `past` is needed if the
// part begins after the first position.
[[nodiscard]] std::vector<Edit> edits_of_part(const Scenario& scenario, const InputsPart& part,
                                              const decoder::Past* past = nullptr);
// The plan of a pass over a part, with the edits that apply to it.
[[nodiscard]] std::shared_ptr<const Plan> plan_of_part(const Scenario& scenario, const InputsPart& part,
                                                       const decoder::Past* past = nullptr);

// The pass that the scenario runs; nullptr if it runs the whole text in one.
[[nodiscard]] const TextInPasses* shown_pass(const Scenario& scenario);
// The passes that the text is cut into, whether one is shown or not; nullptr if it isn't, or if those are an earlier
// text's.
[[nodiscard]] const TextInPasses* passes_of(const Scenario& scenario);
// The positions that a pass computes.
[[nodiscard]] InputsPart part_of_pass(const TextInPasses& passes, std::size_t pass);
// The inputs of the whole text, whichever pass of it is run.
[[nodiscard]] const Inputs& text_of(const Scenario& scenario);
// The first of the positions that the scenario runs: 0 unless it runs a later pass.
[[nodiscard]] Index first_position(const Scenario& scenario);

// "pass 1, positions 5 to 9", of one that is shown; passes are counted from 0.
[[nodiscard]] Sentence name_of_pass(const Scenario& scenario);

// Sizes that begin with these; what they leave of the text is one more pass. Throws Error if they don't fit into it.
[[nodiscard]] std::vector<Index> sizes_of_passes(std::vector<Index> sizes, Index length);

// One pass of a text. The edits of the whole text become those of each pass that has their cells, when they are new;
// what is edited in a pass stays there. Rows go with whoever looks at another pass. Throws Error if the sizes don't
// fit.
[[nodiscard]] Scenario with_pass(Scenario scenario, std::vector<Index> sizes, std::size_t pass);
// The whole text, computed in one pass; what was edited in the passes is kept for them.
[[nodiscard]] Scenario with_whole_text(Scenario scenario);

// Where a number that a pass found in the cache was written; nothing for other cells.
struct Written {
    std::size_t pass = 0;
    Index position = 0;
    std::string step;
    Cell cell;
};
[[nodiscard]] std::optional<Written> written_before(const Scenario& scenario, const Plan& plan, const Step& step,
                                                    const Cell& cell);
// "Written in pass 0, for position 4"
[[nodiscard]] Sentence words_of(const Written& written);

// Whether it, or a pass before it, is edited in a way that changes what is computed.
[[nodiscard]] bool is_edited(const Scenario& scenario);
// Without any edits that change what is computed.
[[nodiscard]] Scenario without_edits(Scenario scenario);

// What the passes before the shown one keep, computed when it isn't known; nullptr if there are none. Throws Error if
// one of them fails. Thread-safe.
[[nodiscard]] std::shared_ptr<const decoder::Past> past_of(const Scenario& scenario);

// What the last scenarios' passes kept. All copies of a scenario share it.
class KeptByPasses {
public:
    [[nodiscard]] std::shared_ptr<const decoder::Past> before_shown(const Scenario& scenario);
    // The run of a pass that is shown: what it leaves need not be computed again for the next.
    void take(const Scenario& scenario, const Run& run);

private:
    struct Known {
        Scenario asked;
        std::vector<std::vector<Edit>> edits;  // of the passes before
        std::shared_ptr<const decoder::Past> past;
    };
    // What passes before this one keep; nullptr if it isn't known.
    [[nodiscard]] std::shared_ptr<const decoder::Past> known_before(const Scenario& scenario, std::size_t pass);
    void remember(Scenario scenario, std::size_t pass, std::shared_ptr<const decoder::Past> past);

    std::mutex mutex_;
    std::vector<Known> known_;  // the last asked at the end
};

// The rows of one tensor [batch, pos, …] followed by those of another.
[[nodiscard]] Tensor joined(const Tensor& a, const Tensor& b);

// The inputs of the positions that the scenario runs: what is said of keys is cut to them, too.
[[nodiscard]] Inputs inputs_of_shown(const Scenario& scenario);
// Which of these positions are not padding [batch, pos]; empty if none is.
[[nodiscard]] inline Tensor padding_of(const Scenario& scenario) { return inputs_of_shown(scenario).attention_mask; }

}  // namespace decoderscope::core
