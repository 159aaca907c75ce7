// The tasks that models are trained on: what a batch asks for, and that the bundled models know the answers.
#include "engine/load/bundled_models.h"
#include "engine/ops/kinds.h"
#include "engine/tokenizer/vocabulary.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/reversed.h"

#include <algorithm>
#include <set>

using namespace decoderscope::testing;
using namespace decoderscope::train;

namespace {

// A row of ids as their pieces, up to the padding.
std::vector<std::string> pieces_of(const Tensor& ids, Index row, const std::vector<std::string>& vocabulary) {
    std::vector<std::string> pieces;
    for (Index i = 0; i < ids.dim(1); ++i) {
        const auto id = static_cast<Index>(ids.at(Cell{row, i}));
        pieces.push_back(id < 0 ? "-" : vocabulary[static_cast<std::size_t>(id)]);
    }
    while (!pieces.empty() && pieces.back() == "<pad>") pieces.pop_back();
    return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
}

}  // namespace

TEST_CASE("the bundled models have learned their tasks, and have their vocabularies") {
    for (const char* name : {"reverse", "reverse-post-norm", "dates", "induction"}) {
        INFO(name);
        const std::shared_ptr<const Model> model = make_bundled_model(name);
        const Task task = find_task(name);
        check_task(task, model->config());
        for (std::size_t id = 0; id < task.vocabulary.size(); ++id)
            CHECK(model->tokenizer.piece(static_cast<Index>(id)) == task.vocabulary[id]);
        for (std::size_t id = 0; id < task.encoder_vocabulary.size(); ++id)
            CHECK(model->encoder_tokenizer.piece(static_cast<Index>(id)) == task.encoder_vocabulary[id]);
        Backpropagation backpropagation(model->config());
        // Half of what induction is asked can't be known.
        const double most = task.name == "induction" ? 2.0 : 0.02;
        CHECK(backpropagation(model->weights, task.batch(1, 1, 8)).loss < most);
    }
}

TEST_CASE("reversal asks for the word's letters from its end, behind <eos>") {
    const Task task = reversal_task(6);
    const Inputs batch = task.batch(3, 1, 40);
    std::set<std::size_t> lengths;
    for (Index row = 0; row < 40; ++row) {
        const std::string given = joined(pieces_of(batch.tokens, row, task.vocabulary));
        const std::size_t end = given.find("<eos>");
        REQUIRE(given.starts_with("<bos>"));
        const std::string word = given.substr(5, end - 5);
        lengths.insert(word.size());
        CHECK(given.substr(end + 5) == reversed(word));
        std::string asked = joined(pieces_of(batch.targets, row, task.vocabulary));
        asked.erase(asked.find_last_not_of('-') + 1);
        CHECK(asked == std::string(word.size() + 1, '-') + reversed(word) + "<eos>");
    }
    CHECK(lengths == std::set<std::size_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a batch follows from seed and step alone") {
    for (const std::string_view name : task_names()) {
        if (name == "verses") continue;
        INFO(name);
        const Task task = find_task(name);
        const auto tokens = [&](std::uint64_t seed, Index step) {
            const Tensor batch = task.batch(seed, step, 4).tokens;
            return std::vector<float>(batch.values().begin(), batch.values().end());
        };
        CHECK(tokens(1, 1) == tokens(1, 1));
        CHECK(tokens(1, 1) != tokens(1, 2));
        CHECK(tokens(1, 1) != tokens(2, 1));
    }
}

TEST_CASE("induction gives strings twice, in which no letter comes twice") {
    const Task task = find_task("induction");
    const Inputs batch = task.batch(0, 1, 20);
    for (Index row = 0; row < 20; ++row) {
        const std::string given = joined(pieces_of(batch.tokens, row, task.vocabulary)).substr(5);
        const std::string once = given.substr(0, given.size() / 2);
        CHECK(given == once + once);
        CHECK(std::set<char>(once.begin(), once.end()).size() == once.size());
        CHECK(once.size() >= 8);
        CHECK(once.size() <= 22);
    }
}

TEST_CASE("texts to be continued are cut to the longest, and end where they end") {
    const std::vector<std::string> pieces = {"<pad>", "<bos>", "<eos>", "a", "b"};
    const Tokenizer tokenizer = parse_character_vocabulary(vocabulary_json(pieces));
    const Task task = text_task("verses", {"ab", "", "abababab"}, tokenizer, 4);
    const Inputs batch = task.batch(0, 1, 20);
    std::set<std::string> seen;
    for (Index row = 0; row < 20; ++row) {
        std::string asked = joined(pieces_of(batch.targets, row, pieces));
        asked.erase(asked.find_last_not_of('-') + 1);
        seen.insert(joined(pieces_of(batch.tokens, row, pieces)) + " " + asked);
    }
    CHECK(seen == std::set<std::string>{"<bos>ab ab<eos>", "<bos>aba abab"});
    check_message(error_of([&] { static_cast<void>(text_task("verses", {""}, tokenizer, 4)); }), {"verses", "no text"});
    check_message(error_of([&] { static_cast<void>(text_task("verses", {"abc"}, tokenizer, 4)); }), {"c"});
}

TEST_CASE("a task that isn't there, or that a model doesn't fit, is refused by a sentence") {
    check_message(error_of([] { static_cast<void>(find_task("sorting")); }), {"sorting", "reverse", "induction"});
    check_message(error_of([] { static_cast<void>(find_task("verses")); }), {"verses", "text"});
    const Config reverse = make_bundled_model("reverse")->config();
    check_message(error_of([&] { check_task(find_task("induction"), reverse); }), {"vocab_size", "29", "28"});
    check_message(error_of([&] { check_task(find_task("reversal"), reverse); }), {"cross_attention", "reversal"});
    const Config induction = make_bundled_model("induction")->config();
    check_message(error_of([&] { check_task(find_task("reverse"), induction); }), {"vocab_size", "28", "29"});
}
