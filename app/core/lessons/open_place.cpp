#include "app/core/lessons/open_place.h"

#include "engine/error.h"
#include "engine/model/bundled.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace decoderscope::lessons {

namespace {

std::string path_of_model(const std::string& model, const std::string& lesson_path) {
    const auto& bundled = bundled_models();
    if (std::ranges::any_of(bundled, [&](const BundledModel& known) { return known.name == model; })) return model;
    const std::filesystem::path path = model;
    return path.is_absolute() ? model : (std::filesystem::path(lesson_path).parent_path() / path).string();
}

Index index_of(const Expression& expression, const Scope& scope) {
    const double number = number_of(evaluate(expression, scope));
    if (!std::isfinite(number)) throw Error("{value}; expected an index", {{"value", shown_text(single(number))}});
    return static_cast<Index>(std::llround(number));
}

}  // namespace

Scenario scenario_of(const Place& place, const std::string& lesson_path) {
    Scenario scenario = decoderscope::scenario_of(load_model(path_of_model(place.model, lesson_path)));
    return changed(std::move(scenario), place.changes);
}

const Place* place_before(const Lesson& lesson, const std::string& question) {
    const Place* last = nullptr;
    for (const Page& page : lesson.pages)
        for (const Block& block : page.blocks) {
            if (const auto* place = std::get_if<Place>(&block); place != nullptr && !place->model.empty()) last = place;
            if (const auto* here = std::get_if<Question>(&block); here != nullptr && here->id == question) return last;
        }
    return nullptr;
}

Spot spot_of(const CellAnswer& answer, const Scope& scope) {
    const Ref step = scope.runs.now().run->plan().find(answer.step);
    if (step == nullptr) throw Error("{name}: the run has no such tensor", {{"name", answer.step}});
    Spot spot{answer.step, std::nullopt};
    if (answer.cell.empty()) return spot;
    if (answer.cell.size() != step->axes.size())
        throw Error("{name}: {count} indices; expected {wanted}, one per axis of {axes}",
                    {{"name", answer.step},
                     {"count", answer.cell.size()},
                     {"wanted", step->axes.size()},
                     {"axes", axes_text(step->axes)}});
    Cell cell;
    for (std::size_t i = 0; i < answer.cell.size(); ++i) {
        const Index size = step->axes[i].size;
        Index index = index_of(*answer.cell[i], scope);
        if (index < 0) index += size;
        if (index < 0 || index >= size)
            throw Error("{name}: index {index} along {axis}; expected less than {size}",
                        {{"name", answer.step}, {"index", index}, {"axis", step->axes[i].name}, {"size", size}});
        cell.push_back(index);
    }
    spot.cell = std::move(cell);
    return spot;
}

std::vector<Command> going_commands(const Place& place, const Scope& scope) {
    std::vector<Command> commands;
    if (!place.step.empty()) {
        const Spot spot = spot_of({place.step, place.cell}, scope);
        if (spot.cell)
            commands.push_back(command::Follow{spot.step, *spot.cell});
        else
            commands.push_back(command::GoTo{spot.step});
    }
    if (place.batch) commands.push_back(command::ChooseBatch{index_of(*place.batch, scope)});
    if (place.head) commands.push_back(command::ChooseHead{index_of(*place.head, scope)});
    return commands;
}

}  // namespace decoderscope::lessons
