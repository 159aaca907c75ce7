#include "app/core/run/fitted.h"

#include "app/core/run/open_model.h"
#include "app/core/run/output_moves.h"
#include "engine/base/error.h"
#include "engine/decoder/decoder.h"
#include "engine/graph/run.h"
#include "engine/trace/layout.h"
#include "engine/trace/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::core {

namespace {

// What tells a tensor from others whatever the order of its axes: how many numbers it has, and what they add up to.
struct Print {
    Index count = 0;
    double sum = 0.0, absolute = 0.0, squares = 0.0, most = 0.0;
};

std::optional<Print> print_of(const Tensor& tensor) {
    Print print{tensor.size()};
    for (const float x : tensor.values()) {
        const auto value = static_cast<double>(x);
        print.sum += value;
        print.absolute += std::abs(value);
        print.squares += value * value;
        print.most = std::max(print.most, value);
    }
    constexpr double kHidden = 1e3;  // scores that a mask hides
    const bool tells =
        print.count > 1 && print.squares > 0.0 && print.absolute < kHidden * static_cast<double>(print.count);
    return tells ? std::optional(print) : std::nullopt;
}

bool are_same(const Print& a, const Print& b, double tolerance) {
    // What rounds much averages out in a sum: others of the same spread are farther apart.
    const double of_sums =
        std::min(tolerance, std::max(1e-4, 10.0 * tolerance / std::sqrt(static_cast<double>(b.count))));
    const auto near = [&](double x, double y, double size) { return std::abs(x - y) <= of_sums * size; };
    return a.count == b.count && near(a.sum, b.sum, b.absolute) && near(a.absolute, b.absolute, b.absolute) &&
           near(a.squares, b.squares, b.squares) &&
           std::abs(a.most - b.most) <= std::max(1e-4 * std::sqrt(b.squares), tolerance * std::abs(b.most));
}

// Whether one is the other times a positive number, and which.
std::optional<double> times(const Print& a, const Print& b, double tolerance) {
    const double factor = std::sqrt(b.squares / a.squares);
    const Print scaled{a.count, a.sum * factor, a.absolute * factor, a.squares * factor * factor, a.most * factor};
    return are_same(scaled, b, tolerance) ? std::optional(factor) : std::nullopt;
}

bool has_key(const Overrides& some, std::string_view key) {
    return std::ranges::find(some, key, &Overrides::value_type::first) != some.end();
}

// These answers, others of their keys left out.
Overrides with(Overrides answers, const Overrides& more) {
    std::erase_if(answers, [&](const auto& answer) { return has_key(more, answer.first); });
    answers.insert(answers.end(), more.begin(), more.end());
    return answers;
}

// In as few digits as say it: what was measured of 0.5 is a rounding away.
std::string text_of(double number) {
    char text[32];
    for (int digits = 1; digits <= 9; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, number);
        if (std::abs(std::strtod(text, nullptr) - number) <= 5e-7 * std::abs(number)) break;
    }
    return text;
}

constexpr std::array kUsualEps = {"1e-6", "1e-5", "1e-8", "1e-12"};

// How well answers fit.
struct Attempt {
    Overrides answers;
    std::shared_ptr<const load::Model> model;  // nullptr: it can't be opened so
    std::size_t found = 0;                     // recorded tensors that it has
    bool whole = false;                        // with what was returned
    double distance = 0.0;                     // how far that is from ours, if its shape is ours
    double apart = 0.0;                        // how far what it has is from it in the mean
    Overrides measured = {};                   // numbers that a recorded tensor shows beside ours
};

