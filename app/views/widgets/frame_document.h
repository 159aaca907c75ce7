#pragma once

#include "app/core/figure/heatmap.h"
#include "app/views/widgets/widgets.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::views {

// The cells of a heatmap as a table: at most 32 × 32 of them, from the first that is seen on.
struct DocumentTable {
    std::uint64_t key = 0;  // the heatmap's; 0: its cells can't be pressed
    std::string title, row_axis, column_axis;
    std::vector<std::string> rows, columns;  // the labels of those that are shown
    std::vector<std::string> cells;          // [row, column]: a number; what hides it; whether the edits changed it
    Index first_row = 0, first_column = 0;
    Index all_rows = 0, all_columns = 0;
    std::optional<std::pair<Index, Index>> selected;  // of the heatmap
    bool operator==(const DocumentTable&) const = default;
};

// One thing that a frame says or offers.
struct DocumentItem {
    enum class Kind { heading, text, button, field, table };
    Kind kind = Kind::text;
    std::string part;   // of the window: "toolbar" (draw_guarded)
    std::string text;   // the text; the name of what can be pressed or typed into
    std::string hint;   // what its tooltip says, if that is more
    std::string value;  // of a field
    bool many_lines = false;
    std::optional<bool> on;  // of a button that stands for a choice
    bool disabled = false;   // it can't be pressed now
    ImGuiID id = 0;          // of a button or a field
    Area area = {};          // where it is drawn; of a table, with its labels and its legend
    DocumentTable table;
};

// A frame as a document, for whoever doesn't see it: every text, control and matrix that it draws, in the order in
// which it draws them. The widgets note what they draw, so that a tab needs to do nothing for it. And the reader's
// hands: what is pressed there acts as if the mouse had clicked on it. In use through ContextData (fonts.h).
class FrameDocument {
public:
    // The next frame is noted. It takes milliseconds: every number of a matrix is written out.
    void collect() { asked_ = true; }
    // At the beginning and at the end of a frame.
    void begin();
    void end();
    [[nodiscard]] bool collects() const { return collects_ && silent_ == 0; }

    // What the last frame that was noted says and offers.
    [[nodiscard]] const std::vector<DocumentItem>& items() const { return items_; }

    // A control is pressed, a field gets the keyboard, a heatmap's cell is clicked: in the next frame that draws it.
    void press(ImGuiID id) { pressed_ = id; }
    void press_cell(std::uint64_t key, Index row, Index column) { pressed_cell_ = {key, {row, column}}; }
    // Whether that is this one; then it isn't any longer.
    [[nodiscard]] bool takes_press(ImGuiID id);
    [[nodiscard]] std::optional<std::pair<Index, Index>> takes_cell(std::uint64_t key);

    // ---- what widgets note

    void enter(std::string_view part) { parts_.emplace_back(part); }
    void leave() { parts_.pop_back(); }
    void note_text(const ImDrawList& list, ImFont* font, ImVec2 at, std::string_view text);
    // The last item. Without a name it has that of the texts drawn on it, or of its tooltip.
    void note_button(std::string_view name, std::optional<bool> on);
    // A field that is about to be drawn. It has the name of the text before it in its line, otherwise its hint.
    void note_field(ImGuiID id, std::string_view hint, std::string_view value, bool many_lines);
    // The last item's.
    void note_tooltip(std::string_view text);
    void note_table(DocumentTable table, Area area);

private:
    friend class Unsaid;
    struct Noted {
        DocumentItem item;
        const ImDrawList* list;
        std::vector<std::size_t> on_it;  // the texts drawn on a button
        bool gone = false;               // it is said as a part of another
    };
    void add(DocumentItem item, const ImDrawList& list);
    void put_texts_on_buttons();
    void name_fields();
    void join_lines();

    bool asked_ = false, collects_ = false;
    int silent_ = 0;
    std::vector<std::string> parts_;
    std::vector<Noted> noted_;
    std::vector<DocumentItem> items_;
    ImGuiID pressed_ = 0;
    std::optional<std::pair<std::uint64_t, std::pair<Index, Index>>> pressed_cell_;
};

// The one that the current frame's widgets use; nullptr if there is none.
[[nodiscard]] FrameDocument* document_in_use();
// The same if it notes what is drawn now: for what is made only for it.
[[nodiscard]] FrameDocument* noting_document();

// While one of these lives, texts are drawn and not noted: they are in a table.
class Unsaid {
public:
    Unsaid();
    ~Unsaid();
    Unsaid(const Unsaid&) = delete;
    Unsaid& operator=(const Unsaid&) = delete;

private:
    FrameDocument* document_;
};

// A text of which lines or pieces are drawn: it is noted whole, and while this lives its pieces are not.
class NotedWhole {
public:
    NotedWhole(ImFont* font, ImVec2 at, std::string_view text) : pieces_(noted(font, at, text)) {}

private:
    static Unsaid noted(ImFont* font, ImVec2 at, std::string_view text);
    Unsaid pieces_;
};

// What is drawn meanwhile is a part of the window.
class DocumentPart {
public:
    explicit DocumentPart(std::string_view part);
    ~DocumentPart();
    DocumentPart(const DocumentPart&) = delete;
    DocumentPart& operator=(const DocumentPart&) = delete;

private:
    FrameDocument* document_;
};

}  // namespace decoderscope::views
