#include "engine/base/message.h"

#include <algorithm>

namespace decoderscope {

namespace {

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

// The argument for a placeholder; nullptr if none was given.
const Argument* argument_at(std::span<const Argument> arguments, std::string_view place) {
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const Argument& argument) { return argument.place == place; });
    return found == arguments.end() ? nullptr : &*found;
}

std::string text_of(const Argument& argument, Written written) {
    if (const auto* text = std::get_if<std::string>(&argument.value)) return *text;
    return written(*std::get<std::shared_ptr<const Sentence>>(argument.value));
}

// The first position from `at` on where a UTF-8 character begins.
std::size_t character_from(const std::string& text, std::size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    return at;
}

}  // namespace

// Here rather than in each of the files that have messages, which would take the compiler seconds.
Argument::Argument(const char* at, std::string what) : place(at), value(std::move(what)) {}
Argument::Argument(const char* at, std::string_view what) : place(at), value(std::string(what)) {}
Argument::Argument(const char* at, const char* what) : place(at), value(std::string(what)) {}
Argument::Argument(const char* at, long long number) : place(at), value(std::to_string(number)) {}
Argument::Argument(const char* at, unsigned long long number) : place(at), value(std::to_string(number)) {}
Argument::Argument(const Argument& other) = default;
Argument::Argument(Argument&& other) noexcept = default;
Argument& Argument::operator=(const Argument& other) = default;
Argument& Argument::operator=(Argument&& other) noexcept = default;
Argument::~Argument() = default;
Argument::Argument(const char* at, Sentence what)
    : place(at), value(std::make_shared<const Sentence>(std::move(what))) {}

Sentence::Sentence(Phrase phrase, Arguments arguments)
    : parts_(std::make_shared<const Parts>(Parts{phrase, phrase, 1, std::move(arguments)})) {}

Sentence::Sentence(Phrase one, Phrase many, std::int64_t count, Arguments arguments) {
    arguments.emplace_back("count", count);
    parts_ = std::make_shared<const Parts>(Parts{one, many, count, std::move(arguments)});
}

Sentence Sentence::verbatim(std::string_view text) {
    if (text.empty()) return {};
    return {"{verbatim}", {{"verbatim", text}}};
}

std::string Sentence::english() const {
    if (empty()) return {};
    const Phrase& phrase = parts_->count == 1 ? parts_->one : parts_->many;
    return one_line(
        filled(phrase.english(), parts_->arguments, [](const Sentence& sentence) { return sentence.english(); }));
}

std::string filled(std::string_view phrase, std::span<const Argument> arguments, Written written) {
    std::string text;
    while (!phrase.empty()) {
        const std::size_t open = phrase.find('{');
        text += phrase.substr(0, open);
        if (open == std::string_view::npos) break;
        const std::size_t close = phrase.find('}', open);
        const std::string_view place =
            close == std::string_view::npos ? std::string_view() : phrase.substr(open + 1, close - open - 1);
        const Argument* argument = is_name(place) ? argument_at(arguments, place) : nullptr;
        text += argument ? text_of(*argument, written) : "{";
        phrase.remove_prefix(argument ? close + 1 : open + 1);
    }
    return text;
}

std::string one_line(std::string text) {
    constexpr std::size_t kEnd = 2000;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20U || c == 0x7FU; }, ' ');
    if (text.size() <= 2 * kEnd) return text;
    return text.substr(0, character_from(text, kEnd)) + " … " + text.substr(character_from(text, text.size() - kEnd));
}

}  // namespace decoderscope
