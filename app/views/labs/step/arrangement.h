#pragma once

#include "app/core/session/session.h"
#include "app/views/frame/cards.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::views::step {

// From some of the operands to the result.
struct Arrow {
    enum class Way { right, left, down, up };
    Area area;
    Way way = Way::right;
};

// How a step's pictures are laid out: operands, arrows, the result.
struct Arrangement {
    std::vector<Card> operands;
    Area result;
    std::vector<Arrow> arrows;  // the first says the operation
    float bottom = 0.0F;        // of all; below the area's if its height leaves too little for cells that can be hit
};

// A picture of this step, and where it is.
using KeptPlace = std::pair<std::string, Area>;

// The operands beside the result or above it, however the cells of all of them become the most readable: square, large
// enough for their numbers, above all those of the result. The pictures share all of the area that is of use to them.
// A picture that is kept stays where it is, and the others share what is beside it. Only where the result would lose
// its numbers, the kept one gets smaller or larger at its edge of the stage; where that doesn't help, it is not kept.
[[nodiscard]] Arrangement arrange(const Ui& ui, const core::Session& session, const Step& result, Area area,
                                  const std::optional<KeptPlace>& kept);

// Remembers where pictures were drawn, from step to step: all places from the upper left corner of their area.
class PicturePlaces {
public:
    // The picture that this step has in common with the one that was drawn before. First the result of that, then what
    // was an operand and is the result now, then an operand of both.
    [[nodiscard]] std::optional<KeptPlace> kept(const Ui& ui, const Plan& plan, const Step& result, Area area) const;
    void remember(const Ui& ui, const core::Session& session, const Step& result, const Arrangement& drawn, Area area);

private:
    std::string step_;    // whose pictures these are
    float width_ = 0.0F;  // of their area, at text size 1: in another all are arranged anew
    std::map<std::string, Area> drawn_;
    std::optional<KeptPlace> kept_;  // from the step before
};

}  // namespace decoderscope::views::step
