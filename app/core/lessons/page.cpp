#include "app/core/lessons/page.h"

#include "app/core/figure/exhibit.h"
#include "app/core/figure/picture_files.h"
#include "app/core/files/link.h"
#include "app/core/language/languages.h"
#include "app/core/lessons/check_lesson.h"
#include "app/core/lessons/typed_number.h"
#include "app/core/lessons/versions.h"
#include "app/core/lessons/writing.h"
#include "app/core/report/html_page.h"
#include "app/core/run/exhibit_step.h"
#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"
#include "engine/platform/files.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string_view>
#include <tuple>

namespace decoderscope::core::lessons {

namespace {

struct ShowBlock {
    const Lesson& lesson;
    Runs& runs;

    [[nodiscard]] Scope scope(const Lets* lets = nullptr) const { return {runs, nullptr, &lesson.lets, lets}; }

    ShownBlock operator()(const Paragraph& paragraph) const { return {.text = shown(paragraph.prose, scope())}; }
    ShownBlock operator()(const Place& place) const { return {.text = shown(place.title, scope())}; }

    ShownBlock operator()(const Question& question) const {
        const Scope here = scope(&question.lets);
        ShownBlock block{.text = shown(question.ask, here), .learned = shown(question.learned, here)};
        for (const Prose& hint : question.hints) block.hints.push_back(shown(hint, here));
        if (const std::vector<Choice>* choices = choices_of(question))
            for (const Choice& choice : *choices) block.choices.push_back(shown_choice(choice, here));
        return block;
    }

    ShownBlock operator()(const Table& table) const {
        ShownBlock block{.table = {.caption = shown(table.caption, scope())}};
        for (const Prose& column : table.columns) block.table.columns.push_back(shown(column, scope()));
        Scope here = scope();
        try {
            const double count = table.variable.empty() ? 1.0 : number_of(evaluate(*table.count, here));
            for (double i = 0; i < count; ++i) {
                if (!table.variable.empty()) here.variables.insert_or_assign(table.variable, single(i));
                for (const auto& row : table.rows) block.table.rows.push_back(cells(row, here));
            }
        } catch (const Error&) {
            block.table.rows.clear();  // the run that is open has no such rows
        }
        return block;
    }

    ShownBlock operator()(const PinnedNote& note) const {
        ShownBlock block{.text = shown(note.text, scope())};
        block.note = made_or(Note{}, [&] {  // the run that is open may have no such place
            Spot spot = spot_of(note.at, scope());
            return Note{std::move(spot.step), spot.cell.value_or(Cell{}), plain_text(block.text)};
        });
        return block;
    }

    static std::vector<std::string> cells(const std::vector<Formula>& row, const Scope& scope) {
        std::vector<std::string> texts;
        for (const Formula& cell : row) texts.push_back(shown_text(evaluate(*cell.expression, scope), cell.format));
        return texts;
    }
};

// The build makes them of assets/pages/ (app/CMakeLists.txt).
constexpr std::string_view kStyle =
#include "lesson.css.inc"
    ;
constexpr std::string_view kScript =
#include "lesson.js.inc"
    ;

std::string html_of(const Shown& text) {
    std::string html;
    for (const ShownSpan& span : text) {
        std::string words = xml_escaped(span.text);
        if (span.style == Span::Style::code) words = "<code>" + words + "</code>";
        if (span.style == Span::Style::emphasis) words = "<em>" + words + "</em>";
        if (span.style == Span::Style::strong) words = "<strong>" + words + "</strong>";
        if (!span.link.empty()) words = "<a href=\"" + xml_escaped(span.link) + "\">" + words + "</a>";
        html += words;
    }
    return html;
}

class LessonPage {
public:
    LessonPage(std::ostream& out, const Lesson& lesson, const LessonPageOptions& options)
        : out_(out), lesson_(lesson), options_(options) {}

    void write() {
        report::Page page(out_, plain_text(lesson_.title), plain_text(lesson_.summary),
                          {kStyle, html_language(lesson_), " data-tries=\"" + std::to_string(lesson_.tries) + "\"",
                           "const rules = " + reading_rules() + ";\n" + std::string(kScript)});
        for (const lessons::Page& each : lesson_.pages) {
            asked_ = false;
            page.section(plain_text(each.title));
            for (const Block& block : each.blocks) {
                end_list_before(block);
                std::visit([&](const auto& one) { write(one, block); }, block);
            }
            end_list();
        }
        if (!options_.answers) return;
        page.section(tr("Answers"), {}, "key");
        write_key();
    }

private:
    [[nodiscard]] Runs& runs(int line) const {
        if (!runs_)
            throw Error("{path}:{line}: no model is open yet; expected a place with one before this",
                        {{"path", lesson_.path}, {"line", line}});
        return *runs_;
    }
    // The texts of a block; those before the first place have no numbers.
    [[nodiscard]] ShownBlock texts(const Block& block, int line) const {
        if (const auto* paragraph = std::get_if<Paragraph>(&block); paragraph != nullptr && !runs_)
            return {.text = {{Span::Style::plain, plain_text(paragraph->prose), "", false}}};
        return shown_block(lesson_, block, runs(line));
    }

