// A pass of a text is a run like any other: it has what the whole text's pass has at its positions, edits of it reach
// the passes after it, and what it reads of those before it is never out of date.
#include "app/core/files/saved_session.h"
#include "app/core/generate/shown_passes.h"
#include "app/core/run/edits.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/session/apply.h"
#include "tests/engine/messages.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

using Sizes = std::vector<Index>;

std::shared_ptr<const Run> run_of(const Scenario& scenario) { return execute(plan_of(scenario)); }

// How far the passes are from the whole text, in the tensors of all of them.
double furthest(const Scenario& whole, const Sizes& sizes) {
    const auto full = run_of(whole);
    double most = 0.0;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Scenario pass = with_pass(whole, sizes, i);
        const auto run = run_of(pass);
        const NamedTensors same = generate::same_cells(part_of_pass(*pass.passes, i), *full, *run);
        const Comparison found = compare(same, generate::tensors_of_pass(*run), 1e-5);
        most = std::max(most, found.largest);
        compared += found.in_both;
    }
    CHECK(compared > sizes.size() * 5);
    return most;
}

Scenario verses() { return scenario_of(load::load_model("verses")); }

Edit cached_key(float value) { return SetCell{"blocks.1.attn.k_kept", {0, 2, 1, 3}, value}; }

