#pragma once

#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/player.h"
#include "app/core/lessons/progress.h"
#include "app/core/lessons/prose.h"
#include "app/core/lessons/versions.h"
#include "app/views/frame/view_state.h"
#include "app/views/widgets/widgets.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views::lesson_panel {

// A text of a lesson in as many lines as the width needs: words, emphasis, code and computed numbers. Draws it at `at`
// and returns its height; without `draws` it only measures.
float draw_spans(const Ui& ui, const core::lessons::Shown& text, ImVec2 at, float width, ImU32 color,
                 bool draws = true);

// Draws the same text in the panel's flow, indented by `indent`.
void spans_line(const Ui& ui, const core::lessons::Shown& text, ImU32 color, float indent = 0.0F);

// What a column of a table needs.
struct ColumnNeeds {
    float cells = 0.0F;    // the widest cell
    float word = 0.0F;     // the widest word of its heading
    float heading = 0.0F;  // the heading in one line
};

// How wide the columns are in this much room, without the gaps between them: headings break into lines before a cell
// is cut; where even that is too wide, the widest column is cut.
[[nodiscard]] std::vector<float> column_widths(std::span<const ColumnNeeds> columns, float room);

// A table of a lesson in the panel's flow.
void draw_lesson_table(const Ui& ui, const core::lessons::ShownTable& table);

enum class Reveal { nothing, reply, hint };

struct LessonsState;
// Reads the list, unless it was read.
void list_lessons(LessonsState& panel);
// The lesson after this one in the course; nullptr if there is none.
[[nodiscard]] const core::lessons::LessonCard* lesson_after(const LessonsState& panel, const std::string& name);
// "3. A weight is a comparison".
[[nodiscard]] std::string title_of(const core::lessons::LessonCard& card);

// What the lessons' panel remembers from frame to frame.
struct LessonsState {
    bool open = false;                             // the panel stands where the inspector is
    bool inspector = false;                        // its other half is shown
    std::string language;                          // that the texts are read in; empty: English
    std::vector<core::lessons::LessonCard> cards;  // the list, read when the panel is first opened
    bool listed = false;                           // they were read
    core::lessons::LessonKind listed_kind = core::lessons::LessonKind::lesson;  // the part of the list that is shown
    std::string next;                               // the lesson to open in place of the one that is read; empty: none
    std::array<char, 64> sought{};                  // words that a card must have: all parts are searched for them
    std::shared_ptr<core::lessons::Player> player;  // the lesson that is open; nullptr: the list is shown

    // What was open before a lesson opened something: given back when the lessons are closed.
    struct Own {
        std::uint64_t scenario = 0;  // its number
        core::Cursor cursor;
        std::string lent;  // the name of the model that a lesson opened last
    };
    std::optional<Own> own;
    std::optional<core::Cursor> returning;  // where to go when that is shown again

    core::Value<core::lessons::ShownPage> last;  // the page's texts as last computed
    // Of the open question:
    std::string question;                           // its id
    std::optional<std::size_t> choice;              // that is marked
    std::optional<std::string> wrong_step;          // of a bug: the step that was named; empty: no step is wrong
    std::array<char, 32> number{};                  // as it was typed
    std::string formula;                            // as it was typed
    std::optional<core::lessons::Verdict> verdict;  // on the last answer
    std::string judged;                             // the question that the verdict is on
    bool to_top = false;                            // another page: it is read from its top
    Reveal reveal = Reveal::nothing;                // what is new on the page and may lie outside the panel
    std::optional<bool> noticed;  // an action was judged while the inspector was shown: whether it was right

    core::lessons::Progress progress;
    std::string progress_path;       // where it is kept; empty: nowhere
    std::array<char, 64> learner{};  // the name or number, as it is typed
    std::string handed_in;           // the file that they were written to; empty: none yet

    core::lessons::WindowPart point = core::lessons::WindowPart::none;  // that is pointed at
    double point_until = 0.0;                                           // seconds, ImGui's clock
};

// The texts of the lesson's page as last computed; without any until they are.
[[nodiscard]] const core::lessons::ShownPage& texts_of_page(const core::Session& session, LessonsState& panel);

// A page of the lesson that is open, in the panel's flow.

void draw_lesson_page(const Ui& ui, const core::Session& session, ViewState& state, LessonsState& panel,
                      Commands& commands);

}  // namespace decoderscope::views::lesson_panel
