#pragma once

#include "app/core/language/languages.h"
#include "app/views/frame/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string>
#include <vector>

// What the tests of languages share. Those of their layout need a font of the language; without one, they say so.
namespace decoderscope::testing {

using namespace decoderscope::core::language;
using namespace decoderscope::core;
using namespace decoderscope::views;

inline const char* no_variables(const char*) { return nullptr; }

// A language that is spoken while this lives.
struct Speaking {
    WindowLanguage window{languages(), no_variables};

    explicit Speaking(const std::string& code) { change(code); }
    void change(const std::string& code) { REQUIRE(window.follow(code).english() == ""); }
    // Whether this machine has a font for it. What is said if not makes ctest list the whole file as skipped
    // (tests/CMakeLists.txt).
    [[nodiscard]] static bool can_be_drawn() {
        if (Driver().fonts().lacking.empty()) return true;
        WARN("no font for this language is installed: not tested");
        return false;
    }
};

inline std::vector<std::string> translations() {
    std::vector<std::string> codes;
    for (const Language& language : languages())
        if (!language.file.empty()) codes.push_back(language.code);
    return codes;
}

// The window with a tab open and a cell explained.
inline void open_tab(Driver& d, const Tab& tab) {
    d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
    d.session.apply(command::SelectCell{Cell(4, 0)});
    d.state.tab = tab.id;
    d.settle();
    d.point({1, 1});
}

}  // namespace decoderscope::testing
