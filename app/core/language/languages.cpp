#include "app/core/language/languages.h"

#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/formulas/parse.h"
#include "engine/formulas/vectors.h"
#include "engine/load/assets.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace decoderscope::core::language {

namespace {

// What a rule makes of a count: whole numbers, as in C.
double form_of(const formulas::Node& e, double n) {
    using formulas::Op;
    if (const auto* number = std::get_if<formulas::Literal>(&e.what)) return number->value;
    if (std::get_if<formulas::Constant>(&e.what) != nullptr) return n;
    const Op op = std::get_if<formulas::Apply>(&e.what)->op;
    const double a = form_of(*e.children[0], n);
    if (op == Op::choose) return form_of(*e.children[a != 0.0 ? 1 : 2], n);
    const double b = e.children.size() > 1 ? form_of(*e.children[1], n) : 0.0;
    // A division by zero gives 0: a wrong header must not end the program.
    if (op == Op::divide || op == Op::remainder)
        return b == 0.0 ? 0.0 : formulas::value_of(op == Op::divide ? Op::quotient : op, a, b);
    return formulas::value_of(op, a, b);
}

formulas::Expr rule_of(std::string_view text) {
    text = text.substr(0, text.find_last_not_of("; \t") + 1);
    const auto fits = [](const formulas::Expr& e) {
        const auto* name = e->as<formulas::Constant>();
        return e->as<formulas::Literal>() != nullptr || e->as<formulas::Apply>() != nullptr ||
               (name != nullptr && name->name == "n");
    };
    try {
        const formulas::Expr rule = formulas::parse_asked(text);
        if (!formulas::any_node(rule, [&](const formulas::Expr& e) { return !fits(e); })) return rule;
    } catch (const formulas::FormulaError&) {
        // It is said below.
    }
    constexpr std::size_t kQuoted = 400;
    throw Error("Plural-Forms: {expression} is not an expression over the count n",
                {{"expression", std::string(text.substr(0, kQuoted))}});
}

[[noreturn]] void fail(std::size_t line, const Sentence& expected) {
    throw Error("line {line}: {expected}", {{"line", line}, {"expected", expected}});
}

// A text in quotation marks, without them and with its escapes resolved.
std::string unquoted(std::string_view quoted, std::size_t line) {
    if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"')
        fail(line, message("expected a text in quotation marks"));
    quoted = quoted.substr(1, quoted.size() - 2);
    std::string text;
    for (std::size_t at = 0; at < quoted.size(); ++at) {
        if (quoted[at] == '"') fail(line, message("a quotation mark within a text needs a backslash before it"));
        if (quoted[at] != '\\') {
            text += quoted[at];
            continue;
        }
        constexpr std::string_view kEscapes = "nt\"\\", kMeant = "\n\t\"\\";
        const std::size_t found = ++at < quoted.size() ? kEscapes.find(quoted[at]) : std::string_view::npos;
        if (found == std::string_view::npos) fail(line, message("expected \\n, \\t, \\\" or \\\\ after the backslash"));
        text += kMeant[found];
    }
    return text;
}

// One message as the file has it.
struct Entry {
    std::size_t line = 0;
    bool fuzzy = false;
    std::optional<std::string> context, english, plural;
    std::vector<std::string> forms;
};

// Splits the file into its entries.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    std::vector<Entry> read() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            ++line_;
            read_line(trimmed(rest_.substr(0, end)));
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
        }
        finish();
        return std::move(entries_);
    }

