// The English of comments, pages and messages: phrases that a native engineer wouldn't write.
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sources/prose.h"

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

using namespace decoderscope::testing;

namespace {

// A phrase, as a regular expression. `contains`: what every match has, so that most texts need no search.
struct Phrase {
    std::string_view contains, expression, instead;
    bool in_messages = true;
};

const std::vector<Phrase>& phrases() {
    static const std::vector<Phrase> all = {
        {"who", R"(\b(for|to|with|by|than|as) who\b)", "for whoever, for the person who"},
        {"Who ", R"((^|[.:;] )Who [a-z]+ [^.?!]*\.)", "whoever, if you"},
        {"heed", R"(\bheeds?\b)", "ignores, follows"},
        {"bear", R"(\bbears\b|\bbear (a|an|the|its|no|it)\b)", "has, carries, fits"},
        {"f today", R"(\b[Oo]f today\b(?!'))", "modern, current"},
        {"nothing", R"(\bsays? nothing\b)", "doesn't say, isn't set, means nothing"},
        {"no ", R"(\bfinds? no (room|place)\b)", "doesn't fit"},
        {"else", R"([;,] else [a-z])", "otherwise, if not"},
        {"by ",
         R"(\b([Gg]radient|[Dd]erivative|[Ss]lope)s? by (an?|another|each|every|its|the|their) (own )?(cell|input|operand|parameter|result|row|score|step|tensor|weight)\b)",
         "with respect to"},
        {"by everything", R"(\bby everything\b)", "with respect to everything"},
        {"that that", R"(\bthat that\b)", "say it with other words"},
        {"The same", R"(^The same([;,.]| (for|of|in|with|without|by|as|from|to) ))", "As above, …", false},
        {"Of ", R"(^Of [^,:.;]*\.)", "begin with what it is, not with whose", false},
        {" where ", R"(\b([Ee]mpty|nullptr|[Nn]othing|[Nn]one) where (there|it|this|that|none|no|one)\b)", "if"},
        {" where", R"(\b[Tt]hrows (Error|the same) where\b)", "if"},
        {"meant", R"(\bwhere (an? |the )?[A-Za-z+ ]{1,30} (is|are) meant\b)", "instead of, although"},
        {" a ", R"(\bone a (block|cell|character|file|head|layer|line|pair|part|pixel|position|row|step|token)\b)",
         "one per"},
        {" a ",
         R"(\ba (family|file|folder|function|line|name|panel|row|sentence) a (block|command|file|head|line|part|row|step|tensor|token)\b)",
         "one per"},
        {" none", R"(\b(if|that) (it|the \w+) is none\b(?! of))", "isn't one"},
        {" no ", R"(\b(?!([Tt]here)\b)\w+ (is|are) no (decoder|error|key|padding|position|step|text|token|UTF-8)s?\b)",
         "isn't a, aren't"},
        {"behind", R"(\b([Nn]orm|token|sum)s? behind (an?|each|the)\b)", "after"},
        {"go without", R"(\bcan (each )?go without\b)", "can be removed without"},
        {"otherwise", R"(\b(answered|computed|computes|lies?|stored|turned|written) otherwise\b)", "differently"},
        {"another than", R"(\banother than\b)", "other than, different from"},
        {"side of", R"(\b(in|out)side of (an?|the)\b)", "inside, outside"},
        // British, as the rest; names of APIs stand in code's quotes.
        {"or",
         R"([ (](color|colors|colored|behavior|behaviors|neighbor|neighbors|neighboring|favorite)(?![\w`"'.(/-]))",
         "colour, behaviour, neighbour"},
        {"z", R"([ (](analyz|initializ|normaliz|optimiz|recogniz|summariz|visualiz)(e|es|ed|ing|ation)(?![\w`"'.(/-]))",
         "-ise, -ised, -isation"},
        {"center", R"([ (]center(s|ed)?(?![\w`"'.(/-]))", "centre"},
    };
    return all;
}

// A text in which what stands in code's quotes can't be taken for prose; as long as before.
std::string without_code(std::string text) {
    bool in_code = false;
    for (char& c : text) {
        if (c == '`')
            in_code = !in_code;
        else if (in_code)
            c = '_';
    }
    return text;
}

std::size_t last_line_of(const Paragraph& paragraph) { return paragraph.first_line + paragraph.offsets.size() - 1; }

// Whether a line says why its phrase is right: "(wording: WHY)".
bool is_allowed(const Paragraph& paragraph, std::size_t line) {
    const std::size_t from = paragraph.offsets[line - paragraph.first_line];
    const std::size_t to =
        line == last_line_of(paragraph) ? paragraph.text.size() : paragraph.offsets[line + 1 - paragraph.first_line];
    return paragraph.text.substr(from, to - from).find("(wording: ") != std::string::npos;
}

// Each phrase that a file's prose has, a line for each: "path:line: “for who”: for whoever".
std::string foreign_phrases(std::string_view path, std::string_view source) {
    static const std::vector<std::regex> expressions = [] {
        std::vector<std::regex> made;
        for (const Phrase& phrase : phrases()) made.emplace_back(std::string(phrase.expression), std::regex::optimize);
        return made;
    }();
    std::string found;
    for (const Paragraph& paragraph : paragraphs_of(path, source)) {
        const std::string text = without_code(paragraph.text);
        for (std::size_t i = 0; i < phrases().size(); ++i) {
            const Phrase& phrase = phrases()[i];
            if (text.find(phrase.contains) == std::string::npos) continue;
            if (paragraph.is_message && !phrase.in_messages) continue;
            for (std::sregex_iterator match(text.begin(), text.end(), expressions[i]), end; match != end; ++match) {
                const std::size_t line = paragraph.line_at(static_cast<std::size_t>(match->position()));
                if (is_allowed(paragraph, line)) continue;
                found += std::string(path) + ":" + std::to_string(line) + ": “" + match->str() +
                         "”: " + std::string(phrase.instead) + "\n";
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("comments, pages and messages are plain English", "[messages]") {
    const std::filesystem::path root = std::filesystem::path(DECODERSCOPE_TESTS_DIR).parent_path();
    std::string found;
    std::size_t files = 0;
    for (const std::string& path : files_of_repository()) {
        if (path == "tests/sources/test_words.cpp") continue;  // it has them all
        const std::string source = read_bytes((root / path).string());
        if (paragraphs_of(path, source).empty()) continue;
        ++files;
        found += foreign_phrases(path, source);
    }
    CHECK(found == "");
    CHECK(files > 1000);
}

TEST_CASE("phrases are found across lines, and not in code", "[messages]") {
    CHECK(foreign_phrases("a.cpp", "int a;\n// A list for\n// who reads it.\n") ==
          "a.cpp:2: “for who”: for whoever, for the person who\n");
    CHECK(foreign_phrases("a.h", "int a;  // its number; else 0\nint b;  // empty where there is none\n") ==
          "a.h:2: “empty where there”: if\n");
    CHECK(foreign_phrases("a.cmake", "# Of both.\n") ==
          "a.cmake:1: “Of both.”: begin with what it is, not with whose\n");
    CHECK(foreign_phrases("a.md", "Read the **color** of it.\nThe new color is.\n") ==
          "a.md:2: “ color”: colour, behaviour, neighbour\n");
    CHECK(foreign_phrases("a.pot", "msgid \"No step heeds it.\"\n") == "a.pot:1: “heeds”: ignores, follows\n");

    CHECK(foreign_phrases("a.md", "A `color` is `else`.\n\n```\nfor who\n```\n").empty());
    CHECK(foreign_phrases("a.cpp", "f(\"for who\");\n").empty());
    CHECK(foreign_phrases("a.cpp", "// It asks for who wrote it.  (wording: a question)\n").empty());
    CHECK(foreign_phrases("a.pot", "msgid \"The same as above.\"\n").empty());
}
