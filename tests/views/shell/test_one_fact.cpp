// One fact, one number: after random edits, every sentence that any tab draws about what they did is compared with the
// tensors of runs that are computed here, by loops of our own.
#include "app/core/run/output_moves.h"
#include "app/core/train/shown_training.h"
#include "app/core/train/training_plan.h"
#include "app/views/frame/tab.h"
#include "app/views/tabs/ask/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

bool alike(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What the edits of a scenario did, by the definitions in docs/semantics.md.
struct Facts {
    bool predicts = false;
    double largest = 0.0;
    int positions = 0, lost = 0, changed = 0;  // without padding
    int judged = 0, right = 0;
    int tensors = 0, changed_tensors = 0;
};

// −1 for NaN.
int prediction_at(const Tensor& logits, Index row, Index position) {
    int best = 0;
    for (Index id = 0; id < logits.dim(2); ++id) {
        const float logit = logits.at(Cell{row, position, id});
        if (std::isnan(logit)) return -1;
        if (logit > logits.at(Cell{row, position, best})) best = static_cast<int>(id);
    }
    return best;
}

bool is_kept(const Inputs& inputs, Index row, Index position) {
    if (position >= inputs.pos()) return false;
    return inputs.attention_mask.empty() || inputs.attention_mask.at(Cell{row, position}) == 1.0F;
}

Facts facts_of(const Scenario& scenario) {
    Scenario plain = scenario;
    plain.edits.clear();
    const auto before = execute(plan_of(plain)), after = execute(plan_of(scenario));
    Facts facts;
    for (const Step& step : after->plan().steps()) {
        const Tensor &was = before->value(step.name), &is = after->value(step.id);
        if (step.role != Role::recorded || is.empty()) continue;
        ++facts.tensors;
        facts.changed_tensors += std::ranges::equal(was.values(), is.values(), alike) ? 0 : 1;
    }
    const Ref output = output_step(after->plan());  // the logits, or the last hidden states of a model without
    if (output == nullptr) return facts;
    facts.predicts = output->name == "logits";
    const Tensor &was = before->value(output->name), &is = after->value(output->name);
    const Inputs& inputs = scenario.inputs;
    for (Index row = 0; row < is.dim(0); ++row) {
        for (Index position = 0; position < is.dim(1); ++position) {
            if (!is_kept(inputs, row, position)) continue;
            ++facts.positions;
            bool lost = false;
            for (Index id = 0; id < is.dim(2); ++id) {
                const float a = was.at(Cell{row, position, id}), b = is.at(Cell{row, position, id});
                lost = lost || (std::isnan(b) && !std::isnan(a));
                if (!std::isnan(a) && !std::isnan(b) && a != b)
                    facts.largest = std::max(facts.largest, std::abs(static_cast<double>(b) - static_cast<double>(a)));
            }
            facts.lost += lost ? 1 : 0;
            if (!facts.predicts) continue;
            const int now = prediction_at(is, row, position);
            facts.changed += now != prediction_at(was, row, position) ? 1 : 0;
            if (inputs.tokens.empty() || !is_kept(inputs, row, position + 1)) continue;
            ++facts.judged;
            facts.right += now == static_cast<int>(inputs.tokens.at(Cell{row, position + 1})) ? 1 : 0;
        }
    }
    return facts;
}

// A number as the window writes it.
double drawn_number(std::string text) {
    if (text == "NaN") return NAN;
    if (text == "−∞") return -INFINITY;
    if (text.starts_with("∞")) return INFINITY;
    if (const std::size_t minus = text.find("−"); minus != std::string::npos) text.replace(minus, 3, "-");
    return std::stod(text);
}

// A kind of sentence, and what one that was found must say. Compiled once: the windows of this test draw some hundred
// thousand pieces of text.
struct Sentence {
    std::string kind;
    std::regex pattern;
    void (*check)(const std::smatch& found, const Facts& facts);
};

int number(const std::smatch& found, std::size_t group) { return std::stoi(found[group].str()); }

const std::vector<Sentence>& sentences() {
    static const std::vector<Sentence> all = {
        {"moved", std::regex("logitsmovedbyatmost([^;…(]+)[(;]"),
         [](const std::smatch& found, const Facts& facts) {
             const double drawn = drawn_number(found[1].str());
             CHECK(facts.lost == 0);
             CHECK((drawn == facts.largest || std::abs(drawn - facts.largest) <= 0.006 * facts.largest));
         }},
        {"lost", std::regex("NaNat(\\d+)of(\\d+)positionsnow"),
         [](const std::smatch& found, const Facts& facts) {
             CHECK(number(found, 1) == facts.lost);
             CHECK(number(found, 2) == facts.positions);
         }},
        {"changed", std::regex("predictionchangedat(\\d+)of(\\d+)positions"),
         [](const std::smatch& found, const Facts& facts) {
             CHECK(number(found, 1) == facts.changed);
             CHECK(number(found, 2) == facts.positions);
         }},
        {"unchanged", std::regex("nopredictionchanged"),
         [](const std::smatch&, const Facts& facts) { CHECK(facts.changed == 0); }},
        {"same", std::regex("logitsstayedthesame"),
         [](const std::smatch&, const Facts& facts) {
             CHECK(facts.largest == 0.0);
             CHECK(facts.changed == 0);
         }},
        {"tensors", std::regex("(\\d+)of(\\d+)tensors(changed|differ)"),
         [](const std::smatch& found, const Facts& facts) {
             CHECK(number(found, 1) == facts.changed_tensors);
             CHECK(number(found, 2) == facts.tensors);
         }},
    };
    return all;
}

// How often each kind of sentence was seen, so that the test can't pass by seeing none.
using SeenKinds = std::map<std::string, int>;

void check_sentence(const std::string& text, const Facts& facts, SeenKinds& seen) {
    std::smatch found;
    for (const Sentence& sentence : sentences()) {
        if (!std::regex_search(text, found, sentence.pattern)) continue;
        ++seen[sentence.kind];
        sentence.check(found, facts);
    }
}

class Draws {
public:
    explicit Draws(unsigned seed) : random_(seed) {}
    Index below(Index count) { return static_cast<Index>(random_() % static_cast<std::mt19937::result_type>(count)); }

private:
    std::mt19937 random_;
};

std::vector<std::string> masked_attentions(const Plan& plan) {
    std::vector<std::string> found;
    for (const Step& step : plan.steps())
        if (step.is_pattern && step.masked_by) found.push_back(step.attention);
    return found;
}

// A head off, a row of a mask hidden from all keys or but one, a number typed over, a NaN among the logits.
void edit_at_random(Driver& d, Draws& draws) {
    const Plan& plan = d.session.shown().run->plan();
    const std::vector<std::string> attentions = masked_attentions(plan);
    const std::string& attention =
        attentions[static_cast<std::size_t>(draws.below(static_cast<Index>(attentions.size())))];
    const Tensor& pattern = d.session.shown().run->value(attention, AttentionStep::pattern);
    const Index batch = draws.below(pattern.dim(0)), head = draws.below(pattern.dim(1)),
                query = draws.below(pattern.dim(2));
    switch (draws.below(4)) {
        case 0:
            d.session.apply(command::ScaleHeadTo{attention, head, 0.0F});
            break;
        case 1: {
            MaskStroke stroke{attention, batch, head, {}, false};
            for (Index key = 0; key < pattern.dim(3); ++key) stroke.cells.emplace_back(query, key);
            d.session.apply(command::PaintMasks{stroke});
            break;
        }
        case 2:
            d.session.apply(command::TypeOver{attention + ".z", {batch, head, query, 0}, 25.0F});
            break;
        default:
            if (const Ref logits = plan.find("logits")) {
                const Index row = draws.below(logits->axes[0].size), position = draws.below(logits->axes[1].size);
                d.session.apply(command::TypeOver{"logits", {row, position, 0}, NAN});
            }
    }
    d.session.finish();
}

// All that is drawn, a line a piece.
void check_tab(Driver& d, const Tab& tab, const Facts& facts, SeenKinds& seen) {
    d.state.tab = tab.id;
    d.settle();
    d.session.finish();
    d.settle();
    INFO(tab.id);
    for (const DrawnText& piece : d.seen()) {
        INFO(piece.text);
        check_sentence(piece.text, facts, seen);
    }
}

// ---- Causes and Train, whose sentences are about numbers of their own

// Where the effects' column of the table of heads ends: with its heading, which may be drawn as one piece with those
// before.
std::optional<float> effects_end(const Driver& d) {
    for (const DrawnText& piece : d.seen())
        for (const char* heading : {"effect", "8stepseffect", "gradient8stepseffect"})
            if (piece.text == heading && d.on_stage(piece)) return piece.high.x;
    return std::nullopt;
}

// What stands on the line of a piece in the column that ends there, without the mark of a doubt. A column is 66 pixels
// wide.
std::string text_in_column(const Driver& d, const DrawnText& line, float end) {
    std::vector<std::pair<float, char>> found;  // by where they are
    for (const DrawnText& piece : d.seen()) {
        if (std::abs(piece.middle().y - line.middle().y) >= 4.0F || !d.on_stage(piece)) continue;
        for (std::size_t i = 0; i < piece.text.size(); ++i)
            if (piece.x[i] > end - 64.0F && piece.x[i] < end + 1.0F) found.emplace_back(piece.x[i], piece.text[i]);
    }
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
    std::string text;
    for (const auto& [x, letter] : found) text += letter;
    if (const std::string_view doubt = "≠"; text.starts_with(doubt)) text.erase(0, doubt.size());
    return text;
}

// As three digits are written.
bool is_written_as(double number, double drawn) {
    if (!std::isfinite(number) || !std::isfinite(drawn))
        return number == drawn || (std::isnan(number) && std::isnan(drawn));
    return std::abs(number - drawn) <= 0.006 * std::max(std::abs(number), std::abs(drawn)) + 1e-3;
}

std::string all_text(const Driver& d, const std::string& between = "") {
    std::string all;
    for (const DrawnText& piece : d.seen())
        if (d.on_stage(piece)) all += piece.text + between;
    return all;
}

void show_causes(Driver& d, core::ask::AskPage page) {
    d.state.tab = "ask";
    d.state.part<views::ask::AskTabState>().question.page = page;
    for (int i = 0; i < 3; ++i) {
        d.settle();
        d.session.finish();
    }
    d.settle();
}

double number_in(const Run& run, const core::ask::ChosenNumber& number) { return number.in(run.value(number.tensor)); }

// Every head's effect that is listed, against a run of our own in which the head is off.
int check_effects(const Driver& d, const core::ask::ChosenNumber& number) {
    const Scenario& scenario = d.session.scenario();
    const Run& run = *d.session.shown().run;
    const std::optional<float> effects = effects_end(d);
    int checked = 0;
    for (const Step& step : run.plan().steps()) {
        if (!step.is_pattern) continue;
        for (Index head = 0; head < step.axes[1].size; ++head) {
            std::string name = step.attention + "head" + std::to_string(head);
            if (const std::size_t at = name.find("blocks."); at != std::string::npos) name.erase(at, 7);
            const auto row = d.find_on_stage(name);
            if (!row || row->text != name) continue;  // below the fold
            REQUIRE(effects);
            Scenario off = scenario;
            off.edits.push_back(ScaleHead{step.attention, head, 0.0F});
            const double effect = number_in(run, number) - number_in(*execute(plan_of(off)), number);
            const std::string drawn = text_in_column(d, *row, *effects);
            INFO(name << ": drawn " << drawn << ", by a run of our own " << effect);
            REQUIRE_FALSE(drawn.empty());
            CHECK(is_written_as(effect, drawn_number(drawn)));
            ++checked;
        }
    }
    return checked;
}

// The number without what was typed over the logits: no head and no MLP wrote that.
double written_number(const Scenario& scenario, const core::ask::ChosenNumber& number) {
    Scenario written = scenario;
    std::erase_if(written.edits, [](const Edit& edit) {
        const SetCell* set = std::get_if<SetCell>(&edit);
        return set != nullptr && set->tensor == "logits";
    });
    return number_in(*execute(plan_of(written)), number);
}

// The number in run B, where it is this run with another token in one place.
std::optional<double> number_with_swap(const Driver& d, const core::ask::ResolvedNumber& number) {
    const core::ask::OtherChoice& other = d.state.part<views::ask::AskTabState>().compared;
    if (other.kind != core::ask::OtherKind::token || !other.position || !other.token) return std::nullopt;
    Scenario swapped = d.session.scenario();
    Inputs& inputs = swapped.inputs;
    Tensor& tokens = inputs.encoder_tokens.empty() ? inputs.tokens : inputs.encoder_tokens;
    tokens.writable()[static_cast<std::size_t>(tokens.offset(Cell{number.batch, *other.position}))] =
        static_cast<float>(*other.token);
    return number_in(*execute(plan_of(swapped)), number.number);
}

struct CheckedCauses {
    int effects = 0, sums = 0, sides = 0, other_sides = 0, without_number = 0;
};

void check_writers(Driver& d, const core::ask::ResolvedNumber& shown, CheckedCauses& checked) {
    const std::string text = all_text(d);
    INFO(text);
    std::smatch found;
    if (!std::regex_search(
            text, found,
            std::regex("termssumto([^;]+);therun'slogitis(NaN|(?:−)?(?:∞|[0-9]*\\.?[0-9]*(?:e(?:−)?[0-9]+)?))")))
        return;
    CHECK(is_written_as(number_in(*d.session.shown().run, shown.number), drawn_number(found[2].str())));
    CHECK(is_written_as(written_number(d.session.scenario(), shown.number), drawn_number(found[1].str())));
    ++checked.sums;
}

void check_moves(Driver& d, const core::ask::ResolvedNumber& shown, CheckedCauses& checked) {
    const std::string text = all_text(d);
    INFO(text);
    int heads = 0;
    for (const Step& step : d.session.shown().run->plan().steps())
        if (step.is_pattern) heads += static_cast<int>(step.axes[1].size);
    const bool is_number = std::isfinite(number_in(*d.session.shown().run, shown.number));
    std::smatch found;
    if (std::regex_search(text, found, std::regex("wrongsignfor(\\d+)of(\\d+)head"))) {
        CHECK(is_number);
        CHECK(std::stoi(found[2].str()) == heads);
        CHECK(std::stoi(found[1].str()) <= heads);
    }
    if (std::regex_search(text, found, std::regex("effectof(\\d+)headsisNaN"))) {
        CHECK(std::stoi(found[1].str()) <= heads);
        if (!is_number) CHECK(std::stoi(found[1].str()) == heads);
    }
    checked.effects += check_effects(d, shown.number);
}

void check_patching(Driver& d, const core::ask::ResolvedNumber& shown, CheckedCauses& checked) {
    const std::string text = all_text(d);
    INFO(text);
    const double number = number_in(*d.session.shown().run, shown.number);
    std::smatch found;
    if (std::regex_search(text, found, std::regex("is([^ ]{1,10})inAandinB"))) {
        CHECK(std::isfinite(number));
        CHECK(is_written_as(number, drawn_number(found[1].str())));
        return;
    }
    if (!std::regex_search(text, found, std::regex("is([^ ]{1,10})inAand([^ ]{1,10})inB"))) return;
    const double in_b = drawn_number(found[2].str());
    CHECK(is_written_as(number, drawn_number(found[1].str())));
    if (!std::isfinite(number) || !std::isfinite(in_b)) {
        CHECK(text.find("noshareofthatcancomeback") != std::string::npos);
        CHECK(text.find("1isallofit") == std::string::npos);
    }
    ++checked.sides;
    if (const std::optional<double> swapped = number_with_swap(d, shown)) {
        CHECK(is_written_as(*swapped, in_b));
        ++checked.other_sides;
    }
}

// All sentences of the three pages, about whatever number they say that they are about.
void check_causes(Driver& d, CheckedCauses& checked) {
    using core::ask::AskPage;
    const auto& shown = d.state.part<views::ask::AskTabState>().shown;
    show_causes(d, AskPage::writers);
    if (!shown) {  // a model without logits
        CHECK(all_text(d).find("termssumto") == std::string::npos);
        return;
    }
    if (!std::isfinite(number_in(*d.session.shown().run, shown->number))) ++checked.without_number;
    check_writers(d, *shown, checked);
    show_causes(d, AskPage::moves);
    check_moves(d, *shown, checked);
    show_causes(d, AskPage::patching);
    check_patching(d, *shown, checked);
}

}  // namespace

