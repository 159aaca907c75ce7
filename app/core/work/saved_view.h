#pragma once

#include "engine/tensor.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// What of the window belongs to a person's work, and is saved with it: which question is asked, and how.
namespace decoderscope {

// The tab that is open where nothing else is said.
inline constexpr std::string_view kStepLab = "step";

// What the right-hand side of the Norms tab shows.
enum class NormsView { depth, step, row };
inline constexpr std::array<std::string_view, 3> kNormsViewNames = {"depth", "step", "row"};

// What the run that is looked at is compared with.
enum class Against { unedited, configuration, pinned, file };
inline constexpr std::array<std::string_view, 4> kAgainstNames = {"unedited", "configuration", "pinned", "file"};

struct SavedNorms {
    NormsView view = NormsView::depth;
    std::optional<Index> layers;                    // how many blocks to stack; nothing: as many as the model has
    float gain_factor = 1.0F, shift_factor = 1.0F;  // what gains and shifts of all norms are multiplied by
    Index row = 0;                                  // the position whose row is explained
    bool operator==(const SavedNorms&) const = default;
};

struct SavedCompare {
    Against against = Against::unedited;
    std::pair<std::string, std::string> option;  // the other configuration: a key and its value
    std::string file;                            // an absolute path; empty: none
    double tolerance = 0.0;
    bool operator==(const SavedCompare&) const = default;
};

struct SavedView {
    std::string tab{kStepLab};  // a lab's id
    SavedNorms norms;
    SavedCompare compare;
    std::map<std::string, std::string> labs;  // what any other lab saves, by its id: an object of JSON
    bool operator==(const SavedView&) const = default;
};

}  // namespace decoderscope
