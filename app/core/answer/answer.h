#pragma once

#include "app/core/answer/table.h"
#include "app/core/figure/exhibit.h"

#include <optional>
#include <string>
#include <vector>

// An answer: what is said, and the tables, curves and pictures that show it. A value, which the stage draws and files
// hold.
namespace decoderscope::core {

struct AnswerPart {
    std::string name = {};  // in files: "patching"
    Sentence heading = {}, note = {};
    // One of these.
    std::optional<Table> table = std::nullopt;
    std::optional<Chart> chart = std::nullopt;
    std::vector<Heatmap> pictures = {};  // of one kind

    bool aside = false;                                // beside the others, if there is room
    Meaning meaning = Meaning::residual;               // of the pictures
    std::vector<std::vector<std::string>> steps = {};  // that the pictures' rows are of; empty if they lead nowhere
    Phrase says = Phrase("{number}");                  // what a cell's number is, of such a picture
};

struct Answer {
    static constexpr std::size_t kKept = 8;
    Sentence title = {}, subtitle = {};  // of a file
    std::vector<Sentence> said;
    std::vector<AnswerPart> parts;
};

// As files have it, in the window's language; all but the caption.
[[nodiscard]] Exhibit exhibit_of(const Answer& answer);

}  // namespace decoderscope::core
