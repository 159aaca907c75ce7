// What a user does in the Generate tab, and what it then shows.
#include "app/core/generate/generator.h"
#include "app/core/generate/shown_generation.h"
#include "app/core/text/numbers.h"
#include "app/views/tabs/generate/tab.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <cstring>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::core::generate;
using namespace decoderscope::views::generate;

namespace {

// A causal decoder with a vocabulary of 40 words, the last of which ends a text, and room for 24 tokens.
std::shared_ptr<const Model> words() {
    Model model{{.name = "words"},
                R"({"model_type": "decoderscope", "d_model": 24, "nhead": 4, "num_layers": 3, "vocab_size": 40,
                           "norm_first": true, "final_norm": true, "lm_head": true, "num_key_value_heads": 2,
                           "positional_encoding": "learned", "max_positions": 24})"};
    model.weights = initial_weights(model.config(), 5);
    model.example.tokens = Tensor({{axis::batch, 2}, {axis::pos, 5}}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3});
    std::vector<std::string> pieces;
    for (int i = 0; i < 40; ++i) pieces.push_back("w" + std::to_string(100 + i));
    model.tokenizer = Tokenizer(pieces, {.end = 39}, nullptr);
    return std::make_shared<const Model>(std::move(model));
}

struct GenerateDriver : Driver {
    explicit GenerateDriver(std::shared_ptr<const Model> model = words(), float scale = 1.0F, ImVec2 size = {1280, 800})
        : Driver(std::move(model), scale, size) {
        press(Key::g);
    }
    void set(const Sampling& sampling) { apply(command::SetSampling{sampling}); }
    [[nodiscard]] Index row() const { return session.cursor().place.batch; }
    [[nodiscard]] Index length() const { return row_length(session.scenario().inputs, row()); }
    [[nodiscard]] std::vector<Index> tokens() const { return row_tokens(session.scenario().inputs, row()); }
    [[nodiscard]] NextToken next() const {
        return *next_token(session.scenario(), *session.shown().run, row(), session.sampling());
    }
    // The proof that is on the screen; empty if there is none.
    [[nodiscard]] Value<ShownProof> proof() const {
        return shown_proof(session.derived(), session.scenario(), session.shown().run, row());
    }
    [[nodiscard]] std::string piece(Index token) const { return session.scenario().tokenizer().piece(token); }
};

std::string percent(double part) { return fixed_text(part * 100.0, 1) + "%"; }

}  // namespace

TEST_CASE("G shows the most probable tokens with the model's probabilities, and which one the number falls on") {
    GenerateDriver d;
    CHECK(d.state.tab == "generate");
    const NextToken next = d.next();
    for (std::size_t rank = 0; rank < 12; ++rank) {
        INFO(rank);
        CHECK(d.sees(d.piece(next.candidates[rank].token)));
        CHECK(d.sees(percent(next.candidates[rank].before)));
    }
    const double number = sampling_number(0, 0, 5);
    const Draw drawn = draw(next, number);
    CHECK(d.sees("number" + fixed_text(number, 4) + "(seed0,position5)fallson“" +
                 d.piece(next.candidates[drawn.rank].token) + "”"));
    CHECK(d.sees("drawnfrom:all40tokens"));
}

TEST_CASE("a full stop generates the drawn token, a comma steps back over it, bit for bit") {
    GenerateDriver d;
    const Tensor before = d.session.shown().run->value("logits");
    const NextToken next = d.next();
    const Index drawn = next.candidates[draw(next, sampling_number(0, 0, 5)).rank].token;
    d.press(Key::period);
    REQUIRE(d.last<command::AppendToken>());
    CHECK(d.tokens() == std::vector<Index>{3, 1, 4, 1, 5, drawn});
    CHECK(generated_count(d.session.scenario(), 0) == 1);
    d.press(Key::comma);
    const Tensor& after = d.session.shown().run->value("logits");
    REQUIRE(after.axes() == before.axes());
    CHECK(std::memcmp(after.data(), before.data(), before.values().size_bytes()) == 0);
    d.press(Key::period);
    CHECK(d.tokens().back() == drawn);
    d.press(Key::z, with_ctrl);
    CHECK(d.length() == 5);
}

