#pragma once

#include "app/core/run/chosen_match.h"
#include "app/core/run/labels.h"
#include "engine/tensor/tensor.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The window's part of the user's work, which is saved with it: the open tab and its choices.
namespace decoderscope::core::files {

// The tab that is open by default.
inline constexpr std::string_view kStepTab = "step", kDiffTab = "diff";

// What the right-hand side of the Norms tab shows.
enum class NormsView { depth, step, row, gradients };
inline constexpr std::array<std::string_view, 4> kNormsViewNames = {"depth", "step", "row", "gradients"};

// Which stacks the page of gradients measures (app/core/tabs/norms/gradient_growth.h).
struct GrowthChoice {
    Index layers = 6, d_model = 64, seeds = 5;
    bool encoder = true, xavier = true;
    bool operator==(const GrowthChoice&) const = default;
};

// What the current run is compared with.
enum class Against { unedited, configuration, pinned, file, bisect };
inline constexpr std::array<std::string_view, 5> kAgainstNames = {"unedited", "configuration", "pinned", "file",
                                                                  "bisect"};

struct SavedNorms {
    NormsView view = NormsView::depth;
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // multiply the gains and shifts of all norms
    Index row = 0;                                  // the position whose row is explained
    std::optional<Places> places;                   // the places compared; nothing: as the model suggests
    GrowthChoice growth = {};
    bool operator==(const SavedNorms&) const = default;
};

struct SavedCompare {
    Against against = Against::unedited;
    std::pair<std::string, std::string> option;  // the other configuration: a key and its value
    std::string file;                            // an absolute path; empty: none
    double tolerance = 0.0;
    BisectInputs bisect = {};
    bool operator==(const SavedCompare&) const = default;
};

struct SavedView {
    std::string tab{kStepTab};  // a tab's id
    SavedNorms norms;
    SavedCompare compare;
    std::map<std::string, std::string> tabs;  // what other tabs save, by id: a JSON object each
    std::string lesson;                       // that is read beside it, one of the program's own; empty: none
    bool operator==(const SavedView&) const = default;
};

}  // namespace decoderscope::core::files
