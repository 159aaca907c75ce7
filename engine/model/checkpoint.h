#pragma once

#include "engine/error.h"
#include "engine/model/load_progress.h"
#include "engine/model/safetensors.h"
#include "engine/model/state_dict.h"

#include <filesystem>
#include <string>
#include <vector>

namespace decoderscope {

// The path holds weights as Python pickles them (.pt, .pth, .bin, .ckpt): a program of its own, which isn't run here.
class NeedsConversion : public Error {
public:
    explicit NeedsConversion(const std::string& path);
    // Three lines that write the same tensors as a safetensors file beside it; the Error's own text has them as a
    // shell's command.
    [[nodiscard]] const std::string& python() const { return python_; }
    // What is wrong, without the way out.
    [[nodiscard]] const Sentence& problem() const { return problem_; }

private:
    Sentence problem_;
    std::string python_;
};

// What lies at a path, as far as its name and kind say.
enum class PathKind { other, folder, model_folder, weights, pickled };
[[nodiscard]] PathKind kind_of_path(const std::filesystem::path& path);

// A model's files: the folder that may hold its config.json and tokenizers, and the tensors, in one file or in several
// with an index (model.safetensors.index.json) as Hugging Face splits large ones.
class Checkpoint {
public:
    // A folder, or one safetensors file. Opens the files and checks their headers; reads no tensor. Throws Error naming
    // the file and what was expected; NeedsConversion where all there is, is pickled.
    explicit Checkpoint(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    // Whether the folder was meant, and not a file of it.
    [[nodiscard]] bool is_folder() const { return is_folder_; }
    // What messages name: the weights' file, or the index.
    [[nodiscard]] const std::string& weights_path() const { return weights_path_; }
    // The files that hold the tensors.
    [[nodiscard]] std::vector<std::string> files() const;
    [[nodiscard]] const Shapes& shapes() const { return shapes_; }

    // What reading the tensors came upon.
    struct NonFinite {
        std::size_t tensors = 0, numbers = 0;  // that are NaN or infinite
        std::string first;                     // the name of the first such tensor
    };
    // Reads the tensors that the assembly wants, in the order in which they lie in the files, and counts what is not
    // finite. Throws LoadStopped as soon as nobody wants them any more.
    [[nodiscard]] NonFinite read(Assembly& assembly, LoadProgress& progress) const;
    // Throws Error where a wanted tensor is not of floats.
    void check_types(const Assembly& assembly) const;

private:
    void open(const std::filesystem::path& file);
    void open_index(const std::filesystem::path& index);

    bool is_folder_ = false;
    std::filesystem::path folder_;
    std::string weights_path_;
    std::vector<SafetensorsFile> files_;
    Shapes shapes_;
};

}  // namespace decoderscope