class Fitting {
public:
    // `trace` is of that path, and lists its calls.
    Fitting(const std::string& path, trace::Trace trace, LoadProgress* progress, const load::names::Mapping& mapping)
        : path_(path), progress_(progress), mapping_(mapping), trace_(std::move(trace)) {
        constexpr double kOfFloat32 = 1e-4, kOfSmaller = 2e-2;
        tolerance_ = trace_.precision() == "F32" ? kOfFloat32 : kOfSmaller;
        // Rows of a table are what they are, however they are scaled behind it.
        std::set<std::string_view> looked_up;
        const auto is_whole = [&](const auto& port) {
            const trace::TraceTensor* in = trace_.find(port.second);
            return in != nullptr && in->dtype.starts_with('I');
        };
        for (std::size_t i = 1; i < trace_.calls.size(); ++i)
            if (std::ranges::any_of(trace_.calls[i].in, is_whole) && trace_.calls[i].in.size() == 1)
                for (const auto& [port, name] : trace_.calls[i].out) looked_up.insert(name);
        for (const trace::TraceTensor& tensor : trace_.tensors)
            if (tensor.has_floats() && !looked_up.contains(tensor.name))
                if (const auto print = print_of(tensor.values)) prints_.push_back(*print);
        for (const auto& [port, name] : trace_.calls.front().out)
            if (const trace::TraceTensor* out = trace_.find(name); out != nullptr && out->values.size() > 1)
                if (const auto print = print_of(out->values)) {
                    if (returned_.empty()) returned_tensor_ = out;
                    returned_.push_back(*print);
                }
    }

    [[nodiscard]] Attempt attempt(Overrides answers) const {
        Attempt result{.answers = std::move(answers), .model = nullptr};
        try {
            result.model = load::load_model(path_, result.answers, progress_, mapping_);
            const Config config = result.model->config();
            const Inputs inputs = inputs_of_trace(trace_, config);
            if (inputs.tokens.empty() && inputs.x.empty()) return result;
            check_inputs(inputs, config);
            const auto run = execute(decoder::plan_decoder({config, &result.model->weights, inputs, {}, std::nullopt}));
            judge(result, *run, config);
        } catch (const Error&) {  // the answers don't fit
        }
        return result;
    }

    // The key's values that are worth a try, by what is asked about the model.
    [[nodiscard]] std::vector<Overrides> choices(const Attempt& best) const {
        std::vector<Overrides> all;
        for (const auto& number : best.measured) all.push_back({number});
        const auto add = [&](const std::string& key, const std::vector<std::string>& values) {
            for (const std::string& value : values) all.push_back({{key, value}});
        };
        for (const Question& question : asked(best.answers))
            if (question.choices.empty() && (question.proposal == "true" || question.proposal == "false"))
                add(question.key, {question.proposal == "true" ? "false" : "true"});
            else if (question.key != "nhead" || question.required)
                add(question.key, question.choices);
        add("layer_norm_eps", {kUsualEps.begin(), kUsualEps.end()});
        if (best.model != nullptr && best.model->config().qk_norm) {
            add("qk_norm_eps", {kUsualEps.begin(), kUsualEps.end()});
            add("qk_norm_centred", {"true"});
        }
        add("mask_value", {"-1e9"});  // rows that see nothing are then numbers
        if (best.model == nullptr) return all;
        const Config config = best.model->config();
        const auto layers = static_cast<double>(config.num_layers);
        if (config.max_positions == 0 && !config.cross_attention)
            for (const char* interleaved : {"false", "true"})
                for (const Index columns : {Index{0}, config.d_head() / 2, config.d_head() / 4})
                    all.push_back({{"positional_encoding", "rope"},
                                   {"rope_interleaved", interleaved},
                                   {"rotary_dim", std::to_string(columns)}});
        if (config.lm_head) add("logit_soft_cap", {"30", "15", "0", "20", "50"});
        if (config.placement() == NormPlacement::post)
            add("residual_scale", {text_of(std::pow(2.0 * layers, 0.25)), "0.5"});
        if (config.relative_attention_num_buckets > 0) {
            add("attention_scale", {"1"});
            add("relative_attention_max_distance", {"16", "20", "32", "64", "128", "256"});
            add("logit_scale", {text_of(1.0 / std::sqrt(static_cast<double>(config.d_model)))});
        }
        return all;
    }

    // With what is proposed for each question that has to be answered.
    [[nodiscard]] Overrides with_proposals(Overrides answers) const {
        for (const Question& question : asked(answers))
            if (question.required && !has_key(answers, question.key))
                answers.emplace_back(question.key, question.proposal);
        return answers;
    }

