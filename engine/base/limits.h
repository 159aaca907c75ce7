#pragma once

#include "engine/base/index.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

// Limits that hold however much memory the machine has, checked before any is allocated. No genuine input comes near
// them, and below them no product of sizes overflows. Sizes within the limits that the machine still can't hold are
// rejected at allocation. docs/limits.md lists all limits, too.
namespace decoderscope::limits {

// ---- JSON

constexpr std::size_t kTextBytes = std::size_t{64} << 20;  // a text file: configuration, tokenizer, edits, session
constexpr std::size_t kJsonDepth = 100;                    // nesting of lists and objects
constexpr std::size_t kJsonValues = std::size_t{1} << 22;  // a tokenizer of 256,000 tokens has two million

// ---- trees of other kinds

constexpr int kTreeDepth = 400;     // of quotes of a lesson, whatever makes it deep
constexpr int kBracketDepth = 100;  // of brackets in one, which take more of the stack

// ---- tensors in files

constexpr std::size_t kHeaderBytes = 100'000'000;       // of a safetensors file; the format's own limit
constexpr std::size_t kTensors = std::size_t{1} << 16;  // in one file
constexpr std::size_t kMetadataKeys = 4096;             // of a GGUF file
constexpr std::size_t kNameBytes = 1024;                // of a tensor's name
constexpr std::size_t kNameParts = 64;                  // of it, with dots between them
constexpr std::size_t kAxes = 8;                        // of a tensor
constexpr Index kNumbers = Index{1} << 40;              // in one tensor, stored or computed; empty axes count as 1

// ---- models

constexpr Index kSize = Index{1} << 24;       // d_model, nhead, vocab_size, max_positions, …
constexpr Index kLayers = Index{1} << 12;     // of the decoder or the encoder
constexpr Index kExperts = Index{1} << 12;    // of a layer
constexpr Index kTokenIds = Index{1} << 20;   // that a tokenizer has pieces for
constexpr Index kPositions = Index{1} << 20;  // of an input, and of the encoder's
constexpr Index kBatch = Index{1} << 16;      // rows of an input

// ---- formulas

constexpr std::size_t kFormulaBytes = 16'384;     // of its text
constexpr std::size_t kFormulaDepth = 40;         // levels of parentheses, signs and powers
constexpr std::uint64_t kFormulaNodes = 100'000;  // in the tree, functions written out
constexpr std::size_t kFormulaHeight = 1'000;     // of that tree: terms of one sum
constexpr Index kFormulaSteps = Index{1} << 32;   // cells times what each adds up

// The product of non-negative sizes; nothing if it is more than a tensor may hold.
[[nodiscard]] constexpr std::optional<Index> count_of(std::initializer_list<Index> sizes) {
    Index count = 1;
    for (const Index size : sizes)
        if (__builtin_mul_overflow(count, size, &count) || count > kNumbers) return std::nullopt;
    return count;
}

}  // namespace decoderscope::limits
