// Every text is its number: what stands in the cells of every picture that shows a tensor, read back from the frame, is
// compared with the tensor that the window names for the cell, in every tab of every bundled model.
#include "app/views/frame/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/figure/read_number.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

// The cells of a drawn picture with what is written into them.
struct WrittenPicture {
    Area whole, seen;
    int rows = 0, columns = 0;
    std::vector<std::string> texts;  // [row, column]

    [[nodiscard]] Area cell(int row, int column) const {
        const float width = whole.width() / static_cast<float>(columns),
                    height = whole.height() / static_cast<float>(rows);
        const ImVec2 low = {whole.low.x + width * static_cast<float>(column),
                            whole.low.y + height * static_cast<float>(row)};
        return {low, {low.x + width, low.y + height}};
    }
    [[nodiscard]] std::string& text(int row, int column) {
        return texts[static_cast<std::size_t>(row * columns + column)];
    }
    // What the edge of the view cuts off is only partly read back.
    [[nodiscard]] bool is_whole(int row, int column) const {
        const Area box = cell(row, column);
        return box.low.x >= seen.low.x - 0.51F && box.high.x <= seen.high.x + 0.51F &&
               box.low.y >= seen.low.y - 0.51F && box.high.y <= seen.high.y + 0.51F;
    }
};

std::vector<WrittenPicture> pictures_with_texts(const Driver& d) {
    std::vector<WrittenPicture> found;
    for (const DrawnPicture& drawn : drawn_textures(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
        const auto of = std::ranges::find_if(
            d.textures.pictures(), [&](const auto& one) { return compat::texture_id(one.first + 1) == drawn.texture; });
        if (of == d.textures.pictures().end() || !d.stage().contains(drawn.seen.low)) continue;
        WrittenPicture picture{drawn.whole, drawn.seen, of->second.height, of->second.width, {}};
        picture.texts.resize(static_cast<std::size_t>(picture.rows * picture.columns));
        bool has_texts = false;
        for (const DrawnText& piece : d.seen()) {
            const float y = piece.middle().y;
            if (y < picture.seen.low.y || y >= picture.seen.high.y) continue;
            const int row = std::clamp(static_cast<int>((y - picture.whole.low.y) / picture.cell(0, 0).height()), 0,
                                       picture.rows - 1);
            for (std::size_t i = 0; i < piece.text.size(); ++i) {
                if (piece.x[i] < picture.seen.low.x || piece.x[i] >= picture.seen.high.x) continue;
                const int column =
                    std::clamp(static_cast<int>((piece.x[i] - picture.whole.low.x) / picture.cell(0, 0).width()), 0,
                               picture.columns - 1);
                picture.text(row, column) += piece.text[i];
                has_texts = true;
            }
        }
        if (has_texts) found.push_back(std::move(picture));
    }
    return found;
}

// The number under the pointer there, as the window names it.
std::optional<std::pair<std::string, Cell>> named_at(Driver& d, const WrittenPicture& picture, int row, int column) {
    const Area box = picture.cell(row, column);
    d.state.hovered.reset();
    d.hands.push(MouseMove{(box.low.x + box.high.x) * 0.5F, (box.low.y + box.high.y) * 0.5F});
    d.settle_one();
    d.settle_one();
    return d.state.hovered;
}

// Compares each text with the number that its cell shows, if the first and the last cells that are in sight belong to
// one tensor, whose axes are the picture's. Returns how many were compared.
int check_texts(Driver& d, WrittenPicture& picture) {
    int top = picture.rows, left = picture.columns, bottom = -1, right = -1;
    for (int row = 0; row < picture.rows; ++row)
        for (int column = 0; column < picture.columns; ++column)
            if (picture.is_whole(row, column)) {
                top = std::min(top, row), left = std::min(left, column);
                bottom = std::max(bottom, row), right = std::max(right, column);
            }
    if (bottom < 0) return 0;
    const auto first = named_at(d, picture, top, left), last = named_at(d, picture, bottom, right);
    if (!first || !last || first->first != last->first) return 0;
    const Cell &from = first->second, &to = last->second;
    const std::size_t rank = from.size();
    if (rank < 2 || to[rank - 2] - from[rank - 2] != bottom - top || to[rank - 1] - from[rank - 1] != right - left)
        return 0;
    const Tensor& tensor = d.session.shown().run->value(first->first);
    int compared = 0;
    for (int row = top; row <= bottom; ++row) {
        for (int column = left; column <= right; ++column) {
            const std::string& text = picture.text(row, column);
            if (text.empty()) continue;  // tests/views/shell/test_all_digits.cpp
            Cell cell = from;
            cell[rank - 2] += row - top;
            cell[rank - 1] += column - left;
            const auto value = static_cast<double>(tensor.at(cell));
            ++compared;
            if (is_its_number(text, value)) continue;
            FAIL_CHECK(first->first << " row " << cell[rank - 2] << ", column " << cell[rank - 1] << " is " << value
                                    << ", and its cell says " << text);
            return compared;
        }
    }
    return compared;
}

struct ReadBack {
    int pictures = 0, numbers = 0, named = 0;
};

void check_stage(Driver& d, ReadBack& counted) {
    for (WrittenPicture& picture : pictures_with_texts(d)) {
        const int compared = check_texts(d, picture);
        ++counted.pictures;
        counted.named += compared > 0 ? 1 : 0;
        counted.numbers += compared;
    }
    d.point({1, 1});
}

}  // namespace