private:
    void read_line(std::string_view line) {
        if (line.empty()) return finish();
        if (line.starts_with('#')) {
            if (!entry_.forms.empty()) finish();  // entries need no empty line between them
            if (line.starts_with("#,") && line.find("fuzzy") != std::string_view::npos) entry_.fuzzy = true;
            return;
        }
        if (line.starts_with('"')) {
            if (text_ == nullptr) fail(line_, message("expected msgctxt, msgid, msgid_plural or msgstr"));
            *text_ += unquoted(line, line_);
            return;
        }
        const std::size_t end = std::min(line.find_first_of(" \t\""), line.size());
        begin(line.substr(0, end)) = unquoted(trimmed(line.substr(end)), line_);
    }

    // The text that begins with this keyword.
    std::string& begin(std::string_view keyword) {
        if ((keyword == "msgctxt" || keyword == "msgid") && !entry_.forms.empty()) finish();
        if (entry_.line == 0) entry_.line = line_;
        if (keyword == "msgctxt") return begin(entry_.context);
        if (keyword == "msgid") return begin(entry_.english);
        if (keyword == "msgid_plural") return begin(entry_.plural);
        const std::string expected = entry_.plural ? "msgstr[" + std::to_string(entry_.forms.size()) + "]" : "msgstr";
        if (keyword != expected || !entry_.english)
            fail(line_, message("expected {keyword}", {{"keyword", entry_.english ? expected : "msgid"}}));
        if (!entry_.plural && !entry_.forms.empty()) fail(line_, message("this message has two translations"));
        return *(text_ = &entry_.forms.emplace_back());
    }
    std::string& begin(std::optional<std::string>& text) {
        if (text || !entry_.forms.empty()) fail(line_, message("expected msgstr"));
        return *(text_ = &text.emplace());
    }

    void finish() {
        text_ = nullptr;
        if (entry_.line == 0) return;
        if (!entry_.english || entry_.forms.empty())
            fail(entry_.line, message("this message has no msgid or no msgstr"));
        entries_.push_back(std::exchange(entry_, {}));
    }

    std::string_view rest_;
    std::size_t line_ = 0;
    Entry entry_;
    std::string* text_ = nullptr;  // what further lines in quotation marks belong to
    std::vector<Entry> entries_;
};

PoHeader header_of(const std::vector<Entry>& entries) {
    if (entries.empty() || !entries.front().english->empty() || entries.front().context)
        throw Error("expected a .po file, which begins with a header: msgid \"\"");
    PoHeader header;
    std::string_view text = entries.front().forms.front();
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
            header.insert_or_assign(std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1))));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return header;
}

bool is_translated(const Entry& entry) {
    return !entry.fuzzy && std::ranges::none_of(entry.forms, [](const std::string& form) { return form.empty(); });
}

namespace fs = std::filesystem;

// "zh" of "zh_CN".
std::string_view without_country(std::string_view code) { return code.substr(0, code.find('_')); }

// The language for a locale, "zh_CN.UTF-8"; empty if there is none.
std::string language_for(std::string_view locale, std::span<const Language> known) {
    const std::string_view code = locale.substr(0, locale.find_first_of(".@"));
    if (code == "C" || code == "POSIX") return std::string(kEnglish);
    const auto same = std::ranges::find(known, code, &Language::code);
    if (same != known.end()) return same->code;
    const auto near = std::ranges::find_if(
        known, [&](const Language& language) { return without_country(language.code) == without_country(code); });
    return near != known.end() ? near->code : std::string();
}

std::string value_of(const Environment& environment, const char* name) {
    const char* value = environment(name);
    return value == nullptr ? std::string() : std::string(value);
}

// What a language calls itself; its code if the file doesn't say or can't be read: choosing the language reports what
// is wrong with it.
std::string name_in(const fs::path& file) {
    std::string name;
    try {
        name = header_line(parse_po_header(read_text(file.string())), "X-Language-Name");
    } catch (const Error&) {
        name.clear();
    }
    return name.empty() ? file.stem().string() : name;
}

}  // namespace

PluralRule plural_rule(std::string_view header) {
    constexpr std::string_view kForms = "nplurals=", kPlural = "plural=";
    constexpr std::size_t kMost = 6;  // Arabic has six
    const std::size_t forms_at = header.find(kForms), end = header.find(';');
    const std::size_t plural_at = end == std::string_view::npos ? end : header.find(kPlural, end);
    std::size_t forms = 0;
    if (forms_at != std::string_view::npos && plural_at != std::string_view::npos) {
        const std::string_view number = header.substr(forms_at + kForms.size(), end - forms_at - kForms.size());
        static_cast<void>(std::from_chars(number.data(), number.data() + number.size(), forms));
    }
    if (forms < 1 || forms > kMost)
        throw Error("Plural-Forms is {header}, expected “nplurals=1; plural=0;” or another rule",
                    {{"header", std::string(header)}});
    return {forms, [rule = rule_of(header.substr(plural_at + kPlural.size())), forms](std::int64_t count) {
                const double form = form_of(*rule, std::abs(static_cast<double>(count)));
                return form >= 0.0 && form < static_cast<double>(forms) ? static_cast<std::size_t>(form)
                                                                        : std::size_t{0};
            }};
}