    // A parameter that is left out, of a model that isn't known by what it returned: it is another decoder.
    void refuse_unread(const load::Model& model) const {
        const auto said = [&](const std::string& name) { return trace_.hyperparameters.contains("(buffers)." + name); };
        const auto is_embedding = [](const load::names::Target& target) { return target.name == "embed.weight"; };
        const bool has_embedding = std::ranges::any_of(model.recognised.names.mapping, [&](const auto& entry) {
            return std::ranges::any_of(entry.second, is_embedding);
        });
        if (!has_embedding || !said("all")) return;  // what makes the stream is left out on purpose, or isn't known
        for (const trace::TraceTensor& parameter : trace_.parameters) {
            const auto known = model.recognised.names.mapping.find(parameter.name);
            const bool is_read = known != model.recognised.names.mapping.end() && !known->second.empty();
            const bool left_out = mapping_.contains(parameter.name);  // or named, by whoever asks
            if (!is_read && !left_out && !said(parameter.name))
                throw Error(
                    "{path}: {name} is a parameter of the recorded model, and of no decoder that is computed here",
                    {{"path", path_}, {"name", parameter.name}});
        }
    }

    // "logit_scale=0.5, causal=false": what fits best, where something else would have been taken unasked.
    [[nodiscard]] std::string chosen(const Overrides& fitting, const Overrides& answers) const {
        const std::vector<Question> questions = asked(answers);
        std::string all;
        for (const auto& answer : fitting) {
            const auto same = [&](const Question& one) {
                return one.key == answer.first && one.proposal == answer.second;
            };
            if (has_key(answers, answer.first) || std::ranges::any_of(questions, same)) continue;
            all += (all.empty() ? "" : ", ") + answer.first + "=" + answer.second;
        }
        return all;
    }

    // Whether what was returned is as near as rounding lets it be.
    [[nodiscard]] bool is_near(const Attempt& whole) const {
        return whole.distance <= (rounds_much() ? kWholeRounded / 2.0 : 5e-6);
    }

private:
    static constexpr double kWholeRounded = 5e-2, kWholeByPrint = 5e-3;
    [[nodiscard]] bool rounds_much() const { return tolerance_ > 1e-3; }
    [[nodiscard]] std::vector<Question> asked(const Overrides& answers) const {
        try {
            if (auto recognised = load::recognise_model(path_, answers, mapping_)) return recognised->questions;
        } catch (const Error&) {  // which load_model() says
        }
        return {};
    }

    void judge(Attempt& result, const Run& run, const Config& config) const {
        std::vector<Print> ours;
        const auto repeats = config.num_key_value_heads > 0 ? config.nhead / config.num_key_value_heads : 1;
        for (const auto& [name, tensor] : recorded_tensors(run))
            if (const auto print = print_of(tensor)) {
                ours.push_back(*print);
                const auto times = static_cast<double>(repeats);  // key heads may be repeated
                if (repeats > 1 && tensor.rank() == 4 && tensor.dim(1) == config.num_key_value_heads)
                    ours.push_back({print->count * repeats, print->sum * times, print->absolute * times,
                                    print->squares * times, print->most});
            }
        const auto has = [&](const Print& theirs) {
            double nearest = tolerance_;
            bool found = false;
            for (const Print& own : ours)
                if (are_same(own, theirs, tolerance_)) {
                    found = true;
                    nearest = std::min(nearest, std::abs(own.squares / theirs.squares - 1.0));
                }
            if (found) result.apart += nearest;
            return found;
        };
        result.found = static_cast<std::size_t>(std::ranges::count_if(prints_, has));
        result.apart /= static_cast<double>(std::max<std::size_t>(result.found, 1));
        result.whole = !returned_.empty() && has(returned_.front());
        const Ref last = output_step(run.plan());
        const auto both = last == nullptr || returned_tensor_ == nullptr
                              ? std::nullopt
                              : trace::laid_out(run.value(last->id), returned_tensor_->values, {.last_rows = true});
        if (both) {
            double apart = 0.0, squares = 0.0;
            for (std::size_t i = 0; i < both->theirs.values().size(); ++i) {
                const auto ours_at = static_cast<double>(both->ours.values()[i]),
                           at = static_cast<double>(both->theirs.values()[i]);
                apart += (ours_at - at) * (ours_at - at);
                squares += at * at;
            }
            result.distance = std::sqrt(apart / std::max(squares, 1e-30));
            result.whole = result.distance <= (rounds_much()  ? kWholeRounded
                                               : result.whole ? kWholeByPrint
                                                              : tolerance_);
        }
        measure(result, run, config);
    }

