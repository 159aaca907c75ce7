#include "engine/formulas/book.h"

#include <algorithm>

namespace decoderscope::formulas {
namespace {

constexpr std::string_view kText =
#include "engine/formulas/book.txt"
    ;

std::string_view without_comment(std::string_view line) {
    const std::size_t mark = line.starts_with('#') ? 0 : line.find(" #");
    line = line.substr(0, mark);
    return line.substr(0, line.find_last_not_of(' ') + 1);
}

struct Entry {
    std::size_t line;
    std::string text;
};

// A line each, with those that continue it.
std::vector<Entry> entries_of(std::string_view text) {
    std::vector<Entry> entries;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = without_comment(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.starts_with(' ') && !entries.empty())
            entries.back().text += line;
        else if (!line.empty())
            entries.push_back({number, std::string(line)});
    }
    return entries;
}

void read_entry(Book& book, std::string_view entry) {
    if (entry.starts_with("fn ")) {
        Formula function = parse_function(entry.substr(3), book.functions);
        std::string name = function.main.name;
        book.functions.insert_or_assign(std::move(name), std::move(function));
        return;
    }
    const std::size_t colon = entry.find(": ");
    if (colon == std::string_view::npos)
        throw FormulaError(message("“{text}” has no label: “label: formula” is expected", {{"text", entry}}), 0);
    book.formulas.insert_or_assign(std::string(entry.substr(0, colon)), parse(entry.substr(colon + 2), book.functions));
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
            read_entry(book, entry.text);
        } catch (const FormulaError& error) {
            throw FormulaError(message("line {line}: {error}", {{"line", entry.line}, {"error", error.sentence()}}),
                               error.at());
        }
    }
    return book;
}

}  // namespace decoderscope::formulas
