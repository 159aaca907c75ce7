// A step's formula rewritten in the window, rows added, questions answered by rows.
#include "app/core/sheet/draft.h"
#include "app/core/text/token_text.h"
#include "app/views/frame/books.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/same_bits.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace decoderscope::testing;

namespace {

const Tensor& value(const Driver& d, std::string_view step) { return d.session.shown().run->value(step); }

// Whether a text is on the screen, whatever stands between its words.
bool sees(const Driver& d, std::string text) {
    std::erase(text, ' ');
    return d.sees(text);
}

void look_up(Driver& d, std::string_view question) {
    d.press(Key::p, with_ctrl);
    d.hands.type(question);
    d.settle();
    d.press(Key::enter);
}

}  // namespace

TEST_CASE("a step's formula is typed over, the run follows, and undo restores it bit for bit") {
    Driver d("reverse");
    const std::string step = d.session.step().name;
    const Tensor before = value(d, step), logits = value(d, "logits");
    d.press(Key::equal);
    REQUIRE(d.state.dialog == Dialog::formula);
    CHECK(sees(d, "weight[…, k] = softmax_k(x[…, k])"));
    d.type_over("sigmoid(x)");
    CHECK(sees(d, "pattern[b, h, q, k] = σ(x[b, h, q, k])"));
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.session.cursor().step == step);
    const Tensor& scores = d.session.shown().run->operand(d.session.step(), OperandRole::input);
    for (std::size_t i = 0; i < scores.values().size(); ++i) {
        const double x = static_cast<double>(scores.values()[i]);
        CHECK(std::abs(static_cast<double>(value(d, step).values()[i]) - 1.0 / (1.0 + std::exp(-x))) < 1e-6);
    }
    CHECK_FALSE(same_bits(value(d, "logits"), logits));
    d.press(Key::z, with_ctrl);
    CHECK(same_bits(value(d, step), before));
    CHECK(same_bits(value(d, "logits"), logits));
}

TEST_CASE("a formula typed wrong in ten ways gets a sentence under it, and Enter changes nothing") {
    Driver d("reverse");
    d.press(Key::equal);
    std::set<std::string> sentences;
    for (const std::string wrong : {"sofmax(x, -1)", "softmax(y, -1)", "softmax(x, -1", "x.sum(-1)", "x @ q",
                                    "x.softmax()", "x + ", "pattern[b, h, q] = Σ_k x[b, h, q, k]", "Σ x", "v"}) {
        CAPTURE(wrong);
        d.type_over(wrong);
        const auto outcome =
            core::sheet::outcome_of(d.session.derived(), d.session.shown(), d.state.part<FormulaEditorState>().draft);
        REQUIRE(outcome);
        CHECK_FALSE(outcome->error.empty());
        sentences.insert(outcome->error.english());
        d.press(Key::enter);
        CHECK(d.state.dialog == Dialog::formula);
    }
    CHECK(sentences.size() >= 9);
    CHECK(d.session.scenario().edits.empty());
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("a row is written with names completed by Tab, for every layer, and has a place on the strip") {
    Driver d("reverse");
    d.press(Key::a);
    d.press(Key::r, with_shift);
    REQUIRE(d.state.dialog == Dialog::formula);
    d.hands.type("patt");
    d.settle();
    CHECK(sees(d, "pattern"));
    d.press(Key::tab);
    d.hands.type(".max(-1).values");
    d.settle();
    CHECK(sees(d, "max_k pattern[b, h, q, k]"));
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
    const std::string row = d.session.step().name;
    CHECK(row.ends_with(".attn.row"));
    CHECK(d.find_on_strip(row));
    const Tensor& pattern = value(d, row.substr(0, row.size() - 3) + "pattern");
    for (Index q = 0; q < pattern.dim(2); ++q) {
        float largest = 0.0F;
        for (Index k = 0; k < pattern.dim(3); ++k) largest = std::max(largest, pattern.at(Cell{0, 0, q, k}));
        CHECK(value(d, row).at(Cell{0, 0, q}) == largest);
    }
    // Opened again it is what was written, and it can be removed.
    d.press(Key::equal);
    CHECK(sees(d, "pattern.max(-1).values"));
    REQUIRE(d.click_text("Removetherow"));
    CHECK(d.session.scenario().edits.empty());
    CHECK_FALSE(sees(d, "Mine"));
}

TEST_CASE("a row of the losses is typed, and the loss's gradients come and go beside it") {
    Driver d;
    d.apply(command::GoTo{"logits"});
    d.press(Key::r, with_shift);
    d.hands.type("2 * loss_per_token");
    d.settle();
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.session.step().name == "row");
    const Tensor row = value(d, "row"), losses = value(d, "loss_per_token");
    REQUIRE_FALSE(losses.empty());
    for (std::size_t i = 0; i < losses.values().size(); ++i) CHECK(row.values()[i] == 2 * losses.values()[i]);
    d.press(Key::l, with_shift);
    CHECK_FALSE(value(d, "grad.logits").empty());
    CHECK(same_bits(value(d, "row"), row));
    d.press(Key::l, with_shift);
    CHECK(value(d, "grad.logits").empty());
    CHECK(same_bits(value(d, "row"), row));
}