    // By how much one of the two is multiplied that a recorded tensor is the sum of, if it isn't by what ours is: the
    // stream before what the first attention made is added to it (DeepNorm), that (Granite), or the embedding.
    void measure_sums(Attempt& result, const Run& run, const Config& config) const {
        const Tensor &stream = run.value("blocks.0.resid_pre"), &made = run.value("blocks.0.attn_out");
        if (config.placement() == NormPlacement::post)
            measure_sum(result, "residual_scale", config.residual_scale, stream, made);
        else
            measure_sum(result, "update_scale", config.update_scale, made, stream);
        if (!config.scale_embedding)
            measure_sum(result, "embedding_scale", config.embedding_scale, run.value("embed"), run.value("pos_embed"));
    }
    // scaled [batch, pos, d_model], other the same, or [pos, d_model]
    void measure_sum(Attempt& result, const char* key, double current, const Tensor& scaled,
                     const Tensor& other) const {
        if (scaled.empty() || other.empty() || scaled.size() % other.size() != 0 || rounds_much()) return;
        const auto at = [](const Tensor& of, Index i) { return static_cast<double>(of.data()[i % of.size()]); };
        for (const trace::TraceTensor& tensor : trace_.tensors) {
            const Tensor& sum = tensor.values;
            if (!tensor.has_floats() || sum.size() != scaled.size() || sum.rank() == 0 ||
                sum.dim(sum.rank() - 1) != scaled.dim(scaled.rank() - 1))
                continue;
            double squares = 0.0, product = 0.0, rest = 0.0, most = 0.0;
            for (Index i = 0; i < scaled.size(); ++i) {
                squares += at(scaled, i) * at(scaled, i);
                product += at(scaled, i) * (at(sum, i) - at(other, i));
                most += at(other, i) * at(other, i);
            }
            const double scale = product / squares;
            for (Index i = 0; i < scaled.size(); ++i) {
                const double apart = at(sum, i) - at(other, i) - scale * at(scaled, i);
                rest += apart * apart;
            }
            if (rest < 1e-8 * most && std::abs(scale) > 1e-3 && std::abs(scale / current - 1.0) > 1e-4)
                return result.measured.push_back({key, text_of(scale)});
        }
    }

    // Models make logits smaller (Cohere, Granite, T5), or multiply them by a power of two or the width's root. By
    // another number they are larger where a temperature was left in.
    static bool is_usual_scale(double scale, double d_model) {
        const auto is_near = [](double a, double b) { return std::abs(a / b - 1.0) < 1e-4; };
        return scale < 1.0 || is_near(scale, std::exp2(std::round(std::log2(scale)))) ||
               is_near(scale * scale, d_model);
    }

    // How scores and logits are scaled that are ours but for a factor. What is usual for scores and what a mistake
    // makes of them is no answer.
    void measure(Attempt& result, const Run& run, const Config& config) const {
        measure_sums(result, run, config);
        const Tensor& logits = run.value("logits");
        const auto own_logits = logits.empty() || returned_.empty() ? std::nullopt : print_of(logits);
        const auto of_logits = own_logits ? times(*own_logits, returned_.front(), tolerance_) : std::nullopt;
        if (of_logits && is_usual_scale(config.logit_scale * *of_logits, static_cast<double>(config.d_model)))
            result.measured.emplace_back("logit_scale", text_of(config.logit_scale * *of_logits));
        const Tensor& scores = run.value("blocks.0.attn", AttentionStep::scores);
        const auto own = scores.empty() ? std::nullopt : print_of(scores);
        if (!own) return;
        const auto width = static_cast<double>(config.d_head()), model = static_cast<double>(config.d_model);
        const double scale = config.attention_scale > 0.0 ? config.attention_scale : 1.0 / std::sqrt(width);
        for (const Print& theirs : prints_)
            if (const auto factor = times(*own, theirs, tolerance_)) {
                const double number = scale * *factor;
                const std::array<double, 6> known = {
                    1.0, 1.0 / std::sqrt(width), 1.0 / width, 1.0 / std::sqrt(model), 1.0 / model, std::sqrt(width)};
                if (std::ranges::none_of(known, [&](double one) { return std::abs(number / one - 1.0) < 1e-3; }))
                    result.measured.emplace_back("attention_scale", text_of(number));
            }
    }