std::vector<float> numbers(const Run& run, const std::string& name) {
    const auto values = run.value(name).values();
    return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("each pass of every causal model has what the whole text has there, wherever the text is cut") {
    for (const load::BundledModel& model : testing::looked_at(load::bundled_models(), 3)) {
        const Scenario whole = scenario_of(load::load_model(model.name));
        const Index length = whole.inputs.pos();
        if (!whole.config().causal || length < 4) continue;
        INFO(model.name);
        for (const Sizes& sizes : {Sizes{1, length - 1}, Sizes{length - 1, 1}, Sizes{2, 1, length - 3}})
            CHECK(furthest(whole, sizes) < 2e-5);
        CHECK(furthest(whole, generate::even_sizes(1, 1, length)) < 2e-5);
    }
}

TEST_CASE("padding before a text, which sees nothing, sets no pass apart from the whole text") {
    for (const char* fill : {"-inf", "-1e9", "-3.4028235e38"}) {
        INFO(fill);
        Scenario whole = with_override(verses(), "mask_value", fill);
        Tensor mask({{axis::batch, 1}, {axis::pos, whole.inputs.pos()}});
        std::ranges::fill(mask.writable().subspan(3), 1.0F);
        std::ranges::fill(mask.writable().first(3), 0.0F);
        whole.inputs.attention_mask = mask;
        CHECK(furthest(whole, {5, 4, 9}) < 2e-5);
        CHECK(furthest(whole, {2, 16}) < 2e-5);
    }
}

TEST_CASE("the edits of the whole text are those of each pass that has their cells") {
    Scenario whole = verses();
    whole.edits = {ScaleHead{"blocks.0.attn", 1, 0.0F}, MaskEdit{"blocks.1.attn", 0, {}, 6, 2, false},
                   SetCell{"blocks.2.mlp_out", {0, 7, 5}, 3.0F}};
    CHECK(furthest(whole, {5, 2, 4, whole.inputs.pos() - 11}) < 2e-5);
    const Scenario second = with_pass(whole, {5, 2}, 1);
    CHECK(second.edits ==
          std::vector<Edit>{ScaleHead{"blocks.0.attn", 1, 0.0F}, MaskEdit{"blocks.1.attn", 0, {}, 1, 2, false}});
    CHECK(with_whole_text(second).edits == whole.edits);

    // Those that are gone from the text are gone from its passes; what was edited there stays.
    Scenario edited = second;
    edited.edits.push_back(SetCell{"blocks.0.mlp_out", {0, 0, 1}, 9.0F});
    Scenario fewer = with_whole_text(edited);
    fewer.edits.erase(fewer.edits.begin());
    CHECK(with_pass(fewer, {5, 2}, 1).edits == std::vector<Edit>{MaskEdit{"blocks.1.attn", 0, {}, 1, 2, false},
                                                                 SetCell{"blocks.0.mlp_out", {0, 0, 1}, 9.0F}});
}

TEST_CASE("an overwritten row of the cache is read by its pass and by those after it, and undone bit for bit") {
    const Scenario whole = verses();
    const Sizes sizes = {6, 1, 1};
    Scenario second = with_pass(whole, sizes, 1);
    const auto before = run_of(second);
    second.edits.push_back(cached_key(20.0F));
    CHECK(is_edited(second));
    const auto after = run_of(second);
    CHECK(after->value("blocks.1.attn.k").at(Cell{0, 2, 1, 3}) == 20.0F);
    CHECK(numbers(*after, "blocks.0.attn.pattern") == numbers(*before, "blocks.0.attn.pattern"));
    CHECK(numbers(*after, "logits") != numbers(*before, "logits"));

    const Scenario third = with_pass(second, sizes, 2);
    CHECK(third.edits.empty());
    CHECK(is_edited(third));
    CHECK(run_of(third)->value("blocks.1.attn.k_kept").at(Cell{0, 2, 1, 3}) == 20.0F);
    CHECK(numbers(*run_of(without_edits(third)), "logits") == numbers(*run_of(with_pass(whole, sizes, 2)), "logits"));

    // The first pass, and the whole text, know nothing of it.
    CHECK_FALSE(is_edited(with_pass(second, sizes, 0)));
    CHECK(with_whole_text(third).edits.empty());
    CHECK(with_pass(with_whole_text(third), sizes, 1).edits == std::vector<Edit>{cached_key(20.0F)});
}

TEST_CASE("a number of the cache says where it was written, and the window goes there") {
    Session session(load::load_model("verses"));
    const Sizes sizes = sizes_of_passes({6, 1, 1}, session.scenario().inputs.pos());
    apply(session, command::ShowPass{sizes, 2, {"blocks.1.attn.k_kept", {}, Cell{0, 2, 6, 3}}});
    CHECK(session.cursor().step == "blocks.1.attn.k_kept");
    const auto writer = [&] {
        return written_before(session.shown().scenario, session.shown().run->plan(), session.step(),
                              *session.cursor().cell);
    };
    const auto written = writer();
    REQUIRE(written);
    CHECK(written->pass == 1);
    CHECK(written->position == 6);
    const float kept = session.shown().run->value("blocks.1.attn.k_kept").at(Cell{0, 2, 6, 3});
    apply(session, command::ShowPass{sizes, written->pass, {written->step, {}, written->cell}});
    CHECK(session.cursor().step == "blocks.1.attn.k");
    CHECK(session.cursor().place.head == 2);
    CHECK(session.shown().run->value("blocks.1.attn.k").at(*session.cursor().cell) == kept);
    CHECK_FALSE(writer());
    const Scenario third = with_pass(verses(), {6, 1, 1}, 2);
    const auto plan = plan_of(third);
    CHECK(written_before(third, *plan, *plan->find("blocks.0.attn.v_kept"), {0, 0, 5, 0})->pass == 0);
}

TEST_CASE("what is kept follows the configuration: no pass reads rows of another one") {
    const Sizes sizes = {4, 3, 2};
    Scenario pass = with_pass(verses(), sizes, 2);
    static_cast<void>(run_of(pass));
    pass = with_override(pass, "attention_scale", "0.5");
    const Scenario whole = with_override(verses(), "attention_scale", "0.5");
    const auto full = run_of(whole), run = run_of(pass);
    const NamedTensors same = generate::same_cells({7, 2}, *full, *run);
    CHECK(compare(same, generate::tensors_of_pass(*run), 1e-5).over == 0);
    CHECK(compare(generate::same_cells({7, 2}, *run_of(verses()), *run), generate::tensors_of_pass(*run), 1e-3).over >
          0);
}

TEST_CASE("rows of one's own go with whoever looks at another pass") {
    Scenario pass = with_pass(verses(), {6, 1}, 0);
    const Edit row = AddRow{"reach", "blocks.*.attn", "pattern.amax(-1)"};
    pass.edits.push_back(row);
    CHECK(with_pass(pass, {6, 1}, 1).edits == std::vector<Edit>{row});
    CHECK(with_whole_text(pass).edits == std::vector<Edit>{row});
    // One that is removed is removed everywhere.
    Scenario later = with_pass(with_whole_text(pass), {6, 1}, 1);
    CHECK(later.edits == std::vector<Edit>{row});
    later.edits.clear();
    CHECK(with_pass(later, {6, 1}, 0).edits.empty());
    CHECK(with_whole_text(later).edits.empty());
    CHECK_FALSE(is_edited(pass));
}

TEST_CASE("a pass's own positions and its keys are labelled by the tokens of the text") {
    const Scenario whole = verses(), pass = with_pass(whole, {5, 3}, 1);
    const auto plan = plan_of(pass), all = plan_of(whole);
    const Step &pattern = *plan->find("blocks.0.attn.pattern"), &in_whole = *all->find("blocks.0.attn.pattern");
    const std::vector<std::string> labels = axis_labels(whole, in_whole, 3, 0);
    const auto part = [&](std::size_t first, std::size_t count) {
        const auto from = labels.begin() + static_cast<std::ptrdiff_t>(first);
        return std::vector<std::string>(from, from + static_cast<std::ptrdiff_t>(count));
    };
    CHECK(axis_labels(pass, pattern, 2, 0) == part(5, 3));
    CHECK(axis_labels(pass, pattern, 3, 0) == part(0, 8));
    CHECK(axis_labels(pass, *plan->find("blocks.0.attn.k_kept"), 2, 0) == part(0, 5));
}

TEST_CASE("a batch that is padded on the left counts its own padding in every pass") {
    Scenario whole = verses();
    whole.inputs = {.tokens = Tensor({{axis::batch, 2}, {axis::pos, 5}}, {0, 0, 3, 5, 7, 2, 8, 6, 3, 5}),
                    .attention_mask = Tensor({{axis::batch, 2}, {axis::pos, 5}}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1})};
    CHECK(furthest(whole, {2, 2, 1}) < 2e-5);
    const Tensor padding = padding_of(with_pass(whole, {1, 3, 1}, 1));
    CHECK(std::ranges::equal(padding.values(), std::vector<float>{0, 1, 1, 1, 1, 1}));
}

