// What a user does in the Heads tab, and what it then shows.
#include "app/core/generate/prediction.h"
#include "app/core/run/edits.h"
#include "app/core/run/step_picture.h"
#include "app/core/tabs/heads/shown_heads.h"
#include "app/core/tabs/step/tiles.h"
#include "app/core/text/numbers.h"
#include "app/views/tabs/heads/tab.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::core::lessons;
using namespace decoderscope::core::diff;
using namespace decoderscope::core::heads;
using namespace decoderscope::views::heads;

namespace {

struct HeadsDriver : Driver {
    explicit HeadsDriver(std::string_view model = "causal-lm-as-meant", float scale = 1.0F, ImVec2 size = {1280, 800})
        : Driver(model, scale, size) {
        press(Key::h);
    }

    // Opens what the heads are ordered by, and clicks on this there.
    void choose(std::string_view part) {
        const auto button = find_on_stage("▾");
        REQUIRE(button);
        click(button->middle());
        REQUIRE(click_label(part));
        press(Key::escape);
    }
    // The numbers of the heads of the grid, in the order in which they are drawn, below the legend of the weights.
    [[nodiscard]] std::vector<DrawnText> numbers() const {
        const auto legend = find_on_stage("weight");
        REQUIRE(legend);
        std::vector<DrawnText> found;
        for (const DrawnText& piece : seen())
            if (on_stage(piece) && piece.low.y > legend->high.y && piece.text.size() == 4 && piece.text[1] == '.' &&
                piece.text.back() != '%')
                found.push_back(piece);
        return found;
    }
    [[nodiscard]] ImVec2 picture(std::size_t at) const {
        std::vector<ImVec2> middles;
        for (const Area& picture : pictures())
            if (stage().contains(picture.low) && picture.height() > 10.0F)
                middles.push_back({(picture.low.x + picture.high.x) * 0.5F, (picture.low.y + picture.high.y) * 0.5F});
        return middles.at(at);
    }
    // The dot that switches a head is left of its number.
    [[nodiscard]] ImVec2 dot(std::size_t at) const { return {numbers()[at].low.x - 9, numbers()[at].middle().y}; }
    [[nodiscard]] float factor(const std::string& attention, Index head) const {
        return head_factor(session.scenario().edits, attention, head);
    }
};

std::string written(const HeadScore& score, PatternMeasure measure) { return fixed_text(score.value(measure), 2); }

// 12 layers × 12 heads on 64 tokens.
std::shared_ptr<const Model> twelve_by_twelve() {
    Model model{{.name = "twelve"},
                R"({"model_type": "decoderscope", "d_model": 96, "nhead": 12, "num_layers": 12, "vocab_size": 50,
                                   "dim_feedforward": 96, "norm_first": true, "lm_head": true})"};
    model.weights = initial_weights(model.config(), 1);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 64}});
    float next = 0.0F;
    for (float& token : model.example.tokens.writable()) token = next = next > 42.0F ? next - 42.0F : next + 7.0F;
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

TEST_CASE("the page of a head whose pattern comes by tiles never has all of its numbers") {
    Model model{{.name = "long"}, R"({"model_type": "decoderscope", "d_model": 8, "nhead": 2, "num_layers": 1,
        "vocab_size": 50, "norm_first": true})"};
    model.weights = initial_weights(model.config(), 1);
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 3000}});
    float next = 0.0F;
    for (float& token : model.example.tokens.writable()) token = next = next > 42.0F ? next - 42.0F : next + 7.0F;
    Driver d(std::make_shared<const Model>(std::move(model)));
    d.state.part<HeadsTabState>().attention = "blocks.0.attn";
    d.state.part<HeadsTabState>().opened = true;
    d.press(Key::h);
    const Snapshot& shown = d.session.shown();
    const Step& pattern = *shown.run->plan().find("blocks.0.attn.pattern");
    const auto place = d.session.cursor().place;
    REQUIRE(core::step::comes_by_tiles(*shown.run, pattern, slice_of(pattern, place, 2)));
    CHECK(d.find_on_stage("←Allheads"));
    const auto lines = shown_pattern_lines(d.session.derived(), shown, pattern, place);
    REQUIRE(lines);  // the page has asked for them
    CHECK(lines->lines.size() > 400);
    for (const bool is_key : {false, true}) {
        d.state.part<HeadsTabState>().pinned = PatternToken{is_key, 2000};
        d.settle();
    }
    CHECK(shown_weights_on(d.session.derived(), shown, pattern, place, 2000));
    CHECK_FALSE(d.session.derived().latest<core::step::ShownHeatmap>(std::tie(pattern.id, place)));
    CHECK_FALSE(shown.run->value(pattern.id).is_ready());
}