    void write(const Paragraph& paragraph, const Block& block) {
        const std::string text = html_of(texts(block, paragraph.line).text);
        switch (paragraph.kind) {
            case Paragraph::Kind::heading: {
                const std::string tag = "h" + std::to_string(std::min(paragraph.level, 6));
                out_ << "<" << tag << ">" << text << "</" << tag << ">\n";
                return;
            }
            case Paragraph::Kind::bullet:
            case Paragraph::Kind::numbered:
                begin_list(paragraph.kind == Paragraph::Kind::numbered ? "ol" : "ul");
                out_ << "<li>" << text << "</li>\n";
                return;
            case Paragraph::Kind::quote:
                return write_read_on("<blockquote><p>" + text + "</p></blockquote>\n");
            case Paragraph::Kind::code:
                return write_read_on("<pre>" + text + "</pre>\n");
            case Paragraph::Kind::text:
                write_read_on("<p>" + text + "</p>\n");
        }
    }

    void write(const Place& place, const Block& block) {
        if (!place.model.empty()) {
            opened_ = std::make_shared<const Scenario>(scenario_of(place, lesson_));
            runs_ = std::make_unique<Runs>(*opened_, nullptr, opened_);
        }
        std::string where = html_of(texts(block, place.line).text);
        const auto add = [&](const std::string& what, const std::string& value) {
            if (!value.empty()) where += " · " + xml_escaped(what) + " <code>" + xml_escaped(value) + "</code>";
        };
        add(tr("model"), place.model);
        add(tr("source"), place.changes.source.value_or(""));
        add(tr("target"), place.changes.target.value_or(""));
        add(tr("step"), place.step);
        const Cursor cursor = cursor_at(place);
        out_ << "<p class=\"place\">" << where << link_to(cursor, place.tab) << "</p>\n";
        write_picture(cursor);
        last_ = cursor;
    }

    // Where the window would go.
    [[nodiscard]] Cursor cursor_at(const Place& place) const {
        const Scope scope{*runs_, nullptr, &lesson_.lets, &place.lets};
        Cursor cursor{place.step, {}, {}};
        if (!place.step.empty()) {
            const Ref step = runs_->now().run->plan().find(place.step);
            cursor.cell = spot_of({place.step, place.cell}, scope).cell;
            if (cursor.cell)
                cursor.place = core::place_of(*step, *cursor.cell, {}, runs_->now().scenario.query_heads());
        }
        const auto index = [&](const ExpressionRef& of) { return static_cast<Index>(number_of(evaluate(*of, scope))); };
        if (place.batch) cursor.place.batch = index(place.batch);
        if (place.head) cursor.place.head = index(place.head);
        return cursor;
    }

    // The step as a heatmap, without numbers, which a question may ask for; folded away where the window would show it
    // only after an answer. A picture of thousands of cells shows nothing on paper.
    void write_picture(const Cursor& cursor) {
        constexpr Index kMostCells = 4096;
        const Ran& ran = runs_->now();
        const Ref step = cursor.step.empty() ? nullptr : ran.run->plan().find(cursor.step);
        if (step == nullptr || ran.run->value(step->id).empty()) return;
        const Slice slice = slice_of(*step, cursor.place, ran.scenario.query_heads());
        if (slice.rows() * slice.columns() > kMostCells) return;
        Exhibit exhibit = step_exhibit({ran.scenario, ran.run}, *step, cursor.place);
        exhibit.caption.clear();
        FigureStyle style;
        style.numbers = false;
        std::ostringstream picture;
        picture << "<figure>\n";
        Figure figure = exhibit_figure(exhibit, style);
        if (asked_) figure.said.resize(1);  // what is shown, not where the answer lies
        write_svg_element(picture, figure, SvgColors::of_page);
        picture << "</figure>\n";
        if (asked_)
            write_folded(tr("What is seen there"), picture.str());
        else
            out_ << picture.str();
    }

