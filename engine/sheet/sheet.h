#pragma once

#include "engine/graph/edit.h"
#include "engine/graph/plan.h"
#include "engine/model/config.h"
#include "engine/model/inputs.h"
#include "engine/sheet/written.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a person changes in the spreadsheet of a forward pass, and adds to it.
namespace decoderscope::sheet {

// A tensor of the run that rows read as "other.x", by its name; nullptr if it has none. Empty: there is no other run.
using OtherRun = std::function<const Tensor*(const std::string& name)>;

// What formulas may read besides the plan: the configuration's numbers, targets, and another run.
struct Beside {
    const Config* config;  // nullptr: what another program recorded has none
    const Inputs& inputs;
    OtherRun other = {};
    const Weights* weights = nullptr;  // as they are stored: rows of a rounded run may read "exact.x"
};

// Puts the edits into a plan of the forward pass: cells and formulas first, then rows, which read them. Rows that read
// gradients are left to add_rows_of_gradients. Throws Error naming the edit's number (the first is 0), the tensor and
// what was expected.
void apply_edits(Plan& plan, const std::vector<Edit>& edits, const Beside& beside);
// Once the plan has the backward pass.
void add_rows_of_gradients(Plan& plan, const std::vector<Edit>& edits, const Beside& beside);

// What rows of a plan read of the other run although that has no such tensor, or one of another shape: "other.z". It is
// NaN there, so that a sheet can be opened before what it is compared with.
[[nodiscard]] std::vector<std::string> missing_in_other(const Plan& plan, const OtherRun& other);
// Whether it is a row that reads gradients, the other run, or the run without rounding.
[[nodiscard]] bool reads_gradients(const Edit& edit);
[[nodiscard]] bool reads_other_run(const Edit& edit);
[[nodiscard]] bool reads_exact_run(const Edit& edit);
// Whether one of them is a row that reads, or belongs to, the logit lens or a fitted one: "logit_lens.blocks.0".
[[nodiscard]] bool read_lens(const std::vector<Edit>& edits);

// The steps that a formula would rewrite, or the parts that would have the row, each by the text of its name; a plan
// that has the edit already counts as one without it. Throws Error if there is none.
[[nodiscard]] std::vector<std::string> places_of(const Plan& plan, const RewriteStep& edit);
[[nodiscard]] std::vector<std::string> places_of(const Plan& plan, const AddRow& edit);

// What a row's formula names that a plan has only if it is asked for: "targets", "loss_per_token" or "loss"; empty if
// it names none of them, or the plan has it.
[[nodiscard]] std::string_view missing_target(const Plan& plan, std::string_view formula);

// A step whose numbers are places along an axis of an operand, as the largest's: argmax_v of the logits. Nothing for
// other steps.
struct PlacesAlong {
    StepId operand;
    std::size_t axis;
};
[[nodiscard]] std::optional<PlacesAlong> places_in_values(const Plan& plan, const Step& step);

// How the edit's formula reads at the first of its places, for whoever is typing it. Throws FormulaError at the place
// of the mistake, and Error if there is no such place or name, or if the other run has nothing like what is read of it.
[[nodiscard]] Written tried(const Plan& plan, const RewriteStep& edit, const Beside& beside);
[[nodiscard]] Written tried(const Plan& plan, const AddRow& edit, const Beside& beside);

// "NAME = FORMULA" as a row: "entropy = …", "blocks.*.attn.entropy = …", "entropy[q] = …". Throws Error if it is not.
[[nodiscard]] AddRow row_of(std::string_view text);

}  // namespace decoderscope::sheet