std::string header_line(const PoHeader& header, std::string_view name) {
    const auto found = header.find(name);
    return found == header.end() ? std::string() : found->second;
}

PoHeader parse_po_header(std::string_view text) {
    const std::size_t end = text.find("\n\n", std::min(text.find("msgstr"), text.size()));
    return header_of(Reader(text.substr(0, end)).read());
}

PoFile parse_po(std::string_view text) {
    if (valid_utf8(text) != text) throw Error("not UTF-8");
    const std::vector<Entry> entries = Reader(text).read();
    PoHeader header = header_of(entries);
    const PluralRule rule = plural_rule(header_line(header, "Plural-Forms"));
    PoFile file{std::move(header), Catalog(rule.choose)};
    for (const Entry& entry : std::span(entries).subspan(1)) {
        if (entry.plural && entry.forms.size() != rule.forms)
            fail(entry.line, message("this message has {forms} plural forms, the language has {expected}",
                                     {{"forms", entry.forms.size()}, {"expected", rule.forms}}));
        if (is_translated(entry)) file.catalog.add(entry.context.value_or(""), *entry.english, entry.forms);
    }
    return file;
}

std::vector<Language> languages() {
    try {
        return languages_in(load::asset_path("messages"));
    } catch (const Error&) {
        return {{std::string(kEnglish), "English", ""}};  // not a message: each language is named in itself
    }
}

std::vector<Language> languages_in(const std::string& folder) {
    std::vector<Language> found;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (entry.path().extension() == ".po")
            found.push_back({entry.path().stem().string(), name_in(entry.path()), entry.path().string()});
    std::ranges::sort(found, {}, &Language::code);
    found.insert(found.begin(), {std::string(kEnglish), "English", ""});  // not a message: the same in each language
    return found;
}

std::string language_of(const Environment& environment, std::span<const Language> known) {
    std::string locale;
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
        if (locale = value_of(environment, name); !locale.empty()) break;
    // As for gettext: this locale switches every language off.
    if (locale == "C" || locale == "POSIX") return std::string(kEnglish);
    std::string wanted = value_of(environment, "LANGUAGE");
    wanted += (wanted.empty() ? "" : ":") + locale;
    for (std::string_view rest = wanted; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0)
            if (std::string found = language_for(rest.substr(0, end), known); !found.empty()) return found;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::string(kEnglish);
}

std::string html_code(std::string code) {
    std::ranges::replace(code, '_', '-');
    return code;
}

std::set<char32_t> alphabet_of(const Catalog& catalog) {
    std::set<char32_t> alphabet;
    catalog.each_text([&](std::string_view text) {
        for (const Utf8Character& character : characters(text))
            if (character.code >= 0x80) alphabet.insert(character.code);
    });
    return alphabet;
}

WindowLanguage::WindowLanguage(std::vector<Language> known, Environment environment)
    : known_(std::move(known)), environment_(std::move(environment)) {}

WindowLanguage::~WindowLanguage() { speak_english(); }

Sentence WindowLanguage::follow(const std::string& code) {
    const std::string wanted = code.empty() ? language_of(environment_, known_) : code;
    if (wanted == followed_) return {};
    followed_ = wanted;
    const auto language = std::ranges::find(known_, wanted, &Language::code);
    spoken_ = kEnglish;
    if (language == known_.end() || language->file.empty()) {
        speak_english();
        return {};
    }
    std::unique_ptr<const Catalog>& catalog = catalogs_[wanted];
    try {
        if (!catalog)
            catalog = std::make_unique<const Catalog>(
                naming(language->file, [&] { return parse_po(read_text(language->file)).catalog; }));
    } catch (const Error& error) {
        speak_english();
        return message("{error}. The window stays in English.", {{"error", error.sentence()}});
    }
    spoken_ = wanted;
    speak(*catalog);
    return {};
}

Sentence WindowLanguage::give_up(std::span<const char32_t> lacking) {
    speak_english();
    const std::string language = std::exchange(spoken_, std::string(kEnglish));
    if (std::ranges::none_of(lacking, is_east_asian))
        return message("No font that the window uses has the characters of {language}. The window stays in English.",
                       {{"language", language}});
    return message(
        "No installed font has the characters of {language}: install {package}, then start again. The window stays in "
        "English.",
        {{"language", language}, {"package", platform::east_asian_fonts()}});
}

}  // namespace decoderscope::core::language
