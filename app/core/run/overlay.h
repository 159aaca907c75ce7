#pragma once

#include "app/core/figure/heatmap.h"
#include "engine/base/json_object.h"
#include "engine/graph/plan.h"
#include "engine/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// A number that was measured elsewhere, of a step, of a part of the model, or of a cell: its time, its sparsity, the
// error of another program there.
struct OverlayValue {
    std::string step;  // by name, or the part of the model: "blocks.1", "blocks.1.attn"
    Cell cell;         // of the step; empty: all of it
    float value = 0.0F;
    std::string text;  // beside the number; may be empty
    bool operator==(const OverlayValue&) const = default;
};

// Such numbers, mostly of a file: they colour map, timeline and cells. They change no number of the run.
struct Overlay {
    std::string name;                  // of the file
    std::vector<OverlayValue> values;  // by step and cell, each place once
    Scale scale = Scale::sequential;   // diverging where a number is negative
    Range range;                       // of all numbers
};

inline constexpr std::size_t kMostOverlayValues = 100'000, kLongestOverlayText = 2000;  // numbers; bytes

// Puts the numbers in their order. `where` says where the i-th of those given stands, for errors. Throws Error if there
// are none or too many, one isn't finite, a text is too long, or two are of the same place.
[[nodiscard]] Overlay make_overlay(std::string name, std::vector<OverlayValue> values,
                                   const std::function<std::string(std::size_t)>& where);

// Whether both have the same name and numbers, or neither is there.
[[nodiscard]] bool same_overlay(const std::shared_ptr<const Overlay>& a, const std::shared_ptr<const Overlay>& b);

// "blocks.0.attn.pattern[0, 1, 2, 3]", or the step's name alone.
[[nodiscard]] std::string place_text(const OverlayValue& value);

// The numbers of a step and of its cells; for a part of the model, only its own.
[[nodiscard]] std::span<const OverlayValue> values_of(const Overlay& overlay, std::string_view step);

// The number that a step is coloured by: its own; otherwise, of its cells, the one of largest magnitude; otherwise that
// of the nearest part of the model that it is in. Null if there is none.
[[nodiscard]] const OverlayValue* number_of(const Overlay& overlay, std::string_view step);

// What the tooltip says about a step's number: "latency.csv: 3.2", "… of blocks.0.attn", "12 cells, …".
[[nodiscard]] std::string overlay_sentence(const Overlay& overlay, std::string_view step, const OverlayValue& number);

// Whether a path is that of a file with numbers to colour by: CSV, or JSON that is a list.
[[nodiscard]] bool is_overlay_path(const std::string& path);

// Reads a file of numbers for the steps of this plan. CSV has lines NAME, value, text, the text optional, and perhaps a
// first line that begins with "name". JSON is a list of {"name": …, "value": …, "text": …}. A NAME is a step, a cell
// ("blocks.0.attn.z[0, 1, 2, 3]") or a part of the model. Throws Error naming the file, the line and what was expected.
[[nodiscard]] Overlay read_overlay(const std::string& path, const Plan& plan);
// As above, for a file's text.
[[nodiscard]] Overlay parse_overlay(std::string_view text, const std::string& path, const Plan& plan);

// {"name": …, "value": …, "text": …}. Throws Error naming the key.
[[nodiscard]] OverlayValue read_overlay_value(JsonObject json);

}  // namespace decoderscope::core
