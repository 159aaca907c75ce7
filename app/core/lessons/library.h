#pragma once

#include "app/core/lessons/lesson.h"

#include <memory>
#include <string>
#include <vector>

// The lessons that come with the program.
namespace decoderscope::core::lessons {

// What the list says about a lesson.
struct LessonCard {
    std::string name;  // "weight", "gallery/no-scale"
    std::string path;
    std::string title, summary;
    LessonKind kind = LessonKind::lesson;
    int number = 0, minutes = 0;
    std::size_t questions = 0;
    std::string words;  // all that it says, to be searched: small letters, without numbers of the run
    std::string error;  // why it can't be read; empty if it can
};
// As `words` are: its Latin letters small.
[[nodiscard]] std::string in_small_letters(std::string text);

// All of them, the lessons by their numbers, then the gallery by names, then tests. `language` is that of the window,
// "zh_CN"; a lesson without a translation is in English. Empty if the program's files are missing.
[[nodiscard]] std::vector<LessonCard> lesson_cards(const std::string& language = "");

// The file of a lesson by its name, or itself. Throws Error that lists the names.
[[nodiscard]] std::string lesson_file(const std::string& name_or_path);

// A lesson by its name, or a file by its path. Throws Error that lists the names.
[[nodiscard]] std::shared_ptr<const Lesson> find_lesson(const std::string& name_or_path,
                                                        const std::string& language = "");

// A lesson that comes with the program, by its name. Throws Error if there is none: the name may come from anywhere,
// and opens no other file.
[[nodiscard]] std::shared_ptr<const Lesson> find_bundled_lesson(const std::string& name);

// The file of a lesson's translation beside it; empty if there is none.
[[nodiscard]] std::string translation_of(const std::string& path, const std::string& language);
// The languages that a lesson is translated to.
[[nodiscard]] std::vector<std::string> translations_of(const std::string& path);

}  // namespace decoderscope::core::lessons
