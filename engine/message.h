#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope {

// The English of a text that a person sees: a label or a whole sentence, with named places for what differs each time,
// "a window of {count} tokens". It is gettext's msgid. Only a literal in the source becomes one, so that
// scripts/messages.sh finds them all and nothing is glued together. A place is a name in lower case in braces; other
// braces stand for themselves.
class Phrase {
public:
    template <std::size_t N>
    consteval Phrase(const char (&english)[N]) : english_(english) {}  // NOLINT: any literal is one
    // The same English may need two translations: `context` says which one is meant, "verb".
    template <std::size_t C, std::size_t N>
    consteval Phrase(const char (&context)[C], const char (&english)[N]) : english_(english), context_(context) {}

    [[nodiscard]] constexpr const char* english() const { return english_; }
    // nullptr where there is none.
    [[nodiscard]] constexpr const char* context() const { return context_; }

private:
    const char* english_;
    const char* context_ = nullptr;
};

class Sentence;

// What stands at a named place of a phrase: a name, a number, or a sentence, which is translated itself.
struct Argument {
    Argument(const char* at, std::string what) : place(at), value(std::move(what)) {}
    Argument(const char* at, std::string_view what) : place(at), value(std::string(what)) {}
    Argument(const char* at, const char* what) : place(at), value(std::string(what)) {}
    Argument(const char* at, std::integral auto number) : place(at), value(std::to_string(number)) {}
    Argument(const char* at, Sentence what);

    const char* place;  // a literal
    std::variant<std::string, std::shared_ptr<const Sentence>> value;
};

using Arguments = std::vector<Argument>;

// A text that is kept or handed on before it is shown: a phrase and what stands at its places. It is translated where
// it is shown (`tr` in engine/translate.h), so that a change of the language reaches it, too. It is one line, and not a
// long one, whatever names and values from a file it quotes.
class Sentence {
public:
    Sentence() = default;                               // says nothing
    Sentence(Phrase phrase, Arguments arguments = {});  // NOLINT: a phrase without places is one
    // One of two phrases by a count, which stands at {count} unless an argument of that name does.
    Sentence(Phrase one, Phrase many, std::int64_t count, Arguments arguments = {});
    // What is the same in every language: a name, or what a library said.
    [[nodiscard]] static Sentence verbatim(std::string_view text);

    [[nodiscard]] bool empty() const { return !parts_; }
    // As the command line says it.
    [[nodiscard]] std::string english() const;
    bool operator==(const Sentence& other) const { return english() == other.english(); }

    // What it is made of, for whoever translates it.
    struct Parts {
        Phrase one, many;  // the same where no count decides
        std::int64_t count = 1;
        Arguments arguments;
    };
    // nullptr where it says nothing.
    [[nodiscard]] const Parts* parts() const { return parts_.get(); }

private:
    std::shared_ptr<const Parts> parts_;
};

// Marks a phrase that is translated later: in a table, or in what an operation says of itself.
[[nodiscard]] consteval Phrase message(Phrase phrase) { return phrase; }
template <std::size_t C, std::size_t N>
[[nodiscard]] consteval Phrase message_c(const char (&context)[C], const char (&english)[N]) {
    return {context, english};
}
// A sentence to be kept or handed on.
[[nodiscard]] inline Sentence message(Phrase phrase, Arguments arguments) { return {phrase, std::move(arguments)}; }
[[nodiscard]] inline Sentence message_n(Phrase one, Phrase many, std::integral auto count, Arguments arguments = {}) {
    return {one, many, static_cast<std::int64_t>(count), std::move(arguments)};
}

// What a value at a place is written as.
using Written = std::string (*)(const Sentence&);
// A phrase with its places filled; one without an argument stays as it is. `written` says a sentence among them.
[[nodiscard]] std::string filled(std::string_view phrase, std::span<const Argument> arguments, Written written);

// A text on one line: control characters become spaces, and of a text beyond all reason the beginning and the end stay,
// which say where and what.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace decoderscope
