#include "app/core/train/training_plan.h"

#include "app/core/run/bounds.h"
#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/tokenizer/vocabulary.h"
#include "engine/train/tasks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

namespace decoderscope::core::train {

namespace {

constexpr Index kHeads = 4, kLongestText = 64;
constexpr Index kUnseen = 1'000'000'000;  // the step whose batch is the example: no training gets there

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) lines.push_back(line);
    return lines;
}

// A task over the characters of the learner's text.
decoderscope::train::Task own_text_task(const std::string& text) {
    std::set<std::string> seen;
    for (const Utf8Character& character : characters(text))
        if (character.bytes != "\n" && character.bytes != "\r") seen.emplace(character.bytes);
    std::vector<std::string> pieces = {"<pad>", "<bos>", "<eos>"};
    pieces.insert(pieces.end(), seen.begin(), seen.end());
    return decoderscope::train::text_task(
        std::string(kOwnText), lines_of(text),
        tokenizer::parse_character_vocabulary(decoderscope::train::vocabulary_json(pieces)), kLongestText);
}

decoderscope::train::Task task_of(const TrainingPlan& plan) {
    return plan.task == kOwnText ? own_text_task(plan.text) : decoderscope::train::find_task(plan.task);
}

Config config_of(const TrainingPlan& plan, const RunChoice& run, const decoderscope::train::Task& task) {
    Config config;
    if (plan.d_model % kHeads != 0)
        throw Error("d_model {width}: expected a multiple of {heads}, the number of heads",
                    {{"width", plan.d_model}, {"heads", kHeads}});
    config.d_model = plan.d_model;
    config.nhead = config.num_key_value_heads = kHeads;
    config.num_layers = plan.layers;
    config.dim_feedforward = 4 * plan.d_model;
    config.norm_first = run.placement == NormPlacement::pre;
    if (run.placement == NormPlacement::peri || run.placement == NormPlacement::reordered)
        config.norm_placement = run.placement;
    config.final_norm = run.placement != NormPlacement::post;
    config.vocab_size = config.encoder_vocab_size = static_cast<Index>(task.vocabulary.size());
    if (!task.encoder_vocabulary.empty()) {
        config.cross_attention = true;
        config.encoder_layers = plan.layers;
        config.encoder_vocab_size = static_cast<Index>(task.encoder_vocabulary.size());
    }
    config.positional_encoding = PositionalEncoding::sinusoidal;
    config.lm_head = true;
    return config;
}

decoderscope::train::TrainingSettings settings_of(const RunChoice& run) {
    decoderscope::train::TrainingSettings settings{.learning_rate = run.learning_rate, .warmup = run.warmup};
    if (run.clip > 0.0) settings.clip = run.clip;
    settings.optimiser = {.kind = run.optimiser, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
    return settings;
}

// The parts of a title, each a sentence of its own.
std::vector<Sentence> parts_of_title(const TrainingPlan& plan, const RunChoice& run) {
    const RunChoice& first = plan.runs.front();
    const auto differs = [&](auto member) {
        return std::ranges::any_of(plan.runs, [&](const RunChoice& other) { return other.*member != first.*member; });
    };
    std::vector<Sentence> parts = {Sentence(place_of_norms(run.placement).title)};
    if (differs(&RunChoice::xavier)) parts.push_back(run.xavier ? message("Xavier") : message("PyTorch's weights"));
    if (differs(&RunChoice::optimiser)) parts.emplace_back(title_of(run.optimiser));
    if (differs(&RunChoice::learning_rate))
        parts.push_back(message("rate {rate}", {{"rate", short_number_text(run.learning_rate, 3)}}));
    if (differs(&RunChoice::warmup))
        parts.push_back(run.warmup > 0 ? message("warm-up {steps}", {{"steps", run.warmup}})
                                       : Sentence(message("no warm-up")));
    if (differs(&RunChoice::clip))
        parts.push_back(run.clip > 0.0 ? message("clipped at {norm}", {{"norm", short_number_text(run.clip, 3)}})
                                       : Sentence(message("not clipped")));
    return parts;
}

// One row of a batch that no step of the training has.
Inputs example_of(const Recipe& recipe) { return recipe.task.batch(recipe.seed, kUnseen, 1); }

std::vector<Index> ids_of(const Tensor& tokens) {
    std::vector<Index> ids;
    for (const float id : tokens.values()) ids.push_back(static_cast<Index>(id));
    return ids;
}

tokenizer::Tokenizer tokenizer_of(const std::vector<std::string>& pieces) {
    return pieces.empty() ? tokenizer::Tokenizer()
                          : tokenizer::parse_character_vocabulary(decoderscope::train::vocabulary_json(pieces));
}

bool has_pieces(const tokenizer::Tokenizer& tokenizer, const std::vector<std::string>& pieces) {
    if (tokenizer.size() != static_cast<Index>(pieces.size())) return false;
    for (std::size_t id = 0; id < pieces.size(); ++id)
        if (tokenizer.piece(static_cast<Index>(id)) != pieces[id]) return false;
    return true;
}

constexpr std::array<std::string_view, 3> kOptimiserWords = {"sgd", "adam", "adamw"};

RunChoice read_run(JsonObject json) {
    std::vector<const char*> places;
    for (const PlaceOfNorms& place : places_of_norms()) places.push_back(place.word);
    RunChoice run;
    run.placement = places_of_norms()[json.word("norm_placement", places)].placement;
    run.xavier = json.word("init", std::array{"pytorch", "xavier"}) == 1;
    run.optimiser = static_cast<decoderscope::train::OptimiserKind>(json.word("optimizer", kOptimiserWords));
    run.learning_rate = json.within("lr", bounds::kLearningRate);
    run.warmup = json.within("warmup", bounds::kWarmup);
    run.clip = json.within("clip", bounds::kClip);
    json.finish();
    return run;
}

}  // namespace