TEST_CASE("rows that read rows stay when the input changes") {
    Driver d("reverse");
    d.session.apply(command::MakeEdit{AddRow{"best", "", "logits.max(-1).values"}});
    d.apply(command::MakeEdit{AddRow{"twice", "", "2 * best"}, {"twice"}});
    CHECK(d.session.step().name == "twice");
    d.apply(command::TypeInput{{.target = Typed{.text = "abc"}}});
    CHECK(d.session.scenario().edits.size() == 2);
    const auto before = d.session.scenario().edits;
    d.apply(command::ClearEdits{});
    CHECK(d.session.scenario().edits.empty());
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits == before);
    for (std::size_t i = 0; i < value(d, "best").values().size(); ++i)
        CHECK(value(d, "twice").values()[i] == 2 * value(d, "best").values()[i]);
}

TEST_CASE("a row changed in the editor takes its own place: another name or reach leaves no second one") {
    Driver d("reverse");
    d.session.apply(command::MakeEdit{AddRow{"best", "", "logits.max(-1).values"}});
    d.apply(command::MakeEdit{AddRow{"twice", "", "2 * best"}, {"best"}});
    d.apply(command::GoTo{"best"});
    d.press(Key::equal);
    d.type_over("logits.min(-1).values");
    d.press(Key::enter);
    REQUIRE(d.state.dialog == Dialog::none);
    const auto& edits = d.session.scenario().edits;
    REQUIRE(edits.size() == 2);
    CHECK(std::get<AddRow>(edits[0]).formula == "logits.min(-1).values");
    CHECK(value(d, "twice").values()[0] == 2 * value(d, "best").values()[0]);
    // A formula of this layer becomes one of every layer.
    const std::string step = "blocks.1.attn.pattern";
    d.apply(command::MakeEdit{RewriteStep{step, "sigmoid(x)"}, {step}});
    d.press(Key::equal);
    REQUIRE(d.click_text("Ineverylayer"));
    REQUIRE(d.click_text("Usethisformula"));
    REQUIRE(d.session.scenario().edits.size() == 3);
    CHECK(d.session.scenario().edits[2] == Edit(RewriteStep{"blocks.*.attn.pattern", "sigmoid(x)"}));
}

TEST_CASE("questions are answered by rows, in three gestures") {
    Driver d("reverse");
    look_up(d, "similar heads");
    CHECK(d.session.cursor().step.ends_with(".similar_heads"));
    const Tensor& similar = value(d, d.session.cursor().step);
    for (Index h = 0; h < similar.dim(1); ++h) CHECK(std::abs(similar.at(Cell{0, h, h}) - 1.0F) < 1e-5F);
    for (const auto& [words, row] :
         {std::pair{"least sure", "least_sure"}, std::pair{"second guess", "second_guess"},
          std::pair{"rank right answer", "target_rank"}, std::pair{"which neuron", "neuron_largest"}}) {
        CAPTURE(words);
        look_up(d, words);
        INFO((d.session.message() ? d.session.message()->text.english() : std::string("nothing said")));
        CHECK(d.session.cursor().step.ends_with(row));
    }
}

TEST_CASE("heads side by side are hatched by their own cells' masks") {
    Driver d("reverse");
    Scenario scenario = d.session.scenario();
    scenario.edits = {MaskEdit{"blocks.1.attn", 0, 2, 5, 1, false}, AddRow{"sum", "blocks.*.attn", "pattern.sum(1)"}};
    const auto run = execute(plan_of(scenario));
    const Step& pattern = *run->plan().find("blocks.1.attn.pattern");
    Slice all = slice_of(pattern, {}, 4);
    all.joins_heads = true;
    const std::vector<std::uint8_t> together = hidden_cells(*run, pattern, all);
    for (Index head = 0; head < 4; ++head) {
        const Slice one = slice_of(pattern, {.head = head}, 4);
        const std::vector<std::uint8_t> alone = hidden_cells(*run, pattern, one);
        for (Index row = 0; row < one.rows(); ++row)
            for (Index key = 0; key < one.columns(); ++key)
                CHECK(together[static_cast<std::size_t>(row * all.columns() + head * one.columns() + key)] ==
                      alone[static_cast<std::size_t>(row * one.columns() + key)]);
    }
}

