#include "engine/base/bounds.h"

#include <fast_float/fast_float.h>

#include <cmath>

namespace decoderscope {

Sentence expected_number(bool whole, const std::string& least, const std::string& most, bool above, bool below) {
    const Arguments ends = {{"least", least}, {"most", most}};
    if (whole)
        return most.empty() ? message("a whole number from {least}", ends)
                            : message("a whole number from {least} to {most}", ends);
    if (most.empty()) return above ? message("a number above {least}", ends) : message("a number from {least}", ends);
    if (above) return message("a number above {least} and at most {most}", ends);
    return below ? message("a number from {least} and below {most}", ends)
                 : message("a number from {least} to {most}", ends);
}

std::optional<double> number_from(std::string_view text) {
    double number = 0.0;
    const auto [end, failed] = fast_float::from_chars(text.data(), text.data() + text.size(), number);
    const bool all = failed == std::errc() && end == text.data() + text.size();
    return all && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace decoderscope
