#include "engine/model/model.h"

#include "engine/decoder/decoder.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/bundled.h"
#include "engine/model/checkpoint.h"
#include "engine/model/example_file.h"
#include "engine/model/folder_file.h"
#include "engine/model/hugging_face.h"
#include "engine/model/state_dict.h"
#include "engine/model/tokenizer/read_tokenizer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <set>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// Under tie_word_embeddings a head may also be stored, if it equals the embedding.
void check_tied_head(Weights& weights, const Config& config) {
    if (!config.lm_head || !config.tie_word_embeddings) return;
    const auto head = weights.find("lm_head.weight");
    if (head == weights.end()) return;
    const auto embedding = weights.find("embed.weight");
    const auto same_bits = [](float a, float b) {  // NaN equals itself here
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    };
    if (embedding == weights.end() || !std::ranges::equal(head->second.values(), embedding->second.values(), same_bits))
        throw Error("lm_head.weight: differs from embed.weight, expected the same where tie_word_embeddings is on");
    weights.erase(head);
}

// Compares the file's shapes with those that the configuration needs, before any number is read.
void check_shapes(const Shapes& shapes, const Config& config) {
    const auto text = [](const std::vector<Index>& shape) { return shape_text(unnamed(shape)); };
    // A tied head may also be stored.
    const bool tied = config.lm_head && config.tie_word_embeddings;
    std::set<std::string, std::less<>> known;
    if (tied) known.insert("lm_head.weight");
    for (const Declared& parameter : declared_parameters(config)) {
        known.insert(parameter.name);
        const auto found = shapes.find(parameter.name);
        if (found == shapes.end() && parameter.required)
            throw Error("{name}: missing; expected a tensor of shape {shape}",
                        {{"name", parameter.name}, {"shape", shape_text(parameter.axes)}});
        if (found != shapes.end() && text(found->second) != shape_text(parameter.axes))
            throw Error(
                "{name}: shape {shape}, expected {expected}",
                {{"name", parameter.name}, {"shape", text(found->second)}, {"expected", shape_text(parameter.axes)}});
    }
    for (const auto& [name, shape] : shapes)
        if (!known.contains(name)) throw Error("{name}: this configuration has no such tensor", {{"name", name}});
}

// In Hugging Face's GPT-2 an untied head has no bias; with a bias of zeros it computes the same.
void add_missing_head_bias(Shapes& shapes, const Config& config) {
    const bool own_head = config.lm_head && !config.tie_word_embeddings && config.bias;
    if (own_head && shapes.contains("lm_head.weight")) shapes.try_emplace("lm_head.bias", 1, config.vocab_size);
}

void check_look_at(const Model& model, const Config& config) {
    const LookAt& look_at = model.look_at;
    if (look_at.step.empty()) return;
    if (plan_decoder({config, &model.weights, model.example, {}, std::nullopt})->find(look_at.step) == nullptr)
        throw Error("look_at: this model has no step {step}", {{"step", look_at.step}});
    if (look_at.head >= config.nhead)
        throw Error("look_at: head {head}, expected 0 to {nhead}",
                    {{"head", look_at.head}, {"nhead", config.nhead - 1}});
}

// What a model suggests must work: the step and the cell are there, the keys and the edits fit.
void check_trial(const Model& model, const Trial& trial) {
    const std::shared_ptr<const Plan> plan =
        plan_decoder({model.config(trial.set), &model.weights, model.example, trial.edits, std::nullopt});
    if (trial.step.empty()) return;
    const Ref step = plan->find(trial.step);
    if (step == nullptr) throw Error("this model has no step {step}", {{"step", trial.step}});
    if (!trial.cell) return;
    bool fits = trial.cell->size() == step->axes.size();
    for (std::size_t i = 0; fits && i < step->axes.size(); ++i) fits = (*trial.cell)[i] < step->axes[i].size;
    if (!fits)
        throw Error("cell: not a cell of {step}, which is {shape}",
                    {{"step", trial.step}, {"shape", axes_text(step->axes) + " " + shape_text(step->axes)}});
}

// The first inputs: the texts of example.json, else inputs.safetensors, else generated ones. `as_written`: the
// configuration is the file's own.
void read_example(Model& model, const fs::path& folder, const Config& config, bool as_written) {
    const std::string texts = (folder / "example.json").string();
    const std::string tensors = (folder / "inputs.safetensors").string();
    const std::string text = is_there(texts) ? text_of_file(texts) : "{}";
    const ExampleFile example = naming(texts, [&] { return parse_example_file(text); });
    model.description = Sentence::verbatim(example.description);
    model.look_at = example.look_at;
    model.trials = example.trials;
    if (!example.has_text())
        model.example = is_there(tensors) ? load_inputs(tensors, config) : example_inputs(config, 0);
    naming(texts, [&] {
        if (example.has_text()) model.example = inputs_of(example, model.encoder_tokenizer, model.tokenizer);
        check_inputs(model.example, config);
        check_look_at(model, config);
        // Under other settings what was suggested may not fit; the window leaves that out.
        for (const Trial& trial : model.trials)
            if (as_written)
                naming(message("try “{title}”", {{"title", trial.title}}), [&] { check_trial(model, trial); });
    });
}