TEST_CASE("each ready row is computed in a model that has what it reads, and holds finite numbers") {
    Driver d("reverse");
    CHECK(core::sheet::ready_rows().size() >= 30);
    std::vector<std::string> others;
    const auto is_fitting = [fitting = core::sheet::ready_rows(d.session.shown())](const std::string& name) {
        return std::ranges::any_of(fitting, [&](const core::sheet::ReadyRow& one) { return one.row.name == name; });
    };
    for (const core::sheet::ReadyRow& ready : core::sheet::ready_rows())
        if (!is_fitting(ready.row.name)) others.push_back(ready.row.name);
    // Without dropout there are no weights after it, without experts none are chosen, no lens was fitted, and there is
    // no other run yet.
    CHECK(others == std::vector<std::string>{"dropped_sum", "apart", "patterns_apart", "predicts_otherwise",
                                             "experts_flipped", "kl_fitted"});
    d.apply(command::Pin{});
    const std::vector<core::sheet::ReadyRow> fitting = core::sheet::ready_rows(d.session.shown());
    CHECK(fitting.size() == core::sheet::ready_rows().size() - 3);
    for (const core::sheet::ReadyRow& ready : core::sheet::ready_rows()) {
        CAPTURE(ready.row.name);
        if (ready.row.name == "kl_fitted") continue;  // test_ready_rows.cpp has a lens
        const bool needs_experts = ready.row.name == "experts_flipped";
        Scenario scenario =
            needs_experts ? scenario_of(load::make_bundled_model("experts")) : Scenario(d.session.scenario());
        const auto fitted =
            std::ranges::find(fitting, row_name(ready.row), [](const auto& one) { return row_name(one.row); });
        scenario.edits = {fitted == fitting.end() ? ready.row : fitted->row};
        scenario.dropout_seed = 1;
        const auto run = execute(plan_of(with_gradients_read(std::move(scenario))));
        std::size_t rows = 0;
        for (const Step& step : run->plan().steps()) {
            if (step.part != Part::own || step.role == Role::internal) continue;
            ++rows;
            for (const float number : run->value(step.id).values())
                if (!std::isfinite(number)) FAIL_CHECK("a number is not finite");
        }
        CHECK(rows >= 1);
    }
}

TEST_CASE(
    "a row's answer stands first: above its operands, its question, its largest number in words, tokens for places") {
    const auto asks = [](Driver& d, const std::string& name) {
        const std::vector<core::sheet::ReadyRow> rows = core::sheet::ready_rows(d.session.shown());
        const auto ready = std::ranges::find(rows, name, [](const auto& one) { return one.row.name; });
        REQUIRE(ready != rows.end());
        d.apply(command::MakeEdit{ready->row,
                                  {core::sheet::row_beside(d.session.shown(), d.session.step(), ready->row), {}, {}}});
        return std::string(ready->question.english());
    };
    Driver d("verses", 1.0F, {1280, 800});
    const std::string question = asks(d, "rollout");
    CHECK(question.starts_with("From which tokens does each"));
    CHECK(d.sees("Fromwhichtokensdoeseach"));  // what is drawn has no spaces
    CHECK(d.heatmap("rollout").cells().low.y < d.heatmap("rollout", "blocks.0.attn.pattern").cells().low.y);
    CHECK(d.sees("Largest:1"));
    CHECK(d.sees("query0“<bos>”,key0“<bos>”"));
    static_cast<void>(asks(d, "second_guess"));
    CHECK_FALSE(d.sees("Largest:"));  // a token is no more than another
    const Tensor& guesses = d.session.shown().run->value("second_guess");
    const std::string second =
        token_text(d.session.shown().scenario.tokenizer(), static_cast<Index>(guesses.values()[1]));
    CHECK(d.heatmap("second_guess").number(0, 1) == second);
}

TEST_CASE("the editor fits every screen") {
    for (const Screen& screen : kScreens) {
        INFO(screen.size.x << " x " << screen.size.y << ", text " << screen.scale);
        Driver d("reverse", screen.scale, screen.size);
        d.press(Key::r, with_shift);
        d.hands.type("pattern.max(-1).values");
        d.settle();
        check_dialog(d, screen.size, "A row of your own");
    }
}
