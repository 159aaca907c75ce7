#pragma once

#include "engine/base/bounds.h"
#include "engine/base/index.h"
#include "engine/base/limits.h"

#include <cstddef>
#include <cstdint>

// From where to where each number that a person sets may be. The controls of the window end where these do, and what
// reads a session, a link, a talk, settings or the command line takes nothing beyond: nobody can be sent more work than
// they could ask for themselves. What belongs to the configuration has its bounds in its own table
// (engine/model/config.cpp). docs/limits.md lists them.
namespace decoderscope::core::bounds {

// ---- how the next token is chosen

inline constexpr Bounds<double> kTemperature{0.0, 100.0};  // as far as one is looked for; the slider goes to 2
inline constexpr Bounds<Index> kTopK{0, limits::kSize};
inline constexpr Bounds<double> kTopP{0.0, 1.0, true};
inline constexpr Bounds<double> kLengthPenalty{0.0, 100.0};
inline constexpr Bounds<Index> kGenerated{0, 1'000'000}, kGeneratedAtOnce{1, 1'000'000};  // tokens

inline constexpr Bounds<Index> kMaxLength{1, limits::kSize};  // of a conversation
inline constexpr Bounds<Index> kPassSize{1, limits::kPositions};

// ---- Norms

inline constexpr Bounds<Index> kStackedLayers{1, 36};
inline constexpr Bounds<float> kNormFactor{0.0F, 2.0F};
inline constexpr Bounds<Index> kGrowthLayers{1, 18}, kGrowthWidth{16, 256}, kGrowthSeeds{1, 10};

// ---- Compare

inline constexpr Bounds<double> kTolerance{0.0};
inline constexpr Bounds<double> kBisectTolerance{.above = true};

// ---- Train, and the command of that name, which has no controls and goes further

inline constexpr Bounds<Index> kTrainedLayers{1, 12}, kTrainedWidth{4, 64}, kTrainedRows{1, 64}, kTrainedSteps{1, 3000};
inline constexpr Bounds<std::uint64_t> kTrainingSeed{0, 999};
inline constexpr Bounds<std::size_t> kRuns{1, 4}, kTrainingText{0, 8191};  // side by side; bytes
inline constexpr Bounds<double> kLearningRate{0.0, 0.1}, kClip{0.0, 5.0};
inline constexpr Bounds<Index> kWarmup{0, 500};

inline constexpr Bounds<Index> kSteps{1, 100'000'000};
inline constexpr Bounds<double> kAnyLearningRate{0.0, 1e6}, kEps{0.0, 1e6}, kBeta{0.0, 1.0, false, true},
    kMomentum{0.0, 1e6}, kWeightDecay{0.0, 1e6}, kAnyClip{.above = true};

// ---- the command line

inline constexpr Bounds<Index> kFrom0{0, limits::kSize}, kFrom1{1, limits::kSize};  // places and counts
inline constexpr Bounds<Index> kBatchRows{1, limits::kBatch};
inline constexpr Bounds<int> kRepeats{1, 1'000'000}, kDepth{1, 32}, kTries{1, 1000};
inline constexpr Bounds<std::uint64_t> kMemory{0, 1'000'000'000'000};
inline constexpr Bounds<double> kScale{1.0, 4.0}, kDpi{36.0, 2400.0};

// ---- the window

inline constexpr Bounds<float> kTextScale{0.6F, 3.0F}, kPanelWidth{100.0F, 2000.0F};

// ---- a link, which others send: the bytes of its run's tensors

inline constexpr std::size_t kLinkedRun = 256'000'000;

}  // namespace decoderscope::core::bounds
