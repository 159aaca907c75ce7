// Question 10: what changes if head 3 is off? One gesture on the default screen.
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/questions/output_by_hand.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;

TEST_CASE("question 10: head 3 is switched off by its key, and a line says what that does to the output") {
    for (const std::string_view model : {kDefaultModel, std::string_view("causal-lm-as-meant")}) {
        INFO(model);
        Driver d(model);
        const std::string attention = d.session.step().attention;
        d.press(Key::digit_3, with_shift);
        const Edit edit = ScaleHead{attention, 3, 0.0F};
        REQUIRE(d.session.scenario().edits == std::vector<Edit>{edit});
        const OutputByHand answer = output_by_hand(d.session.scenario(), edit);
        CHECK(answer.largest > 0.0);
        INFO(answer.sentence());
        CHECK(d.sees(answer.sentence()));
    }
}

TEST_CASE("question 10: the predictions that change are the ones that the line names") {
    Driver d("induction");  // its head 3 is the induction head
    d.press(Key::digit_3, with_shift);
    const OutputByHand answer = output_by_hand(d.session.scenario(), d.session.scenario().edits.front());
    REQUIRE(answer.changed > 0);
    CHECK(d.sees("“" + answer.before + "”→“" + answer.after + "”"));
}

// Which head looks at the previous token? Three gestures: the Heads tab, what it is ordered by, the measure Previous.

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
