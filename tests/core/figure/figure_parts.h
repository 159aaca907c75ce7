#pragma once

#include "app/core/figure/figure.h"
#include "app/core/run/exhibit_step.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// What tests look for in a figure.
namespace decoderscope::testing {

using namespace decoderscope::core;

// Its primitives of one kind, in their order.
template <class T>
std::vector<T> all_of(const Figure& figure) {
    std::vector<T> found;
    for (const figure::Primitive& primitive : figure.primitives)
        if (const T* one = std::get_if<T>(&primitive)) found.push_back(*one);
    return found;
}

// Whether one of its texts has this part.
inline bool says(const Figure& figure, const std::string& part) {
    return std::ranges::any_of(all_of<figure::Text>(figure),
                               [&](const figure::Text& one) { return one.text.find(part) != std::string::npos; });
}

inline ShownRun shown_run(std::string_view model = "causal-lm", std::vector<Edit> edits = {}) {
    Scenario scenario = scenario_of(load::make_bundled_model(model));
    scenario.edits = std::move(edits);
    return {scenario, execute(plan_of(scenario))};
}

inline const Step& step_of(const ShownRun& shown, const std::string& name) {
    const Ref step = shown.run->plan().find(name);
    REQUIRE(step != nullptr);
    return *step;
}

// The first two texts that overlap, or the first beyond the figure; empty if all is well.
inline std::string fault_of(const Figure& figure) {
    const std::vector<figure::Text> texts = all_of<figure::Text>(figure);
    constexpr double slack = 0.02;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const figure::Box a = text_box(texts[i]);
        if (a.x < -slack || a.y < -slack || a.right() > figure.width + slack || a.bottom() > figure.height + slack)
            return texts[i].text + " is cut off";
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
            const figure::Box b = text_box(texts[j]);
            if (a.x + slack < b.right() && b.x + slack < a.right() && a.y + slack < b.bottom() &&
                b.y + slack < a.bottom())
                return texts[i].text + " and " + texts[j].text;
        }
    }
    return "";
}

}  // namespace decoderscope::testing
