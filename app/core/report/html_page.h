#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/figure/heatmap.h"
#include "app/core/tabs/step/explanation_text.h"
#include "engine/base/message.h"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::core::report {

// A cell and how it was computed, ready to be written down.
struct ExplainedCell {
    const Step* step = nullptr;
    Cell cell;
    float value = 0.0F;
    std::string name;   // "blocks.0.attn.pattern[0, 1, 2, 3]"
    std::string place;  // "head 1, query 2 “r”, key 3 “a”"
    step::ReadExplanation read;
};

// Cells from one down to what it was computed from, level by level.
struct ExplainedCells {
    std::vector<ExplainedCell> cells;  // the first is the one asked for
    std::size_t left_out = 0;  // operands of the largest terms that were not followed, so that a level stays short
};

// The explanation of a cell, and, for each level below the first, of the operands of its largest terms. Weights and
// inputs end the trail. A cell is explained once. The run must have the step's values and the cell.
[[nodiscard]] ExplainedCells explained_cells(const Scenario& scenario, const Run& run, const Step& step,
                                             const Cell& cell, int depth);

// An explanation written down for readers without a window: as text, and as a page of HTML with headings, tables and
// links, which screen readers follow. Every operand is named by tensor, index and token.

void write_explanation(std::ostream& out, const Scenario& scenario, const Run& run, const ExplainedCells& explained);
void write_explanation_page(std::ostream& out, const Scenario& scenario, const Run& run,
                            const ExplainedCells& explained);

// A page of HTML being written. The only place that defines how its parts look.
class Page {
public:
    // What differs from a report's: a style of its own, the language as HTML writes it, attributes of <main> (each with
    // a space before it), and a script.
    struct Frame {
        std::string_view style = {};
        std::string language = "en", main = {}, script = {};
    };
    // The head of the page, up to its title.
    Page(std::ostream& out, const std::string& title, const std::string& below, Frame frame);
    Page(std::ostream& out, const std::string& title, const std::string& below) : Page(out, title, below, Frame()) {}
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    // The end of the page.
    ~Page();

    // `anchor` is its name for links within the page, `kind` what its style is for; may be empty.
    void section(const std::string& heading, const std::string& anchor = {}, const std::string& kind = {});
    void subsection(const std::string& heading);
    void paragraph(const std::string& text);
    // A paragraph that leads to another page.
    void link(const std::string& address, const std::string& text);
    void list(const std::vector<std::string>& items);
    // Names and what they are, in two columns.
    void facts(const std::vector<std::pair<std::string, std::string>>& facts);
    // As above, folded away below a line that says what it is.
    void folded_facts(const std::string& summary, const std::vector<std::pair<std::string, std::string>>& facts);
    // A sequence of tokens, each in its own box.
    void tokens(const std::string& name, const std::vector<std::string>& tokens);

    // A text in a table, linked to a section by its anchor if that isn't empty.
    struct Text {
        std::string text, anchor;
    };
    // Rows of cells; each cell is a list of texts. The first cell of a row is the row's heading.
    struct Table {
        std::string caption;
        std::vector<std::string> columns;
        std::vector<std::vector<std::vector<Text>>> rows;  // [row, column, text]
    };
    void table(const Table& table);
    // A drawing with its caption, and its heatmaps as tables, folded away. Returns what it says (Figure::said).
    std::vector<Sentence> figure(const Exhibit& exhibit);

private:
    void write_text(const Text& text, bool one_of_several);

    std::ostream& out_;
    std::string script_;
    bool in_section_ = false;
};

// A heatmap's numbers as a table for readers who don't see the picture. A large one shows its first rows and columns,
// with a sentence that says what was left out.
[[nodiscard]] Page::Table table_of(const Heatmap& heatmap);

}  // namespace decoderscope::core::report
