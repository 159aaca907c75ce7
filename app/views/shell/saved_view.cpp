#include "app/views/shell/saved_view.h"

#include <algorithm>

namespace decoderscope {

SavedView saved_view(const ViewState& state) {
    const NormsTabState& norms = state.norms;
    const DiffTabState& diff = state.diff;
    return {.tab = state.tab,
            .norms = {norms.view, norms.layers, norms.gain_factor, norms.shift_factor, norms.row},
            .compare = {diff.against, diff.option, {}, diff.tolerance}};
}

void show_saved(ViewState& state, const SavedView& saved) {
    state.tab = saved.tab;
    state.norms.view = saved.norms.view;
    state.norms.layers = saved.norms.layers;
    state.norms.gain_factor = saved.norms.gain_factor;
    state.norms.shift_factor = saved.norms.shift_factor;
    state.norms.row = saved.norms.row;
    state.diff.against = saved.compare.against;
    state.diff.option = saved.compare.option;
    state.diff.tolerance = saved.compare.tolerance;
    state.diff.typed.fill('\0');
    const std::string& file = saved.compare.file;
    std::copy_n(file.begin(), std::min(file.size(), state.diff.typed.size() - 1), state.diff.typed.begin());
}

}  // namespace decoderscope
