#pragma once

#include "engine/base/message.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// The texts of one language, as in gettext's .po file. The empty catalog is English.
class Catalog {
public:
    // Chooses a translation's plural form for a count.
    using Plural = std::function<std::size_t(std::int64_t count)>;

    Catalog() = default;
    explicit Catalog(Plural plural) : plural_(std::move(plural)) {}
    // The translation of a phrase: one form, or all the forms that `plural` chooses from.
    void add(std::string_view context, std::string_view english, std::vector<std::string> forms);

    // The translation, otherwise the English. The returned text lives as long as the catalog; nothing is allocated.
    [[nodiscard]] const char* text(const Phrase& phrase) const;
    [[nodiscard]] const char* text(const Phrase& one, const Phrase& many, std::int64_t count) const;
    // Visits every translated text.
    void each_text(const std::function<void(std::string_view)>& visit) const;

private:
    struct Key {
        std::string_view context, english;
        auto operator<=>(const Key&) const = default;
    };
    struct OwnKey {
        std::string context, english;
        [[nodiscard]] Key view() const { return {context, english}; }
    };
    struct Before {
        using is_transparent = void;
        static Key view(const Key& key) { return key; }
        static Key view(const OwnKey& key) { return key.view(); }
        bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
    };

    [[nodiscard]] const std::vector<std::string>* find(const Phrase& phrase) const;

    Plural plural_;
    std::map<OwnKey, std::vector<std::string>, Before> texts_;
};

// The language of the window. It is global, because hundreds of places show text, all in the same language. It begins
// as English, and stays so without a window. It may be changed at any time; the next frame shows everything in the new
// language. The catalog must live as long as the program.
void speak(const Catalog& catalog);
void speak_english();
[[nodiscard]] const Catalog& spoken();

// A text in the language of the window; xgettext finds it by the function's name. One without placeholders allocates
// nothing.
[[nodiscard]] const char* tr(Phrase phrase);
[[nodiscard]] std::string tr(Phrase phrase, std::initializer_list<Argument> arguments);
// One of two texts chosen by a count, which fills {count}: tr_n("{count} step", "{count} steps", count).
[[nodiscard]] std::string tr_n(Phrase one, Phrase many, std::integral auto count, Arguments arguments = {});
// The text of a stored sentence; empty for an empty sentence.
[[nodiscard]] std::string tr(const Sentence& sentence);

[[nodiscard]] std::string tr_n(Phrase one, Phrase many, std::integral auto count, Arguments arguments) {
    return tr(message_n(one, many, count, std::move(arguments)));
}

class Catalog;

// While such an object lives, the texts that its thread makes are English, whatever the window speaks: those of files.
class InEnglish {
public:
    InEnglish();
    ~InEnglish();
    InEnglish(const InEnglish&) = delete;
    InEnglish& operator=(const InEnglish&) = delete;

private:
    const Catalog* before_;
};

}  // namespace decoderscope
