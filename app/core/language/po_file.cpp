#include "app/core/language/po_file.h"

#include "app/core/language/plural_rule.h"
#include "app/core/text/trimmed.h"
#include "app/core/text/utf8.h"
#include "engine/error.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

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

}  // namespace

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

}  // namespace decoderscope
