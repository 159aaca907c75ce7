#pragma once

#include "engine/base/error.h"
#include "engine/files/block_numbers.h"
#include "engine/files/gguf.h"
#include "engine/files/mapped_file.h"
#include "engine/files/path_kind.h"
#include "engine/files/safetensors.h"
#include "engine/load/state_dict.h"
#include "engine/tensor/arithmetic.h"
#include "engine/trace/adapters.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace decoderscope::load {

// The path holds weights pickled by Python (.pt, .pth, .bin, .ckpt). A pickle is a program, which isn't run here.
class NeedsConversion : public Error {
public:
    explicit NeedsConversion(const std::string& path);
    // Three lines of Python that write the same tensors to a safetensors file next to it; the Error's own text has them
    // as a shell command.
    [[nodiscard]] const std::string& python() const { return python_; }
    // What is wrong, without the remedy.
    [[nodiscard]] const Sentence& problem() const { return problem_; }

private:
    Sentence problem_;
    std::string python_;
};

// A model's files: the folder that may hold its config.json and tokenizers, and the tensors, in one file or in several
// with an index (model.safetensors.index.json) as Hugging Face splits large ones; or all of it in a GGUF file.
class Checkpoint {
public:
    // A folder, or one safetensors or GGUF file. Opens the files and checks their headers; reads no tensor. Throws
    // Error naming the file and what was expected; NeedsConversion if there are only pickled weights.
    explicit Checkpoint(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    // Whether the path named the folder rather than a file in it.
    [[nodiscard]] bool is_folder() const { return is_folder_; }
    // The path for messages: the weights' file, or the index.
    [[nodiscard]] const std::string& weights_path() const { return weights_path_; }
    // The files that hold the tensors.
    [[nodiscard]] std::vector<std::string> files() const;
    [[nodiscard]] const names::Shapes& shapes() const { return shapes_; }
    // The GGUF file, if it is one.
    [[nodiscard]] const GgufFile* gguf() const { return gguf_ ? &*gguf_ : nullptr; }

    // Non-finite values found while reading the tensors.
    struct NonFinite {
        std::size_t tensors = 0, numbers = 0;  // that are NaN or infinite
        std::string first;                     // the name of the first such tensor
    };
    // Reads the tensors that the assembly wants, in the order in which they lie in the files, and counts the non-finite
    // values, also of those in fewer bits that are expanded later, by their scales. Throws LoadStopped as soon as a
    // stop is requested.
    [[nodiscard]] NonFinite read(Assembly& assembly, const std::set<std::string>& expanded_later,
                                 LoadProgress& progress) const;
    // The bytes that those which the assembly wants take as floats in memory, and not in their mapped file.
    [[nodiscard]] std::uint64_t bytes_as_floats(const Assembly& assembly) const;
    // One tensor. Throws Error if it isn't stored or can't be read.
    [[nodiscard]] Tensor tensor(const std::string& name) const;
    // Whether a tensor holds numbers in fewer bits, with scales; whether any does.
    [[nodiscard]] bool is_packed(const std::string& name) const;
    [[nodiscard]] bool has_packed() const;
    // What a number of such a tensor, in row-major order, is expanded from; nothing for other tensors.
    [[nodiscard]] std::optional<packed::StoredNumber> stored_number(const std::string& name, Index at) const;
    // The type of most numbers, if these are bfloat16 or float16 and no GGUF file's, which other programs expand;
    // otherwise float32.
    [[nodiscard]] Arithmetic arithmetic() const;
    // Throws Error if a wanted tensor does not hold floats.
    void check_types(const Assembly& assembly) const;

private:
    void open(const std::filesystem::path& file);
    void open_index(const std::filesystem::path& index);
    void open_gguf(const std::filesystem::path& file);
    [[nodiscard]] std::size_t count_non_finite_packed(const std::string& name) const;
    // Numbers in fewer bits have their scales in a tensor of their own: its name by theirs, and their shape.
    void find_scales();
    [[nodiscard]] const std::string& stored_as(const std::string& name) const;
    [[nodiscard]] const SafetensorsFile& file_of(const std::string& name) const;
    [[nodiscard]] Tensor read_tensor(const SafetensorsFile& file, const std::string& name,
                                     const SafetensorsFile::Watch& watch, Tensor* room) const;

    bool is_folder_ = false;
    std::filesystem::path folder_;
    std::string weights_path_;
    std::vector<SafetensorsFile> files_;
    std::optional<GgufFile> gguf_;
    names::Shapes shapes_;
    std::map<std::string, std::string, std::less<>> scales_;
    std::map<std::string, std::string, std::less<>> stored_as_;    // by another name
    std::map<std::string, trace::Adapter, std::less<>> adapters_;  // of weights that they are merged into
};

// What a file holds for parameters that it stores in fewer bits: the number and the scale that each of their numbers
// was made from.
class StoredParameters {
public:
    // `rows` say where the parameters' numbers come from (StateDict, once its heads are settled).
    StoredParameters(std::shared_ptr<const Checkpoint> checkpoint, const std::vector<StoredRows>& rows);

    // The stored number behind one number of a parameter whose rows are `columns` long; nothing if it is stored as it
    // is.
    [[nodiscard]] std::optional<packed::StoredNumber> at(const std::string& parameter, Index number,
                                                         Index columns) const;

private:
    std::shared_ptr<const Checkpoint> checkpoint_;
    std::multimap<std::string, StoredRows> rows_;  // by parameter
};

}  // namespace decoderscope::load