// A folder may also be named by its config.json or its index.
fs::path folder_or_file(const fs::path& path) {
    if (!path.has_filename() && path.has_parent_path()) return path.parent_path();  // "folder/"
    const bool names_folder = path.filename() == "config.json" || path.filename() == "model.safetensors.index.json";
    if (!names_folder) return path;
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_path_of_model(const fs::path& path) {
    std::error_code failed;
    const PathKind kind = kind_of_path(path);
    return kind != PathKind::other && (kind != PathKind::pickled || fs::exists(path, failed));
}

// What was noticed in the weights.
Sentence remark_on(const Checkpoint::NonFinite& found, const std::string& file) {
    if (found.tensors == 1)
        return message_n(
            "{file}: {count} weight of {first} is NaN or infinite, and so may be what is computed with it",
            "{file}: {count} weights of {first} are NaN or infinite, and so may be what is computed with them",
            found.numbers, {{"file", file}, {"first", found.first}});
    return message(
        "{file}: {numbers} weights of {tensors} tensors, {first} the first, are NaN or infinite, and so may be what is "
        "computed with them",
        {{"file", file}, {"numbers", found.numbers}, {"tensors", found.tensors}, {"first", found.first}});
}

// The configuration from the folder or, if there is none, as inferred from names and shapes.
void configure(Model& model, const Checkpoint& checkpoint, StateDict& state_dict, const Overrides& overrides) {
    const std::string path = (checkpoint.folder() / "config.json").string();
    const std::string weights = fs::path(checkpoint.weights_path()).filename().string();
    if (is_there(path)) {
        const std::string text = text_of_file(path);
        model.config_json = naming(path, [&] { return from_hugging_face(text); });
        static_cast<void>(naming(path, [&] { return model.config(overrides); }));
        return;
    }
    const Recognised recognised =
        naming(checkpoint.weights_path(), [&] { return recognise(checkpoint.shapes(), state_dict); });
    model.answers = overrides;
    naming(message("{path} (missing; read off {weights} instead)", {{"path", path}, {"weights", weights}}), [&] {
        model.config_json = config_to_json(parse_config(answered_config(recognised, overrides), overrides));
    });
    if (const std::string taken = taken_unasked(recognised, overrides); !taken.empty())
        model.remarks.push_back(message("{weights}: no config.json says what it is; taken as {module} with {taken}",
                                        {{"weights", weights}, {"module", recognised.module}, {"taken", taken}}));
}

std::shared_ptr<const Model> load(const Checkpoint& checkpoint, const Overrides& overrides, LoadProgress& progress) {
    const fs::path& folder = checkpoint.folder();
    const std::string& weights_path = checkpoint.weights_path();
    const bool by_folder = checkpoint.is_folder() || is_there(folder / "config.json");
    Model model{.name = by_folder ? folder.string() : weights_path};
    model.path = absolute_path(checkpoint.is_folder() ? folder.string() : weights_path);
    StateDict state_dict = naming(weights_path, [&] { return read_state_dict(checkpoint.shapes()); });
    checkpoint.check_types(Assembly(state_dict));
    configure(model, checkpoint, state_dict, overrides);
    const Config config = model.config(overrides);
    add_missing_head_bias(state_dict.shapes, config);
    naming(weights_path, [&] { check_shapes(state_dict.shapes, config); });
    Assembly assembly(std::move(state_dict));
    const Checkpoint::NonFinite non_finite = checkpoint.read(assembly, progress);
    model.weights = assembly.take();
    naming(weights_path, [&] { check_tied_head(model.weights, config); });
    if (non_finite.numbers > 0)
        model.remarks.push_back(remark_on(non_finite, fs::path(weights_path).filename().string()));
    Tokenizers tokenizers = read_tokenizers(folder, config);
    model.tokenizer = std::move(tokenizers.target);
    model.encoder_tokenizer = std::move(tokenizers.source);
    model.remarks.insert(model.remarks.end(), tokenizers.remarks.begin(), tokenizers.remarks.end());
    read_example(model, folder, config, overrides.empty());
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides,
                                        LoadProgress* progress) {
    if (auto bundled = make_bundled_model(name_or_path)) return bundled;
    LoadProgress unwatched;
    const fs::path path = folder_or_file(name_or_path);
    if (is_path_of_model(path)) return load(Checkpoint(path), overrides, progress != nullptr ? *progress : unwatched);
    std::string names;
    for (const BundledModel& model : bundled_models()) names += (names.empty() ? "" : ", ") + model.name;
    throw Error("{name}: no such model; expected a folder with config.json and model.safetensors, or one of {names}",
                {{"name", name_or_path}, {"names", names}});
}

std::optional<Recognised> recognise_model(const std::string& name_or_path) {
    const fs::path path = folder_or_file(name_or_path);
    for (const BundledModel& model : bundled_models())
        if (model.name == name_or_path) return std::nullopt;
    if (!is_path_of_model(path)) return std::nullopt;  // load_model() says so
    const Checkpoint checkpoint(path);
    if (is_there(checkpoint.folder() / "config.json")) return std::nullopt;
    return naming(checkpoint.weights_path(), [&] {
        StateDict state_dict = read_state_dict(checkpoint.shapes());
        return recognise(checkpoint.shapes(), state_dict);
    });
}

}  // namespace decoderscope