    // " · open it", a link to the browser version with this lesson beside the stage; empty if none is possible.
    [[nodiscard]] std::string link_to(const Cursor& cursor, const std::string& tab) const {
        if (options_.site.empty()) return {};
        files::SavedSession work{.scenario = *opened_, .cursor = cursor};
        if (!tab.empty()) work.view.tab = tab;
        if (lesson_.bundled) work.view.lesson = lesson_.name;
        return made_or(std::string(), [&] {  // the lesson's own model may lie in a file
            const std::string link = files::link_at(options_.site, files::link_of(files::session_file_of(work)));
            return " · <a href=\"" + xml_escaped(link) + "\">" + xml_escaped(tr("open it in the program")) + "</a>";
        });
    }

    void write(const Table& table, const Block& block) {
        const ShownTable shown = texts(block, table.line).table;
        std::string html = "<table>\n<caption>" + html_of(shown.caption) + "</caption>\n<thead><tr>";
        for (const Shown& column : shown.columns) html += "<th scope=\"col\">" + html_of(column) + "</th>";
        html += "</tr></thead>\n<tbody>\n";
        for (const auto& row : shown.rows) {
            html += "<tr>";
            for (const std::string& cell : row) html += "<td>" + xml_escaped(cell) + "</td>";
            html += "</tr>\n";
        }
        write_read_on(html + "</tbody>\n</table>\n");
    }

    void write(const PinnedNote& note, const Block& block) {
        const ShownBlock shown = texts(block, note.line);
        write_read_on("<p class=\"note\"><code>" + xml_escaped(place_text(shown.note)) + "</code> " +
                      html_of(shown.text) + "</p>\n");
    }

    // What the window would show only after an answer is folded away.
    void write_read_on(const std::string& html) {
        if (asked_)
            write_folded(tr("What is found"), html);
        else
            out_ << html;
    }

    void write(const Question& question, const Block& block) {
        asked_ = true;
        const ShownBlock shown = texts(block, question.line);
        const std::string known = answer_of(question, shown);
        out_ << "<form data-question=\"" << question.id << "\"" << (question.again ? " data-again" : "")
             << (known.empty() ? "" : " data-answer=\"" + base64(known) + "\"") << ">\n<fieldset>\n<legend>"
             << tr("Question") << "</legend>\n<p>" << html_of(shown.text) << "</p>\n";
        if (std::holds_alternative<ByNumber>(question.answer))
            out_ << "<label>" << xml_escaped(tr("A number:"))
                 << " <input name=\"number\" inputmode=\"text\" autocomplete=\"off\"></label>\n<p class=\"below read\" "
                 << "aria-live=\"polite\" data-read=\"" << xml_escaped(tr("Read as {number}")) << "\" data-none=\""
                 << xml_escaped(tr("This is not a number.")) << "\"></p>\n";
        else
            for (const std::size_t i : shown_order(lesson_, question, options_.seed))
                out_ << "<label><input type=\"radio\" name=\"choice\" value=\"" << i << "\"> "
                     << html_of(shown.choices[i]) << "</label>\n";
        const auto* written = std::get_if<ByFormula>(&question.answer);
        if (written != nullptr)
            for (const std::string& shape : shapes_to_write(runs_->now(), *written))
                out_ << "<p class=\"below\"><code>" << xml_escaped(shape) << "</code></p>\n";
        if (known.empty())
            out_ << "<p class=\"below\">"
                 << xml_escaped(
                        written != nullptr
                            ? tr("Write its formula. This page can't judge it: the program does, number by number.")
                            : tr("To be done in the program."))
                 << link_to(last_, {}) << "</p>\n";
        else
            out_ << "<button>" << xml_escaped(tr("Answer")) << "</button>\n<output aria-live=\"polite\"></output>\n";
        for (std::size_t i = 0; i < std::min(shown.hints.size(), lesson_.hints); ++i)
            write_folded(tr("Hint {number}", {{"number", i + 1}}), html_of(shown.hints[i]));
        if (known.empty()) write_folded(tr("What is found"), html_of(key_entry(lesson_, question, opened_).learned));
        out_ << "</fieldset>\n</form>\n";
    }

    void write_folded(const std::string& title, const std::string& html) {
        out_ << "<details data-text=\"" << base64(html) << "\"><summary>" << xml_escaped(title)
             << "</summary><div></div></details>\n";
    }

    void write_key() {
        out_ << "<ol>\n";
        for (const KeyEntry& entry : answer_key(lesson_))
            out_ << "<li><p>" << html_of(entry.ask) << "</p><p><strong>" << xml_escaped(entry.answer)
                 << "</strong></p><p>" << html_of(entry.learned) << "</p></li>\n";
        out_ << "</ol>\n";
    }

