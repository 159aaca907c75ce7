// The glossary: every term that the window shows has an entry, and every entry is about something that it shows.
#include "app/core/glossary/glossary.h"
#include "app/core/run/scenario.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::core::glossary;

namespace {

namespace fs = std::filesystem;

const fs::path kTests = DECODERSCOPE_TESTS_DIR;

// The plans of the bundled models, with dropout and the logit lens, and of PyTorch's fixtures.
std::vector<std::shared_ptr<const Plan>> all_plans() {
    std::vector<std::shared_ptr<const Plan>> plans;
    for (const BundledModel& bundled : bundled_models()) {
        Scenario scenario = scenario_of(make_bundled_model(bundled.name));
        scenario.dropout_seed = 1;
        plans.push_back(plan_of(scenario, scenario.config().lm_head));
    }
    for (const auto& entry : fs::directory_iterator(kTests / "reference/fixtures")) {
        const fs::path folder = entry.path();
        if (!fs::exists(folder / "model.safetensors")) continue;
        Scenario scenario = scenario_of(load_model(folder.string()));
        scenario.inputs = load_inputs((folder / "inputs.safetensors").string(), scenario.config());
        plans.push_back(plan_of(scenario));
    }
    return plans;
}

bool mentions(const GlossaryTerm& term, const Step& step) {
    const std::string own = step.name.substr(step.name.rfind('.') + 1);
    return ("|" + std::string(term.tensors) + "|").find("|" + own + "|") != std::string::npos;
}

std::string text_at(const TermInText& found, const std::string& text) { return text.substr(found.begin, found.size); }

}  // namespace

TEST_CASE("every tensor of every model has a term of its own") {
    std::set<std::string> without;
    std::size_t steps = 0;
    for (const auto& plan : all_plans()) {
        for (const Step& step : plan->steps()) {
            if (step.is_source()) continue;
            ++steps;
            const GlossaryTerm* term = term_of(step);
            REQUIRE(term != nullptr);
            if (!mentions(*term, step)) without.insert(step.name.substr(step.name.rfind('.') + 1));
        }
    }
    CHECK(steps > 1000);
    CHECK(without == std::set<std::string>{});
}

TEST_CASE("every part of the model has a term, by its own title where it has one") {
    CHECK(term_of(Part::norm).id == "norm");
    CHECK(term_of(Part::norm, message("RMSNorm")).id == "rmsnorm");
    CHECK(term_of(Part::norm, message("LayerNorm")).id == "layernorm");
    CHECK(term_of(Part::add).id == "residual-sum");
    CHECK(term_of(Part::head).id == "language-head");
    std::set<std::string> parts;
    for (const auto& plan : all_plans()) {
        for (const Step& step : plan->steps()) {
            if (step.is_source()) continue;
            parts.insert(step.title.english());
            CHECK(term_of(step.part, step.title).id != "step");
        }
    }
    CHECK(parts.size() >= 10);
}

TEST_CASE("no two entries share an id, a name or a spelling") {
    std::set<std::string> ids, spellings;
    for (const GlossaryTerm& term : core::glossary::glossary()) {
        INFO(term.id);
        CHECK(ids.insert(std::string(term.id)).second);
        const std::string meaning = term.meaning.english();
        CHECK(meaning.size() > 20);
        CHECK(meaning.size() < 260);
        CHECK(meaning.ends_with("."));
        std::string all = std::string(term.name.english()) + ", " + term.spellings.english();
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t end = std::min(all.find(", ", at), all.size());
            std::string spelling = all.substr(at, end - at);
            std::ranges::transform(spelling, spelling.begin(),
                                   [](char c) { return static_cast<char>(std::tolower(c)); });
            INFO(spelling);
            CHECK((spelling.empty() || spellings.insert(spelling).second));
            at = end + 2;
        }
    }
    CHECK(ids.size() >= 60);
}

