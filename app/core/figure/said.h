#pragma once

#include "app/core/figure/exhibit.h"
#include "engine/base/message.h"

#include <string>
#include <vector>

namespace decoderscope::core {

// What a picture shows in three sentences, by its numbers, for whoever can't see it: what is shown; the extremes and
// where the weight lies; what the edits changed in it or, if that isn't known, what was run. Numbers have four
// significant digits, shares of a whole three. Masked cells count neither for extremes nor for weight.
//
// A heatmap whose rows are distributions (numbers from 0 to 1 that add up to 1) is told by its largest weight and by
// the column that gets most of all rows' weight; any other by its largest and smallest number and by the row with the
// largest share of the sum of squares. Several pictures, and charts, are told one after the other, as many as fit into
// a sentence.
class Said {
public:
    explicit Said(const Exhibit& exhibit);
    // The next of the exhibit's panels, which was made to be drawn: it is not kept.
    void add(const Panel& panel, const Heatmap& heatmap);

    [[nodiscard]] std::vector<Sentence> sentences() const;

private:
    // What is told of one panel or chart.
    struct Part {
        Sentence what;      // what it shows, and its size
        Sentence detail;    // as the only one of its exhibit
        Sentence in_short;  // as one of several
        float largest = 0;  // to choose the panel with the largest
        Sentence where;     // of the largest
        bool finite = false;
    };
    [[nodiscard]] Sentence what() const;
    [[nodiscard]] Sentence extremes() const;
    [[nodiscard]] Sentence changes() const;

    const Exhibit& exhibit_;
    std::vector<Part> parts_;
    bool change_known_ = false;
    Index changed_ = 0, cells_ = 0;
    Sentence largest_change_;
    double change_ = -1;
};

// The sentences of an exhibit whose panels are made only for this.
[[nodiscard]] std::vector<Sentence> said(const Exhibit& exhibit);

// Sentences as one text: in the window's language, and in English.
[[nodiscard]] std::string spoken_text(const std::vector<Sentence>& sentences);
[[nodiscard]] std::string english_text(const std::vector<Sentence>& sentences);

}  // namespace decoderscope::core
