#include "tests/program/documented.h"

#include "tests/engine/raw_safetensors.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <cmark.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace decoderscope::testing {

namespace {

namespace fs = std::filesystem;

const fs::path kRepository = fs::path(DECODERSCOPE_TESTS_DIR).parent_path();

// Of the system, those that documents begin a block with.
constexpr std::array<std::string_view, 16> kPrograms{"apt",     "apt-get", "cd",   "cmake",       "cpack", "ctest",
                                                     "curl",    "export",  "git",  "pip",         "pip3",  "python",
                                                     "python3", "sh",      "sudo", "decoderscope"};

// A line's first word behind variables and a parenthesis: the program that it starts.
std::string program_of(const std::string& line) {
    std::smatch found;
    static const std::regex first(R"(^\(?(?:[A-Z_]+=\S* +)*([^\s()]+))");
    return std::regex_search(line, found, first) ? found[1].str() : "";
}

bool is_program(const std::string& word) {
    if (std::ranges::find(kPrograms, fs::path(word).filename()) != kPrograms.end()) return true;
    return word.find('/') != std::string::npos && fs::is_regular_file(kRepository / word);
}

// The commands of a block: lines that a backslash continues are one, comments none, and of a step of a workflow it is
// what the step runs.
std::vector<std::string> commands_in(const std::string& text) {
    std::vector<std::string> commands;
    std::istringstream lines(text);
    std::string command;
    for (std::string line; std::getline(lines, line);) {
        command += std::regex_replace(line, std::regex(R"(^(\s*- run: |\$ ))"), "");
        if (command.ends_with('\\')) {
            command.back() = ' ';
            continue;
        }
        if (!command.empty() && !command.starts_with('#')) commands.push_back(command);
        command.clear();
    }
    return commands;
}

void add_blocks(std::vector<DocumentedBlock>& blocks, const fs::path& file) {
    const std::string text = read_bytes(file.string());
    const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> document(
        cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT), cmark_node_free);
    const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> nodes(cmark_iter_new(document.get()),
                                                                        cmark_iter_free);
    while (cmark_iter_next(nodes.get()) != CMARK_EVENT_DONE) {
        cmark_node* node = cmark_iter_get_node(nodes.get());
        if (cmark_node_get_type(node) != CMARK_NODE_CODE_BLOCK) continue;
        const std::string language = cmark_node_get_fence_info(node);
        const std::vector<std::string> commands = commands_in(cmark_node_get_literal(node));
        const bool is_shell = language == "sh" || language == "bash" || language == "console";
        if (commands.empty() || !(is_shell || (language.empty() && is_program(program_of(commands.front()))))) continue;
        blocks.push_back(
            {fs::relative(file, kRepository).string() + ":" + std::to_string(cmark_node_get_start_line(node)),
             commands});
    }
}

// A recording of a decoder whose mask is off by one, with its parameters.
std::string recording() {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::string data;
    for (const auto& [file, prefix] : {std::pair("causal-one-too-far", ""), std::pair("model", "param/")}) {
        const std::string bytes = read_bytes(kTraces + "gpt/" + file + ".safetensors");
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data(), sizeof(length));
        const auto tensors = nlohmann::ordered_json::parse(bytes.substr(sizeof(length), length));
        for (const auto& [name, tensor] : tensors.items()) {
            nlohmann::ordered_json moved = tensor;
            if (name != "__metadata__")
                for (auto& offset : moved["data_offsets"]) offset = offset.get<std::size_t>() + data.size();
            header[prefix + name] = moved;
        }
        data += bytes.substr(sizeof(length) + length);
    }
    return with_header(header.dump(), data);
}

// A decoder of one layer as nanoGPT names its parameters, whose 24 columns are as many heads as a document may say.
std::string state_dict() {
    const std::size_t d_model = 24, vocab = 8;
    std::vector<RawTensor> tensors;
    const auto add = [&](const std::string& name, std::size_t rows, std::size_t columns) {
        std::vector<float> numbers(std::max<std::size_t>(rows, 1) * columns);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 19) / 19.0F - 0.5F;
        const std::string shape = (rows == 0 ? "[" : "[" + std::to_string(rows) + ", ") + std::to_string(columns) + "]";
        tensors.push_back({name, "F32", shape, raw(numbers)});
    };
    const auto add_linear = [&](const std::string& name, std::size_t out, std::size_t in) {
        add(name + ".weight", out, in);
        add(name + ".bias", 0, out);
    };
    add("transformer.wte.weight", vocab, d_model);
    add("transformer.wpe.weight", vocab, d_model);
    for (const std::string norm : {"h.0.ln_1", "h.0.ln_2", "ln_f"}) {
        add("transformer." + norm + ".weight", 0, d_model);
        add("transformer." + norm + ".bias", 0, d_model);
    }
    add_linear("transformer.h.0.attn.c_attn", 3 * d_model, d_model);
    add_linear("transformer.h.0.attn.c_proj", d_model, d_model);
    add_linear("transformer.h.0.mlp.c_fc", 4 * d_model, d_model);
    add_linear("transformer.h.0.mlp.c_proj", d_model, 4 * d_model);
    add("lm_head.weight", vocab, d_model);
    return raw_safetensors(tensors);
}

