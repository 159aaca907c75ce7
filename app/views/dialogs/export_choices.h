#pragma once

#include "app/core/export/exhibits.h"
#include "app/core/session/session.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace decoderscope {

struct ViewState;

// Something that can be exported from where we are.
struct ExportChoice {
    std::string label;      // "All heads of this layer"
    std::string file_name;  // without its ending
    bool each = false;      // a file for every heatmap, into a folder
    std::function<Exhibit()> exhibit;
};

// What the tab shows, first as it shows it, then more of the same and the step itself. Never empty.
[[nodiscard]] std::vector<ExportChoice> export_choices(const Session& session, const ViewState& state);

}  // namespace decoderscope
