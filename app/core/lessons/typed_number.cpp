#include "app/core/lessons/typed_number.h"

#include "app/core/text/numbers.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <array>
#include <charconv>
#include <cmath>
#include <regex>
#include <utility>
#include <vector>

namespace decoderscope::core::lessons {

namespace {

// A way to write a number: what it looks like, what is left out of it, and which sign stands before its fraction.
struct Form {
    std::string pattern, dropped, points;
};

struct Rules {
    std::vector<std::pair<std::string, std::string>> replaced;
    std::string whole, plain;
    std::vector<Form> forms;  // the first that fits counts
};

Rules rules_of(NumberSigns signs) {
    const std::string group = std::string("\\") + signs.group, point = std::string("\\") + signs.point;
    const std::string sign = "[+-]?", first = "[1-9]\\d{0,2}", exponent = "(?:[eE][+-]?\\d{1,3})?";
    const std::string numeral = "([+-]?(?:[\\d.,' ]*\\d[.,]?)" + exponent + ")";
    Rules rules{.replaced = {{"−", "-"},
                             {"≈", "~"},
                             {"–", "-"},
                             {"，", ","},
                             {"．", "."},
                             {"。", "."},
                             {"／", "/"},
                             {"％", "%"},
                             {"’", "'"},
                             {"\u00A0", " "},
                             {"\u2009", " "},
                             {"\u202F", " "},
                             {"\u3000", " "},
                             {"per cent", "%"},  // not a message: what people type
                             {"percent", "%"}},
                .whole = "^ *[=~]? *" + numeral + " *(?:/ *" + numeral +
                         " *)?(%)? *((?:[^\\d\\s%/*^+\\-=.,<>][^\\d/*^+=<>]*)?)$",
                .plain = "^ *[+-]?\\d+(?:\\.\\d*)? *$",
                .forms = {{sign + first + "(?:" + group + "\\d{3})+(?:" + point + "\\d*)?" + exponent,
                           std::string(1, signs.group), std::string(1, signs.point)},
                          {sign + first + "(?:[ ']\\d{3})+(?:[.,]\\d*)?" + exponent, " '", ".,"},
                          {sign + first + "(?:(?:" + point + "\\d{3})+" + group + "\\d+|(?:" + point + "\\d{3}){2,})" +
                               exponent,
                           std::string(1, signs.point), std::string(1, signs.group)},
                          {sign + "(?:\\d+[.,]?\\d*|[.,]\\d+)" + exponent, "", ".,"}}};
    constexpr std::array kWideDigits = {"０", "１", "２", "３", "４", "５", "６", "７", "８", "９"};
    for (std::size_t digit = 0; digit < kWideDigits.size(); ++digit)
        rules.replaced.emplace_back(kWideDigits[digit], std::to_string(digit));
    return rules;
}

std::string replaced(std::string text, const Rules& rules) {
    for (const auto& [from, to] : rules.replaced)
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    return text;
}

// One numeral, without a fraction bar.
std::optional<double> numeral(const std::string& text, const Rules& rules) {
    for (const Form& form : rules.forms) {
        if (!std::regex_match(text, std::regex(form.pattern))) continue;
        std::string plain;
        for (const char c : text) {
            if (form.dropped.find(c) != std::string::npos) continue;
            plain += form.points.find(c) != std::string::npos ? '.' : c;
        }
        return number_from(plain.starts_with('+') ? plain.substr(1) : plain);
    }
    return {};
}

}  // namespace

NumberSigns spoken_number_signs() {
    // Translators: how your language writes this number, with a sign between the groups of its digits
    const std::string example = tr("1,234.5");
    return example.size() == 7 ? NumberSigns{example[1], example[5]} : NumberSigns();
}

std::string TypedNumber::read_as() const {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return {digits.data(), end.ptr};
}

std::optional<TypedNumber> typed_number(std::string_view text, NumberSigns signs) {
    constexpr std::size_t kLongest = 64;  // an expression needs a frame of the stack a letter
    if (text.size() > kLongest) return {};
    const Rules rules = rules_of(signs);
    const std::string typed = replaced(std::string(text), rules);
    std::smatch found;
    if (!std::regex_match(typed, found, std::regex(rules.whole))) return {};
    std::optional<double> number = numeral(found[1].str(), rules);
    if (number && found[2].matched) {
        const std::optional<double> below = numeral(found[2].str(), rules);
        number = below ? std::optional(*number / *below) : std::nullopt;
    }
    if (number && found[3].matched) *number /= 100.0;
    if (!number || !std::isfinite(*number)) return {};
    return TypedNumber{*number, std::regex_match(typed, std::regex(rules.plain))};
}

std::string reading_rules(NumberSigns signs) {
    const Rules rules = rules_of(signs);
    nlohmann::ordered_json forms = nlohmann::ordered_json::array();
    for (const Form& form : rules.forms) forms.push_back({"^" + form.pattern + "$", form.dropped, form.points});
    return nlohmann::ordered_json{
        {"replace", rules.replaced}, {"whole", rules.whole}, {"plain", rules.plain}, {"forms", forms}}
        .dump();
}

}  // namespace decoderscope::core::lessons
