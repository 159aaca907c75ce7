// Positions have their numbers beside their tokens: on the axes of pictures and in the chips of the input, all of them
// or none.
#include "app/core/run/labels.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/tabs/step/cross_pattern.h"

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

// How many rows and columns have their number before their token.
Numbered numbered_axes(const DrawnHeatmap& drawn, int rows, int columns) {
    Numbered found;
    for (int row = 0; row < rows; ++row) found.rows += drawn.numbers_row(row) ? 1 : 0;
    for (int column = 0; column < columns; ++column) found.columns += drawn.numbers_column(column) ? 1 : 0;
    return found;
}

}  // namespace

TEST_CASE("rows and columns of a pattern have their positions beside the tokens") {
    for (const ImVec2 size : {ImVec2{1024, 768}, ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
        Driver d("reverse", 1.0F, size);
        const Numbered found = numbered_axes(d.heatmap(kCrossPattern), 12, 12);
        INFO(size.x << " x " << size.y);
        CHECK((found.rows == 12 || found.rows == 0));
        CHECK((found.columns == 12 || found.columns == 0));
        if (size.x > 1280.0F) {
            CHECK(found.rows == 12);
            CHECK(found.columns == 12);
        }
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
            const std::vector<std::string> tokens = labels(axis);
            return sequence_along(step, axis) != TokenSequence::none && tokens.size() <= 32 &&
                   std::ranges::none_of(tokens, [](const std::string& token) {
                       return token.find_first_of("0123456789") != std::string::npos;
                   });
        };
        const std::size_t rows = step.axes.size() - 2, columns = step.axes.size() - 1;
        if (!has_tokens(rows) || !has_tokens(columns)) continue;
        const int height = static_cast<int>(step.axes[rows].size), width = static_cast<int>(step.axes[columns].size);
        const Numbered found = numbered_axes(d.heatmap(step.name), height, width);
        INFO(model.name << ": " << found.rows << " of " << height << " rows, " << found.columns << " of " << width);
        CHECK((found.rows == 0 || found.rows == height));
        CHECK((found.columns == 0 || found.columns == width));
        with += found.rows == height && found.columns == width ? 1 : 0;
    }
    CHECK(with >= 1);
}

TEST_CASE("Heads numbers the positions, too") {
    Driver d("reverse", 1.0F, {1920, 1080});
    const auto numbers_on_stage = [&] {
        std::set<int> found;
        for (const DrawnText& piece : d.seen())
            if (d.on_stage(piece) && piece.text.size() < 3 &&
                piece.text.find_first_not_of("0123456789") == std::string::npos)
                found.insert(std::stoi(piece.text));
        return found;
    };
    d.press(Key::h);
    d.press(Key::enter);
    for (const int position : {8, 9, 10, 11}) CHECK(numbers_on_stage().contains(position));
}
