#pragma once

#include "app/core/session/command.h"
#include "engine/message.h"
#include "engine/model/checkpoint.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// What may be meant by a path that is being typed.
struct PathList {
    struct Entry {
        std::string name;  // a folder's ends in "/"
        std::string path;  // as it would be typed
        PathKind kind = PathKind::other;
        bool session = false;
    };
    std::string folder;          // that is listed
    std::vector<Entry> entries;  // folders, models, weights and sessions, by name
    std::string completed;       // what was typed, as far as it goes on in one way only
    Sentence error;              // why the folder can't be listed
    bool more = false;           // there were too many to list
};
[[nodiscard]] PathList list_paths(std::string_view typed);

// What was typed or pasted, as a path: without spaces around it or quotes, "~/" as the home.
[[nodiscard]] std::string path_of(std::string_view typed);

// Of several paths (dropped at once) the one to open: the first that is a session or a model, else the first that could
// be made one, else the first.
[[nodiscard]] std::string model_among(std::span<const std::string> paths);

// What opens a path, or a bundled model's name.
[[nodiscard]] Command opening_command(const std::string& path);

}  // namespace decoderscope
