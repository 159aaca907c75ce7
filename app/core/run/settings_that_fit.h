#pragma once

#include "app/core/derived/derived.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/scenario.h"

#include <span>
#include <string>
#include <vector>

// What a model's configuration could be instead, with the same weights and input.
namespace decoderscope::core {

// A key that can be changed so that the run computes something else.
struct Setting {
    std::string key, value;  // now
    std::string own;         // the model's own value
    // Values with which it can be run; only some, if it is a number or a text.
    std::vector<std::string> others = {};
    std::vector<std::string> alike = {};  // those of them that leave each tensor its shape
    bool has_others = true;               // it is a number or a text

    [[nodiscard]] bool is_changed() const { return value != own; }
    [[nodiscard]] bool is_switch() const { return !has_others && (value == "true" || value == "false"); }
};

// The keys in the contract's order, each tried with the values that the table of keys names and with the model's own:
// what needs other weights, and what changes nothing, isn't listed. A key that sets nothing but what another sets, too,
// is left out. Pauses between them.
[[nodiscard]] Resumable<std::vector<Setting>> settings_that_fit(Scenario scenario);

// The value of a key among all of config_values().
[[nodiscard]] std::string value_of(const Overrides& values, const std::string& key);
// Pre-Norm's other place of the norm, Post-Norm, or the other way round, as a key and its value.
[[nodiscard]] Overrides::value_type flipped_norm(const Scenario& scenario);
// What the model itself has for a key.
[[nodiscard]] std::string own_value(const Scenario& scenario, const std::string& key);
// A number that a key can be given with a click.
struct NumberChoice {
    double number = 0.0;
    std::string written;  // as `--set` reads back the same number
    std::string label;    // with the digits that tell it from the others
};
struct NumberChoices {
    static constexpr std::size_t kKept = 4;
    std::vector<NumberChoice> all;
    std::size_t now = 0;  // the one that the key has

    [[nodiscard]] std::vector<std::string> labels() const;
};
// The model's own number, the usual ones as they are written, and the one that the key has now, each once.
[[nodiscard]] Value<NumberChoices> number_choices(Derived& derived, const Scenario& scenario, const std::string& key,
                                                  std::span<const char* const> usual);
// Why a key can't have this value; empty if it can.
[[nodiscard]] Sentence why_not(const Scenario& scenario, const std::string& key, const std::string& value);

// The configurations that can be compared with this one number by number, by the key in which they differ.
[[nodiscard]] Overrides alternatives_among(const std::vector<Setting>& settings);

}  // namespace decoderscope::core