TEST_CASE("H shows every head with its measure, by layer and head") {
    HeadsDriver d;
    CHECK(d.state.tab == "heads");
    const auto scores =
        core::finished(head_scores(d.session.scenario().inputs, d.session.shown().run, AttentionKind::self, 0));
    const auto numbers = d.numbers();
    REQUIRE(numbers.size() == 40);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        CHECK(numbers[i].text == written(scores[i], PatternMeasure::entropy));
    d.choose("Diagonal");
    for (std::size_t i = 0; i < 40; ++i) CHECK(d.numbers()[i].text == written(scores[i], PatternMeasure::diagonal));
}

TEST_CASE("a few heads say in words what they do, and what the answer is without them") {
    HeadsDriver d("reverse");
    REQUIRE(d.click_text("Self"));
    const Snapshot& shown = d.session.shown();
    const auto next = core::generate::next_answer(d.session.derived(), shown.scenario, shown.run, 0);
    REQUIRE(next);
    const core::generate::Answer answer = next->shown->likely.front();
    const auto scores = core::finished(head_scores(shown.scenario.inputs, shown.run, AttentionKind::self, 0));
    REQUIRE(scores.size() == 8);
    for (const HeadScore& score : scores) {
        Scenario without = shown.scenario;
        without.edits.push_back(ScaleHead{score.attention, score.head, 0.0F});
        const auto run = execute(plan_of(without));
        const std::string name = std::to_string(score.layer) + "·" + std::to_string(score.head);
        const auto named = d.find_on_stage(name);
        INFO(name);
        REQUIRE(named);
        const std::string share =
            core::generate::percent_text(core::generate::probability_of(*run, 0, next->position, answer.token));
        std::string seen;  // in its column, down to the picture of the next row
        for (const DrawnText& piece : d.seen())
            if (piece.low.y > named->low.y && piece.low.y < named->low.y + 80 && piece.low.x > named->low.x - 30 &&
                piece.high.x < named->low.x + 212)
                seen += piece.text + "|";
        INFO(seen);
        std::string close = share;
        std::erase(close, ' ');
        CHECK(seen.find(close) != std::string::npos);
        std::string habit(habit_of(score).words);
        std::erase(habit, ' ');
        CHECK(seen.find(habit) != std::string::npos);
    }
}

TEST_CASE("heads are sorted by the measure over the whole grid") {
    HeadsDriver d("causal-lm-as-meant", 1.0F, {1280, 900});
    d.choose("Highestfirst");
    const auto numbers = d.numbers();
    REQUIRE(numbers.size() == 40);
    CHECK(std::is_sorted(numbers.begin(), numbers.end(),
                         [](const DrawnText& a, const DrawnText& b) { return a.text > b.text; }));
    const auto scores =
        core::finished(head_scores(d.session.scenario().inputs, d.session.shown().run, AttentionKind::self, 0));
    const HeadScore& best = scores[ordered(scores, PatternMeasure::entropy, HeadOrder::highest_first).front()];
    d.click(d.picture(0));
    REQUIRE(d.last<command::GoTo>());
    CHECK(d.last<command::GoTo>()->step == best.attention + ".pattern");
    CHECK(d.last<command::ChooseHead>()->head == best.head);
}

TEST_CASE("the threshold slides, and turns round") {
    HeadsDriver d;
    d.click(d.find_on_stage("▾")->middle());
    const auto text = find_text(d.seen(), "allheads");  // the slider, 88 px wide, ends 8 px left of it
    REQUIRE(text);
    d.click({text->low.x - 8 - 44, text->middle().y});
    CHECK(d.state.part<HeadsTabState>().threshold == Approx(0.5F).margin(0.02));
    CHECK(d.commands.empty());
    REQUIRE(d.click_text("≥"));
    CHECK(d.state.part<HeadsTabState>().at_most);
}

