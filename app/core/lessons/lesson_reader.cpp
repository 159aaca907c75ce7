// Reads a lesson's file: pages, and on them paragraphs and the lesson's own blocks.
#include "app/core/lessons/block_lines.h"
#include "app/core/lessons/lesson.h"
#include "app/core/lessons/read_block.h"
#include "engine/error.h"
#include "engine/file.h"

#include <algorithm>
#include <optional>
#include <set>

namespace decoderscope::lessons {

namespace {

// Puts the blocks of a file together to a lesson.
class LessonReader {
public:
    LessonReader(std::string path, const FormulaTable& formulas) : formulas_(formulas) {
        lesson_.path = std::move(path);
        lesson_.name = lesson_.path;
    }

    Lesson read(const std::vector<MarkdownBlock>& blocks) {
        for (const MarkdownBlock& block : blocks) {
            for (const Paragraph& paragraph : block.paragraphs) add(paragraph);
            if (!block.info.empty()) add_fenced(block);
        }
        at_line(lesson_.path, 1, [&] {
            if (lesson_.title.empty())
                throw Error("no title; expected a heading such as \"# A weight is a comparison\"");
            if (!has_head_) throw Error("no ```lesson block; expected one before the first page");
            if (lesson_.pages.empty()) throw Error("no pages; expected headings such as \"## One weight\"");
        });
        return std::move(lesson_);
    }

private:
    void add(const Paragraph& paragraph) {
        if (paragraph.kind == Paragraph::Kind::heading && paragraph.level == 1) {
            at_line(lesson_.path, paragraph.line, [&] {
                if (!lesson_.title.empty()) throw Error("a second title; expected ## for a page");
            });
            lesson_.title = paragraph.prose;
        } else if (paragraph.kind == Paragraph::Kind::heading && paragraph.level == 2) {
            lesson_.pages.push_back({paragraph.prose, {}, paragraph.line});
        } else {
            page(paragraph.line).blocks.emplace_back(paragraph);
        }
    }

    void add_fenced(const MarkdownBlock& block) {
        const BlockSource source{read_block_lines(block.contents, block.line + 1, lesson_.path), formulas_,
                                 lesson_.path, block.line};
        if (block.info == "lesson") return add_head(source);
        if (block.info == "place") return add_place(read_place(source));
        if (block.info == "question") return add_question(read_question(source));
        if (block.info == "table") return page(block.line).blocks.emplace_back(read_table(source)), void();
        at_line(lesson_.path, block.line, [&] {
            throw Error("a block \"{info}\"; expected lesson, place, question or table", {{"info", block.info}});
        });
    }

    void add_head(const BlockSource& source) {
        at_line(lesson_.path, source.line, [&] {
            if (has_head_) throw Error("a second ```lesson block; expected one");
            if (!lesson_.pages.empty()) throw Error("a ```lesson block on a page; expected it before the first ##");
        });
        has_head_ = true;
        read_head(source, lesson_);
    }

    void add_place(Place place) {
        Page& here = page(place.line);
        at_line(lesson_.path, place.line, [&] {
            const bool opens = !place.model.empty();
            if (opens && opened_since_question_)
                throw Error("a second place with a model; expected it after a question, or on a page of its own");
        });
        opened_since_question_ = opened_since_question_ || !place.model.empty();
        here.blocks.emplace_back(std::move(place));
    }

    void add_question(Question question) {
        at_line(lesson_.path, question.line, [&] {
            if (!ids_.insert(question.id).second)
                throw Error("id: \"{id}\" stands twice; expected another", {{"id", question.id}});
        });
        opened_since_question_ = false;
        page(question.line).blocks.emplace_back(std::move(question));
    }

    Page& page(int line) {
        at_line(lesson_.path, line, [&] {
            if (lesson_.pages.empty()) throw Error("this stands before the first page; expected a heading ## first");
        });
        if (current_page_ != lesson_.pages.size()) {
            current_page_ = lesson_.pages.size();
            opened_since_question_ = false;
        }
        return lesson_.pages.back();
    }

    const FormulaTable& formulas_;
    Lesson lesson_;
    bool has_head_ = false;
    std::size_t current_page_ = 0;
    bool opened_since_question_ = false;
    std::set<std::string> ids_;
};

}  // namespace

Lesson parse_lesson(const std::string& text, const std::string& path) {
    FormulaTable formulas;
    const std::string markdown = formulas.taken_out(text, path);
    return LessonReader(path, formulas).read(read_markdown(markdown, formulas, path));
}

Lesson read_lesson(const std::string& path) { return parse_lesson(read_text(path), path); }

std::vector<const Question*> questions_of(const Lesson& lesson) {
    std::vector<const Question*> all;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks)
            if (const auto* question = std::get_if<Question>(&block)) all.push_back(question);
    return all;
}

}  // namespace decoderscope::lessons