    // What the page's script needs to judge an answer, as JSON; empty for what only the program can judge.
    [[nodiscard]] std::string answer_of(const Question& question, const ShownBlock& block) const {
        const Asked asked{lesson_, question, *runs_, opened_.get()};
        const auto said = [&](const Prose& prose) { return plain_text(shown(prose, asked.scope())); };
        const std::string otherwise =
            question.otherwise.empty() ? std::string(tr("Not this one. A hint may help.")) : said(question.otherwise);
        nlohmann::ordered_json json = {{"learned", plain_text(block.learned)}, {"otherwise", otherwise}};
        if (const auto* by = std::get_if<ByChoice>(&question.answer)) {
            json["right"] = right_choices(asked).at(0);
            for (const Choice& choice : by->choices) json["replies"].push_back(said(choice.reply));
        } else if (const auto* number = std::get_if<ByNumber>(&question.answer)) {
            const auto computed = [&](const ExpressionRef& e) { return number_of(evaluate(*e, asked.scope())); };
            json["number"] = computed(number->answer);
            json["within"] = computed(number->within);
            json["wrong"] = nlohmann::ordered_json::array();
            for (const WrongNumber& wrong : number->wrong)
                json["wrong"].push_back({{"number", computed(wrong.number)},
                                         {"reply", wrong.reply.empty() ? otherwise : said(wrong.reply)}});
        } else {
            return {};
        }
        return json.dump();
    }

    // ---- items stand in a list of their kind

    void begin_list(std::string_view tag) {
        if (list_ == tag) return;
        end_list();
        list_ = tag;
        out_ << "<" << tag << ">\n";
    }
    void end_list() {
        if (!list_.empty()) out_ << "</" << list_ << ">\n";
        list_ = {};
    }
    void end_list_before(const Block& block) {
        const auto* paragraph = std::get_if<Paragraph>(&block);
        const bool is_item = paragraph != nullptr && (paragraph->kind == Paragraph::Kind::bullet ||
                                                      paragraph->kind == Paragraph::Kind::numbered);
        if (!is_item) end_list();
    }

    std::ostream& out_;
    const Lesson& lesson_;
    const LessonPageOptions& options_;
    std::shared_ptr<const Scenario> opened_;
    std::unique_ptr<Runs> runs_;
    Cursor last_;         // where the last place went
    bool asked_ = false;  // something on this page
    std::string_view list_;
};

}  // namespace

ShownBlock shown_block(const Lesson& lesson, const Block& block, Runs& runs) {
    return std::visit(ShowBlock{lesson, runs}, block);
}

Notes notes_of(const ShownPage& page, std::size_t count) {
    Notes notes;
    for (std::size_t i = 0; i < std::min(count, page.blocks.size()); ++i)
        if (!page.blocks[i].note.step.empty()) notes.push_back(page.blocks[i].note);
    return notes;
}

Resumable<ShownPage> shown_page(std::shared_ptr<const Lesson> lesson, std::size_t page, std::shared_ptr<Runs> runs) {
    ShownPage all;
    for (const Block& block : lesson->pages[page].blocks) {
        all.blocks.push_back(shown_block(*lesson, block, *runs));
        co_yield kPause;
    }
    co_return all;
}

decoderscope::core::Value<ShownPage> shown_page(Derived& derived, const Snapshot& snapshot,
                                                const std::shared_ptr<const Lesson>& lesson, std::size_t page,
                                                const std::shared_ptr<const Scenario>& opened) {
    // With `opened`, because the texts compare with it.
    return derived.later<ShownPage>({snapshot.run}, std::tuple(lesson->name, page, opened.get(), lesson->path), [&] {
        return shown_page(lesson, page, std::make_shared<Runs>(snapshot.scenario, snapshot.run, opened));
    });
}

std::string language_of(const Lesson& lesson) {
    const std::string& path = lesson.path;
    const std::string name = path.substr(platform::name_in_path(path));
    const auto first = name.find('.'), last = name.rfind('.');
    return first == last || first == std::string::npos ? "en" : name.substr(first + 1, last - first - 1);
}

std::string html_language(const Lesson& lesson) { return language::html_code(language_of(lesson)); }

void write_lesson_page(std::ostream& out, const Lesson& lesson, const LessonPageOptions& options) {
    LessonPage(out, lesson, options).write();
}

}  // namespace decoderscope::core::lessons
