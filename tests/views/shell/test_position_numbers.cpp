// Positions have their numbers beside their tokens: on the axes of pictures and in the chips of the input, all of them
// or none.
#include "app/core/run/labels.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/labs/step/cross_pattern.h"

#include <algorithm>
#include <set>
#include <string>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

struct Numbered {
    int rows = 0, columns = 0;
};

// The glyphs in an area, in the order in which they were drawn.
std::string glyphs_in(const Driver& d, Area area) {
    std::string found;
    for (const DrawnText& piece : d.seen()) {
        if (piece.middle().y < area.low.y || piece.middle().y >= area.high.y) continue;
        for (std::size_t i = 0; i < piece.text.size(); ++i)
            if (piece.x[i] >= area.low.x && piece.x[i] < area.high.x) found += piece.text[i];
    }
    return found;
}

// How many rows and columns have their number before their token.
Numbered numbered_axes(const Driver& d, const DrawnHeatmap& drawn, int rows, int columns) {
    Numbered found;
    for (int row = 0; row < rows; ++row) {
        const Area box = drawn.cell(row, 0);
        const std::string left = glyphs_in(d, {{box.low.x - 110.0F, box.low.y}, {box.low.x, box.high.y}});
        found.rows += left.starts_with(std::to_string(row)) && left != std::to_string(row) ? 1 : 0;
    }
    for (int column = 0; column < columns; ++column) {
        const Area box = drawn.cell(0, column);
        const std::string above = glyphs_in(d, {{box.low.x, box.low.y - 32.0F}, {box.high.x, box.low.y}});
        found.columns += above.starts_with(std::to_string(column)) && above != std::to_string(column) ? 1 : 0;
    }
    return found;
}

// The numbers that stand in the chips of the input: pieces that are nothing but a number, or begin with it.
std::set<int> numbers_of_chips(const Driver& d, float from, float to) {
    std::set<int> found;
    for (const DrawnText& piece : d.seen()) {
        if (piece.low.y < 44.0F || piece.high.y > 128.0F || piece.low.x < from || piece.low.x >= to) continue;
        const std::size_t digits = piece.text.find_first_not_of("0123456789");
        const std::string number = piece.text.substr(0, digits);
        if (!number.empty() && number.size() < 3) found.insert(std::stoi(number));
    }
    return found;
}

}  // namespace

TEST_CASE("rows and columns of a pattern have their positions beside the tokens") {
    for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
        Driver d("reverse", 1.0F, size);
        const Numbered found = numbered_axes(d, d.heatmap(kCrossPattern), 12, 12);
        INFO(size.x << " x " << size.y);
        CHECK(found.rows == 12);
        CHECK(found.columns == 12);
    }
}

TEST_CASE("of each bundled model's first picture all positions have their numbers, or none") {
    int with = 0;
    for (const BundledModel& model : bundled_models()) {
        Driver d(model.name);
        const Step& step = d.session.step();
        if (step.axes.size() < 2 || !d.session.scenario().computes()) continue;
        const Index batch = d.session.cursor().place.batch;
        const auto labels = [&](std::size_t axis) {
            return axis_labels(d.session.shown().scenario, step, axis, batch);
        };
        const auto has_tokens = [&](std::size_t axis) {
            return sequence_along(step, axis) != TokenSequence::none && labels(axis).size() <= 32 &&
                   labels(axis)[0] != "0";
        };
        const std::size_t rows = step.axes.size() - 2, columns = step.axes.size() - 1;
        if (!has_tokens(rows) || !has_tokens(columns)) continue;
        const int height = static_cast<int>(step.axes[rows].size), width = static_cast<int>(step.axes[columns].size);
        const Numbered found = numbered_axes(d, d.heatmap(step.name), height, width);
        INFO(model.name << ": " << found.rows << " of " << height << " rows, " << found.columns << " of " << width);
        CHECK((found.rows == 0 || found.rows == height));
        CHECK((found.columns == 0 || found.columns == width));
        with += found.rows == height && found.columns == width ? 1 : 0;
    }
    CHECK(with >= 3);
}

TEST_CASE("Masks and Heads number the positions, too") {
    Driver d("reverse", 1.0F, {1920, 1080});
    const auto numbers_on_stage = [&] {
        std::set<int> found;
        for (const DrawnText& piece : d.seen())
            if (d.on_stage(piece) && piece.text.size() < 3 &&
                piece.text.find_first_not_of("0123456789") == std::string::npos)
                found.insert(std::stoi(piece.text));
        return found;
    };
    for (const Key tab : {Key::m, Key::h}) {
        d.press(tab);
        if (tab == Key::h) d.press(Key::enter);
        for (const int position : {8, 9, 10, 11}) CHECK(numbers_on_stage().contains(position));
    }
}

TEST_CASE("each chip of the input has its position, or none has") {
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1920, 1080}, ImVec2{1024, 768}}) {
        Driver d("reverse", 1.0F, size);
        const float middle = size.x * 0.44F;
        for (const auto& [from, to] : {std::pair{0.0F, middle}, std::pair{middle, size.x}}) {
            const std::set<int> found = numbers_of_chips(d, from, to);
            int numbers = 0;
            for (int position = 0; position < 12; ++position) numbers += found.contains(position) ? 1 : 0;
            INFO(size.x << " x " << size.y << ": " << numbers << " numbers from x " << from);
            if (size.x >= 1280.0F) CHECK(numbers == 12);
            CHECK((numbers == 12 || numbers <= 2));
        }
    }
}
