#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// A chat template is a program in a part of Jinja that turns messages into one text. Its texts remember, byte by byte,
// which message they came from, so that what a token belongs to is a fact of the run and not a guess from the text.
namespace decoderscope::chat {

// Where a byte of a text came from.
struct Origin {
    std::int32_t message = -1;  // the message whose turn wrote it, or whose content it is; −1: none
    bool content = false;       // it is the message's own, not the template's
    bool marked = false;        // it was written between {% generation %} and {% endgeneration %}
    bool operator==(const Origin&) const = default;
};

// UTF-8, and where each byte came from. Lengths and places count characters, as Python does.
class Text {
public:
    Text() : Text(std::string()) {}
    explicit Text(std::string bytes, Origin origin = {});

    [[nodiscard]] const std::string& bytes() const { return shared_->bytes; }
    [[nodiscard]] const std::vector<Origin>& origins() const { return shared_->origins; }
    [[nodiscard]] bool empty() const { return bytes().empty(); }

    void append(const Text& other);
    void append(std::string_view bytes, Origin origin = {});
    // Some of its bytes.
    [[nodiscard]] Text part(std::size_t first, std::size_t count) const;
    // Where its characters begin, and its end.   -> [characters + 1]
    [[nodiscard]] std::vector<std::size_t> boundaries() const;
    // The text of so many characters from one on, by its boundaries.
    [[nodiscard]] Text characters(const std::vector<std::size_t>& boundaries, std::size_t first,
                                  std::size_t count = 1) const {
        return part(boundaries[first], boundaries[first + count] - boundaries[first]);
    }
    // The same text, each byte's origin replaced by what `change` makes of it.
    template <class Change>
    [[nodiscard]] Text with_origins(Change change) const {
        Text changed = *this;
        for (Origin& origin : changed.own().origins) origin = change(origin);
        return changed;
    }
    // The same origins with other bytes, such as letters in another case. They must be as many.
    [[nodiscard]] Text with_bytes(std::string bytes) const;

private:
    struct Bytes {
        std::string bytes;
        std::vector<Origin> origins;  // [bytes]
    };
    // What is changed belongs to this text alone.
    [[nodiscard]] Bytes& own();

    std::shared_ptr<Bytes> shared_;  // with copies, until one of them is changed
};

struct Value;
struct Member;
using List = std::vector<Value>;

// How much there is in a list or a dictionary, with all that it holds: lists share what they hold, so that a few lines
// of a template can make one that no machine could write out.
struct Extent {
    std::size_t values = 1;
    int depth = 1;
};

// Keys in the order in which they were written.
struct Dictionary {
    std::vector<Member> members;
    std::int32_t message = -1;  // which message it is; −1: none
    Extent extent = {};         // value_of() measures it

    [[nodiscard]] const Value* find(std::string_view key) const;
};

// What a name that stands for nothing gives: it is false, empty and writes nothing, as Jinja's own.
struct Undefined {
    std::string name;
};
struct None {};
// The one kind of value that a template may change in place: {% set ns.found = true %}.
using Namespace = std::map<std::string, Value, std::less<>>;
// A function by its name, or a macro of the template by its number.
struct Function {
    std::string name;
    std::size_t macro = 0;
};
// "loop.cycle": a method of this object.
struct Method;

struct MeasuredList;

struct Value : std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const MeasuredList>,
                            std::shared_ptr<const Dictionary>, std::shared_ptr<Namespace>, Function,
                            std::shared_ptr<const Method>> {
    using variant::variant;

    template <class Kind>
    [[nodiscard]] const Kind* as() const {
        return std::get_if<Kind>(static_cast<const variant*>(this));
    }
    [[nodiscard]] const Text* text() const { return as<Text>(); }
    // nullptr if it isn't one.
    [[nodiscard]] const List* list() const;
    [[nodiscard]] const Dictionary* dictionary() const;
    [[nodiscard]] bool is_number() const { return as<std::int64_t>() != nullptr || as<double>() != nullptr; }
};

struct MeasuredList {
    List items;
    Extent extent;
};
struct Member {
    std::string key;
    Value value;
};
struct Method {
    Value object;
    std::string name;
};

// A text of a template for a message: its beginning, if it is long.
[[nodiscard]] std::string quotable(std::string_view text);

// Throw Error if it holds too much, or a namespace, which could hold it in turn.
[[nodiscard]] Value value_of(List list);
[[nodiscard]] Value value_of(Dictionary dictionary);
// A JSON value as a template sees it; its texts are the message's content.
[[nodiscard]] Value value_of(const nlohmann::ordered_json& json, Origin origin);

// Python's rules: None, 0, "", [] and {} are false, and what is undefined.
[[nodiscard]] bool is_true(const Value& value);
[[nodiscard]] bool equal(const Value& a, const Value& b);
// What "{{ value }}" writes: Python's str().
[[nodiscard]] Text written(const Value& value);
// As json.dumps(…, ensure_ascii=False) writes it; `indent` spaces each level, or −1 for one line. Throws Error for what
// JSON can't hold.
[[nodiscard]] Text json_text(const Value& value, int indent = -1);

}  // namespace decoderscope::chat
