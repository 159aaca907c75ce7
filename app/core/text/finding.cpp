#include "app/core/text/finding.h"

#include "app/core/text/characters.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string>
#include <utility>

namespace decoderscope::core {

namespace {

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool begins_word(std::string_view name, std::size_t at) {
    return at == 0 || std::string_view(" -/._:=(").find(name[at - 1]) != std::string_view::npos;
}

// How well a name's letters fit what was typed: all of them in order, best at the beginnings of words. Negative if they
// don't fit.
int fuzzy_score(std::string_view label, std::string_view typed) {
    constexpr std::size_t kSentence = 48;  // has nearly all letters in every order
    const auto lower = [](char32_t c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
    const std::vector<Utf8Character> letters = characters(label);
    if (letters.size() > kSentence) return -1;
    int score = 0;
    std::size_t at = 0;
    for (const Utf8Character& c : characters(typed)) {
        if (c.code == ' ') continue;
        std::size_t found = at;
        while (found < letters.size() && lower(letters[found].code) != lower(c.code)) ++found;
        if (found == letters.size()) return -1;
        const char32_t before = found == 0 ? ' ' : letters[found - 1].code;
        const bool word = before == ' ' || before == '-' || before == '/';
        score += word ? 8 : (found == at && at > 0 ? 4 : 1);
        at = found + 1;
    }
    return score;
}

constexpr int kPart = 1000;  // the score of a part of a name; its letters in order have less

// 2 if one of the words is the typed one; 1 if one begins as it does, or, of at least four letters, begins it:
// "neurons" finds neuron, and "likely" not like; 0 if none does.
int fit_of_word(std::string_view words, std::string_view typed) {
    int best = 0;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (!begins_word(words, at)) continue;
        const std::size_t size = std::min(words.find_first_of(" ,:?()", at), words.size()) - at;
        const std::size_t same = std::min(size, typed.size());
        if ((same == typed.size() || (same >= 4 && typed.substr(same) != "ly")) &&
            std::ranges::equal(words.substr(at, same), typed.substr(0, same), same_letter))
            best = std::max(best, size == typed.size() ? 2 : 1);
    }
    return best;
}

// Words that every question has.
constexpr std::array<std::string_view, 42> kFillers = {
    "a",   "an", "and",  "are", "at",   "be",   "by",  "can",  "do",   "does",  "each",  "every", "for", "from",
    "how", "i",  "in",   "is",  "it",   "many", "me",  "more", "most", "much",  "my",    "not",   "of",  "on",
    "or",  "so", "that", "the", "this", "to",   "was", "what", "when", "where", "which", "who",   "why", "with"};

// What is typed in a language without spaces, in the words that entries have: those of search_words.json.
std::string in_english(std::string_view typed) {
    std::string words;
    bool is_other = false;
    for (std::size_t at = 0; at < typed.size();) {
        std::pair<std::string_view, std::string> best;
        if (static_cast<unsigned char>(typed[at]) >= 0x80)
            for (const auto& [written, meant] : asset_table("search_words").items())
                if (written.size() > best.first.size() && typed.substr(at).starts_with(written))
                    best = {typed.substr(at, written.size()), meant.get<std::string>()};
        is_other = is_other || !best.first.empty();
        if (static_cast<unsigned char>(typed[at]) < 0x80) words += typed[at];
        if (!best.first.empty()) words += " " + best.second + " ";
        at += std::max<std::size_t>(best.first.size(), 1);
    }
    return is_other ? words : std::string(typed);
}

// How well the typed words but fillers fit each entry's: best where all of them do, first those that have them in what
// is read, then by those that few entries have.
std::vector<int> words_scores(std::span<const Findable> entries, std::string_view typed) {
    constexpr int kAll = 1500, kInLabel = 5, kSome = 500, kRare = 400;
    std::vector<int> scores(entries.size(), -1), found(entries.size(), 0), in_label(entries.size(), 0);
    std::istringstream asked{in_english(typed)};
    int count = 0;
    bool asks_for_most = false;
    for (std::string word; asked >> word;) {
        const auto is_word = [&](std::string_view filler) { return std::ranges::equal(filler, word, same_letter); };
        asks_for_most = asks_for_most || is_word("most");
        if (std::ranges::any_of(kFillers, is_word)) continue;
        ++count;
        const bool is_token = word == "word" || word == "words" || word == "letter" || word == "letters";
        const auto fits = [&](std::string_view words) {  // a word of a text is a token here
            return std::max(fit_of_word(words, word), is_token ? fit_of_word(words, "token") : 0);
        };
        std::vector<std::size_t> having;
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (fits(entries[i].words) > 0) having.push_back(i);
        for (const std::size_t i : having) {
            ++found[i];
            in_label[i] += fits(entries[i].english);
            scores[i] = std::max(scores[i], kSome) + kRare / static_cast<int>(having.size());
        }
    }
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (count > 0 && found[i] == count) {
            const bool is_about_most = asks_for_most && fit_of_word(entries[i].words, "most") == 2;
            scores[i] = kAll + count + kInLabel * in_label[i] + (is_about_most ? 1 : 0);
        }
    return scores;
}

}  // namespace

int match_score(std::string_view name, std::string_view typed) {
    constexpr int kExact = 4000, kPrefix = 3000, kWord = 2000;
    if (typed.empty()) return 0;
    int best = -1;
    for (auto from = name.begin(); from != name.end();) {
        const auto found = std::search(from, name.end(), typed.begin(), typed.end(), same_letter);
        if (found == name.end()) break;
        from = found + 1;
        const auto at = static_cast<std::size_t>(found - name.begin()), end = at + typed.size();
        if (end < name.size() && (name[end] & 0xC0) == 0x80) continue;  // ends within a character
        const int score = at == 0                 ? (name.size() == typed.size() ? kExact : kPrefix)
                          : begins_word(name, at) ? kWord
                                                  : kPart;
        best = std::max(best, score);
    }
    return best >= 0 ? best : std::min(fuzzy_score(name, typed), kPart - 1);
}

std::vector<std::size_t> best_matches(std::span<const Findable> entries, std::string_view typed) {
    const std::vector<int> by_words = words_scores(entries, typed);
    std::vector<std::pair<int, std::size_t>> scored;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Findable& entry = entries[i];
        if (typed.empty() && !entry.first) continue;
        const int by_name = std::max(match_score(entry.name, typed), match_score(entry.english, typed));
        if (const int score = std::max(by_name, by_words[i]); score >= 0) scored.emplace_back(score, i);
    }
    std::ranges::stable_sort(scored, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::size_t> found;
    for (const auto& [score, i] : scored) found.push_back(i);
    return found;
}

}  // namespace decoderscope::core
