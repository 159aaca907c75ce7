// Everything that runs on its own threads, for the thread sanitizer (preset tsan): runs that split their work,
// concurrent runs, and a session whose worker and loader are interrupted at any moment.
#include "app/core/session/session.h"
#include "engine/base/parallel.h"
#include "engine/decoder/decoder.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/engine/dice.h"
#include "tests/engine/same_bits.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace decoderscope::testing;

namespace {

std::shared_ptr<const Run> run_example(const Model& model, const std::vector<Edit>& edits = {},
                                       const Run* previous = nullptr) {
    const Config config = model.config();
    return execute(plan_decoder({config, &model.weights, model.example, edits, std::nullopt}), {.previous = previous});
}

// Reads every number that is shown, as a view might.
float sum_of(const Run& run) {
    float sum = 0.0F;
    for (const Step& step : run.plan().steps())
        for (const float value : run.value(step.id).values()) sum += value;
    return sum;
}

}  // namespace

TEST_CASE("work is shared out over threads, each index once") {
    constexpr Index kCount = 100'000;
    std::vector<int> taken(kCount);
    for (int round = 0; round < 50; ++round)
        in_parallel(kCount, 100, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) ++taken[static_cast<std::size_t>(i)];
        });
    CHECK(std::ranges::all_of(taken, [](int times) { return times == 50; }));
}

TEST_CASE("an exception on any of the threads reaches the caller, and the next work is complete") {
    constexpr Index kCount = 64, kCost = 100'000;
    for (int round = 0; round < 50; ++round) {
        for (const Index wrong : {Index{0}, kCount / 2, kCount - 1}) {
            CHECK_THROWS_AS(each_in_parallel(kCount, kCost,
                                             [&](Index i) {
                                                 if (i == wrong) throw std::runtime_error("wrong");
                                             }),
                            std::runtime_error);
            std::vector<int> taken(kCount);
            each_in_parallel(kCount, kCost, [&](Index i) { ++taken[static_cast<std::size_t>(i)]; });
            CHECK(std::ranges::count(taken, 1) == kCount);
        }
        CHECK_THROWS_AS(each_in_parallel(kCount, kCost, [](Index) { throw std::runtime_error("wrong"); }),
                        std::runtime_error);
    }
}

TEST_CASE("runs beside one another, on the same weights, are the same as alone") {
    const auto model = make_bundled_model("pre-ln-encdec");
    const std::vector<Edit> edits = {ScaleHead{"blocks.1.attn", 3, 0.0F}};
    const auto alone = run_example(*model);
    const auto edited = run_example(*model, edits, alone.get());
    std::array<std::string, 3> differences;
    {
        std::vector<std::jthread> threads;
        for (std::string& difference : differences)
            threads.emplace_back([&] {
                const auto run = run_example(*model);
                difference = first_difference(*run, *alone);
                difference += first_difference(*run_example(*model, edits, run.get()), *edited);
            });
        // The other threads may read the same tensors, whose numbers are computed on demand.
        static_cast<void>(sum_of(*edited));
    }
    for (const std::string& difference : differences) CHECK(difference == "");
}

TEST_CASE("a session that is asked for one thing after the other shows the last, and never waits for the others") {
    for (const char* name : {"reverse", "pre-ln-encdec"}) {
        Session session(make_bundled_model(name), [] {});
        Dice dice(1);
        for (int change = 0; change < 30; ++change) {
            const auto shown = session.shown().run;
            switch (dice.below(5)) {
                case 0:
                    session.apply(command::Undo{});
                    break;
                case 1:
                    session.apply(command::SetOption{"norm_first", dice.word({"false", "true"})});
                    break;
                default:
                    session.apply(command::ScaleHeadTo{"blocks.0.attn", dice.below(4), dice.number()});
            }
            static_cast<void>(sum_of(*shown));  // read while the next is computed
            session.update(std::chrono::milliseconds(dice.below(3)));
            static_cast<void>(session.progress());
        }
        session.finish();
        CHECK_FALSE(session.stale());
        const Scenario& scenario = session.scenario();
        const auto afresh = execute(plan_of(scenario));
        CHECK(first_difference(*session.shown().run, *afresh) == "");
    }
}

TEST_CASE("a model is read while another is run, and reading may be stopped at any moment") {
    Session session(make_bundled_model("causal-lm"), [] {});
    for (int round = 0; round < 10; ++round) {
        session.apply(command::OpenModel{round % 2 == 0 ? "reverse" : "dates", {}});
        static_cast<void>(session.opening_progress());
        session.apply(command::ScaleHeadTo{"blocks.0.attn", 0, static_cast<float>(round)});
        session.update(std::chrono::milliseconds(round));
        if (round % 3 == 0) session.apply(command::StopOpening{});
    }
    session.finish();
    CHECK_FALSE(session.opening());
    CHECK_FALSE(session.stale());
}

TEST_CASE("weights in fewer bits are expanded once, whichever thread reads them first") {
    const auto model = load_model(DECODERSCOPE_TESTS_DIR "/reference/stored/models/qwen3moe/model.gguf");
    const auto alone = load_model(DECODERSCOPE_TESTS_DIR "/reference/stored/models/qwen3moe/model.gguf");
    const auto expected = run_example(*alone);
    std::array<std::shared_ptr<const Run>, 3> runs;
    std::vector<std::thread> threads;
    for (auto& run : runs) threads.emplace_back([&] { run = run_example(*model); });
    for (const auto& [name, tensor] : model->weights) static_cast<void>(tensor.data());
    for (std::thread& thread : threads) thread.join();
    for (const auto& run : runs) CHECK(first_difference(*run, *expected).empty());
}
