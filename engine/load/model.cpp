#include "engine/load/model.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"
#include "engine/decoder/decoder.h"
#include "engine/load/bundled_models.h"
#include "engine/load/check_weights.h"
#include "engine/load/checkpoint.h"
#include "engine/load/example_file.h"
#include "engine/load/expanded.h"
#include "engine/load/families/family.h"
#include "engine/load/gguf_model.h"
#include "engine/load/names/recognise_names.h"
#include "engine/load/recorded_graph.h"
#include "engine/load/recorded_hints.h"
#include "engine/load/recorded_run.h"
#include "engine/load/state_dict.h"
#include "engine/platform/process.h"
#include "engine/tokenizer/gguf.h"
#include "engine/tokenizer/read.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

void check_look_at(const Model& model, const Config& config) {
    const LookAt& look_at = model.look_at;
    if (look_at.step.empty()) return;
    if (decoder::plan_decoder({config, &model.weights, model.example, {}, std::nullopt})->find(look_at.step) == nullptr)
        throw Error("look_at: this model has no step {step}", {{"step", look_at.step}});
    if (look_at.head >= config.nhead)
        throw Error("look_at: head {head}, expected 0 to {nhead}",
                    {{"head", look_at.head}, {"nhead", config.nhead - 1}});
}

// A model's suggestions must work: the step and the cell are there, the keys and the edits fit.
void check_trial(const Model& model, const Trial& trial) {
    const std::shared_ptr<const Plan> plan =
        decoder::plan_decoder({model.config(trial.set), &model.weights, model.example, trial.edits, std::nullopt});
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

// The generated inputs of a model without an example, with a sentence in place of the ids, as many whole words as fit,
// if the model can read it.
Inputs inputs_without_example(const Model& model, const Config& config) {
    constexpr std::string_view kSentence =
        "The animal was too tired to cross the street";  // not a message: model input
    constexpr std::size_t kMost = 16, kLeast = kSentence.find(" too");
    const Inputs made = example_inputs(config, 0);
    if (!model.tokenizer.can_encode() || made.tokens.empty()) return made;
    const auto is_whole_words = [&](const std::vector<Index>& ids) {
        const std::string read = model.tokenizer.decode(ids);
        const std::string words = read.substr(std::min(read.find_first_not_of(' '), read.size()));
        return words.size() >= kLeast && kSentence.starts_with(words) &&
               (words.size() == kSentence.size() || kSentence[words.size()] == ' ');
    };
    try {
        std::vector<Index> ids = model.tokenizer.encode(kSentence);
        const auto room = static_cast<std::size_t>(config.max_positions > 0 ? config.max_positions : Index{kMost});
        ids.resize(std::min({ids.size(), kMost, room}));
        while (!ids.empty() && !is_whole_words(ids)) ids.pop_back();
        if (ids.empty()) return made;
        Inputs with = made;
        with.tokens = Tensor({{axis::batch, 1}, {axis::pos, static_cast<Index>(ids.size())}},
                             std::vector<float>(ids.begin(), ids.end()));
        check_inputs(with, config);
        return with;
    } catch (const Error&) {
        return made;
    }
}

// The first inputs: the texts of example.json, otherwise inputs.safetensors, otherwise a sentence or generated ones.
// `as_written`: the configuration is the file's own.
void read_example(Model& model, const fs::path& folder, const Config& config, bool as_written) {
    const std::string texts = (folder / "example.json").string();
    const std::string tensors = (folder / "inputs.safetensors").string();
    const std::string text = is_there(texts) ? text_of_file(texts) : "{}";
    const ExampleFile example = naming(texts, [&] { return parse_example_file(text); });
    model.description = asset_text(example.description);
    model.look_at = example.look_at;
    model.trials = example.trials;
    if (!example.has_text())
        model.example = is_there(tensors) ? load_inputs(tensors, config) : inputs_without_example(model, config);
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

// The remark that not all of what a file holds in fewer bits stays in memory.
Sentence remark_on(const ExpandedBytes& expanded, std::uint64_t room, const std::string& file) {
    constexpr std::uint64_t kMega = 1'000'000;
    return message(
        "{file}: its weights take {needed} MB as floats. {room} MB of them stay in memory, within three quarters of "
        "what "
        "--memory sets, or of this machine's memory; each step that reads the others dequantizes them, "
        "and frees them again",
        {{"file", file}, {"needed", expanded.all / kMega}, {"room", room / kMega}});
}

// How many bytes weights may take of what the process may (0: of this machine's memory): three quarters.
std::uint64_t memory_for_weights(std::uint64_t memory) {
    constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
    return (memory > 0 ? memory : platform::bytes_of_memory().value_or(kUnknown)) / 4 * 3;
}

// What a given mapping says, or what is recognised; the answers are to what names leave open. Tensors whose names begin
// so are not looked at.
names::RecognisedNames recognised_names(const Checkpoint& checkpoint, const Overrides& answers,
                                        const names::Mapping& mapping,
                                        const std::vector<std::string>& unused_beginnings = {}) {
    names::Shapes read = checkpoint.shapes();
    if (unused_beginnings.empty() && mapping.empty()) return names::recognise_names(read, answers);
    std::erase_if(read, [&](const auto& entry) {
        return std::ranges::any_of(unused_beginnings, [&](const std::string& beginning) {
            return std::string_view(entry.first).starts_with(beginning);
        });
    });
    names::RecognisedNames recognised = names::recognise_names(read, answers);
    if (!mapping.empty()) recognised = names::with_mapping(std::move(recognised), mapping, read);
    for (const auto& [name, shape] : checkpoint.shapes())
        if (!read.contains(name)) recognised.mapping.try_emplace(name);
    return recognised;
}

// Without the answers that only say how tensors are read.
Overrides configuration_of(const Overrides& overrides) {
    Overrides keys = overrides;
    std::erase_if(keys, [](const auto& answer) { return names::is_naming_key(answer.first); });
    return keys;
}

Index layers_of(const names::Mapping& mapping) {
    Index layers = 0;
    const auto is_in = [&](const names::Target& target) {
        return target.name.starts_with("layers." + std::to_string(layers) + ".");
    };
    while (std::ranges::any_of(mapping, [&](const auto& entry) { return std::ranges::any_of(entry.second, is_in); }))
        ++layers;
    return layers;
}

// What a recording's parameters are by its calls, if their names leave something open, or don't tell of layers that
// share theirs.
RecordedGraph graph_of(const Checkpoint& checkpoint, const Overrides& answers) {
    const std::string& path = checkpoint.weights_path();
    if (!path.ends_with(".safetensors") || !is_recording(path)) return {};
    const trace::Trace trace = trace::open_trace(path);
    try {
        const names::RecognisedNames names = recognised_names(checkpoint, answers, {});
        StateDict state_dict = map_state_dict(names.mapping, checkpoint.shapes());
        Recognised recognised = recognise(checkpoint.shapes(), names, state_dict);
        take_hints(recognised, hints_of_trace(trace));
        static_cast<void>(answered_config(recognised, answers));
        RecordedGraph graph = graph_of_trace(trace);
        // Layers that share parameters are called more often than named; of a recording that was cut short, the last
        // ones are named and weren't called.
        if (!names.open.empty() || graph.begins_with_stream || layers_of(graph.mapping) > layers_of(names.mapping))
            return graph;
        // Norms that learn nothing have no names: the calls tell that they are there, and of what kind.
        graph.mapping = with_norms_by_calls(trace, names.mapping);
        if (graph.mapping == names.mapping) graph.mapping.clear();
        const bool bare = std::ranges::find(graph.hints, std::pair<std::string, std::string>("norm_gain", "false")) !=
                          graph.hints.end();
        if (!bare) graph.hints.clear();
        return graph;
    } catch (const Error&) {  // which is said if the calls don't tell either
        return graph_of_trace(trace);
    }
}

// As above, whatever their names say.
RecordedGraph graph_of(const Checkpoint& checkpoint) {
    const std::string& path = checkpoint.weights_path();
    const bool is_read = path.ends_with(".safetensors") && is_recording(path);
    return is_read ? graph_of_trace(trace::open_trace(path)) : RecordedGraph{};
}

// The configuration as inferred from names and shapes.
void configure_by_shapes(Model& model, const Checkpoint& checkpoint, names::RecognisedNames names,
                         StateDict& state_dict, const Overrides& overrides, const Overrides& hints) {
    const std::string path = (checkpoint.folder() / "config.json").string();
    const std::string weights = fs::path(checkpoint.weights_path()).filename().string();
    Recognised recognised = naming(checkpoint.weights_path(), [&] {
        Recognised by_names = recognise(checkpoint.shapes(), std::move(names), state_dict);
        propose_by_numbers(by_names, checkpoint);
        return by_names;
    });
    take_hints(recognised, hints_of_file(checkpoint.weights_path()));
    take_hints(recognised, hints);
    model.answers = overrides;
    naming(message("{path} (missing; derived from {weights} instead)", {{"path", path}, {"weights", weights}}), [&] {
        model.config_json =
            config_to_json(parse_config(answered_config(recognised, overrides), configuration_of(overrides)));
    });
    if (const std::string taken = taken_unasked(recognised, overrides); !taken.empty())
        model.remarks.push_back(message("{weights}: there is no config.json; assumed {module} with {taken}",
                                        {{"weights", weights}, {"module", recognised.module}, {"taken", taken}}));
    model.recognised = std::move(recognised);
}

// Of a pair that is tied, some programs store the head alone: it is the embedding, too. Returns its stored name; empty
// if the embedding is stored.
std::string embed_by_head(names::Mapping& mapping) {
    const auto makes = [](const auto& entry, std::string_view name) {
        return std::ranges::any_of(entry.second, [&](const names::Target& target) { return target.name == name; });
    };
    if (std::ranges::any_of(mapping, [&](const auto& entry) { return makes(entry, "embed.weight"); })) return {};
    const auto head = std::ranges::find_if(mapping, [&](const auto& entry) { return makes(entry, "lm_head.weight"); });
    if (head == mapping.end() || head->second.size() != 1) return {};
    head->second.push_back({"embed.weight", head->second.front().how, head->second.front().number});
    return head->first;
}

// Leaves out what the family's files may have and nothing reads.
void leave_unused(names::RecognisedNames& names, const families::ModelFamily& family) {
    for (const std::string& ending : family.unused) {
        for (auto& [from, targets] : names.mapping)
            if (from.ends_with(ending)) targets.clear();
        std::erase_if(names.open, [&](const std::string& name) { return name.ends_with(ending); });
    }
}

// What the configuration says about questions that names leave open; what is given comes first.
Overrides with_known_answers(Overrides answers, const families::ModelFamily& family) {
    answers.insert(answers.end(), family.names.begin(), family.names.end());
    if (!family.model_type.empty()) return answers;
    const nlohmann::json config = parse_json(family.config_json, message("an object of configuration keys"));
    const bool before = config.contains("embedding_norm") && config["embedding_norm"] == true;
    answers.emplace_back("embedding_norm", before ? "true" : "false");
    return answers;
}

bool is_answered(const Overrides& answers, const std::string& key) {
    return std::ranges::any_of(answers, [&](const auto& answer) { return answer.first == key; });
}

// The configuration as config.json has it. What it leaves open, of its numbers or of how the tensors are read, is a
// question, and was taken as proposed unless it is answered.
void configure_by_family(Model& model, const Checkpoint& checkpoint, names::RecognisedNames names,
                         const families::ModelFamily& family, const Overrides& known, const Overrides& overrides) {
    Recognised& recognised = model.recognised;
    const bool given = !family.model_type.empty();
    recognised.module = checkpoint.gguf() != nullptr
                            ? message("{family}, by its GGUF file", {{"family", family.model_type}})
                        : given ? message("{family}, by its config.json", {{"family", family.model_type}})
                                : message("a decoder with a config.json");
    recognised.stored = checkpoint.shapes();
    const nlohmann::json facts = parse_json(family.config_json, message("an object of configuration keys"));
    for (const auto& [key, value] : facts.items())
        if (key != "model_type")
            recognised.facts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    recognised.questions = family.questions;
    for (const Question& question : names.questions)
        if (!is_answered(known, question.key) || is_answered(overrides, question.key))
            recognised.questions.push_back(question);
    recognised.names = std::move(names);
    Overrides settings;
    for (const Question& question : recognised.questions)
        for (const auto& answer : overrides)
            if (answer.first == question.key) model.answers.push_back(answer);
    for (const auto& answer : model.answers)
        if (!names::is_naming_key(answer.first)) settings.push_back(answer);
    if (!settings.empty()) model.config_json = config_to_json(parse_config(model.config_json, settings));
    const std::string weights = fs::path(checkpoint.weights_path()).filename().string();
    if (const std::string taken = taken_unasked(recognised, overrides); !taken.empty())
        model.remarks.push_back(message("{weights}: its config.json leaves it open; assumed {taken}",
                                        {{"weights", weights}, {"taken", taken}}));
}

tokenizer::Tokenizers tokenizers_of_gguf(const GgufFile& file, const Config& config) {
    const Json json = naming(file.path(), [&] { return tokenizer::tokenizer_of_gguf(file.metadata()); });
    tokenizer::SpecialIds ids;
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
        if (const auto end = file.metadata().find(key); end != file.metadata().end() && end->is_number_unsigned())
            ids.ends.push_back(end->get<Index>());
    return tokenizer::tokenizers_of(json, file.path(), ids, config);
}

// What is known of a model before its tensors are looked at: from a GGUF file's metadata, from a config.json, or, of
// weights alone, nothing.
struct Described {
    bool configured = false;
    std::string config_json;
    families::ModelFamily family;  // without a model_type if none is known
    Overrides answers;
    names::RecognisedNames names;
    Overrides hints;  // of a recording's calls
};

// The overrides must fit, whatever the tensors are.
void check_configuration(const std::string& json, const std::string& path, const Overrides& overrides) {
    naming(path, [&] { static_cast<void>(parse_config(json, configuration_of(overrides))); });
}

// It says all that a config.json would, and what each tensor is.
Described described_by_gguf(const Checkpoint& checkpoint, const Overrides& overrides, const names::Mapping& mapping) {
    const std::string& path = checkpoint.weights_path();
    GgufModel read = naming(path, [&] { return read_gguf_model(*checkpoint.gguf()); });
    check_configuration(read.family.config_json, path, overrides);
    names::RecognisedNames names;
    names.mapping = std::move(read.mapping);
    if (!mapping.empty())
        names = naming(path, [&] { return names::with_mapping(names, mapping, checkpoint.shapes()); });
    return {true, read.family.config_json, std::move(read.family), overrides, std::move(names)};
}

Described described_by_names(const Checkpoint& checkpoint, Described known, const names::Mapping& mapping) {
    known.names = naming(checkpoint.weights_path(), [&] {
        return recognised_names(checkpoint, known.answers, mapping, known.family.unused_beginnings);
    });
    return known;
}

Described described_by_config(const Checkpoint& checkpoint, const std::string& path, const std::string& text,
                              const Overrides& overrides, const names::Mapping& mapping) {
    Described known{.configured = true, .family = naming(path, [&] { return families::read_family(text); })};
    known.config_json = known.family.config_json;
    check_configuration(known.config_json, path, overrides);
    known.answers = with_known_answers(overrides, known.family);
    return described_by_names(checkpoint, std::move(known), mapping);
}

// The mapping, if none is given, becomes what a recording's calls say.
Described described(const Checkpoint& checkpoint, const Overrides& overrides, names::Mapping& mapping) {
    if (checkpoint.gguf() != nullptr) return described_by_gguf(checkpoint, overrides, mapping);
    const std::string config_path = (checkpoint.folder() / "config.json").string();
    if (is_there(config_path))
        return described_by_config(checkpoint, config_path, text_of_file(config_path), overrides, mapping);
    if (const std::string recorded = recorded_config(checkpoint.weights_path()); !recorded.empty())
        return described_by_config(checkpoint, checkpoint.weights_path(), recorded, overrides, mapping);
    Overrides hints;
    if (mapping.empty()) {
        RecordedGraph graph = graph_of(checkpoint, overrides);
        mapping = std::move(graph.mapping);
        hints = std::move(graph.hints);
    }
    return described_by_names(checkpoint, {.answers = overrides, .hints = std::move(hints)}, mapping);
}

std::shared_ptr<const Model> load(const std::shared_ptr<const Checkpoint>& files, const Overrides& overrides,
                                  const names::Mapping& mapping, LoadProgress& progress, const Overrides& hints) {
    const Checkpoint& checkpoint = *files;
    const fs::path& folder = checkpoint.folder();
    const std::string& weights_path = checkpoint.weights_path();
    const bool is_gguf = checkpoint.gguf() != nullptr;
    const bool by_folder = checkpoint.is_folder() || (!is_gguf && is_there(folder / "config.json"));
    Model model{{.name = by_folder ? folder.string() : weights_path}};
    model.path = absolute_path(checkpoint.is_folder() ? folder.string() : weights_path);
    model.mapping = mapping;
    Described known = described(checkpoint, overrides, model.mapping);
    known.hints.insert(known.hints.end(), hints.begin(), hints.end());
    const families::ModelFamily& family = known.family;
    names::RecognisedNames& names = known.names;
    const bool by_family = !family.model_type.empty();
    model.config_json = std::move(known.config_json);
    leave_unused(names, family);
    if (const std::string head = is_gguf ? std::string() : embed_by_head(names.mapping); !head.empty())
        model.remarks.push_back(message("{weights}: no embedding is stored: it is tied to {head}",
                                        {{"weights", fs::path(weights_path).filename().string()}, {"head", head}}));
    if (by_family) naming(weights_path, [&] { check_orientation(names, mapping, checkpoint.shapes(), family); });
    StateDict state_dict = naming(weights_path, [&] { return map_state_dict(names.mapping, checkpoint.shapes()); });
    checkpoint.check_types(Assembly(state_dict));
    const names::RecognisedNames kept = names;
    if (known.configured)
        configure_by_family(model, checkpoint, std::move(names), family, known.answers, overrides);
    else
        configure_by_shapes(model, checkpoint, std::move(names), state_dict, overrides, known.hints);
    const Config config = model.config(configuration_of(overrides));
    // Zeros that were added as if norms were centred, which ones of another kind have no place for.
    if (!known.configured && !is_centred(config.norm) && config.norm != NormKind::dynamic_tanh)
        std::erase_if(state_dict.shapes, [&](const auto& entry) {
            const bool is_shift = entry.first.ends_with(".bias") && entry.first.find("norm") != std::string::npos;
            return is_shift &&
                   std::ranges::find(state_dict.rows, entry.first, &StoredRows::name) == state_dict.rows.end();
        });
    const bool says_arithmetic = known.configured && !by_family;  // the contract's own configuration
    if (const Arithmetic stored = checkpoint.arithmetic();
        stored != Arithmetic::float32 && config.arithmetic == Arithmetic::float32 && !says_arithmetic)
        model.remarks.push_back(
            message("{weights}: its numbers are {type}, but are computed with in float32; with "
                    "arithmetic = {type} each result is rounded where PyTorch rounds it",
                    {{"weights", fs::path(weights_path).filename().string()}, {"type", name_of(stored)}}));
    std::vector<std::string> tables;
    naming(weights_path, [&] {
        refuse_open_names(kept, config);
        refuse_unanswered_names(kept, known.answers);
        if (by_family)
            tables = add_omitted_parameters(state_dict, config, family);
        else
            add_missing_biases(state_dict.shapes, config);
        refuse_false_copies(kept, checkpoint);
        std::ranges::move(leave_out_sinusoids(state_dict, config, checkpoint), std::back_inserter(model.remarks));
        check_shapes(state_dict, config);
        settle_heads(state_dict, config.nhead, config.num_key_value_heads);
    });
    if (checkpoint.has_packed()) model.stored = std::make_shared<const StoredParameters>(files, state_dict.rows);
    const StateDict packed = take_packed(state_dict, checkpoint);
    Assembly assembly(std::move(state_dict));
    const ExpandedBytes expanded = expanded_bytes(packed);
    const std::uint64_t memory = memory_for_weights(progress.memory);
    const std::uint64_t room =
        room_to_stay(expanded, checkpoint.bytes_as_floats(assembly), memory, weights_path);  // before anything is read
    const Checkpoint::NonFinite non_finite = checkpoint.read(assembly, stored_tensors(packed), progress);
    model.weights = assembly.take();
    model.weights.merge(expanded_when_read(packed, files, room));
    if (room < expanded.all)
        model.remarks.push_back(remark_on(expanded, room, fs::path(weights_path).filename().string()));
    make_positions(model.weights, tables);
    naming(weights_path, [&] { drop_tied_head(model.weights, config); });
    if (non_finite.numbers > 0)
        model.remarks.push_back(remark_on(non_finite, fs::path(weights_path).filename().string()));
    tokenizer::Tokenizers tokenizers =
        is_gguf ? tokenizers_of_gguf(*checkpoint.gguf(), config) : tokenizer::read_tokenizers(folder, config);
    model.tokenizer = std::move(tokenizers.target);
    model.encoder_tokenizer = std::move(tokenizers.source);
    model.remarks.insert(model.remarks.end(), tokenizers.remarks.begin(), tokenizers.remarks.end());
    read_example(model, folder, config, overrides.empty());
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

std::shared_ptr<const Model> load_model(const std::string& name_or_path, const Overrides& overrides,
                                        LoadProgress* progress, const names::Mapping& mapping) {
    if (auto bundled = make_bundled_model(name_or_path)) {
        if (!mapping.empty())
            throw Error("{name}: a bundled model, expected no mapping of its names", {{"name", name_or_path}});
        return bundled;
    }
    LoadProgress unwatched;
    const fs::path path = folder_or_file(name_or_path);
    if (is_path_of_model(path)) {
        const auto files = std::make_shared<const Checkpoint>(path);
        LoadProgress& watched = progress != nullptr ? *progress : unwatched;
        try {
            return load(files, overrides, mapping, watched, {});
        } catch (const Error&) {  // which is said if what a recording's calls did doesn't tell either
            RecordedGraph graph = mapping.empty() ? graph_of(*files) : RecordedGraph{};
            if (graph.mapping.empty()) throw;
            try {
                return load(files, overrides, graph.mapping, watched, graph.hints);
            } catch (const Error&) {
                if (graph.unread.empty()) throw;
                throw Error(
                    "{path}: {name} is a parameter of the recorded model, and of no decoder that is computed here",
                    {{"path", files->weights_path()}, {"name", graph.unread}});
            }
        }
    }
    std::string names;
    for (const BundledModel& model : bundled_models()) names += (names.empty() ? "" : ", ") + model.name;
    throw Error("{name}: no such model; expected a folder with config.json and model.safetensors, or one of {names}",
                {{"name", name_or_path}, {"names", names}});
}

std::optional<Recognised> recognise_model(const std::string& name_or_path, const Overrides& answers,
                                          const names::Mapping& mapping) {
    const fs::path path = folder_or_file(name_or_path);
    for (const BundledModel& model : bundled_models())
        if (model.name == name_or_path) return std::nullopt;
    if (!is_path_of_model(path)) return std::nullopt;  // load_model() says so
    const Checkpoint checkpoint(path);
    if (checkpoint.gguf() != nullptr || is_there(checkpoint.folder() / "config.json") ||
        !recorded_config(checkpoint.weights_path()).empty())
        return std::nullopt;
    return naming(checkpoint.weights_path(), [&] {
        const RecordedGraph graph = mapping.empty() ? graph_of(checkpoint, answers) : RecordedGraph{};
        names::RecognisedNames names = recognised_names(checkpoint, answers, mapping.empty() ? graph.mapping : mapping);
        try {
            StateDict state_dict = map_state_dict(names.mapping, checkpoint.shapes());
            Recognised recognised = recognise(checkpoint.shapes(), names, state_dict);
            propose_by_numbers(recognised, checkpoint);
            take_hints(recognised, hints_of_file(checkpoint.weights_path()));
            take_hints(recognised, graph.hints);
            return recognised;
        } catch (const Error& error) {
            if (names.mapping.empty()) throw;
            return Recognised{.names = std::move(names), .stored = checkpoint.shapes(), .problem = error.sentence()};
        }
    });
}

names::Mapping mapping_of_model(const std::string& name_or_path, const Overrides& answers) {
    const Checkpoint checkpoint(folder_or_file(name_or_path));
    if (checkpoint.gguf() != nullptr)
        return naming(checkpoint.weights_path(), [&] { return read_gguf_model(*checkpoint.gguf()).mapping; });
    const std::string config = (checkpoint.folder() / "config.json").string();
    Overrides known = answers;
    std::vector<std::string> unused;
    if (is_there(config)) {
        const std::string text = text_of_file(config);
        const families::ModelFamily family = naming(config, [&] { return families::read_family(text); });
        known = with_known_answers(answers, family);
        unused = family.unused_beginnings;
    }
    return naming(checkpoint.weights_path(), [&] { return recognised_names(checkpoint, known, {}, unused).mapping; });
}

}  // namespace decoderscope::load