TEST_CASE("each text in a cell is its number, at the digits that it has, in every tab of every bundled model",
          "[long]") {
    ReadBack counted;
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 700}, ImVec2{1920, 1080}}) {
        for (const BundledModel& model : bundled_models()) {
            Driver d(model.name, 1.0F, size);
            for (const Tab& tab : tabs()) {
                if (tab.id == core::files::kCompareTab) continue;  // its pictures are of two runs
                d.state.tab = tab.id;
                d.settle();
                INFO(model.name << ", " << tab.id << ", " << size.x << " x " << size.y);
                check_stage(d, counted);
                if (tab.id != "heads") continue;
                d.press(Key::enter);
                check_stage(d, counted);
            }
        }
    }
    INFO(counted.pictures << " pictures with numbers, " << counted.named << " of tensors");
    CHECK(counted.named > 60);
    CHECK(counted.numbers > 5'000);
}

TEST_CASE("each step's picture says its numbers, negative ones too, in cells as narrow as they get") {
    ReadBack counted;
    for (const char* model : {"reverse", "pre-ln-encdec", "causal-lm"}) {
        for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 700}}) {
            Driver d(model, 1.0F, size);
            std::size_t number = 0;
            for (const Step& step : d.session.shown().run->plan().steps()) {
                if (!is_looked_at(number++, 8) || number % 3 != 0) continue;
                INFO(model << ", " << step.name << ", " << size.x << " x " << size.y);
                d.apply(command::GoTo{step.name});
                check_stage(d, counted);
            }
        }
    }
    CHECK(counted.numbers > (kSanitized ? 500 : 5'000));
}

TEST_CASE("NaN is in the legend of the picture that has it, and of nothing but NaN there is no scale") {
    Driver d("pre-ln-layer");
    const std::string step = "blocks.0.resid_mid";
    const auto legend = [&] {
        const float bottom = d.heatmap(step).cells().high.y;
        std::string texts;
        for (const DrawnText& piece : d.seen())
            if (d.on_stage(piece) && piece.low.y > bottom && piece.low.y < bottom + 24.0F) texts += piece.text + " ";
        return texts;
    };
    d.apply(command::GoTo{step});
    CHECK(legend().find("NaN") == std::string::npos);
    d.apply(command::TypeOver{step, {0, 0, 0}, std::numeric_limits<float>::quiet_NaN()});
    CHECK(legend().find("NaN") != std::string::npos);
    CHECK(legend().find("−") != std::string::npos);
    const Tensor& before = d.session.shown().run->value(step);
    for (Index row = 0; row < before.dim(1); ++row)
        for (Index column = 0; column < before.dim(2); ++column)
            d.apply(command::TypeOver{step, {0, row, column}, std::numeric_limits<float>::quiet_NaN()});
    CHECK(legend().find("NaN") != std::string::npos);
    CHECK(legend().find("−") == std::string::npos);
}
