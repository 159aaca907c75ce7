#pragma once

#include "app/core/heads/head_effect.h"
#include "app/core/heads/head_scores.h"
#include "app/core/jobs/later.h"
#include "app/core/session/session.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// A token of the bipartite view: a query on the left or a key on the right.
struct PatternToken {
    bool is_key = false;
    Index index = 0;
    bool operator==(const PatternToken&) const = default;
};

// The heads of one kind in one batch row: what they measure, and the range of weights that their pictures share.
struct MeasuredHeads {
    std::vector<HeadScore> scores;
    Range weights;
};

// The heads of the snapshot that is shown, measured once.
class HeadScoreCache {
public:
    // nullptr while they are being measured.
    const MeasuredHeads* get(const Snapshot& shown, AttentionKind kind, Index batch);

private:
    struct Wanted {
        std::shared_ptr<const Run> run;
        AttentionKind kind = AttentionKind::self;
        Index batch = 0;
        bool operator==(const Wanted&) const = default;
    };
    struct Measured {
        Wanted of;
        MeasuredHeads heads;
    };
    std::optional<Measured> measured_;
    Later<Measured> later_;
};

// A number for what each layer's pictures show: another one only where its pattern or its mask is another tensor, so
// that an edit repaints the layers that it reaches.
class PictureVersions {
public:
    std::uint64_t get(const Snapshot& shown, const Step& pattern);

private:
    struct Painted {
        Tensor pattern, mask;  // held, so that their storage is nobody else's
        std::uint64_t version = 0;
    };
    std::map<std::string, Painted> painted_;  // by the pattern's name
};

// How far the output lies apart in two runs, by position.
class OutputEffectCache {
public:
    const std::vector<PositionEffect>& get(const std::shared_ptr<const Run>& before,
                                           const std::shared_ptr<const Run>& after, const std::string& output,
                                           Index batch);

private:
    std::shared_ptr<const Run> before_, after_;
    Index batch_ = -1;
    std::vector<PositionEffect> effects_;
};

// What the Heads tab remembers from frame to frame.
struct HeadsTabState {
    AttentionKind kind = AttentionKind::self;  // which grid
    PatternMeasure measure = PatternMeasure::entropy;
    HeadOrder order = HeadOrder::by_layer;
    bool at_most = false;                // the filter shows heads up to the threshold, rather than from it
    Index painted = 0;                   // how many weights were made pictures in this frame
    float threshold = 0.0F;              // as a share of the highest possible value
    bool opened = false;                 // one head fills the stage: the cursor's
    std::string attention;               // the attention that was looked at last, for steps that are part of none
    std::optional<PatternToken> pinned;  // whose lines are kept
    bool scaling = false;                // a head's slider is being dragged
    bool by_norm = false;                // the strip shows L2 norms, rather than largest changes
    std::optional<Variation> preview;    // the run beside this one that was asked for: the open head off
    HeadScoreCache scores;
    PictureVersions pictures;
    OutputEffectCache effects;
};

}  // namespace decoderscope
