#pragma once

#include "app/core/tabs/bisect/tensor_check.h"
#include "engine/formulas/evaluate.h"
#include "engine/graph/run.h"
#include "engine/trace/alignment.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace decoderscope::core::bisect {

// How recorded numbers are compared.
struct Comparing {
    const trace::Trace& trace;
    const Weights& weights;                       // as they are stored
    Arithmetic arithmetic = Arithmetic::float32;  // in which they were computed
    std::vector<Arithmetic> types;                // of each tensor: that one if it has all numbers, or float32
    std::optional<double> tolerance;  // relative to a tensor's largest magnitude; without it, what rounding leaves
    double coarse = 0.0;              // as above: what differs by more isn't the same tensor
};

// A plan computed in step with a recording: each step reads what was recorded of its operands, if that agrees. Rounding
// isn't handed on then, and a tensor that differs does so by itself. Each tensor is judged beside all ways in which a
// program may compute it from its operands: with what was not recorded in between in float32, rounding after every
// operation, with products in two halves, and so on.
class InStep {
public:
    // What `previous` computed from the same operands is taken over from there; nullptr for nothing.
    InStep(std::shared_ptr<const Plan> plan, const Comparing& comparing, const std::vector<trace::Match>& matches,
           const InStep* previous);

    // What each step reads: as recorded, or as computed.
    [[nodiscard]] const std::shared_ptr<const Run>& run() const { return run_; }
    // A check for each match.
    [[nodiscard]] const std::vector<TensorCheck>& checks() const { return checks_; }
    // What a step is computed to be from what it reads.
    [[nodiscard]] const Tensor& computed(StepId id) const { return own_[id]; }
    // As a check, if a step were computed as `ours`, in that way alone.
    [[nodiscard]] TensorCheck checked(StepId step, const Tensor& ours, const trace::Match& match) const;

private:
    class Side;
    // How other programs compute the same: what is written out rounds after each operation (RoPE, an activation, a
    // gate), norms and softmax by a kernel or not, the attention as one kernel in float32; how products are added up.
    enum class Way {
        as_configured,
        float32_between,
        written_out,
        constants_too,  // as above, with constants that are rounded, too
        fused_attention,
        norms_too,
        all_written_out,
        in_halves,
        one_by_one,
        tensor_float,  // products of numbers with 10 bits behind the point, as GPUs may take float32's (TF32)
        exactly,
        float32_throughout  // as what autocast leaves in float32 reads its weights
    };
    static constexpr std::size_t kWays = static_cast<std::size_t>(Way::exactly) + 1;

    // What a step is in a manner, from these operands.
    struct Made {
        formulas::Manner manner;
        std::vector<Tensor> read;
        Tensor made;
        [[nodiscard]] bool reads(const Operands& in) const {
            for (std::size_t i = 0; i < in.size(); ++i)
                if (!read[i].shares_values_with(in[i])) return false;
            return true;
        }
    };

    [[nodiscard]] std::optional<StepId> same_in(const InStep& previous, const Step& step) const;
    bool take_over(const InStep& previous, StepId before, const trace::Match& match, TensorCheck& to);
    [[nodiscard]] Tensor computed(const Step& step, Way way);
    [[nodiscard]] Tensor computed(const Step& step, const Operands& in, Way way);
    [[nodiscard]] const Tensor& own(StepId id, Way way);
    [[nodiscard]] Tensor used(StepId id, Way way);
    void check(const Step& step, const trace::Match& match, TensorCheck& to);
    [[nodiscard]] double tolerance() const { return comparing_.tolerance.value_or(comparing_.coarse); }
    // Whether a tensor agrees only as far as the coarse tolerance goes.
    [[nodiscard]] bool is_rough(const TensorCheck& check) const {
        return check.is_computed && !check.differs && check.largest > 0.0 && !comparing_.tolerance;
    }
    void judge(const Step& step, const trace::Match& match, TensorCheck& to, bool by_tensor_float);
    [[nodiscard]] bool is_product(const Step& step) const;
    [[nodiscard]] bool is_bare_product(const Step& step, const trace::Match& match, TensorCheck& to) const;
    [[nodiscard]] bool is_shifted_by_row(const Step& step, const trace::Match& match, TensorCheck& to) const;
    [[nodiscard]] bool is_tensor_float(const Step& step, const trace::Match& match, const TensorCheck& check);
    [[nodiscard]] double noise_of(const Step& step) const;
    [[nodiscard]] Tensor kept_by_mask(const Step& step) const;  // empty: all count

    const Comparing& comparing_;
    std::shared_ptr<const Run> run_;
    std::vector<Tensor> used_, own_;        // by step
    std::vector<bool> recorded_;            // used_ is what was recorded
    std::vector<bool> follows_difference_;  // it differs, or reads what does
    std::vector<bool> unmeasured_;          // a way to it would have taken too long
    std::map<std::pair<Way, StepId>, Tensor> in_other_ways_;
    std::map<StepId, std::vector<Made>> made_;
    std::vector<TensorCheck> checks_;
};

}  // namespace decoderscope::core::bisect
