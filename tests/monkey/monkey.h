#pragma once

#include "tests/views/driver.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>

namespace decoderscope::testing {

// One thing that the monkey does, and a line of its log: what, up to five numbers, and a text.
struct Prank {
    char what = 'f';
    std::array<int, 5> at = {};
    int pace = 1;  // so many frames later the next one follows; 0: once everything is done
    std::string text;

    [[nodiscard]] std::string line() const;
    // Nothing if it isn't such a line.
    [[nodiscard]] static std::optional<Prank> read(const std::string& line);
};

// Plays the window without a display: keys, clicks (mostly on what is there), drags, the wheel, text, sizes of the
// window, models, tabs, sessions and links. The same seed plays the same as long as background work is as fast; the log
// plays the same always, but for that work.
class Monkey {
public:
    // Everything that it does to files happens in `folder`, which is the working directory.
    Monkey(const std::string& model, std::uint64_t seed, std::string folder);

    // The next action, by chance.
    [[nodiscard]] Prank think();
    // Does it, and draws. Throws std::runtime_error saying what is wrong: a part of the window that can't be drawn, an
    // error that only the standard library would word so, work that isn't the same after it was saved and read.
    void act(const Prank& action);
    // Waits for everything, saves the work and opens it in another window. Throws unless all of it is the same: the
    // text of its session, each number of each step, what the stage shows.
    void reopen();

private:
    [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(chance_() % count); }
    [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }
    [[nodiscard]] ImVec2 somewhere();
    [[nodiscard]] ImVec2 something();
    [[nodiscard]] int mods();
    [[nodiscard]] std::string words();
    void feed(const Prank& action);
    void look();

    std::string folder_;
    std::mt19937_64 chance_;
    Driver window_;
    std::string kept_link_;
    std::string saved_;  // the session's text when it was last looked at
};

}  // namespace decoderscope::testing
