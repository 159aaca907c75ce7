#include "app/core/lessons/compare_translation.h"

#include "app/core/lessons/block_lines.h"
#include "app/core/lessons/prose.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/mutations/mutation.h"

#include <algorithm>
#include <set>

namespace decoderscope::lessons {

namespace {

// A part of a lesson that a translation must have, too: what it is, and what stays the same in it.
struct Fixed {
    std::string what, value;
    int line = 0;
};

// The numbers in a text, in any order: another language may have another one.
std::string formulas_in(const Prose& prose) {
    std::multiset<std::string> formulas;
    for (const Span& span : prose)
        if (span.formula) formulas.insert(span.formula->source);
    std::string all;
    for (const std::string& formula : formulas) all += "{=" + formula + "}";
    return all;
}

bool is_prose(const BlockLine& line) {
    static const std::set<std::string_view> keys = {"title", "summary", "ask",       "choice",  "reply",
                                                    "hint",  "learned", "otherwise", "caption", "columns"};
    const bool names_mutation =
        line.key == "choice" && (line.value == "nothing" || find_mutation(line.value) != nullptr);
    return keys.contains(line.key) && !names_mutation;
}

std::vector<Fixed> fixed_parts(const std::string& path) {
    FormulaTable formulas;
    const std::string text = formulas.taken_out(read_text(path), path);
    std::vector<Fixed> parts;
    for (const MarkdownBlock& block : read_markdown(text, formulas, path)) {
        for (const Paragraph& paragraph : block.paragraphs)
            parts.push_back({paragraph.kind == Paragraph::Kind::heading ? "heading" : "paragraph",
                             std::to_string(paragraph.level) + formulas_in(paragraph.prose), paragraph.line});
        if (block.info.empty()) continue;
        parts.push_back({"block", block.info, block.line});
        for (const BlockLine& line : read_block_lines(block.contents, block.line + 1, path))
            parts.push_back(
                {line.key, is_prose(line) ? formulas_in(read_prose(line.value, formulas)) : line.value, line.line});
    }
    return parts;
}

}  // namespace

std::vector<Sentence> compare_translation(const std::string& lesson, const std::string& translation) {
    const std::vector<Fixed> ours = fixed_parts(lesson), theirs = fixed_parts(translation);
    std::vector<Sentence> differences;
    const auto differ = [&](int line, const Sentence& why) {
        differences.push_back(message("{path}:{line}: {why}", {{"path", translation}, {"line", line}, {"why", why}}));
    };
    const std::size_t common = std::min(ours.size(), theirs.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (ours[i].what != theirs[i].what) {
            differ(theirs[i].line,
                   message("{found}, where line {line} of the lesson has {expected}",
                           {{"found", theirs[i].what}, {"line", ours[i].line}, {"expected", ours[i].what}}));
            return differences;  // nothing behind it has a counterpart
        }
        if (ours[i].value != theirs[i].value)
            differ(theirs[i].line, message("{what}: \"{found}\", where line {line} of the lesson has \"{expected}\"",
                                           {{"what", ours[i].what},
                                            {"found", theirs[i].value},
                                            {"line", ours[i].line},
                                            {"expected", ours[i].value}}));
    }
    if (ours.size() != theirs.size())
        differ(theirs.empty() ? 1 : theirs.back().line, message("{count} parts; the lesson has {expected}",
                                                                {{"count", theirs.size()}, {"expected", ours.size()}}));
    return differences;
}

}  // namespace decoderscope::lessons
