#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace decoderscope {

// The English of a text shown to the user: a label or a whole sentence, with named placeholders for what varies, "a
// window of {count} tokens". It is gettext's msgid. Only a literal in the source can become one, so that
// scripts/messages.sh finds them all and no text is concatenated from parts.
//
// A placeholder is a lower-case name in braces; other braces are literal.
class Phrase {
public:
    template <std::size_t N>
    consteval Phrase(const char (&english)[N]) : english_(english) {}  // NOLINT: any literal is one
    // The same English may need two translations: `context` says which one is meant, "verb".
    template <std::size_t C, std::size_t N>
    consteval Phrase(const char (&context)[C], const char (&english)[N]) : english_(english), context_(context) {}

    [[nodiscard]] constexpr const char* english() const { return english_; }
    // nullptr if none.
    [[nodiscard]] constexpr const char* context() const { return context_; }

private:
    const char* english_;
    const char* context_ = nullptr;
};

class Sentence;

// The value for a named placeholder of a phrase: a name, a number, or a sentence, which is itself translated.
struct Argument {
    Argument(const char* at, std::string what);
    Argument(const char* at, std::string_view what);
    Argument(const char* at, const char* what);
    Argument(const char* at, long long number);
    Argument(const char* at, unsigned long long number);
    template <std::integral Number>
    Argument(const char* at, Number number)
        : Argument(at,
                   static_cast<std::conditional_t<std::is_signed_v<Number>, long long, unsigned long long>>(number)) {}
    Argument(const char* at, Sentence what);
    Argument(const Argument& other);
    Argument(Argument&& other) noexcept;
    Argument& operator=(const Argument& other);
    Argument& operator=(Argument&& other) noexcept;
    ~Argument();

    const char* place;  // a literal
    std::variant<std::string, std::shared_ptr<const Sentence>> value;
};

using Arguments = std::vector<Argument>;

// A text that is stored or passed on before it is shown: a phrase and the values of its placeholders. It is translated
// when shown (`tr` in engine/base/translate.h), so it follows a change of language. It is always one short line,
// whatever names and values from a file it quotes.
class Sentence {
public:
    Sentence() = default;                               // empty
    Sentence(Phrase phrase, Arguments arguments = {});  // NOLINT: a phrase without places is one
    // One of two phrases, chosen by a count. The count fills {count} unless an argument of that name does.
    Sentence(Phrase one, Phrase many, std::int64_t count, Arguments arguments = {});
    // Text that is the same in every language: a name, or a library's message.
    [[nodiscard]] static Sentence verbatim(std::string_view text);

    [[nodiscard]] bool empty() const { return !parts_; }
    // As the command line prints it.
    [[nodiscard]] std::string english() const;
    bool operator==(const Sentence& other) const { return english() == other.english(); }

    // Its parts, for translation.
    struct Parts {
        Phrase one, many;  // the same if there is no count
        std::int64_t count = 1;
        Arguments arguments;
    };
    // nullptr if it is empty.
    [[nodiscard]] const Parts* parts() const { return parts_.get(); }

private:
    std::shared_ptr<const Parts> parts_;
};

// Marks a phrase that is translated later: in a table, or in an operation's description.
[[nodiscard]] consteval Phrase message(Phrase phrase) { return phrase; }
template <std::size_t C, std::size_t N>
[[nodiscard]] consteval Phrase message_c(const char (&context)[C], const char (&english)[N]) {
    return {context, english};
}
// A sentence to be stored or passed on.
[[nodiscard]] inline Sentence message(Phrase phrase, Arguments arguments) { return {phrase, std::move(arguments)}; }
[[nodiscard]] inline Sentence message_n(Phrase one, Phrase many, std::integral auto count, Arguments arguments = {}) {
    return {one, many, static_cast<std::int64_t>(count), std::move(arguments)};
}

// How a sentence among the arguments is turned into text.
using Written = std::string (*)(const Sentence&);
// A phrase with its placeholders filled; one without an argument stays as it is. `written` converts sentences among the
// arguments.
[[nodiscard]] std::string filled(std::string_view phrase, std::span<const Argument> arguments, Written written);

// A text on one line: control characters become spaces. Of an excessively long text only the beginning and the end are
// kept, which say where and what.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace decoderscope