TEST_CASE("a click on a bar takes that token instead") {
    GenerateDriver d;
    const NextToken next = d.next();
    REQUIRE(d.click_text(percent(next.candidates[7].before)));
    REQUIRE(d.last<command::AppendToken>());
    CHECK(d.tokens().size() == 6);
    for (const Candidate& candidate : next.candidates)  // another one may have the same percentage
        if (candidate.token == d.tokens().back())
            CHECK(percent(candidate.before) == percent(next.candidates[7].before));
}

TEST_CASE("each cut marks the tokens that it removes, and says how many and how much") {
    GenerateDriver d;
    CHECK(d.sees("40tokens"));
    d.set({.temperature = 0.8, .top_k = 8, .top_p = 0.5, .seed = 0});
    const NextToken next = d.next();
    CHECK(d.sees("cutbytop-k"));
    CHECK(d.sees("cutbytop-p"));
    CHECK(d.sees("Top-kcut32tokens," + percent(next.cut_by_top_k)));
    CHECK(d.sees("Top-pcut" + std::to_string(8 - next.kept) + "token"));
    CHECK(d.sees("temperature0.80"));
    CHECK(d.sees("top-k8"));
    CHECK(d.sees("top-p0.50"));
    CHECK(d.sees(percent(next.candidates[0].after)));
    CHECK(d.sees("drawnfrom:" + std::to_string(next.kept) + "tokens"));
    d.set({.temperature = 0.0});
    CHECK(d.sees("greedy"));
    CHECK(d.sees("notthefirst"));
    d.press(Key::period);
    CHECK(d.tokens().back() == next.candidates[0].token);
}

TEST_CASE("the sliders and the seed's field change how the token is drawn") {
    GenerateDriver d;
    const auto slider = find_text(d.seen(), "temperature1.00");
    REQUIRE(slider);
    const auto drag = [&](float from, float to, float y) {
        d.hands.push(MouseMove{from, y});
        d.hands.push(MouseButton{Button::left, true, {}});
        d.settle();
        d.point({to, y});
        d.hands.push(MouseButton{Button::left, false, {}});
        d.settle();
    };
    drag(slider->middle().x, slider->low.x - 60, slider->middle().y);
    CHECK(d.session.sampling().temperature < 0.3);
    const auto top_k = find_text(d.seen(), "top-koff");
    REQUIRE(top_k);
    drag(top_k->low.x, top_k->high.x, top_k->middle().y);
    CHECK(d.session.sampling().top_k > 5);
    d.click(d.behind("seed").middle());
    d.hands.type("42");
    d.settle();
    d.press(Key::enter);  // Dear ImGui 1.93 applies a typed value only then
    CHECK(d.session.sampling().seed % 100 == 42);
    CHECK(d.length() == 5);  // typing the seed generated nothing
}

TEST_CASE("running continues at its own pace until the text ends or is full, and stops on request") {
    GenerateDriver d;
    d.set({.temperature = 0.0});
    d.press(Key::r);
    CHECK(d.state.part<GenerateTabState>().running);
    for (int frame = 0; frame < 90; ++frame) d.settle_one();  // a second and a half
    CHECK(d.length() >= 8);
    CHECK(d.length() <= 12);
    d.press(Key::r);
    CHECK_FALSE(d.state.part<GenerateTabState>().running);
    const Index stopped = d.length();
    for (int frame = 0; frame < 60; ++frame) d.settle_one();
    CHECK(d.length() == stopped);
    d.press(Key::r);
    for (int frame = 0; frame < 600 && d.state.part<GenerateTabState>().running; ++frame) d.settle_one();
    CHECK_FALSE(d.state.part<GenerateTabState>().running);
    const bool ended = has_ended(d.session.scenario(), 0);
    CHECK((ended || d.length() == 24));
    d.settle();
    CHECK(d.sees(ended ? "Thetexthasended" : "All24positions"));
    CHECK_FALSE(d.sees("fallson"));
    d.forget();
    d.press(Key::period);
    CHECK(d.last<command::AppendToken>() == nullptr);
    CHECK_FALSE(d.session.message());
    d.press(Key::r);
    d.press(Key::s);
    CHECK_FALSE(d.state.part<GenerateTabState>().running);  // leaving the tab stops it
}