std::vector<std::string> trainable_tasks() {
    return {"reversal", "reverse", "dates", "induction", std::string(kOwnText)};
}

Phrase about_task(std::string_view task) {
    if (task == "reversal") return message("A decoder alone writes a word of 1 to 6 letters backwards.");
    if (task == "reverse") return message("Encoder and decoder: the word that is read is written backwards.");
    if (task == "dates") return message("Encoder and decoder: a date as people write it becomes 2026-11-21.");
    if (task == "induction")
        return message("Random letters come twice: the second time, each next one can be predicted.");
    return message("Your own text, one example per line: predict the next character.");
}

TrainingPlan plan_of_warmup(std::uint64_t seed) {
    TrainingPlan plan{.task = "reversal", .text = {}, .layers = 6, .d_model = 32, .rows = 64, .steps = 300};
    plan.seed = seed;
    plan.runs = {{.placement = NormPlacement::post, .warmup = 0},
                 {.placement = NormPlacement::pre, .warmup = 0},
                 {.placement = NormPlacement::post, .warmup = 150}};
    return plan;
}

Phrase title_of(decoderscope::train::OptimiserKind kind) {
    static constexpr std::array<Phrase, 3> kTitles = {message("SGD"), message("Adam"), message("AdamW")};
    return kTitles[static_cast<std::size_t>(kind)];
}

Sentence title_of(const TrainingPlan& plan, std::size_t run) {
    const std::vector<Sentence> parts = parts_of_title(plan, plan.runs[run]);
    Sentence title = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i)
        title = message("{first}, {next}", {{"first", title}, {"next", parts[i]}});
    return title;
}

std::vector<Recipe> recipes_of(const TrainingPlan& plan) {
    const decoderscope::train::Task task = task_of(plan);
    std::vector<Recipe> recipes;
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
        const RunChoice& run = plan.runs[i];
        recipes.push_back(
            {.title = title_of(plan, i),
             .config = config_of(plan, run, task),
             .initialisation = run.xavier ? decoder::Initialisation::xavier : decoder::Initialisation::pytorch,
             .seed = plan.seed,
             .task = task,
             .rows = plan.rows,
             .steps = plan.steps,
             .settings = settings_of(run)});
        decoderscope::train::check_task(task, recipes.back().config);
    }
    return recipes;
}

