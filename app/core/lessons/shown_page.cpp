#include "app/core/lessons/shown_page.h"

#include "engine/error.h"

#include <tuple>

namespace decoderscope::lessons {

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
        const auto add = [&](const std::vector<Choice>& choices) {
            for (const Choice& choice : choices) block.choices.push_back(shown_choice(choice, here));
        };
        if (const auto* by = std::get_if<ByChoice>(&question.answer)) add(by->choices);
        if (const auto* by = std::get_if<ByBug>(&question.answer)) add(by->choices);
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

    static std::vector<std::string> cells(const std::vector<Formula>& row, const Scope& scope) {
        std::vector<std::string> texts;
        for (const Formula& cell : row) texts.push_back(shown_text(evaluate(*cell.expression, scope), cell.format));
        return texts;
    }
};

}  // namespace

ShownBlock shown_block(const Lesson& lesson, const Block& block, Runs& runs) {
    return std::visit(ShowBlock{lesson, runs}, block);
}

Resumable<ShownPage> shown_page(std::shared_ptr<const Lesson> lesson, std::size_t page, std::shared_ptr<Runs> runs) {
    ShownPage all;
    for (const Block& block : lesson->pages[page].blocks) {
        all.blocks.push_back(shown_block(*lesson, block, *runs));
        co_yield kPause;
    }
    co_return all;
}

decoderscope::Value<ShownPage> shown_page(Derived& derived, const Snapshot& snapshot,
                                          const std::shared_ptr<const Lesson>& lesson, std::size_t page,
                                          const std::shared_ptr<const Scenario>& opened) {
    // With `opened`, because the texts compare with it.
    return derived.later<ShownPage>({snapshot.run}, std::tuple(lesson->name, page, opened.get(), lesson->path), [&] {
        return shown_page(lesson, page, std::make_shared<Runs>(snapshot.scenario, snapshot.run, opened));
    });
}

}  // namespace decoderscope::lessons
