#pragma once

#include "app/core/jobs/later.h"
#include "app/core/masks/leak.h"
#include "app/core/masks/mask_consequences.h"
#include "app/core/masks/mask_parts.h"
#include "app/views/widgets/heatmap_view.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// What the brush takes at once.
enum class MaskTool { cell, row, column };

// A picture of the tab: the step that it is of (nullptr for a mask by itself), and which cells carry a mark.
struct MaskPicture {
    Ref step = nullptr;
    Heatmap heatmap;
    std::vector<std::uint8_t> marked;  // [row, column]; empty where none is
    bool per_key = true;               // its columns are keys, so it can be painted
};

// All that the tab shows of one attention at one place, made once for a snapshot.
struct MasksShown {
    std::uint64_t version = 0;
    std::string attention;
    Place place;
    MaskParts parts;
    MaskPicture raw, masked, pattern, output;
    FillConsequences fill;
    std::shared_ptr<const Run> run;  // that the trail is of
    std::vector<NanStep> nan;
    Later<std::pair<std::shared_ptr<const Run>, std::vector<NanStep>>> searched;
    std::vector<std::string> tokens;  // [pos]: what the decoder's positions hold
    std::size_t steps = 0;            // how many were searched for NaN
};

// The leak test as it was last measured.
struct LeakShown {
    std::shared_ptr<const Run> run, changed;  // what was compared; kept, so that a new run is known from an old one
    std::optional<LeakTest> test;             // under way
    Index batch = 0;
    Leak leak;
    bool current = false;  // false while the companion is behind the run
};

// What the Masks tab remembers from frame to frame.
struct MasksTabState {
    MaskTool tool = MaskTool::cell;
    bool all_heads = false;
    Index band = 2;                   // keys that a local window spans, the query's own with them
    std::optional<bool> brush_keeps;  // what the brush sets, from its first cell on
    Spot last_painted = {-1, -1};
    std::optional<CellRect> hovered;       // query and key under the mouse, as of the last frame
    std::optional<CellRect> hovered_next;  // the same, as this frame finds it
    std::optional<Index> chosen_position;  // for the leak test; nothing: the last one that is no padding
    Index chosen_batch = 0;                // where it was chosen
    Index leak_position = 0;               // which one is changed now
    std::optional<Variation> asked;        // of the session, for the leak test
    std::uint64_t asked_for = 0;           // the snapshot that it was made from
    Index asked_position = -1, asked_batch = -1;
    std::optional<Index> dragged;  // the batch row whose length handle is in hand
    MasksShown shown;
    LeakShown leak;
    std::map<std::string, Viewport> views;  // by a picture's title
};

}  // namespace decoderscope
