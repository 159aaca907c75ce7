// The table of exact numbers: a key away, followed, sorted, copied.
#include "app/core/tabs/step/explanation_text.h"
#include "app/views/tabs/step/tab.h"
#include "engine/decoder/initial_weights.h"
#include "tests/catch.h"
#include "tests/views/copied.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"
#include "tests/views/tabs/step/cross_pattern.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::step;
using namespace decoderscope::views::step;

namespace {

struct SheetDriver : Driver {
    explicit SheetDriver(float scale = 1.0F, ImVec2 size = {1280, 800}) : Driver("reverse", scale, size) {
        press(Key::x);
    }

    [[nodiscard]] std::string exact(Index row, Index column) const {
        return exact_number(session.shown().run->value(kCrossPattern).at(Cell{0, 3, row, column}));
    }
    // Where a number is written on the stage.
    [[nodiscard]] DrawnText place(const std::string& text) const {
        const auto found =
            std::ranges::find_if(seen(), [&](const DrawnText& piece) { return on_stage(piece) && piece.text == text; });
        REQUIRE(found != seen().end());
        return *found;
    }
};

// As other programs read it.
std::string plain(std::string number) {
    for (std::size_t at = number.find("−"); at != std::string::npos; at = number.find("−"))
        number.replace(at, std::string_view("−").size(), "-");
    return number;
}

}  // namespace

TEST_CASE("X shows every digit of the step's slice, with its tokens, and X shows the pictures again") {
    SheetDriver d;
    for (Index row = 0; row < 12; ++row)
        for (Index column = 0; column < 3; ++column) CHECK(d.find_on_stage(d.exact(row, column)));
    CHECK(d.find_on_stage("0<bos>"));
    CHECK(d.find_on_stage("1r"));
    CHECK(d.find_on_stage("batch0,head3"));
    CHECK_FALSE(d.sees("softmax→"));
    d.press(Key::x);
    CHECK_FALSE(sheet_is_open(d.state));
    CHECK(d.heatmap(kCrossPattern).cell_size().x > 20.0F);
}

TEST_CASE("a click in the table selects the cell, and the pictures have it selected") {
    SheetDriver d;
    d.click(d.place(d.exact(4, 2)).middle());
    REQUIRE(d.last<command::SelectCell>());
    CHECK(d.session.cursor().cell == Cell{0, 3, 4, 2});
    // A cell that is selected elsewhere comes into sight.
    d.apply(command::SelectCell{{0, 3, 6, 11}});
    CHECK(d.find_on_stage("11<pad>"));
    CHECK_FALSE(d.find_on_stage("0<bos>0"));
    // Escape deselects, and then leads back.
    d.press(Key::escape);
    CHECK(sheet_is_open(d.state));
    CHECK_FALSE(d.session.cursor().cell);
    d.press(Key::escape);
    CHECK_FALSE(sheet_is_open(d.state));
}

TEST_CASE("the table of an operand opens where the mouse is on its picture, and a click follows") {
    Driver d("reverse");
    const auto scores = d.heatmap("blocks.1.cross_attn.masked_scores", "masked");
    d.point(scores.middle(2, 1));
    d.press(Key::x);
    const float value = d.session.shown().run->value("blocks.1.cross_attn.masked_scores").at(Cell{0, 3, 5, 0});
    const auto number = d.find_on_stage(exact_number(value));
    REQUIRE(number);
    d.click(number->middle());
    REQUIRE(d.last<command::Follow>());
    CHECK(d.session.cursor().step == "blocks.1.cross_attn.masked_scores");
    CHECK(d.session.cursor().cell == Cell{0, 3, 5, 0});
    CHECK(sheet_is_open(d.state));
}