TEST_CASE("the cache's page says what is kept, and proves it tensor by tensor") {
    GenerateDriver d;
    REQUIRE(d.click_text("KVcache"));
    CHECK(d.sees("Kept0rows"));
    CHECK(d.sees("computed5rows"));
    d.press(Key::period);
    // 5 rows × k and v × 2 heads × 6 × 3 layers
    CHECK(d.sees("Kept5rows×2(k,v)×2heads×6numbers×3layers=360numbers;computed1row:72."));
    CHECK(d.sees("blocks.0.attn.k"));
    CHECK(d.sees("blocks.0.attn.v"));
    REQUIRE(d.click_text("layer2"));
    CHECK(d.sees("blocks.2.attn.v"));
    CHECK_FALSE(d.sees("blocks.0.attn.v"));
    REQUIRE(d.click_text("Proveit"));
    CHECK((d.sees("Largestdifferencebetweencachedandfullpass") || d.sees("equalbitforbit")));
    CHECK(d.sees("largestnumber"));
    const auto proof = d.proof();
    REQUIRE(proof);
    const Comparison& found = proof->comparison;
    CHECK(found.in_both > 40);
    CHECK(found.unmatched == 0);
    CHECK(found.largest < 1e-5);
    CHECK(d.sees(found.tensors[proof->worst_first.front()].name));
    d.press(Key::period);  // the proof keeps up
    REQUIRE(d.proof());
    CHECK(d.proof().number() != proof.number());
    CHECK(d.sees(d.proof()->comparison.tensors[d.proof()->worst_first.front()].name));
}

TEST_CASE("the lens's page shows the first token after each layer, and the text so far") {
    GenerateDriver d;
    d.press(Key::period);
    REQUIRE(d.click_text("Logitlens"));
    for (const char* label : {"embedding", "block0", "block1", "output", "thefinalprediction"}) CHECK(d.sees(label));
    const Companion* lens = d.session.shown().companion("generate.lens");
    REQUIRE(lens != nullptr);
    const auto read = shown_lens(d.session.derived(), lens->run, 0, d.length());
    REQUIRE(read);
    const LensTable& table = *read;
    REQUIRE(table.rows.size() == 4);
    for (const LensTable::Row& row : table.rows)
        for (const LensCell& cell : row.cells) CHECK(d.sees(d.piece(cell.top.front().first)));
    CHECK(table.rows.back().cells.back().top.front().first == d.next().candidates.front().token);
    // Pointing at a cell shows its five best tokens.
    const auto label = d.find_on_stage("block1");
    REQUIRE(label);
    d.point({label->high.x + 60, label->middle().y});
    CHECK(d.sees("logit_lens.blocks.1.probs"));
    for (const auto& [token, probability] : table.rows[2].cells[0].top)
        CHECK(d.sees(fixed_text(static_cast<double>(probability), 4)));
}

TEST_CASE("the rows of a batch grow each by itself") {
    GenerateDriver d;
    d.press(Key::period);
    d.apply(command::ChooseBatch{1});
    CHECK(d.length() == 5);
    d.press(Key::period);
    d.press(Key::period);
    CHECK(d.length() == 7);
    CHECK(row_length(d.session.scenario().inputs, 0) == 6);
    d.press(Key::comma);
    CHECK(d.length() == 6);
    CHECK(d.session.scenario().inputs.attention_mask.empty());
}

