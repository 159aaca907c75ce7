#pragma once

#include <map>
#include <string>
#include <string_view>

// The window's part of the user's work, which is saved with it: the open tab, and what each tab saves.
namespace decoderscope::core::files {

// The tab that is open by default.
inline constexpr std::string_view kStepTab = "step", kCompareTab = "compare", kGenerateTab = "generate";
// As sessions of 0.2.0, links and lessons call what Compare does: two norm placements, and what an edit changed.
inline constexpr std::string_view kNormsTab = "norms", kDiffTab = "diff";

struct SavedView {
    std::string tab{kStepTab};                // a tab's id
    std::map<std::string, std::string> tabs;  // what the tabs save, by id: a JSON object each
    std::string trace;                        // the recording that is compared with, an absolute path; empty: none
    std::string lesson;                       // that is read beside it, one of the program's own; empty: none
    bool operator==(const SavedView&) const = default;
};

// Where a tab's object is in a session's file: "labs.causes.", but "compare.", which is older.
[[nodiscard]] std::string place_of_saved(std::string_view tab);

}  // namespace decoderscope::core::files
