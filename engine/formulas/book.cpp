#include "engine/formulas/book.h"

#include <algorithm>

namespace decoderscope::formulas {
namespace {

constexpr std::string_view kText =
#include "engine/formulas/book.txt"
    ;

std::string_view without_spaces(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

struct Entry {
    std::size_t line;
    std::string section, text, about;
};

// A line each, with those that continue it; what it says of itself apart.
std::vector<Entry> entries_of(std::string_view text) {
    constexpr std::string_view kSection = "# ---- ";
    std::vector<Entry> entries;
    std::string_view section;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with(kSection)) section = without_spaces(line.substr(kSection.size()));
        if (line.empty() || line.starts_with('#')) continue;
        if (!line.starts_with(' ') || entries.empty()) entries.push_back({number, std::string(section), {}, {}});
        const std::size_t mark = std::min(line.find(" #"), line.size());
        entries.back().text += line.substr(0, line.find_last_not_of(' ', mark) + 1);
        if (mark < line.size()) entries.back().about += without_spaces(line.substr(mark + 2));
    }
    return entries;
}

// Calls `take` with each part of a text.
template <class Take>
void each_part(std::string_view text, std::string_view separator, const Take& take) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        take(text.substr(0, end));
        text.remove_prefix(std::min(end + separator.size(), text.size()));
    }
}

BookLine line_of(const Entry& entry, std::string label, std::optional<Formula> formula) {
    BookLine line{entry.section, std::move(label), std::move(formula), {}, {}, {}, {}};
    each_part(entry.about, "; ", [&](std::string_view part) {
        constexpr std::string_view kKernel = "kernel: ", kAs = "as: ";
        if (part.starts_with(kKernel))
            line.kernel = part.substr(kKernel.size());
        else if (part.starts_with(kAs))
            line.computed_as = part.substr(kAs.size());
        else
            line.source.append(line.source.empty() ? "" : "; ").append(part);
    });
    return line;
}

// What can't be said: of lines that the book has, or a line of its own.
void read_refusal(Book& book, const Entry& entry, std::string_view labels, std::string_view why) {
    each_part(labels, ", ", [&](std::string_view label) {
        const auto found = std::ranges::find(book.lines, label, &BookLine::label);
        BookLine& line = found != book.lines.end()
                             ? *found
                             : book.lines.emplace_back(line_of(entry, std::string(label), std::nullopt));
        line.why_not = why;
    });
}

void read_function(Book& book, const Entry& entry) {
    Formula function = parse_function(std::string_view(entry.text).substr(3), book.functions);
    std::string name = function.main.name;
    book.lines.push_back(line_of(entry, name + (function.along.empty() ? "" : "_" + function.along), function));
    book.functions.insert_or_assign(std::move(name), std::move(function));
}

void read_entry(Book& book, const Entry& entry) {
    if (entry.text.starts_with("fn ")) return read_function(book, entry);
    const std::string_view text = entry.text;
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos)
        throw FormulaError(message("“{text}” has no label: “label: formula” is expected", {{"text", text}}), 0);
    if (text.starts_with("! ")) return read_refusal(book, entry, text.substr(2, colon - 2), text.substr(colon + 2));
    std::string label(text.substr(0, colon));
    Formula formula = parse(text.substr(colon + 2), book.functions);
    book.lines.push_back(line_of(entry, label, formula));
    book.formulas.insert_or_assign(std::move(label), std::move(formula));
}

}  // namespace

const Book& the_book() {
    static const Book book = read_book(kText);
    return book;
}

Book read_book(std::string_view text) {
    Book book;
    for (const Entry& entry : entries_of(text)) {
        try {
            read_entry(book, entry);
        } catch (const FormulaError& error) {
            throw FormulaError(message("line {line}: {error}", {{"line", entry.line}, {"error", error.sentence()}}),
                               error.at());
        }
    }
    return book;
}

const BookLine* Book::find(std::string_view label) const {
    const auto found = std::ranges::find(lines, label, &BookLine::label);
    return found == lines.end() ? nullptr : &*found;
}

}  // namespace decoderscope::formulas
