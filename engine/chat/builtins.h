#pragma once

#include "engine/chat/syntax.h"
#include "engine/chat/value.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::chat {

// How much a template may still do. A template comes from a file that anyone may have written.
class Allowance {
public:
    // Throw Error once it is used up.
    void step(std::size_t count = 1);
    void bytes(std::size_t count);

private:
    std::size_t steps_ = 2'000'000;
    std::size_t bytes_ = std::size_t{16} << 20U;
};

// What a function is given: its arguments by place, then by name.
struct Given {
    std::vector<Value> places;
    std::vector<std::pair<std::string, Value>> named;
};

// What functions need besides their arguments.
struct Surroundings {
    Allowance& allowance;
    std::string date;      // "2026-11-27"
    bool& asked_for_date;  // set once a template asks for it
};

// Jinja's filters and tests, Python's methods of texts and dictionaries, and the functions that transformers gives to
// templates, as far as chat templates use them. All throw Error, saying which argument is wrong or what is unknown
// here.
[[nodiscard]] Value filtered(std::string_view filter, const Value& input, Given given, Surroundings& around);
[[nodiscard]] bool tested(std::string_view test, const Value& input, Given given, Surroundings& around);
[[nodiscard]] Value called_method(const Value& object, std::string_view method, Given given, Surroundings& around);
[[nodiscard]] Value called_function(std::string_view function, Given given, Surroundings& around);

[[nodiscard]] bool is_filter(std::string_view name);
[[nodiscard]] bool is_test(std::string_view name);
[[nodiscard]] bool is_function(std::string_view name);
[[nodiscard]] bool is_method(const Value& object, std::string_view name);

// object.name, object[key]: undefined if there is none. Throws Error if the object itself is undefined.
[[nodiscard]] Value member_of(const Value& object, const Value& key);
// What a loop goes through. Throws Error if it is nothing to go through.
[[nodiscard]] List items_of(const Value& value);
// "left sign right" of numbers, texts and lists. Throws Error if the sign has no meaning for them.
[[nodiscard]] Value combined(std::string_view sign, const Value& left, const Value& right, Allowance& allowance);
// Whether "left sign right" holds: == != < <= > >= in "not in". Throws the same.
[[nodiscard]] bool compared(std::string_view sign, const Value& left, const Value& right);
// Python's object[first:end:step]. Throws Error if a bound is no whole number.
[[nodiscard]] Value sliced(const Value& object, const Value& first, const Value& end, const Value& step);
// Python's name of its type, for messages.
[[nodiscard]] std::string_view type_of(const Value& value);

}  // namespace decoderscope::chat
