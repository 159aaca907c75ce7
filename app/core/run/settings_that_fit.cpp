#include "app/core/run/settings_that_fit.h"

#include "app/core/text/numbers.h"
#include "engine/base/error.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace decoderscope::core {

namespace {

using MadePlan = std::shared_ptr<const Plan>;

// With dropout, so that its keys count as well.
Scenario with_dropout(Scenario scenario) {
    if (!scenario.dropout_seed) scenario.dropout_seed = 0;
    return scenario;
}

// The plan with another value of a key; nullptr if the weights, the input or the edits don't fit.
MadePlan plan_with(const Scenario& scenario, const std::string& key, const std::string& value) {
    try {
        return plan_of(with_override(scenario, key, value));
    } catch (const Error&) {
        return nullptr;
    }
}

bool computes_the_same(const Plan& a, const Plan& b) {
    return std::ranges::equal(a.steps(), b.steps(), [&](const Step& of_a, const Step& of_b) {
        return of_a.name == of_b.name && computed_alike(a, of_a, b, of_b);
    });
}

bool keeps_shapes(const Plan& a, const Plan& b) {
    return std::ranges::all_of(a.steps(), [&](const Step& step) {
        const Ref other = b.find(step.name);
        return other == nullptr || other->axes == step.axes;
    });
}

// The values of a key that can be tried instead of the one that it has.
std::vector<std::string> to_try(const ConfigKey& key, const Setting& setting) {
    std::vector<std::string> values = key.values;
    if (std::ranges::find(values, setting.own) == values.end()) values.push_back(setting.own);
    std::erase(values, setting.value);
    return values;
}

// What a setting can make of the configuration.
std::vector<Config> made_by(const Scenario& scenario, const Setting& setting) {
    std::vector<Config> made;
    for (const std::string& value : setting.others)
        made.push_back(with_override(scenario, setting.key, value).config());
    return made;
}

// "−1e4", "0.01", "−∞", "9.99999975e-6"
std::string choice_label(double number, int digits) {
    const std::string label = short_number_text(number, digits);
    const std::size_t end = label.find_last_not_of('0') + 1, zeros = label.size() - end;
    return zeros < 4 || label.find('.') != std::string::npos ? label
                                                             : label.substr(0, end) + "e" + std::to_string(zeros);
}

bool is_within(const std::vector<Config>& some, const std::vector<Config>& all) {
    return std::ranges::all_of(some, [&](const Config& one) { return std::ranges::find(all, one) != all.end(); });
}

std::vector<Setting> each_once(const Scenario& scenario, std::vector<Setting> settings) {
    std::vector<std::vector<Config>> made;
    for (const Setting& setting : settings) made.push_back(made_by(scenario, setting));
    std::vector<Setting> left;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        bool is_said = false;
        for (std::size_t j = 0; j < settings.size(); ++j)
            is_said = is_said || (i != j && is_within(made[i], made[j]) && made[i].size() < made[j].size());
        if (!is_said) left.push_back(std::move(settings[i]));
    }
    return left;
}

}  // namespace

Resumable<std::vector<Setting>> settings_that_fit(Scenario scenario) {
    std::vector<Setting> found;
    if (!scenario.computes()) co_return found;
    const Overrides now = config_values(scenario.config()), own = config_values(scenario.model()->config());
    const Scenario asked = with_dropout(scenario);
    const MadePlan plan = plan_of(asked);
    for (const ConfigKey& key : config_keys()) {
        Setting setting{.key = key.name,
                        .value = value_of(now, key.name),
                        .own = value_of(own, key.name),
                        .has_others = key.has_others};
        for (const std::string& value : to_try(key, setting)) {
            co_yield kPause;
            const MadePlan other = plan_with(asked, key.name, value);
            if (other == nullptr || computes_the_same(*plan, *other)) continue;
            setting.others.push_back(value);
            if (keeps_shapes(*plan, *other)) setting.alike.push_back(value);
        }
        if (!setting.others.empty()) found.push_back(std::move(setting));
    }
    co_return each_once(scenario, std::move(found));
}

std::string value_of(const Overrides& values, const std::string& key) {
    return std::ranges::find(values, key, &Overrides::value_type::first)->second;
}

Overrides::value_type flipped_norm(const Scenario& scenario) {
    return {"norm_first", scenario.config().norm_first ? "false" : "true"};
}

std::vector<std::string> NumberChoices::labels() const {
    std::vector<std::string> labels;
    for (const NumberChoice& choice : all) labels.push_back(choice.label);
    return labels;
}

Value<NumberChoices> number_choices(Derived& derived, const Scenario& scenario, const std::string& key,
                                    std::span<const char* const> usual) {
    const std::string now = value_of(config_values(scenario.config()), key);
    return derived.get<NumberChoices>({scenario.model()}, std::tie(key, now), [&] {
        NumberChoices choices;
        std::vector<std::string> written = {own_value(scenario, key)};
        written.insert(written.end(), usual.begin(), usual.end());
        written.push_back(now);
        for (const std::string& one : written) {
            const double number = number_from(one).value_or(-std::numeric_limits<double>::infinity());
            const auto known = std::ranges::find(choices.all, number, &NumberChoice::number);
            choices.now = static_cast<std::size_t>(known - choices.all.begin());
            if (known == choices.all.end()) choices.all.push_back({number, one, {}});
        }
        constexpr int kDigits = 6, kAllDigits = 17;
        std::set<std::string> labels;
        for (int digits = kDigits; digits <= kAllDigits && labels.size() < choices.all.size(); ++digits) {
            labels.clear();
            for (NumberChoice& choice : choices.all) labels.insert(choice.label = choice_label(choice.number, digits));
        }
        return choices;
    });
}

std::string own_value(const Scenario& scenario, const std::string& key) {
    return value_of(config_values(scenario.model()->config()), key);
}

Sentence why_not(const Scenario& scenario, const std::string& key, const std::string& value) {
    try {
        static_cast<void>(plan_of(with_override(scenario, key, value)));
        return {};
    } catch (const Error& error) {
        return error.sentence();
    }
}

Overrides alternatives_among(const std::vector<Setting>& settings) {
    Overrides found;
    for (const Setting& setting : settings)
        for (const std::string& value : setting.alike) found.emplace_back(setting.key, value);
    return found;
}

}  // namespace decoderscope::core
