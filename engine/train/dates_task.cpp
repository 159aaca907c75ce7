#include "engine/train/dates_task.h"

#include "engine/train/pairs.h"

#include <array>
#include <chrono>

namespace decoderscope {

namespace {

using std::chrono::year_month_day;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",      // not a message: what the task is about
    "April",   "May",      "June",       // not a message: the same
    "July",    "August",   "September",  // not a message: the same
    "October", "November", "December",   // not a message: the same
};
constexpr Index kDays = 73'049;  // from 1900-01-01 to 2099-12-31
constexpr double kHeldOut = 1000.0 / static_cast<double>(kDays);
constexpr Index kSpellings = 7;

std::string padded(unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); }

std::string iso(int year, unsigned month, unsigned day) {
    return std::to_string(year) + "-" + padded(month) + "-" + padded(day);
}

std::string spelled(Index spelling, int of_year, unsigned of_month, unsigned of_day) {
    const std::string year = std::to_string(of_year), day = std::to_string(of_day), number = std::to_string(of_month);
    const std::string month(kMonths[of_month - 1]), brief = month.substr(0, 3);
    switch (spelling) {
        case 0:
            return day + " " + month + " " + year;
        case 1:
            return month + " " + day + ", " + year;
        case 2:
            return day + " " + brief + " " + year;
        case 3:
            return brief + " " + day + " " + year;
        case 4:
            return day + "." + number + "." + year;
        case 5:
            return number + "/" + day + "/" + year;
        default:
            return year + " " + month + " " + day;
    }
}

std::string in_lower_case(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

bool is_held_out(Index day) {
    return RandomStream(0, "held_out_dates").uniform(static_cast<std::uint64_t>(day)) < kHeldOut;
}

Pair random_date(Choices& choices) {
    Index number = choices.below(kDays);
    while (is_held_out(number)) number = choices.below(kDays);
    const std::chrono::sys_days first =
        year_month_day(std::chrono::year(1900), std::chrono::January, std::chrono::day(1));
    const year_month_day date(first + std::chrono::days(number));
    const int year = static_cast<int>(date.year());
    const unsigned month = static_cast<unsigned>(date.month()), day = static_cast<unsigned>(date.day());
    const std::string source = spelled(choices.below(kSpellings), year, month, day);
    return {choices.below(2) == 0 ? in_lower_case(source) : source, iso(year, month, day)};
}

}  // namespace

Task dates_task() {
    const std::vector<std::string> special = {"<pad>", "<bos>", "<eos>"};
    return translation_task("dates", characters(special, " ,./0123456789abcdefghijklmnopqrstuvwxyzADFJMNOS"),
                            characters(special, "-0123456789"), 48, random_date);
}

}  // namespace decoderscope
