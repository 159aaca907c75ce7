#include "app/core/lessons/shuffle.h"

#include "engine/base/random.h"

#include <filesystem>
#include <numeric>
#include <random>
#include <utility>

namespace decoderscope::core::lessons {

const std::vector<Choice>* choices_of(const Question& question) {
    if (const auto* by = std::get_if<ByChoice>(&question.answer)) return &by->choices;
    if (const auto* by = std::get_if<ByBug>(&question.answer)) return &by->choices;
    return nullptr;
}

std::vector<std::size_t> shown_order(const Lesson& lesson, const Question& question, std::uint64_t seed) {
    const std::vector<Choice>* choices = choices_of(question);
    std::vector<std::size_t> order(choices == nullptr ? 0 : choices->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // A file from elsewhere has another path on each machine, and keeps its name.
    const std::string name = lesson.bundled ? lesson.name : std::filesystem::path(lesson.name).filename().string();
    const RandomStream random(seed, name + "/" + question.id);
    for (std::size_t left = order.size(); left > 1; --left)  // Fisher and Yates
        std::swap(order[left - 1], order[static_cast<std::size_t>(random.bits(left) % left)]);
    return order;
}

std::uint64_t new_seed() {
    std::random_device device;
    return device() | 1U;  // 0: none was drawn yet
}

}  // namespace decoderscope::core::lessons