TEST_CASE("after random edits of any model, no sentence of any tab contradicts the tensors") {
    SeenKinds seen;
    unsigned seed = 7;
    for (const BundledModel& model : looked_at(bundled_models(), 3)) {
        Driver d(model.name, 1.0F, {1920, 1080});
        if (!d.session.scenario().computes() || masked_attentions(d.session.shown().run->plan()).empty()) continue;
        Draws draws(++seed);
        for (int round = 0; round < (kSanitized ? 1 : 3); ++round) {
            edit_at_random(d, draws);
            d.settle();
            const Facts facts = facts_of(d.session.scenario());
            INFO(model.name << " round " << round << ", edits " << d.session.scenario().edits.size());
            for (const Tab& tab : tabs())
                if (tab.id != "ask" && tab.id != "train") check_tab(d, tab, facts, seen);
        }
    }
    for (const char* kind : {"moved", "lost", "changed", "unchanged", "tensors"}) {
        INFO(kind);
        CHECK((seen[kind] > 0 || kSanitized));
    }
}

TEST_CASE("a mask that leaves a row nothing is wrong and changed wherever that is said") {
    Driver d("reverse", 1.0F, {1920, 1080});
    MaskStroke stroke{"blocks.1.attn", 0, 0, {}, false};
    for (Index key = 0; key <= 3; ++key) stroke.cells.emplace_back(3, key);
    d.apply(command::PaintMasks{stroke});
    const Facts facts = facts_of(d.session.scenario());
    REQUIRE(facts.lost > 0);
    REQUIRE(facts.judged == 18);
    CHECK(facts.right < 18);
    d.point(d.token_in_field(3));
    CHECK(d.sees("✗wrong:alogitisNaN"));
    CHECK_FALSE(d.sees("nopredictionchanged"));
    CHECK(d.sees("thepredictionchangedat" + std::to_string(facts.changed) + "of20positions"));
}

