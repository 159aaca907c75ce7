#include "app/core/causes/chosen_number.h"

#include "engine/cell_name.h"
#include "engine/error.h"

namespace decoderscope {

void check_number(const Run& run, const ChosenNumber& number) {
    const Ref step = run.plan().find(number.tensor);
    if (step == nullptr || run.value(step->id).empty())
        throw Error("{name}: this run has no such tensor; expected one such as logits", {{"name", number.tensor}});
    check_cell({number.tensor, number.cell}, step->axes);
    if (number.minus) check_cell({number.tensor, *number.minus}, step->axes);
}

}  // namespace decoderscope