TEST_CASE("heads sort: rows by a column, columns by a row; the original order is a click away") {
    SheetDriver d;
    const auto head = d.find_on_stage("1d");  // the column's, above the row's of the same index
    REQUIRE(head);
    d.click(head->middle());
    CHECK(d.state.part<SheetState>().rows == SheetSort{1, false});
    const Tensor& pattern = d.session.shown().run->value(kCrossPattern);
    std::vector<float> column;
    for (Index row = 0; row < 12; ++row) column.push_back(pattern.at(Cell{0, 3, row, 1}));
    std::ranges::sort(column, std::greater<>());
    float y = 0.0F;
    for (const float value : column) {
        const DrawnText piece = d.place(exact_number(value));
        CHECK(piece.low.y >= y);
        y = piece.low.y;
    }
    CHECK(d.find_on_stage("▼"));
    REQUIRE(d.click_text("Originalorder"));
    CHECK(d.state.part<SheetState>().rows == SheetSort{});
    CHECK(d.place(d.exact(0, 1)).low.y < d.place(d.exact(1, 1)).low.y);
}

TEST_CASE("Ctrl+C copies the whole table with its heads, or the block that was dragged over") {
    SheetDriver d;
    Copied clipboard;
    compat::set_clipboard(clipboard);
    d.press(Key::c, with_ctrl);
    const std::string whole = ImGui::GetClipboardText();
    CHECK(whole.starts_with("\t0 <bos>\t1 d\t"));
    CHECK(std::ranges::count(whole, '\n') == 13);
    CHECK(whole.find("\t" + plain(d.exact(0, 0)) + "\t") != std::string::npos);
    CHECK(d.sees("Copied144numbers"));
    const ImVec2 from = d.place(d.exact(1, 0)).middle(), to = d.place(d.exact(2, 1)).middle();
    d.hands.drag(from.x, from.y, to.x, to.y);
    d.settle();
    d.press(Key::c, with_ctrl);
    CHECK(std::string(ImGui::GetClipboardText()) ==
          plain(d.exact(1, 0) + "\t" + d.exact(1, 1) + "\n" + d.exact(2, 0) + "\t" + d.exact(2, 1) + "\n"));
    ImGui::GetIO().SetClipboardTextFn = nullptr;
    ImGui::GetIO().GetClipboardTextFn = nullptr;
}

TEST_CASE("in the table, text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        SheetDriver d(screen.scale, screen.size);
        INFO("scale " << screen.scale << ", " << screen.size.x);
        check_layout(d, screen.size);
        d.apply(command::SelectCell{{0, 3, 6, 11}});
        check_layout(d, screen.size);
    }
}

TEST_CASE("only the visible cells of a large table are drawn") {
    Model model{{.name = "wide"}, R"({"model_type": "decoderscope", "d_model": 1024, "nhead": 8, "num_layers": 1,
        "dim_feedforward": 0, "bias": false})"};
    model.weights = initial_weights(model.config(), 1);
    model.example.x = Tensor({{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, 1024}});
    std::ranges::fill(model.example.x.writable(), 1.0F);
    Driver d(std::make_shared<const Model>(std::move(model)));
    d.session.apply(command::GoTo{"layers.0.self_attn.q_proj.weight"});
    d.press(Key::x);
    std::size_t on_stage = 0;
    for (const DrawnText& piece : d.seen()) on_stage += d.on_stage(piece) ? 1 : 0;
    CHECK(on_stage > 50);
    CHECK(on_stage < 600);
}

TEST_CASE("a table of millions of numbers that aren't kept reads those in sight") {
    Model model{{.name = "long"}, R"({"model_type": "decoderscope", "d_model": 16, "nhead": 2, "num_layers": 1,
        "vocab_size": 50, "norm_first": true})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens(2100);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<float>(i * i * 7 % 50);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, std::ssize(tokens)}}, tokens);
    Driver d(std::make_shared<const Model>(std::move(model)));
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.press(Key::x);
    const Tensor& pattern = d.session.shown().run->value("blocks.0.attn.pattern");
    for (Index row = 1; row < 8; ++row) CHECK(d.sees(exact_number(pattern.at(Cell{0, 0, row, 1}))));
    CHECK_FALSE(pattern.is_ready());
}