TEST_CASE("no entry is unused: it is about a tensor, a part or a tab, or the window's texts use its words") {
    const std::vector<std::shared_ptr<const Plan>> plans = all_plans();
    const TermFinder finder;
    std::set<std::string_view> used;
    for (const auto& plan : plans)
        for (const Step& step : plan->steps()) {
            for (const GlossaryTerm& term : core::glossary::glossary())
                if (mentions(term, step)) used.insert(term.id);
            for (const Axis& axis : step.axes)  // the inspector writes them behind the shape
                for (const TermInText& found : finder.find(axis.name)) used.insert(found.term->id);
            used.insert(term_of(step.part, step.title).id);
        }
    // The texts of the window, without the glossary's own.
    const std::string pot = read_bytes((kTests.parent_path() / "assets/messages/decoderscope.pot").string());
    for (std::size_t at = pot.find("\n\n"); at != std::string::npos;) {
        const std::size_t end = pot.find("\n\n", at + 2);
        const std::string entry = pot.substr(at, end - at);
        // "#: file file", one for each place that has the text.
        const std::string places = entry.substr(0, entry.find("msgid"));
        const auto count = [&](std::string_view of) {
            std::size_t number = 0;
            for (std::size_t i = places.find(of); i != std::string::npos; i = places.find(of, i + 1)) ++number;
            return number;
        };
        if (count("app/") + count("engine/") > 0)
            for (const TermInText& found : finder.find(entry.substr(std::min(entry.find("msgid"), entry.size()))))
                used.insert(found.term->id);
        at = end;
    }
    for (const GlossaryTerm& term : core::glossary::glossary()) {
        INFO(term.id);
        CHECK(used.contains(term.id));
    }
}

TEST_CASE("terms are found in a text as whole words, the longest first, each once") {
    const TermFinder finder;
    const std::string text = "The residual stream: a query, and queries again; maskable is no mask, √d_head is one.";
    std::vector<std::string> words;
    for (const TermInText& found : finder.find(text)) words.push_back(text_at(found, text));
    CHECK(words == std::vector<std::string>{"residual stream", "query", "mask", "√d_head"});
    CHECK(finder.find("").empty());
    const std::string kv = "the KV cache keeps a key";
    CHECK(text_at(finder.find(kv).front(), kv) == "KV cache");
}

TEST_CASE("terms are found in Chinese text, which has no spaces") {
    Catalog chinese;
    chinese.add("", "attention", {"注意力"});
    chinese.add("", find_term("residual-stream")->name.english(), {"残差流"});
    chinese.add("", find_term("pattern")->name.english(), {"注意力权重"});
    chinese.add("", find_term("head")->name.english(), {"头"});
    speak(chinese);
    const TermFinder finder;
    const auto words = [&](const std::string& text) {
        std::vector<std::string> found;
        for (const TermInText& term : finder.find(text)) found.push_back(text_at(term, text));
        return found;
    };
    using Words = std::vector<std::string>;
    CHECK(words("块把结果加到残差流中，softmax之后。") == Words{"残差流", "softmax"});
    CHECK(words("每个注意力权重") == Words{"注意力权重"});
    // One character is a part of many words that mean something else.
    CHECK(words("从头开始").empty());
    CHECK(words("头 3") == Words{"头"});
    CHECK(words("（头）") == Words{"头"});
    // Found by its English name, too.
    CHECK(terms_matching("残差").front()->id == "residual-stream");
    CHECK(terms_matching("residual stream").front()->id == "residual-stream");
    speak_english();
}

TEST_CASE("a label is about the tensor that it names, else about the first term in it") {
    const TermFinder finder;
    const auto term = [&](std::string_view label) {
        const GlossaryTerm* found = finder.term_of_label(label);
        return found == nullptr ? std::string() : std::string(found->id);
    };
    CHECK(term("blocks.0.attn.z") == "z");
    CHECK(term("ln1.scale") == "norm-scale");
    CHECK(term("top-p 0.90") == "top-p");
    CHECK(term("4 heads") == "head");
    CHECK(term("103 / 117").empty());
    CHECK(term("").empty());
}

TEST_CASE("the example of a term is the nearest one") {
    const Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto plan = plan_of(scenario);
    const auto example = [&](std::string_view term, const char* here) {
        const Ref step = example_of(*find_term(term), *plan, *plan->find(here));
        return step == nullptr ? std::string() : step->name;
    };
    CHECK(example("z", "blocks.1.cross_attn.pattern") == "blocks.1.cross_attn.z");
    CHECK(example("mlp", "blocks.1.attn.q") == "blocks.1.mlp.pre");
    CHECK(example("pattern", "encoder.blocks.0.mlp_out") == "encoder.blocks.0.attn.pattern");
    CHECK(example("logits", "embed") == "logits");
    CHECK(example("rope", "embed").empty());
    CHECK(example("temperature", "embed").empty());
}

TEST_CASE("the glossary is searched by name, spelling and meaning") {
    const auto first = [](std::string_view typed) {
        const auto found = terms_matching(typed);
        return found.empty() ? std::string() : std::string(found.front()->id);
    };
    CHECK(first("softmax") == "softmax");
    CHECK(first("Z") == "z");
    CHECK(first("swiglu") == "gate");
    CHECK(first("key_padding_mask") == "padding");
    CHECK(first("hook_z") == "z");
    CHECK(first("one-hot nonsense").empty());
    CHECK(terms_matching("").size() == core::glossary::glossary().size());
}