TEST_CASE("sizes that don't fit the text, and models that read ahead, get a sentence") {
    const Scenario whole = verses();
    const Index length = whole.inputs.pos();
    CHECK(error_of([&] {
              static_cast<void>(with_pass(whole, {3, 0}, 0));
          }) == "passes: expected positive numbers of positions, together at most the " + std::to_string(length) +
                    " of the text");
    CHECK_THROWS_AS(with_pass(whole, {length + 1}, 0), Error);
    CHECK_THROWS_AS(with_pass(whole, {Index{1} << 62, Index{1} << 62}, 0), Error);
    CHECK(error_of([&] { static_cast<void>(with_pass(whole, {3}, 2)); }) == "pass 2: expected 0 to 1");
    CHECK_THROWS_AS(with_pass(with_override(whole, "causal", "false"), {3}, 1), Error);
}

TEST_CASE("the window shows a pass, goes back, and keeps what was edited there") {
    Session session(load::load_model("verses"));
    const auto text = numbers(*session.shown().run, "logits");
    const Sizes sizes = sizes_of_passes({9}, session.scenario().inputs.pos());
    apply(session, command::ShowPass{sizes, 1});
    CHECK(session.shown().run->value("logits").dim(1) == sizes[1]);
    CHECK(session.shown().run == session.shown().unedited);
    apply(session, command::MakeEdit{cached_key(-30.0F)});
    CHECK(numbers(*session.shown().run, "logits") != numbers(*session.shown().unedited, "logits"));
    const auto edited = numbers(*session.shown().run, "logits");

    apply(session, command::ShowWholeText{});
    CHECK(numbers(*session.shown().run, "logits") == text);
    apply(session, command::ShowPass{sizes, 1});
    CHECK(numbers(*session.shown().run, "logits") == edited);
    apply(session, command::Undo{});
    CHECK(numbers(*session.shown().run, "logits") == text);

    // What is typed, or generated, is the whole text's.
    apply(session, command::Redo{});
    apply(session, command::AppendToken{0, 3});
    CHECK(shown_pass(session.scenario()) == nullptr);
    CHECK(session.scenario().inputs.pos() == static_cast<Index>(sizes[0] + sizes[1]) + 1);
}

