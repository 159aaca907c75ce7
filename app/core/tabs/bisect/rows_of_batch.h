#pragma once

#include "engine/model/inputs.h"
#include "engine/tensor/tensor.h"

#include <optional>
#include <set>
#include <vector>

// Which row of the batch before each row of a call goes on with. Beam search drops some rows and repeats others; what
// is kept of them has to be reordered along.
namespace decoderscope::core::bisect {

using Rows = std::vector<Index>;

// Each row with itself. If there were fewer before, each of those stands for as many rows, one after the other.
[[nodiscard]] Rows own_rows(Index before, Index now);
// These rows of a batch, the first axis, in this order.
[[nodiscard]] Tensor with_rows(const Tensor& of, const Rows& rows);
[[nodiscard]] Inputs with_rows(Inputs inputs, const Rows& rows);

// How a generation has chosen its tokens so far, of which its next tokens tell where they come from: each the likeliest
// of a row, or together the best of a group of beams.
class HowRowsWentOn {
public:
    explicit HowRowsWentOn(const Inputs& begins);

    // The rows whose logits [batch, pos, vocab] gave the tokens [batch, 1] that follow, `likely` ones where others
    // would do as well. Nothing if the tokens were chosen in another way, by chance for example.
    [[nodiscard]] std::optional<Rows> told(const Tensor& logits, const Tensor& tokens, const Rows& likely) const;
    // Whether these may be the rows of beams that were sampled: each goes on with one that began with the same text.
    [[nodiscard]] bool are_of_one_text(const Rows& rows) const;
    // Takes it that the tokens went on with these rows.
    void go_on(const Tensor& logits, const Tensor& tokens, const Rows& rows);

private:
    using ByToken = std::vector<double>;  // log probabilities
    struct Beam {
        Index row = 0, token = 0;
        double score = 0.0;
        auto operator<=>(const Beam&) const = default;
    };
    [[nodiscard]] static std::optional<Rows> likeliest(const std::vector<ByToken>& by_row, const Rows& tokens,
                                                       const Rows& likely);
    [[nodiscard]] std::vector<Beam> best(const std::vector<ByToken>& by_row, Index group, Index rows, Index count,
                                         const std::set<Index>& left_out) const;
    [[nodiscard]] std::optional<Rows> beams(const std::vector<ByToken>& by_row, const Rows& tokens, const Rows& likely,
                                            Index size) const;

    bool by_likeliest_ = true;    // so far
    std::set<Index> beam_sizes_;  // that explain all tokens so far
    std::vector<double> scores_;  // of each row: the log probability of its text
    std::vector<Index> texts_;    // and which text it began with
};

}  // namespace decoderscope::core::bisect
