#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/lessons/judge.h"
#include "app/core/lessons/lesson.h"
#include "app/core/run/notes.h"
#include "app/core/run/snapshot.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

// A page of a lesson with its numbers, as the window and the export show it.
namespace decoderscope::core::lessons {

struct ShownTable {
    Shown caption;
    std::vector<Shown> columns;
    std::vector<std::vector<std::string>> rows;
};

// The texts of one block; which of them there are depends on its kind.
struct ShownBlock {
    Shown text;                  // a paragraph, a place's title, what a question asks, a note
    std::vector<Shown> choices;  // of a question
    std::vector<Shown> hints;
    Shown learned;
    ShownTable table;
    Note note;  // with its text; without a step if the run that is open has no such place
};

struct ShownPage {
    std::vector<ShownBlock> blocks;  // as many as the page has
};

// Computes one block's texts.
[[nodiscard]] ShownBlock shown_block(const Lesson& lesson, const Block& block, Runs& runs);

// The notes of the page's first `count` blocks.
[[nodiscard]] Notes notes_of(const ShownPage& page, std::size_t count);

// A page, block by block. What it is given must last until it is done.
[[nodiscard]] Resumable<ShownPage> shown_page(std::shared_ptr<const Lesson> lesson, std::size_t page,
                                              std::shared_ptr<Runs> runs);

// The page as of a session's run; empty while it is computed. `opened` is what the lesson's place opened.
[[nodiscard]] decoderscope::core::Value<ShownPage> shown_page(Derived& derived, const Snapshot& snapshot,
                                                              const std::shared_ptr<const Lesson>& lesson,
                                                              std::size_t page,
                                                              const std::shared_ptr<const Scenario>& opened);

// The language that a lesson is written in: "zh_CN" of "lesson.zh_CN.md"; "en" if the file's name doesn't say.
[[nodiscard]] std::string language_of(const Lesson& lesson);

// That language as HTML writes it: "zh-CN".
[[nodiscard]] std::string html_language(const Lesson& lesson);

struct LessonPageOptions {
    bool answers = false;    // with the answers at its end, to be read by anyone
    std::uint64_t seed = 1;  // of the order of the choices: another one makes another version on paper
    std::string site;        // the address of the browser version; empty: no links to it
};
// A lesson as one page of HTML without anything from outside: its numbers and pictures are those of the models and
// texts that its places open, and its questions can be answered in a browser. Answers and hints are packed, so that
// they aren't read by accident in the page or its source. Words such as "Question" are in the spoken language. More of
// a script may follow (notebook/decoderscope/scorm.js): a form tells "answered" with {good, typed} in its detail, and
// <main> has the number of tries that the lesson gives. Throws Error if a place can't be opened.
void write_lesson_page(std::ostream& out, const Lesson& lesson, const LessonPageOptions& options = {});

}  // namespace decoderscope::core::lessons
