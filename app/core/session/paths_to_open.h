#pragma once

#include "app/core/session/command.h"
#include "engine/base/message.h"
#include "engine/load/checkpoint.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// The possible completions of a path being typed.
struct PathList {
    struct Entry {
        std::string name;  // a folder's ends in "/"
        std::string path;  // as it would be typed
        PathKind kind = PathKind::other;
        bool session = false;
        bool numbers = false;  // a file of numbers to colour the strip by
    };
    std::string folder;          // the listed folder
    std::vector<Entry> entries;  // bundled models; folders, models, weights, sessions and numbers, by name
    std::string completed;       // what was typed, extended as far as it is unambiguous
    Sentence error;              // why the folder can't be listed
    bool more = false;           // there are more than are listed
};
[[nodiscard]] PathList list_paths(std::string_view typed);

// What was typed or pasted, as a path: without surrounding spaces or quotes, with "~/" expanded.
[[nodiscard]] std::string path_of(std::string_view typed);

// The one to open of several paths dropped together: the first that is a session or a model, otherwise the first that
// could be converted to one, otherwise the first.
[[nodiscard]] std::string model_among(std::span<const std::string> paths);

// The command that opens a path, a bundled model by its name, a link, or a file of numbers to colour by.
[[nodiscard]] Command opening_command(const std::string& path);

}  // namespace decoderscope::core
