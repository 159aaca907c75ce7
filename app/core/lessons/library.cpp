#include "app/core/lessons/library.h"

#include "app/core/files/checksum.h"
#include "app/core/lessons/versions.h"
#include "engine/base/error.h"
#include "engine/formulas/words.h"
#include "engine/load/assets.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <tuple>
#include <variant>

namespace decoderscope::core::lessons {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "lesson.md";

// The folder of the program's lessons; empty if it is missing.
fs::path lessons_folder() {
    return made_or(fs::path(), [] { return load::asset_path("lessons"); });
}

// The names of all lessons: their folders below the folder of all.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failed;
    for (auto at = fs::recursive_directory_iterator(folder, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed))
        if (at->path().filename() == kFile)
            names.push_back(at->path().parent_path().lexically_relative(folder).string());
    std::ranges::sort(names);
    return names;
}

// What the blocks of a lesson say, but not the replies to wrong answers.
struct SaidWords {
    std::string all;

    void add(const Prose& prose) {
        for (const Span& span : prose) all += span.text;
        all += '\n';
    }
    void operator()(const Paragraph& paragraph) { add(paragraph.prose); }
    void operator()(const Place& place) { add(place.title); }
    void operator()(const PinnedNote& note) { add(note.text); }
    void operator()(const Table& table) {
        add(table.caption);
        for (const Prose& column : table.columns) add(column);
    }
    void operator()(const Question& question) {
        add(question.ask);
        if (const std::vector<Choice>* choices = choices_of(question))
            for (const Choice& choice : *choices) add(choice.text);
        add(question.learned);
    }
};

std::string words_of(const Lesson& lesson) {
    SaidWords words;
    words.add(lesson.title);
    words.add(lesson.summary);
    for (const Page& page : lesson.pages) {
        words.add(page.title);
        for (const Block& block : page.blocks) std::visit(words, block);
    }
    return in_small_letters(words.all + lesson.name);
}

LessonCard card_of(const fs::path& folder, const std::string& name, const std::string& language) {
    LessonCard card{.name = name, .path = (folder / name / kFile).string()};
    try {
        const std::string translated = translation_of(card.path, language);
        const Lesson lesson = read_lesson(translated.empty() ? card.path : translated, OldQuestions::left_out);
        card.title = plain_text(lesson.title);
        card.summary = plain_text(lesson.summary);
        card.kind = lesson.kind;
        card.number = lesson.number;
        card.minutes = lesson.minutes;
        card.questions = questions_of(lesson).size();
        card.words = words_of(lesson);
    } catch (const Error& error) {
        card.error = error.what();
    }
    return card;
}

}  // namespace

std::string in_small_letters(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
    return text;
}

std::vector<LessonCard> lesson_cards(const std::string& language) {
    std::vector<LessonCard> cards;
    const fs::path folder = lessons_folder();
    if (folder.empty()) return cards;
    for (const std::string& name : names_in(folder)) cards.push_back(card_of(folder, name, language));
    std::ranges::sort(cards, {}, [](const LessonCard& card) { return std::tuple(card.kind, card.number, card.name); });
    return cards;
}

namespace {

bool comes_with_the_program(const fs::path& folder, const std::string& name) {
    std::error_code failed;
    return !folder.empty() && fs::exists(folder / name / kFile, failed);
}

}  // namespace

std::string lesson_file(const std::string& name_or_path) {
    const fs::path folder = lessons_folder();
    if (comes_with_the_program(folder, name_or_path)) return (folder / name_or_path / kFile).string();
    std::error_code failed;
    if (fs::is_regular_file(name_or_path, failed)) return name_or_path;
    const std::vector<std::string> known = folder.empty() ? std::vector<std::string>() : names_in(folder);
    std::string all;
    for (const std::string& other : known) all += (all.empty() ? "" : ", ") + other;
    throw Error(formulas::with_nearest(
        message("{name}: neither a lesson's name nor a file; expected one of {known}, or a lesson's .md",
                {{"name", name_or_path}, {"known", all}}),
        name_or_path, known));
}

std::shared_ptr<const Lesson> find_lesson(const std::string& name_or_path, const std::string& language) {
    std::string path = lesson_file(name_or_path);
    const std::string text = lesson_text(path);
    const std::string digest = files::checksum_of(std::as_bytes(std::span(text)));
    if (const std::string translated = translation_of(path, language); !translated.empty()) path = translated;
    Lesson lesson = read_lesson(path);
    lesson.name = name_or_path;
    lesson.digest = digest;
    lesson.bundled = comes_with_the_program(lessons_folder(), name_or_path);
    return std::make_shared<const Lesson>(std::move(lesson));
}

std::shared_ptr<const Lesson> find_bundled_lesson(const std::string& name) {
    const fs::path folder = lessons_folder();
    const std::vector<std::string> known = folder.empty() ? std::vector<std::string>() : names_in(folder);
    if (std::ranges::find(known, name) == known.end())
        throw Error("This Decoderscope has no lesson \"{name}\"; a newer one may.", {{"name", name}});
    return find_lesson(name);
}

std::string translation_of(const std::string& path, const std::string& language) {
    if (language.empty()) return {};
    const fs::path file = path;
    const fs::path translated = file.parent_path() / (file.stem().string() + "." + language + ".md");
    std::error_code failed;
    return fs::exists(translated, failed) ? translated.string() : std::string();
}

std::vector<std::string> translations_of(const std::string& path) {
    std::vector<std::string> languages;
    const fs::path lesson = path;
    const std::string begin = lesson.stem().string() + ".", end = ".md";
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(lesson.parent_path(), failed)) {
        const std::string file = entry.path().filename().string();
        if (file.size() > begin.size() + end.size() && file.starts_with(begin) && file.ends_with(end))
            languages.push_back(file.substr(begin.size(), file.size() - begin.size() - end.size()));
    }
    std::ranges::sort(languages);
    return languages;
}

}  // namespace decoderscope::core::lessons