    std::string path_;
    LoadProgress* progress_;
    const load::names::Mapping& mapping_;
    trace::Trace trace_;
    double tolerance_ = 0.0;
    std::vector<Print> prints_, returned_;
    const trace::TraceTensor* returned_tensor_ = nullptr;  // the first of these
};

// Whether it explains more: what was returned, and that far nearer, or else more tensors.
bool is_better(const Attempt& a, const Attempt& b) {
    if (a.whole != b.whole) return a.whole;
    return a.whole ? 2.0 * a.distance < b.distance : a.found > b.found;
}

// Whether a configuration says what the model is, as Transformers' models record theirs.
bool is_described(const std::string& path, const Overrides& answers, const load::names::Mapping& mapping) {
    try {
        return !load::recognise_model(path, answers, mapping).has_value();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::shared_ptr<const load::Model> fitted_model(const std::string& path, const Overrides& answers,
                                                LoadProgress* progress, const load::names::Mapping& mapping) {
    trace::Trace trace = trace::open_trace(path);
    if (trace.calls.empty() || is_described(path, answers, mapping))
        return load::load_model(path, answers, progress, mapping);
    // Of the processor's time, not the day's: a machine that is busy with something else comes to the same verdict.
    const std::clock_t began = std::clock();
    constexpr std::clock_t kLong = 12 * CLOCKS_PER_SEC;
    constexpr double kNear = 3e-7;  // what float32 rounds
    const Fitting fitting(path, std::move(trace), progress, mapping);
    Attempt best = fitting.attempt(answers);
    if (best.model == nullptr) best = fitting.attempt(fitting.with_proposals(answers));
    for (bool better = true; better && !(best.whole && fitting.is_near(best));) {
        better = false;
        Attempt next = best;
        for (const auto& choice : fitting.choices(best)) {
            if (std::clock() - began > kLong) break;
            if (std::ranges::any_of(choice, [&](const auto& one) { return has_key(answers, one.first); }))
                continue;  // it was said
            Attempt tried = fitting.attempt(with(best.answers, choice));
            if (is_better(tried, next)) next = std::move(tried);
            if (next.whole && fitting.is_near(next)) break;
        }
        better = is_better(next, best);
        if (better) best = std::move(next);
    }
    // Another eps is far nearer, though not far enough to be another tensor.
    const Overrides whole = best.answers;
    const bool is_said = has_key(answers, "layer_norm_eps");
    for (const char* eps : kUsualEps) {
        if (best.model == nullptr || is_said || best.apart < kNear) break;
        Attempt tried = fitting.attempt(with(whole, {{"layer_norm_eps", eps}}));
        if (tried.found >= best.found && 2.0 * tried.apart < best.apart) best = std::move(tried);
    }
    // What was measured beside numbers of another eps is measured anew.
    for (const auto& [key, number] : Overrides(best.measured)) {
        if (!has_key(best.answers, key) || has_key(answers, key)) continue;
        Attempt tried = fitting.attempt(with(best.answers, {{key, number}}));
        if (tried.found >= best.found && tried.apart < best.apart) best = std::move(tried);
    }
    if (best.model != nullptr && !best.whole) fitting.refuse_unread(*best.model);
    if (best.model == nullptr) return load::load_model(path, answers, progress, mapping);
    const std::string chosen = fitting.chosen(best.answers, answers);
    if (chosen.empty()) return best.model;
    auto model = std::make_shared<load::Model>(*best.model);
    model->fitted =
        message("{weights}: with {chosen} the run fits the recording, which can't say whether that is meant",
                {{"weights", std::filesystem::path(path).filename().string()}, {"chosen", chosen}});
    model->remarks.push_back(model->fitted);
    return model;
}

}  // namespace decoderscope::core