TEST_CASE("after random edits of any model, Causes says nothing of a number that the tensors contradict", "[long]") {
    CheckedCauses checked;
    unsigned seed = 70;
    for (const BundledModel& model : bundled_models()) {
        Draws draws(++seed);
        Driver d(model.name, 1.0F, {1920, 1080});
        if (!d.session.scenario().computes() || masked_attentions(d.session.shown().run->plan()).empty()) continue;
        edit_at_random(d, draws);
        d.settle();
        INFO(model.name);
        check_causes(d, checked);
        // The number that it is about becomes NaN.
        const auto& shown = d.state.part<views::ask::AskTabState>().shown;
        if (!shown) continue;
        d.apply(command::TypeOver{shown->number.tensor, shown->number.cell, NAN});
        check_causes(d, checked);
    }
    CHECK(checked.effects > 20);
    CHECK(checked.sums > 4);
    CHECK(checked.sides > 4);
    CHECK(checked.other_sides > 2);
    CHECK(checked.without_number > 0);
}

TEST_CASE("Train's losses are those of a training of our own with the same recipe") {
    Driver d("induction", 1.0F, {1920, 1080});
    core::train::TrainingPlan plan{.task = "reversal", .text = {}, .layers = 1, .d_model = 16, .rows = 4, .steps = 14};
    plan.runs = {core::train::RunChoice{}};
    d.session.apply(command::ChangeTraining{plan});
    d.session.apply(command::StartTraining{});
    d.session.finish_training();
    d.state.tab = "train";
    d.settle();
    d.settle();
    const core::train::SeenTraining seen = d.session.training().seen().front();
    const core::train::Recipe& recipe = *seen.recipe;
    decoderscope::train::Trainer trainer = core::train::first_trainer(recipe);
    double sum = 0.0;
    for (Index step = 1; step <= recipe.steps; ++step) {
        const double loss = trainer.train(core::train::batch_of(recipe, step)).loss;
        if (step > recipe.steps - 10) sum += loss;
    }
    std::smatch found;
    const std::string text = all_text(d, " ");
    INFO(text);
    REQUIRE(std::regex_search(text, found, std::regex(":loss([0-9.]+)")));
    CHECK(is_written_as(sum / 10.0, drawn_number(found[1].str())));
    REQUIRE(std::regex_search(text, found, std::regex("chance:([0-9.]+)")));
    double answers = 0.0;
    for (const std::string& piece : recipe.task.vocabulary) answers += piece == "<pad>" || piece == "<bos>" ? 0.0 : 1.0;
    CHECK(is_written_as(std::log(answers), drawn_number(found[1].str())));
    REQUIRE(std::regex_search(text, found, std::regex("(\\d+)of(\\d+)steps")));
    CHECK(std::stoi(found[1].str()) == 14);
    CHECK(std::stoi(found[2].str()) == 14);
}
