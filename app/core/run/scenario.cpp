#include "app/core/run/scenario.h"

#include "app/core/run/comparison.h"
#include "app/core/run/edits.h"
#include "app/core/run/mistakes_behind_cache.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/lens.h"
#include "engine/model/inputs.h"
#include "engine/mutations/mutations.h"
#include "engine/sheet/sheet.h"
#include "engine/trace/recorded_plan.h"

#include <algorithm>
#include <array>
#include <limits>

namespace decoderscope::core {

namespace {

// Two keys give the norm placement: of those, too, only the last override is kept.
bool say_the_same(const std::string& a, const std::string& b) {
    const auto of_placement = [](const std::string& key) { return key == "norm_first" || key == "norm_placement"; };
    return a == b || (of_placement(a) && of_placement(b));
}

bool is_of_norm(const Declared& parameter) {
    using enum Init::Kind;
    const auto kind = parameter.init.kind;
    return kind == gain || kind == gain_less_one || kind == shift || kind == half;
}

// The norms that overrides put where the model has none.
Weights missing_norms(const Weights& weights, const Config& config, const Overrides& overrides) {
    const auto moves_norms = [](const auto& one) { return one.first == "norm_placement" || one.first == "norm_first"; };
    Weights missing;
    if (std::ranges::none_of(overrides, moves_norms)) return missing;
    for (const Declared& parameter : decoder::declared_parameters(config))
        if (is_of_norm(parameter) && !weights.contains(parameter.name))
            missing.emplace(parameter.name, decoder::initial_weight(parameter, 0));
    return missing;
}

const tokenizer::Tokenizer& no_tokenizer() {
    static const tokenizer::Tokenizer none;
    return none;
}

// A recording's steps are what they are: anything but rows, which only read, would have to be computed, and is refused.
bool is_as_recorded(const Scenario& scenario, bool logit_lens) {
    return !change_the_pass(scenario.edits) && !scenario.dropout_seed && scenario.gradient_target.empty() &&
           scenario.mutation.empty() && !logit_lens && scenario.inputs.tokens.empty() && scenario.inputs.x.empty();
}

std::shared_ptr<const Plan> recorded_plan(const Scenario& scenario) {
    if (scenario.edits.empty()) return scenario.recorded()->plan;
    Plan plan = trace::plan_of_trace(scenario.recorded()->trace);
    const sheet::Beside beside = beside_plan(scenario);
    sheet::apply_edits(plan, scenario.edits, beside);
    sheet::add_rows_of_gradients(plan, scenario.edits, beside);
    return std::make_shared<const Plan>(std::move(plan));
}

sheet::OtherRun other_run_of(const Scenario& scenario) {
    if (scenario.other_run == nullptr) return {};
    return [other = scenario.other_run](const std::string& name) { return other->find(name); };
}

}  // namespace

// Here rather than in each of the files that pass one on, which would take the compiler seconds.
Scenario::Scenario() = default;
Scenario::Scenario(const Scenario& other) = default;
Scenario::Scenario(Scenario&& other) noexcept = default;
Scenario& Scenario::operator=(const Scenario& other) = default;
Scenario& Scenario::operator=(Scenario&& other) noexcept = default;
Scenario::~Scenario() = default;

Scenario::Scenario(load::Opened opened, Overrides overrides) : opened_(std::move(opened)) {
    if (computes() || !overrides.empty()) set_overrides(std::move(overrides));
}

const std::shared_ptr<const load::Model>& Scenario::model() const {
    if (const auto* model = std::get_if<std::shared_ptr<const load::Model>>(&opened_)) return *model;
    throw Error("{name}: recorded elsewhere: there are no weights to compute anything else with",
                {{"name", about().name}});
}

const Config& Scenario::config() const {
    static_cast<void>(model());
    return config_;
}

Index Scenario::query_heads() const { return computes() ? config_.nhead : recorded()->sizes.heads; }
Index Scenario::batch() const { return computes() ? inputs.batch() : recorded()->sizes.batch; }

const tokenizer::Tokenizer& Scenario::tokenizer() const { return computes() ? model()->tokenizer : no_tokenizer(); }
const tokenizer::Tokenizer& Scenario::encoder_tokenizer() const {
    return computes() ? model()->encoder_tokenizer : no_tokenizer();
}

void Scenario::complete(const load::Model& model, const Config& config, const Overrides& overrides) {
    Weights more = missing_norms(model.weights, config, overrides);
    adds_norms_ = !more.empty();
    if (lens_) more.insert(lens_->maps.begin(), lens_->maps.end());
    completed_ = nullptr;
    if (more.empty()) return;
    more.insert(model.weights.begin(), model.weights.end());
    completed_ = std::make_shared<const Weights>(std::move(more));
}

void Scenario::set_lens(std::shared_ptr<const load::FittedLens> lens) {
    lens_ = std::move(lens);
    complete(*model(), config_, overrides_);
}

void Scenario::set_model(std::shared_ptr<const load::Model> model) {
    Config config = model->config(overrides_);
    complete(*model, config, overrides_);
    config_ = std::move(config);
    opened_ = std::move(model);
}

void Scenario::set_overrides(Overrides overrides) {
    // In a session file they are an object, which has no order: one order, whichever of them was set first.
    std::ranges::stable_sort(overrides, {}, &Overrides::value_type::first);
    Config config = model()->config(overrides);
    complete(*model(), config, overrides);
    config_ = std::move(config);
    overrides_ = std::move(overrides);
}

load::LookAt Scenario::look_at() const { return computes() ? model()->look_at : load::LookAt(); }

Scenario scenario_of(load::Opened opened) {
    Scenario scenario(std::move(opened));
    if (scenario.computes()) scenario.inputs = scenario.model()->example;
    return scenario;
}

Scenario with_overrides(Scenario scenario, const Overrides& overrides) {
    Overrides all = scenario.overrides();
    for (const auto& [key, value] : overrides) {
        std::erase_if(all, [&key = key](const auto& one) { return say_the_same(one.first, key); });
        all.emplace_back(key, value);
    }
    scenario.set_overrides(std::move(all));
    return scenario;
}

Scenario with_override(Scenario scenario, const std::string& key, const std::string& value) {
    return with_overrides(std::move(scenario), {{key, value}});
}

bool fit_together(const Scenario& a, const Scenario& b) {
    const auto is_alike = [&](const InputSlot& slot) {
        return (a.inputs.*slot.member).axes() == (b.inputs.*slot.member).axes();
    };
    const auto pass = [](const Scenario& scenario) { return scenario.passes ? scenario.passes->shown : std::nullopt; };
    const auto sizes = [](const Scenario& scenario) {
        return scenario.passes ? scenario.passes->sizes : std::vector<Index>();
    };
    return a.opened() == b.opened() && std::ranges::all_of(input_slots(), is_alike) && pass(a) == pass(b) &&
           sizes(a) == sizes(b);
}

Scenario without_lost_gradients(Scenario scenario) {
    if (scenario.gradient_target.empty()) return scenario;
    Scenario asked = scenario;
    asked.edits = rows_among(std::move(asked.edits));
    try {
        static_cast<void>(plan_of(asked));
    } catch (const Error&) {
        scenario.gradient_target.clear();
    }
    return scenario;
}

Scenario with_gradients_read(Scenario scenario) {
    if (scenario.gradient_target.empty() && std::ranges::any_of(scenario.edits, sheet::reads_gradients))
        scenario.gradient_target = "loss";
    return scenario;
}

Scenario varied(Scenario scenario, const Variation& variation) {
    Overrides overrides = variation.overrides;
    if (variation.layers) overrides.emplace_back("num_layers", std::to_string(*variation.layers));
    if (!overrides.empty()) scenario = with_overrides(std::move(scenario), overrides);
    if (variation.without_edits) scenario = without_edits(std::move(scenario));
    if (variation.without_dropout) scenario.dropout_seed.reset();
    if (variation.dropout_seed) scenario.dropout_seed = variation.dropout_seed;
    replace_edits(scenario.edits, variation.more_edits);
    return scenario;
}

Tensor FreshWeights::get(const Declared& parameter) {
    constexpr std::uint64_t kSeed = 0;
    const std::lock_guard lock(mutex_);
    Tensor& made = made_[parameter.name];
    if (made.axes() != parameter.axes) made = decoder::initial_weight(parameter, kSeed);
    return made;
}

std::shared_ptr<const load::Model> with_layers(const std::shared_ptr<const load::Model>& model,
                                               const Overrides& overrides, Index layers, FreshWeights& fresh) {
    Overrides deep = overrides;
    std::erase_if(deep, [](const auto& override) { return override.first == "num_layers"; });
    deep.emplace_back("num_layers", std::to_string(layers));
    load::Model deeper = *model;
    for (const Declared& parameter : decoder::declared_parameters(model->config(deep)))
        if (parameter.required && !deeper.weights.contains(parameter.name))
            deeper.weights.emplace(parameter.name, fresh.get(parameter));
    return std::make_shared<const load::Model>(std::move(deeper));
}

std::shared_ptr<const load::Model> with_norms_scaled(const std::shared_ptr<const load::Model>& model,
                                                     const Overrides& overrides, float gain, float shift) {
    load::Model scaled = *model;
    for (const Declared& parameter : decoder::declared_parameters(model->config(overrides))) {
        if (!is_of_norm(parameter) || parameter.init.kind == Init::Kind::half) continue;
        const auto found = scaled.weights.try_emplace(parameter.name).first;
        if (found->second.empty())
            found->second = decoder::initial_weight(parameter, 0);  // of another place than the model's
        const bool is_shift = parameter.init.kind == Init::Kind::shift;
        const float offset = parameter.init.kind == Init::Kind::gain_less_one ? 1.0F : 0.0F;
        for (float& value : found->second.writable())
            value = is_shift ? shift * value : gain * (offset + value) - offset;
    }
    return std::make_shared<const load::Model>(std::move(scaled));
}

Scenario with_weights_of(const Variation& variation, Scenario scenario, FreshWeights& fresh) {
    if (variation.layers)
        scenario.set_model(with_layers(scenario.model(), scenario.overrides(), *variation.layers, fresh));
    if (variation.gain_factor != 1.0F || variation.shift_factor != 1.0F)
        scenario.set_model(
            with_norms_scaled(scenario.model(), scenario.overrides(), variation.gain_factor, variation.shift_factor));
    return scenario;
}

const mutations::Mutation* mutation_of(const Scenario& scenario) {
    if (scenario.mutation.empty()) return nullptr;
    const mutations::Mutation* mutation = mutations::find_mutation(scenario.mutation);
    if (mutation == nullptr)
        throw Error("mutation: \"{name}\" is unknown; expected the name of one in engine/mutations/",
                    {{"name", scenario.mutation}});
    return mutation;
}

std::shared_ptr<const Plan> plan_of(const Scenario& scenario, bool logit_lens) {
    if (!scenario.computes() && is_as_recorded(scenario, logit_lens)) return recorded_plan(scenario);
    return plan_behind(scenario, past_of(scenario).get(), logit_lens);
}

std::shared_ptr<const Plan> plan_behind(const Scenario& scenario, const decoder::Past* past, bool logit_lens) {
    const mutations::Mutation* mutation = mutation_of(scenario);
    if (past != nullptr && mutation != nullptr && mutation->behind_cache) {
        CachedPass with{scenario, *past, scenario.passes->sizes.front(), {}};
        with.scenario.mutation.clear();
        with.attentions = self_attentions(*plan_behind(with.scenario, past));
        static_cast<void>(make_mistake(scenario.mutation, with));
        return plan_behind(with.scenario, &with.past, logit_lens);
    }
    decoder::PassRequest request{scenario.config(), &scenario.weights(), scenario.inputs, scenario.edits,
                                 scenario.dropout_seed};
    request.past = past;
    request.logit_lens = logit_lens;
    request.gradient_target = scenario.gradient_target;
    request.mutation = mutation;
    request.other = other_run_of(scenario);
    std::shared_ptr<const Plan> plan = decoder::plan_decoder(request);
    check_memory(*plan, scenario.recording, scenario.memory);
    return plan;
}

sheet::Beside beside_plan(const Scenario& scenario) {
    return {scenario.computes() ? &scenario.config() : nullptr, scenario.inputs, other_run_of(scenario)};
}

Sentence lacking_of_other(const Scenario& scenario, const Plan& plan) {
    const std::vector<std::string> missing = sheet::missing_in_other(plan, other_run_of(scenario));
    if (missing.empty()) return {};
    if (scenario.other_run == nullptr)
        return message("There is no other run yet, so {tensor} is NaN: pin a run, or choose a file, in Compare.",
                       {{"tensor", missing.front()}});
    return message("{run} has no tensor like {tensor}, so that is NaN.",
                   {{"run", scenario.other_run->label}, {"tensor", missing.front()}});
}

}  // namespace decoderscope::core