std::shared_ptr<const Recipe> recipe_for(const load::Model& model, const Config& config) {
    for (const std::string& name : trainable_tasks()) {
        if (name == kOwnText) continue;
        decoderscope::train::Task task = decoderscope::train::find_task(name);
        if (!has_pieces(model.tokenizer, task.vocabulary) ||
            !has_pieces(model.encoder_tokenizer, task.encoder_vocabulary))
            continue;
        const TrainingPlan begins;
        const RunChoice& run = begins.runs.front();
        const Arguments how = {
            {"task", name}, {"optimiser", title_of(run.optimiser)}, {"rate", short_number_text(run.learning_rate, 2)}};
        Recipe recipe{.title = message("{task}, {optimiser}, learning rate {rate}", how),
                      .config = config,
                      .initialisation = decoder::Initialisation::xavier,
                      .seed = begins.seed,
                      .task = std::move(task),
                      .rows = begins.rows,
                      .steps = begins.steps,
                      .settings = settings_of(run)};
        try {
            decoderscope::train::check_task(recipe.task, config);
            return std::make_shared<const Recipe>(std::move(recipe));
        } catch (const Error&) {
            // As without a head that predicts tokens.
        }
    }
    return nullptr;
}

std::shared_ptr<const load::Model> model_of(const Recipe& recipe, const Weights& weights, Index step) {
    load::Model model{{.name = recipe.task.name}};
    model.description = message("{title}, after step {step}", {{"title", recipe.title}, {"step", step}});
    model.config_json = config_to_json(recipe.config);
    model.weights = weights;
    model.example = example_of(recipe);
    model.tokenizer = tokenizer_of(recipe.task.vocabulary);
    model.encoder_tokenizer = tokenizer_of(recipe.task.encoder_vocabulary);
    return std::make_shared<const load::Model>(std::move(model));
}

std::shared_ptr<const load::ModelFolder> folder_of(const Recipe& recipe, const load::Model& model) {
    load::ModelFolder folder{recipe.config, model.weights, {}};
    folder.files["vocabulary.json"] = decoderscope::train::vocabulary_json(recipe.task.vocabulary);
    nlohmann::ordered_json example = {{"description", model.description.english()}};
    const Inputs inputs = model.example;
    example["tokens"] = nlohmann::ordered_json::array({ids_of(inputs.tokens)});
    example["targets"] = nlohmann::ordered_json::array({ids_of(inputs.targets)});
    if (!recipe.task.encoder_vocabulary.empty()) {
        folder.files["encoder_vocabulary.json"] = decoderscope::train::vocabulary_json(recipe.task.encoder_vocabulary);
        example["source"] =
            nlohmann::ordered_json::array({model.encoder_tokenizer.decode(ids_of(inputs.encoder_tokens))});
    }
    folder.files["example.json"] = example.dump(2) + "\n";
    return std::make_shared<const load::ModelFolder>(std::move(folder));
}

// ---- as a session keeps it

std::string saved_plan(const TrainingPlan& plan) {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const RunChoice& run : plan.runs)
        runs.push_back({{"norm_placement", place_of_norms(run.placement).word},
                        {"init", run.xavier ? "xavier" : "pytorch"},
                        {"optimizer", kOptimiserWords[static_cast<std::size_t>(run.optimiser)]},
                        {"lr", run.learning_rate},
                        {"warmup", run.warmup},
                        {"clip", run.clip}});
    nlohmann::ordered_json json = {{"task", plan.task},  {"layers", plan.layers}, {"d_model", plan.d_model},
                                   {"batch", plan.rows}, {"steps", plan.steps},   {"seed", plan.seed},
                                   {"runs", runs}};
    if (!plan.text.empty()) json["text"] = plan.text;
    return json.dump();
}

TrainingPlan read_plan(const std::string& saved) {
    const nlohmann::json parsed = parse_json(saved, message("an object"));
    JsonObject json(parsed, "labs.train.");
    TrainingPlan plan;
    plan.task = trainable_tasks()[json.word("task", trainable_tasks())];
    plan.layers = json.within("layers", bounds::kTrainedLayers);
    plan.d_model = json.within("d_model", bounds::kTrainedWidth);
    plan.rows = json.within("batch", bounds::kTrainedRows);
    plan.steps = json.within("steps", bounds::kTrainedSteps);
    plan.seed = json.within("seed", bounds::kTrainingSeed);
    plan.text = json.text("text", "");
    naming("labs.train", [&] { check_within("text", plan.text.size(), bounds::kTrainingText); });
    plan.runs.clear();
    for (const nlohmann::json& run : json.list("runs"))
        plan.runs.push_back(read_run(JsonObject(run, "labs.train.runs.")));
    naming("labs.train", [&] { check_within("runs", plan.runs.size(), bounds::kRuns); });
    json.finish();
    return plan;
}

}  // namespace decoderscope::core::train
