#pragma once

#include "app/core/session/scenario.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace decoderscope {

// The field that types over the selected cell.
struct TypeOverState {
    std::array<char, 64> text{};
    std::string shows;     // the cell and the value that the text was filled with
    bool editing = false;  // the keyboard is in the field
    bool refused = false;  // what was entered is no number, or doesn't fit; it stays to be mended
    bool entered = false;  // a number was entered, and its run isn't shown yet
    int take_back = 0;     // frames in which the keyboard is to return to the field
};

// What the inspector remembers from frame to frame.
struct InspectorState {
    TypeOverState typed;
    std::set<std::string> opened;            // the groups of terms that are open, by line and names
    std::string opened_in;                   // the step that they belong to
    std::string what_if;                     // what is tried, by its id; empty: nothing
    std::map<std::string, Variation> asked;  // the companion runs that were requested for it, by name
    std::uint64_t asked_at = 0;              // the snapshot's version then
};

}  // namespace decoderscope
