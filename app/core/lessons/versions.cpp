#include "app/core/lessons/versions.h"

#include "engine/base/random.h"

#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace decoderscope::core::lessons {

const std::vector<Choice>* choices_of(const Question& question) {
    if (const auto* by = std::get_if<ByChoice>(&question.answer)) return &by->choices;
    if (const auto* by = std::get_if<ByBug>(&question.answer)) return &by->choices;
    return nullptr;
}

std::string words_of(const Choice& choice) {
    return choice.mutation.empty() ? plain_text(choice.text) : choice.mutation;
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

namespace {

bool stands_in(const Block& block, int version) {
    if (const auto* place = std::get_if<Place>(&block)) return place->version.value_or(version) == version;
    if (const auto* question = std::get_if<Question>(&block)) return question->version.value_or(version) == version;
    if (const auto* note = std::get_if<PinnedNote>(&block)) return note->version.value_or(version) == version;
    return true;
}

}  // namespace

Lesson in_version(const Lesson& lesson, int version) {
    Lesson own = lesson;
    own.version = version;
    if (lesson.versions > 1) own.lets.insert_or_assign("version", parse_expression(std::to_string(version)));
    if (lesson.all_pages) own.pages = *lesson.all_pages;
    for (Page& page : own.pages)
        std::erase_if(page.blocks, [&](const Block& block) { return !stands_in(block, version); });
    return own;
}

int version_for(const Lesson& lesson, std::uint64_t seed, std::uint64_t round) {
    const auto count = static_cast<std::uint64_t>(lesson.versions);
    return static_cast<int>((RandomStream(seed, "version").bits(0) + round) % count);
}

std::shared_ptr<const Lesson> lesson_for(std::shared_ptr<const Lesson> lesson, std::uint64_t seed,
                                         std::uint64_t round) {
    const int version = version_for(*lesson, seed, round);
    if (version == lesson->version) return lesson;
    return std::make_shared<const Lesson>(in_version(*lesson, version));
}

}  // namespace decoderscope::core::lessons
