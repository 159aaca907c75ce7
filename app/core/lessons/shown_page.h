#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/lessons/judge.h"
#include "app/core/lessons/lesson.h"
#include "app/core/session/snapshot.h"

#include <memory>
#include <string>
#include <vector>

// A page of a lesson with its numbers, as the window and the export show it.
namespace decoderscope::lessons {

struct ShownTable {
    Shown caption;
    std::vector<Shown> columns;
    std::vector<std::vector<std::string>> rows;
};

// The texts of one block; which of them there are depends on its kind.
struct ShownBlock {
    Shown text;                  // a paragraph, a place's title, what a question asks
    std::vector<Shown> choices;  // of a question
    std::vector<Shown> hints;
    Shown learned;
    ShownTable table;
};

struct ShownPage {
    std::vector<ShownBlock> blocks;  // as many as the page has
};

// Computes one block's texts.
[[nodiscard]] ShownBlock shown_block(const Lesson& lesson, const Block& block, Runs& runs);

// A page, block by block. What it is given must last until it is done.
[[nodiscard]] Resumable<ShownPage> shown_page(std::shared_ptr<const Lesson> lesson, std::size_t page,
                                              std::shared_ptr<Runs> runs);

// The page as of a session's run; empty while it is computed. `opened` is what the lesson's place opened.
[[nodiscard]] decoderscope::Value<ShownPage> shown_page(Derived& derived, const Snapshot& snapshot,
                                                        const std::shared_ptr<const Lesson>& lesson, std::size_t page,
                                                        const std::shared_ptr<const Scenario>& opened);

}  // namespace decoderscope::lessons
