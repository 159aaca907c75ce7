#pragma once

#include "app/core/figure/export.h"
#include "app/core/session/command.h"
#include "engine/base/any_of.h"

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

// What the views ask for, in one queue: the session does what is a Command (app/core/session/command.h), the
// application what is a Request, in the order in which they were asked for.
namespace decoderscope::views::request {

// Lets the person choose files in the system's dialog; what is chosen is opened.
struct PickFiles {};
// Shows a folder in the desktop's file manager.
struct ShowFolder {
    std::string path;
};
// Puts a picture on the desktop's clipboard.
struct CopyPicture {
    std::shared_ptr<const core::Exhibit> exhibit;
    core::ExportOptions options;
};
// Says a text aloud, in the window's language.
struct Speak {
    std::string text;
};
// Prints a talk's sentence and the speaker's notes in the terminal that the program was started in.
struct PrintNotes {
    std::string text;
};
// Writes the talk to a file: a page or a PDF, by its ending.
struct WriteTalk {
    std::string path;
};
// Writes the answers to the open lesson to a file.
struct HandIn {};
// Closes the window: whatever had to be asked was answered.
struct CloseWindow {};

// All of the above.
struct All : Types<PickFiles, ShowFolder, CopyPicture, Speak, PrintNotes, WriteTalk, HandIn, CloseWindow> {};

}  // namespace decoderscope::views::request

namespace decoderscope::views {

using Request = AnyOf<request::All>;

using Commands = std::vector<std::variant<core::Command, Request>>;

// The command, if it is of this kind; otherwise nullptr.
template <class T>
[[nodiscard]] const T* as(const Commands::value_type& asked) {
    using Either = std::conditional_t<request::All::has<T>, Request, core::Command>;
    const Either* either = std::get_if<Either>(&asked);
    return either == nullptr ? nullptr : either->template get_if<T>();
}

}  // namespace decoderscope::views
