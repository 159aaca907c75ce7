#pragma once

#include "engine/base/message.h"
#include "engine/chat/value.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::chat {

// What a piece of a template is. `parts` are the pieces that it is made of, in the order that is said here.
enum class NodeKind {
    // what writes or does something
    body,          // any number of these
    text,          // value: as it stands
    print,         // {{ part }}
    condition,     // condition, body, otherwise
    loop,          // over, condition (a literal true if none), body, otherwise; names: its variables
    set,           // value; names: its variables, or "namespace", "attribute"
    set_block,     // body, filters (print of the empty name "" if none); names: its variable
    macro,         // body, then the defaults of its last arguments; names: name, arguments
    generation,    // body: what the model is to write
    filter_block,  // body, then the filter applied to the name ""
    leave,
    skip,  // {% break %}, {% continue %}

    // what has a value
    literal,     // value
    name,        // name
    list,        // items
    dictionary,  // key, value, key, value …
    attribute,   // object; name
    item,        // object, key
    slice,       // object, first, end, step; None where not given
    call,        // callee, arguments; names: of each argument, "" by place
    filter,      // input, arguments; name; names as above
    test,        // input, arguments; name; names as above
    negative,
    inverse,  // − part, not part
    both,
    either,   // left and right, left or right
    compare,  // first, second, third …; names: the operators
    binary,   // left, right; name: the operator
    choice,   // value, condition, otherwise
};

struct Node {
    NodeKind kind = NodeKind::body;
    int line = 1;
    std::string name = {};
    Value value = {};
    std::vector<Node> parts = {};
    std::vector<std::string> names = {};
};

// Throws Error "line 3: …".
[[noreturn]] void fail(int line, const Sentence& why);

// Reads a template as Hugging Face's transformers sets Jinja up: trim_blocks, lstrip_blocks, loop controls, and the
// {% generation %} tag. Throws Error naming the line and what was expected there.
[[nodiscard]] Node parse_template(std::string_view source);

}  // namespace decoderscope::chat
