#include "app/core/session/edit_list.h"

#include "engine/error.h"

#include <algorithm>
#include <iterator>

namespace decoderscope {

namespace {

bool same_target(const Edit& a, const Edit& b) {
    if (a.index() != b.index()) return false;
    if (const auto* mask = std::get_if<MaskEdit>(&a)) {
        const auto& other = std::get<MaskEdit>(b);
        return mask->attention == other.attention && mask->batch == other.batch && mask->head == other.head &&
               mask->query == other.query && mask->key == other.key;
    }
    if (const auto* scale = std::get_if<ScaleHead>(&a)) {
        const auto& other = std::get<ScaleHead>(b);
        return scale->attention == other.attention && scale->head == other.head;
    }
    const auto& cell = std::get<SetCell>(a);
    const auto& other = std::get<SetCell>(b);
    return cell.tensor == other.tensor && cell.index == other.index;
}

}  // namespace

void remove_target(std::vector<Edit>& edits, const Edit& edit) {
    std::erase_if(edits, [&](const Edit& other) { return same_target(edit, other); });
}

void replace_edit(std::vector<Edit>& edits, Edit edit) {
    remove_target(edits, edit);
    edits.push_back(std::move(edit));
}

std::vector<Edit> fitting_edits(Scenario scenario, const std::vector<Edit>& edits) {
    static_cast<void>(plan_of(scenario));
    const auto fit = [&](std::vector<Edit> some) {
        scenario.edits = std::move(some);
        try {
            static_cast<void>(plan_of(scenario));
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    if (fit(edits)) return edits;
    std::vector<Edit> fitting;
    std::copy_if(edits.begin(), edits.end(), std::back_inserter(fitting),
                 [&](const Edit& edit) { return fit({edit}); });
    return fitting;
}

}  // namespace decoderscope
