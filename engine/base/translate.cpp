#include "engine/base/translate.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace decoderscope {

namespace {

const Catalog& english() {
    static const Catalog catalog;
    return catalog;
}

std::atomic<const Catalog*>& language() {
    static std::atomic<const Catalog*> now = &english();
    return now;
}

// What this thread speaks instead of the window's language; nullptr: nothing else.
const Catalog*& of_this_thread() {
    thread_local const Catalog* catalog = nullptr;
    return catalog;
}

const Catalog& current() { return of_this_thread() != nullptr ? *of_this_thread() : spoken(); }

}  // namespace

InEnglish::InEnglish() : before_(std::exchange(of_this_thread(), &english())) {}
InEnglish::~InEnglish() { of_this_thread() = before_; }

void Catalog::add(std::string_view context, std::string_view english, std::vector<std::string> forms) {
    texts_.insert_or_assign(OwnKey{std::string(context), std::string(english)}, std::move(forms));
}

const std::vector<std::string>* Catalog::find(const Phrase& phrase) const {
    // gettext stores a catalog's header under the empty text.
    if (texts_.empty() || *phrase.english() == 0) return nullptr;
    const auto found = texts_.find(Key{phrase.context() ? phrase.context() : "", phrase.english()});
    return found == texts_.end() || found->second.empty() ? nullptr : &found->second;
}

const char* Catalog::text(const Phrase& phrase) const {
    const std::vector<std::string>* forms = find(phrase);
    return forms ? forms->front().c_str() : phrase.english();
}

const char* Catalog::text(const Phrase& one, const Phrase& many, std::int64_t count) const {
    const std::vector<std::string>* forms = find(one);
    if (!forms) return count == 1 ? one.english() : many.english();
    const std::size_t form = plural_ ? plural_(count) : 0;
    return (*forms)[std::min(form, forms->size() - 1)].c_str();
}

void Catalog::each_text(const std::function<void(std::string_view)>& visit) const {
    for (const auto& [key, forms] : texts_)
        for (const std::string& form : forms) visit(form);
}

void speak(const Catalog& catalog) { language() = &catalog; }

void speak_english() { speak(english()); }

const Catalog& spoken() { return *language(); }

const char* tr(Phrase phrase) { return current().text(phrase); }

std::string tr(Phrase phrase, std::initializer_list<Argument> arguments) {
    return filled(tr(phrase), arguments, [](const Sentence& sentence) { return tr(sentence); });
}

std::string tr(const Sentence& sentence) {
    const Sentence::Parts* parts = sentence.parts();
    if (parts == nullptr) return {};
    return one_line(filled(current().text(parts->one, parts->many, parts->count), parts->arguments,
                           [](const Sentence& inner) { return tr(inner); }));
}

}  // namespace decoderscope
