// Which head looks at the previous token? Three gestures: the Heads tab, what it is ordered by, the measure Previous.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core::lessons;
using namespace decoderscope::views;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;

namespace {

// The mean weight on the token before, over the rows that aren't padding, from the recorded pattern.
double previous_weight(const Driver& d, const std::string& block, Index head) {
    const Tensor& pattern = d.session.shown().run->value(block + ".attn.pattern");
    const Tensor& tokens = d.session.shown().scenario.inputs.tokens;
    const Tensor& kept = d.session.shown().scenario.inputs.attention_mask;
    double sum = 0.0;
    int rows = 0;
    for (Index query = 1; query < tokens.dim(1); ++query) {
        if (!kept.empty() && kept.at(Cell{0, query}) == 0.0F) continue;
        sum += static_cast<double>(pattern.at(Cell{0, head, query, query - 1}));
        ++rows;
    }
    return sum / rows;
}

}  // namespace

TEST_CASE("question 11: each head has its mean weight on the token before, in the order of layers and heads") {
    Driver d("reverse");
    d.press(Key::h);
    REQUIRE(d.click_text("Self"));
    const auto order = d.find_on_stage("▾");
    REQUIRE(order);
    REQUIRE(d.click_text(order->text));
    REQUIRE(d.click_label("Previous"));
    d.press(Key::escape);
    CHECK(d.sees("Theweightonthetokenjustbefore"));
    std::vector<DrawnText> numbers;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece) && piece.text.size() > 4 && piece.text[1] == '.' && piece.text.substr(4) == "Previous")
            numbers.push_back(piece);
    std::ranges::sort(numbers, [](const DrawnText& a, const DrawnText& b) {
        return std::pair{std::round(a.low.y / 20.0F), a.low.x} < std::pair{std::round(b.low.y / 20.0F), b.low.x};
    });
    REQUIRE(numbers.size() == 8);
    double best = 0.0;
    std::size_t best_read = 0;
    std::string best_head, read_head;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::string block = "blocks." + std::to_string(i / 4);
        const double weight = previous_weight(d, block, static_cast<Index>(i % 4));
        INFO(block << " head " << i % 4 << ": " << weight << " is written " << numbers[i].text);
        CHECK(std::abs(std::stod(numbers[i].text) - weight) <= 0.0051);
        if (weight > best) {
            best = weight;
            best_head = block + " head " + std::to_string(i % 4);
        }
        if (std::stod(numbers[i].text) > std::stod(numbers[best_read].text)) best_read = i;
    }
    read_head = "blocks." + std::to_string(best_read / 4) + " head " + std::to_string(best_read % 4);
    CHECK(read_head == best_head);
}