const std::string kHandin = R"({"format": "decoderscope-handin", "version": 1, "lesson": "weight", "answers": []})";

// What a file holds, by its name. Most specific first.
std::string contents_of(const std::string& name) {
    const auto matches = [&](const char* pattern) { return std::regex_search(name, std::regex(pattern)); };
    if (matches("gpt.*\\.safetensors$")) return state_dict();
    if (matches("\\.safetensors$")) return recording();
    if (matches("\\.dscope$"))
        return R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}, "talk": [
            {"say": "A word backwards", "notes": "Ask.", "show": {"format": "decoderscope-session", "version": 1,
             "model": {"bundled": "reverse"}}}]})";
    if (matches("^decoderscope-.*\\.json$")) return kHandin;
    if (matches("edits\\.json$"))
        return R"([{"edit": "scale_head", "attention": "blocks.0.attn", "head": 0, "factor": 0}])";
    if (matches("messages\\.json$"))
        return R"([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello, friend."}])";
    if (matches("\\.json$")) return "{}";
    if (matches("\\.md$")) return read_bytes((kRepository / "assets/lessons/weight/lesson.md").string());
    if (matches("\\.(csv|txt)$")) return "blocks.0.attn.pattern, 3.25\n";
    throw std::runtime_error(name + ": nothing says what such a file holds; add it to tests/program/documented.cpp");
}

}  // namespace

std::vector<DocumentedBlock> documented_blocks() {
    std::vector<fs::path> files{kRepository / "README.md", kRepository / "CONTRIBUTING.md"};
    for (const auto& entry : fs::directory_iterator(kRepository / "docs"))
        if (entry.path().extension() == ".md") files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<DocumentedBlock> blocks;
    for (const fs::path& file : files) add_blocks(blocks, file);
    return blocks;
}

bool is_of_decoderscope(const std::string& line) { return fs::path(program_of(line)).filename() == "decoderscope"; }

std::vector<std::string> typed(const std::vector<std::string>& lines) {
    // One that a recording is of, and that is a file; otherwise one with several layers and heads.
    static const std::regex needs_file("(bisect|names) MODEL");
    const bool is_file =
        std::ranges::any_of(lines, [](const std::string& line) { return std::regex_search(line, needs_file); });
    const std::array<std::pair<std::regex, const char*>, 10> placeholders{{
        {std::regex("build/release/decoderscope"), "decoderscope"},
        {std::regex(R"( \[[^\]"]*\](?=\s|$))"), ""},
        {std::regex(R"(\s+#\s.*$)"), ""},
        {std::regex(R"(#s1=[\w-]*…)"),
         "#s1="
         "eNqrVkrLL8pNLFGyUlBKSU3OT0ktKk7OL0jVLU4tLs7Mz1PSUVAqA4qBmFYKhkBeLlBNDpBdrZRUmpeSk5oC0lqUClKUqlRbCwBsLRtV"},
        {std::regex(R"(\bMODEL\b)"), is_file ? "model.safetensors" : "causal-lm"},
        {std::regex(R"(\b(ORIGINAL|A)(?=\s|$))"), "reverse"},
        {std::regex(R"(\b(QUANTISED|B)(?=\s|$))"), "reverse-post-norm"},
        {std::regex(R"(\bSESSION\b)"), "session.dscope"},
        {std::regex(R"(\bTRACE\b)"), "trace.safetensors"},
        {std::regex(R"(\bFOLDER\b)"), "folder"},
    }};
    std::vector<std::string> commands;
    for (std::string line : lines) {
        for (const auto& [pattern, replacement] : placeholders) line = std::regex_replace(line, pattern, replacement);
        commands.push_back(line);
    }
    return commands;
}

void make_files_for(const std::vector<std::string>& lines, const std::string& folder) {
    // What is written, or a file or a folder that is read.
    static const std::regex word(
        R"((--(?:out|html|csv|tour) +|>>? *)?)"
        R"(((?:[\w.-]+/)*[\w-]+\.(?:safetensors|npz|npy|gguf|dscope|json|csv|txt|md)(?=\s|$)|[\w-]+/(?=\s|$)))");
    std::map<std::string, bool> is_written;
    for (const std::string& line : lines)
        for (auto found = std::sregex_iterator(line.begin(), line.end(), word); found != std::sregex_iterator();
             ++found) {
            const std::string name = (*found)[2];
            const fs::path path = fs::path(folder) / name;
            const bool writes = (*found)[1].matched;
            if (!is_written.emplace(name, writes).second || writes) continue;
            if (name.ends_with('/')) {
                fs::create_directories(path);
                write_bytes((path / "one.json").string(), kHandin);
            } else {
                fs::create_directories(path.parent_path());
                write_bytes(path.string(), contents_of(path.filename().string()));
            }
        }
}

}  // namespace decoderscope::testing