TEST_CASE("a session keeps the passes of its text, and the edits of each") {
    const Sizes sizes = {6, 2, 4};
    Scenario whole = verses();
    whole.inputs = part_of(whole.inputs, {0, 12});
    whole.edits = {ScaleHead{"blocks.0.attn", 1, 0.5F}};
    Scenario pass = with_pass(whole, sizes, 1);
    pass.edits.push_back(cached_key(7.0F));
    pass = with_pass(pass, sizes, 2);
    pass.edits.push_back(SetCell{"blocks.0.mlp_out", {0, 3, 1}, 2.0F});
    for (const Scenario& saved : {pass, with_whole_text(pass), with_pass(pass, sizes, 0)}) {
        files::SavedSession work;
        work.scenario = saved;
        const std::string text = files::session_text(files::session_file_of(work), {});
        const files::SavedSession again = files::open_session(files::parse_session(text, {}), std::string("again"));
        CHECK(numbers(*run_of(again.scenario), "logits") == numbers(*run_of(saved), "logits"));
        CHECK(again.scenario.edits == saved.edits);
        CHECK(again.scenario.passes->shown == saved.passes->shown);
        CHECK(with_pass(again.scenario, sizes, 1).edits == with_pass(saved, sizes, 1).edits);
        CHECK(with_pass(again.scenario, sizes, 2).edits == with_pass(saved, sizes, 2).edits);
        CHECK(files::session_text(files::session_file_of(again), {}) == text);
    }
    // What a text was cut into doesn't cut the next one, whose session opens.
    files::SavedSession shorter;
    shorter.scenario = with_whole_text(pass);
    shorter.scenario.inputs = part_of(shorter.scenario.inputs, {0, 11});
    const std::string text = files::session_text(files::session_file_of(shorter), {});
    const files::SavedSession again = files::open_session(files::parse_session(text, {}), std::string("again"));
    CHECK_FALSE(again.scenario.passes);
    CHECK(again.scenario.inputs.pos() == 11);
    CHECK(generate::sizes_of(again.scenario) == generate::even_sizes(10, 1, 11));
}

TEST_CASE("the passes beside the whole text: rounding, what a token makes probable, a number pass by pass") {
    Session session(load::load_model("verses"));
    const Index length = session.scenario().inputs.pos();
    const Sizes sizes = generate::even_sizes(length - 3, 1, length);
    apply(session, command::Follow{"blocks.1.attn.k", {0, 2, 1, 3}});
    generate::PassesQuestion question{sizes, 0, session.cursor()};
    const auto answer = [&] {
        static_cast<void>(generate::shown_passes(session.derived(), session.shown(), question));
        session.derived().finish();
        return generate::shown_passes(session.derived(), session.shown(), question);
    };
    const auto all = answer();
    REQUIRE(all);
    REQUIRE(all->rows.size() == 4);
    const float key = session.shown().run->value("blocks.1.attn.k").at(Cell{0, 2, 1, 3});
    for (const generate::PassRow& row : all->rows) {
        CHECK(row.worst.relative() < 1e-4);
        CHECK(static_cast<double>(row.number.value()) == Approx(static_cast<double>(key)).margin(1e-5));
    }
    const Tensor& logits = session.shown().run->value("logits");
    const auto last = logits.row({0, length - 1, 0});
    CHECK(all->rows.back().next == std::ranges::max_element(last) - last.begin());

    // An overwritten row of the cache shows, from its pass on.
    apply(session, command::ShowPass{sizes, 2});
    apply(session, command::MakeEdit{cached_key(25.0F)});
    question.number = session.cursor();
    const auto edited = answer();
    REQUIRE(edited);
    CHECK(edited->rows[1].worst.relative() < 1e-4);
    CHECK(edited->rows[2].worst.relative() > 1e-2);
    CHECK(edited->rows[3].worst.relative() > 1e-2);
    const auto beside = generate::whole_beside(session.shown().scenario, *session.shown().run, *edited->whole);
    CHECK(beside->find("blocks.1.attn.k")->at(Cell{0, 2, 1, 3}) == key);
    CHECK(beside->find("logits")->dim(1) == 1);
}

TEST_CASE("the command line and a picture's caption say which pass it is, and who wrote what it reads") {
    const testing::Outcome explained = testing::run(
        {"explain", "verses", "--passes", "9,1", "--pass", "1", "--cell", "blocks.1.attn.k_kept[0, 2, 4, 3]"});
    CHECK(explained.status == 0);
    CHECK(explained.out.find("Written in pass 0, for position 4") != std::string::npos);
    CHECK(caption_of(with_pass(verses(), {9, 1}, 1), "what", "").find("verses, pass 1, position 9 · what") == 0);
    // Replaced tokens are told by their places in the text, as all else is.
    const testing::Outcome replaced = testing::run({"sweep", "verses", "--passes", "9", "--pass", "1", "--vary",
                                                    "each replaced token", "--row", "logits[0, 2, 5]"});
    CHECK(replaced.out.find("position 9, ") != std::string::npos);
    CHECK(replaced.out.find("position 8, ") == std::string::npos);
    const testing::Outcome continued = testing::run({"generate", "verses", "--passes", "9", "--pass", "1"});
    CHECK(continued.err.find("show the whole text to continue it") != std::string::npos);
}