TEST_CASE("a click on a head fills the stage with it, Escape and the link lead back, keys walk through the heads") {
    HeadsDriver d;
    d.click(d.picture(10));  // layer 1, head 2
    CHECK(d.state.part<HeadsTabState>().opened);
    CHECK(d.session.cursor().step == "blocks.1.attn.pattern");
    CHECK(d.session.cursor().place.head == 2);
    for (const char* name : {"blocks.1.attn.q", "blocks.1.attn.k", "blocks.1.attn.v", "Pointatatoken"})
        CHECK(d.sees(name));
    d.press(Key::digit_5);
    CHECK(d.session.cursor().place.head == 5);
    d.press(Key::down);
    CHECK(d.state.part<HeadsTabState>().opened);
    CHECK(d.sees("blocks.2.attn.v"));
    d.press(Key::escape);
    CHECK_FALSE(d.state.part<HeadsTabState>().opened);
    d.click(d.picture(0));
    REQUIRE(d.click_text("←Allheads"));
    CHECK_FALSE(d.state.part<HeadsTabState>().opened);
    d.press(Key::digit_3);
    d.press(Key::enter);
    CHECK(d.state.part<HeadsTabState>().opened);
    CHECK(d.session.cursor().place.head == 3);
}

TEST_CASE("the dot switches a head off and on, and with Shift solos it; the strip tells what that does") {
    HeadsDriver d;
    d.forget();
    d.click(d.dot(9));
    REQUIRE(d.last<command::ScaleHeadTo>());
    CHECK(d.factor("blocks.1.attn", 1) == 0.0F);
    const OutputMoves moves =
        moves_of(d.session.shown().unedited->value("logits"), d.session.shown().run->value("logits"),
                 d.session.shown().scenario.inputs.attention_mask, true);
    CHECK(d.sees("Againstthesamerunwithoutedits:logitsmovedbyatmost" + short_number_text(moves.largest, 3)));
    CHECK(d.sees("off"));
    d.click(d.dot(9));
    CHECK(d.session.scenario().edits.empty());
    CHECK(d.sees("Switchaheadoff"));
    d.click(d.dot(9), Button::left, with_shift);
    REQUIRE(d.last<command::SoloHead>());
    CHECK(is_solo(d.session.scenario().edits, "blocks.1.attn", 1, 8));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("an open head shows what the output would be without it") {
    HeadsDriver d;
    d.click(d.picture(3));
    REQUIRE(d.last<command::RequestAuxRun>());
    CHECK(d.last<command::RequestAuxRun>()->variation->more_edits ==
          std::vector<Edit>{ScaleHead{"blocks.0.attn", 3, 0.0F}});
    const Run& without = *d.session.shown().companion("heads.without")->run;
    const OutputMoves moves = moves_of(d.session.shown().run->value("logits"), without.value("logits"),
                                       d.session.shown().scenario.inputs.attention_mask, true);
    CHECK(d.sees("Withoutthishead:logitswouldmovebyatmost" + short_number_text(moves.largest, 3)));
    REQUIRE(d.click_text("Off"));
    CHECK(d.factor("blocks.0.attn", 3) == 0.0F);
    CHECK(d.sees("withoutedits:logitsmoved"));
    CHECK(d.session.shown().companion("heads.without") == nullptr);
    REQUIRE(d.click_text("Solo"));
    CHECK(is_solo(d.session.scenario().edits, "blocks.0.attn", 3, 8));
    REQUIRE(d.click_text("Solo"));
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("the slider scales a head; one drag is one change") {
    HeadsDriver d;
    d.click(d.picture(0));
    const auto text = std::find_if(d.seen().begin(), d.seen().end(),
                                   [](const DrawnText& piece) { return piece.text.starts_with("z×"); });
    REQUIRE(text != d.seen().end());
    // The slider, 168 px wide, ends a little left of "z × 1.00".
    const float y = text->middle().y, right = text->low.x - 8;
    d.hands.push(MouseMove{right - 84, y});
    d.hands.push(MouseButton{Button::left, true, {}});
    d.settle();
    for (const float back : {60.0F, 50.0F, 40.0F}) d.point({right - back, y});
    d.hands.push(MouseButton{Button::left, false, {}});
    d.settle();
    REQUIRE(d.last<command::ScaleHeadTo>());
    CHECK(d.factor("blocks.0.attn", 0) > 1.3F);
    CHECK(d.factor("blocks.0.attn", 0) < 1.7F);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
    CHECK_FALSE(d.session.can_undo());
    d.click({right - 1, y});
    CHECK(d.factor("blocks.0.attn", 0) == 2.0F);
    REQUIRE(d.click_text("Reset"));
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("pointing at a token shows its weights alone, and a click keeps them") {
    HeadsDriver d;
    d.click(d.picture(0));
    const auto query = find_text(d.seen(), "query");  // the pattern's axis
    REQUIRE(query);
    const Tensor& pattern = d.session.shown().run->value("blocks.0.attn.pattern");
    // The lines are right of the pattern and above q; the queries are their left column.
    const auto q = d.find_on_stage("blocks.0.attn.q");
    REQUIRE(q);
    const Area stage = d.stage();
    std::vector<DrawnText> tokens;
    for (const DrawnText& piece : d.seen()) {
        const float x = piece.low.x - (stage.low.x + stage.high.x) * 0.5F;
        if (d.on_stage(piece) && x > 0 && x < stage.width() * 0.2F && piece.low.y > query->low.y &&
            piece.high.y < q->low.y && piece.text.size() == 1 && piece.text != "0")  // which labels an axis
            tokens.push_back(piece);
    }
    REQUIRE(tokens.size() == 4);
    d.point(tokens[2].middle());
    CHECK(d.sees("query2"));
    CHECK(d.sees("attendsto"));
    for (Index key = 0; key < 3; ++key)
        CHECK(d.sees(fixed_text(static_cast<double>(pattern.at(Cell{0, 0, 2, key})), 3)));
    d.click(tokens[2].middle());
    CHECK(d.state.part<HeadsTabState>().pinned == PatternToken{false, 2});
    d.click(tokens[2].middle());
    CHECK_FALSE(d.state.part<HeadsTabState>().pinned);
}

TEST_CASE("the weight under the mouse is forgotten with a run that had it") {
    HeadsDriver d;
    d.click(d.picture(0));
    const Index length = d.session.shown().run->value("blocks.0.attn.pattern").dim(3);
    d.state.hovered = {"blocks.0.attn.pattern", Cell{0, 0, length, length}};  // of a longer text
    d.settle_one();  // the address sanitizer saw its token's label written behind the others'
    CHECK_FALSE(d.state.hovered);
    d.state.hovered = {"blocks.99.attn.pattern", Cell{0, 0, 0, 0}};
    d.settle_one();
    CHECK_FALSE(d.state.hovered);
}

TEST_CASE("a click on a weight explains it, and on q follows it") {
    HeadsDriver d("causal-lm-as-meant", 1.0F, {1280, 860});
    d.click(d.picture(0));
    d.click(d.heatmap("blocks.0.attn.pattern").middle(2, 1));
    CHECK(d.session.cursor().cell == Cell{0, 0, 2, 1});
    CHECK(d.sees("weight="));
    d.press(Key::escape);  // deselects the cell
    CHECK(d.state.part<HeadsTabState>().opened);
    CHECK_FALSE(d.session.cursor().cell);
    d.press(Key::escape);
    CHECK_FALSE(d.state.part<HeadsTabState>().opened);
}

TEST_CASE("a query with everything masked is marked in the lines and in the output") {
    HeadsDriver d;
    d.click(d.picture(0));
    for (Index key = 0; key < 3; ++key) d.apply(command::PaintMask{"blocks.0.attn", 0, 0, 2, key, false});
    CHECK(d.sees("withoutedits:logits:NaNat"));
    CHECK(d.sees("NaN"));
    REQUIRE(d.click_text("←Allheads"));
    CHECK(d.numbers().front().text == fixed_text(measured_heads(d.session.derived(), d.session.shown().scenario,
                                                                d.session.shown().run, AttentionKind::self, 0)
                                                     ->scores.front()
                                                     .values[0],
                                                 2));
}

TEST_CASE("a switch shows cross-attention and the encoder's where the model has them") {
    HeadsDriver d("post-ln-encdec");
    REQUIRE(d.click_text("Cross"));
    CHECK(d.state.part<HeadsTabState>().kind == AttentionKind::cross);
    d.click(d.picture(0));
    CHECK(d.session.cursor().step == "blocks.0.cross_attn.pattern");
    d.press(Key::escape);
    REQUIRE(d.click_text("Encoder"));
    d.click(d.picture(1));
    CHECK(d.session.cursor().step == "encoder.blocks.0.attn.pattern");
    // Another model has neither: the tab falls back.
    d.apply(command::OpenModel{"simple-decoder"});
    CHECK(d.state.part<HeadsTabState>().kind == AttentionKind::self);
}

TEST_CASE("what leads from the heads to Ask is read whole, however narrow the inspector is") {
    HeadsDriver d("reverse");
    d.state.settings.inspector_width = 200.0F;
    d.settle();
    CHECK(std::ranges::any_of(d.seen(), [&](const DrawnText& piece) {
        return piece.low.x > d.state.stage.high.x && piece.text.ends_with("Ask");
    }));
}

TEST_CASE("in the Heads tab of every model, text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : testing::looked_at(bundled_models(), 4)) {
            HeadsDriver d(model.name, screen.scale, screen.size);
            INFO(model.name << " at scale " << screen.scale);
            for (const AttentionKind kind : kAttentionKinds) {
                if (attentions_of_kind(d.session.shown().run->plan(), kind).empty()) continue;
                d.state.part<HeadsTabState>().opened = false;
                d.state.part<HeadsTabState>().kind = kind;
                for (const HeadOrder order : {HeadOrder::lowest_first, HeadOrder::by_layer}) {
                    d.state.part<HeadsTabState>().order = order;
                    for (const PatternMeasure measure : kPatternMeasures) {
                        d.state.part<HeadsTabState>().measure = measure;
                        d.settle();
                        check_layout(d, screen.size);
                    }
                }
                const std::string attention = attentions_of_kind(d.session.shown().run->plan(), kind).front();
                d.session.apply(command::GoTo{attention + ".pattern"});
                d.state.part<HeadsTabState>().opened = true;
                d.settle();
                check_layout(d, screen.size);
                d.apply(command::ScaleHeadTo{attention, 0, 0.0F});
                check_layout(d, screen.size);
                d.state.part<HeadsTabState>().pinned = PatternToken{true, 1};
                d.settle();
                check_layout(d, screen.size);
                d.session.apply(command::ClearEdits{});
            }
        }
    }
}

TEST_CASE("144 heads are squares beside one another, all of them seen, and named while they are pointed at") {
    Driver d(twelve_by_twelve());
    d.press(Key::h);
    d.settle();
    std::vector<Area> squares;
    for (const Area& picture : d.pictures())
        if (d.stage().contains(picture.low) && d.stage().contains(picture.high) && picture.height() > 10.0F)
            squares.push_back(picture);
    CHECK(squares.size() == 144);
    for (const Area& square : squares) CHECK(std::abs(square.width() - square.height()) <= 1.0F);
    REQUIRE_FALSE(squares.empty());
    d.point(
        {(squares.back().low.x + squares.back().high.x) * 0.5F, (squares.back().low.y + squares.back().high.y) * 0.5F});
    CHECK(d.sees("head11"));
    d.click(
        {(squares.back().low.x + squares.back().high.x) * 0.5F, (squares.back().low.y + squares.back().high.y) * 0.5F});
    CHECK(d.session.cursor().step == "blocks.11.attn.pattern");
    CHECK(d.session.cursor().place.head == 11);
}

TEST_CASE("a frame with 12 layers of 12 heads at 64 tokens uploads no picture again") {
    Driver d(twelve_by_twelve());
    const auto uploads = [&] {
        int sum = 0;
        for (const auto& [key, picture] : d.textures.pictures()) sum += picture.uploads;
        return sum;
    };
    d.state.tab = "heads";
    d.point({d.stage().low.x + 100, d.stage().high.y * 0.5F});
    const int before = uploads();
    CHECK(before >= 12);
    for (int i = 0; i < 5; ++i) d.settle();
    CHECK(uploads() == before);
}

// A head's page: large cells, and lines whose tokens all have their labels.

TEST_CASE("a head's page has cells that can be hit and read, and a label for each token of its lines") {
    Driver d("reverse");
    d.press(Key::h);
    d.press(Key::enter);
    const DrawnHeatmap pattern = d.heatmap("blocks.1.cross_attn.pattern");
    CHECK(pattern.cell_size().x >= 20.0F);
    CHECK(pattern.cell_size().y >= 13.9F);  // high enough to hit; below it stand q, k and v
    CHECK(pattern.number(3, 4).find('.') != std::string::npos);
    const auto strip = d.find_on_stage("L2norm");
    REQUIRE(strip);
    // The four pads of the queries and the four of the keys.
    const auto pads = std::ranges::count_if(d.seen(), [&](const DrawnText& piece) {
        return d.on_stage(piece) && piece.text == "<pad>" && piece.low.x > pattern.cells().high.x &&
               piece.high.y < strip->low.y;
    });
    CHECK(pads == 8);
}
