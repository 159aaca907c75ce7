// A monkey plays the window. tests/README.md says how to let it play a night, and how to replay what it found.
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/monkey/monkey.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

using namespace decoderscope::testing;

namespace {

using Clock = std::chrono::steady_clock;

std::string setting(const char* name, const std::string& otherwise) {
    const char* given = std::getenv(name);
    return given != nullptr ? given : otherwise;
}

std::string on_failure;  // what is said when a run ends badly, however it ends: the last gesture, and the log up to it

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Game {
    std::string model;
    std::uint64_t seed = 0;
    std::size_t actions = 0;
    double seconds = 0.0;
};

// Plays one game, or what a log says. Returns what it found, empty: nothing.
std::string play(const Game& game, const std::string& replayed) {
    const TemporaryFolder folder;
    const std::string log_path = setting("MONKEY_LOG", (std::filesystem::temp_directory_path() / "monkey").string()) +
                                 "-" + game.model + "-" + std::to_string(game.seed) + ".log";
    std::ifstream script(replayed);
    std::ofstream log(replayed.empty() ? log_path : "/dev/null");
    log << game.model << "\n";
    std::cout << "monkey: seed " << game.seed << " on " << game.model << ", log " << log_path << std::endl;
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    ::setenv("HOME", folder.path().c_str(), 1);
    const Clock::time_point start = Clock::now();
    std::string found, gestures = game.model + "\n";
    std::size_t number = 0;
    double slowest = 0.0;
    std::string slowest_line;
    {
        Monkey monkey(game.model, game.seed, std::filesystem::canonical(folder.path()).string());
        std::string line;
        std::getline(script, line);
        while (number < game.actions && seconds_since(start) < game.seconds) {
            std::optional<Prank> next = monkey.think();
            if (!replayed.empty()) {
                if (!std::getline(script, line)) break;
                next = Prank::read(line);
                if (!next) continue;
            }
            ++number;
            log << next->line() << std::endl;
            gestures += next->line() + "\n";
            on_failure = "monkey: seed " + std::to_string(game.seed) + " on " + game.model + ", action " +
                         std::to_string(number) + ", \"" + next->line() + "\"; replay: MONKEY_REPLAY=" + log_path +
                         " test_monkey\n";
            if (game.actions <= 1000) on_failure += "That log, for whoever can't reach it:\n" + gestures;
            INFO(on_failure);
            const Clock::time_point began = Clock::now();
            try {
                if (next->what == '=')
                    monkey.reopen();
                else
                    monkey.act(*next);
                if (replayed.empty() && number % 250 == 0) {
                    log << Prank{.what = '='}.line() << std::endl;
                    gestures += Prank{.what = '='}.line() + "\n";
                    monkey.reopen();
                }
            } catch (const std::exception& error) {
                found = error.what() + ("\n" + on_failure);  // first what, as whoever reads it may have cut the rest
                break;
            }
            if (const double took = seconds_since(began); took > slowest) {
                slowest = took;
                slowest_line = next->line();
            }
        }
    }
    std::filesystem::current_path(before);
    std::cout << "monkey: " << number << " actions in " << seconds_since(start) << " s, the slowest " << slowest
              << " s: " << slowest_line << std::endl;
    return found;
}

#ifdef DECODERSCOPE_SANITIZED                                        // a sanitizer leaves no time to ask
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT: the sanitizers' name
// An assertion of the standard library shows where it failed, which Catch's own handler of SIGABRT doesn't.
extern "C" const char* __asan_default_options() { return "handle_abort=2"; }  // NOLINT: the same
#endif

}  // namespace

TEST_CASE("a monkey finds nothing that crashes, and nothing that is another when it was saved and opened") {
#ifdef DECODERSCOPE_SANITIZED
    __sanitizer_set_death_callback([] { std::fputs(on_failure.c_str(), stderr); });
#endif
    if (const std::string replayed = setting("MONKEY_REPLAY", ""); !replayed.empty()) {
        std::string model;
        std::ifstream script(replayed);
        std::getline(script, model);
        const std::string found = play({model, 0, std::numeric_limits<std::size_t>::max(), 1e9}, replayed);
        INFO(found);
        CHECK(found.empty());
        return;
    }
    const double seconds = std::stod(setting("MONKEY_SECONDS", "60"));
    const bool asked = std::getenv("MONKEY_SEED") != nullptr;
    const std::uint64_t first = std::stoull(setting("MONKEY_SEED", "1"));
    const std::uint64_t seeds = std::stoull(setting("MONKEY_SEEDS", asked ? "1" : "1000000"));
    const std::size_t actions = std::stoull(setting("MONKEY_ACTIONS", asked ? "20000" : "500"));
    const std::string only = setting("MONKEY_MODEL", "");
    const auto& models = load::bundled_models();
    const Clock::time_point start = Clock::now();
    for (std::uint64_t seed = first; seed < first + seeds && seconds_since(start) < seconds; ++seed) {
        const std::string model = only.empty() ? models[seed % models.size()].name : only;
        const std::string found = play({model, seed, actions, seconds - seconds_since(start)}, "");
        INFO(found);
        CHECK(found.empty());
    }
}