TEST_CASE("a model that can't write says what it lacks, and an idle tab does nothing") {
    GenerateDriver d(make_bundled_model("pre-ln-layer"));
    CHECK(d.sees("Nothingtogenerate"));
    CHECK(d.sees("readsvectors"));
    GenerateDriver busy;
    for (const char* page : {"Nexttoken", "KVcache", "Logitlens"}) {
        REQUIRE(busy.click_text(page));
        busy.forget();
        busy.state.busy = false;
        for (int frame = 0; frame < 5; ++frame) busy.settle_one();
        CHECK(busy.commands.empty());
        CHECK_FALSE(busy.state.busy);
    }
}

TEST_CASE("the Generate tab's text neither overlaps nor is cut off, at the smallest size and on a HiDPI screen") {
    for (const bool dark : {true, false})
        for (const auto& [size, scale] : {std::pair(ImVec2{1280, 800}, 1.0F), std::pair(ImVec2{3840, 2160}, 2.0F)}) {
            for (const char* model : {"", "causal-lm-as-meant", "post-ln-encdec", "simple-decoder"}) {
                INFO(model << " " << size.x << (dark ? " dark" : " light"));
                GenerateDriver d(*model == '\0' ? words() : make_bundled_model(model), scale, size);
                d.state.settings.dark = dark;
                check_layout(d, size);
                if (!generation_obstacle(d.session.scenario()).empty()) continue;
                d.set({.temperature = 0.8, .top_k = 8, .top_p = 0.5, .seed = 0});
                for (int i = 0; i < 6; ++i) d.press(Key::period);
                for (const char* page : {"Nexttoken", "KVcache", "Logitlens"}) {
                    INFO(page);
                    REQUIRE(d.click_text(page));
                    if (std::string_view(page) == "KVcache") REQUIRE(d.click_text("Proveit"));
                    d.point({2, 2});
                    check_layout(d, size);
                }
            }
        }
}

TEST_CASE("Beams draws the tree, and a text that is taken comes at once and goes at once") {
    for (const auto& [size, scale] :
         {std::pair{ImVec2{1280, 800}, 1.0F}, {ImVec2{1024, 700}, 1.0F}, {ImVec2{1920, 1080}, 2.0F}}) {
        INFO(size.x << " x " << size.y);
        GenerateDriver d(words(), scale, size);
        REQUIRE(d.click_text("Beams"));
        d.settle();
        const GenerateTabState& tab = d.state.part<GenerateTabState>();
        REQUIRE(tab.page == GeneratePage::beams);
        REQUIRE(tab.found);
        const BeamTree tree = tab.found.answer()->tree;
        const BeamTree alone = finished(beam_tree(d.session.scenario(), d.row(), tab.beams));
        REQUIRE(tree.finished == alone.finished);
        CHECK(d.find_on_stage(d.piece(tree.nodes.front().token)));
        check_layout(d, size);

        const std::vector<Index> before = d.tokens(), added = tree.tokens(tree.finished.front());
        REQUIRE(d.click_label("Takethistext"));
        d.settle();
        std::vector<Index> wanted = before;
        wanted.insert(wanted.end(), added.begin(), added.end());
        CHECK(d.tokens() == wanted);
        CHECK(generated_count(d.session.scenario(), d.row()) == static_cast<Index>(added.size()));
        d.apply(command::Undo{});
        CHECK(d.tokens() == before);
    }
}

TEST_CASE("a full text is said to be full where a click would append a token") {
    GenerateDriver d;
    while (d.session.scenario().inputs.pos() < 24) {
        d.apply(command::AppendToken{0, 3});
    }
    const std::vector<DrawnText> seen = d.seen();  // a frame changes it
    for (const DrawnText& piece : seen)
        if (d.on_stage(piece) && piece.text.ends_with("%")) d.point(piece.middle());
    d.live();
    CHECK(d.sees("positionsthatthismodelknows"));
    CHECK_FALSE(d.sees("clicktoappendit"));
}
