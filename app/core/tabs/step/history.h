#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/heatmap.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/snapshot.h"
#include "app/core/tabs/step/stream_writes.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

// The history of a coordinate of the residual stream: what each writer, from the embedding on, added to one column of
// one position.
namespace decoderscope::core::step {

// What a head's query gathered at a key: how much it weighed, and which masks hide the key.
struct GatheredKey {
    float weight = 0.0F;
    std::uint8_t hidden = hidden_by::nothing;
};

struct HistoryRow {
    Writer writer;
    std::string step;  // where a click leads: what was written
    Cell cell;
    double write = 0.0;                  // what it added; of a norm on the stream, what it changed
    double total = 0.0;                  // the sum of all so far: what the stream holds then
    std::vector<GatheredKey> keys = {};  // of a head
};

struct History {
    std::vector<HistoryRow> rows;  // in the order of computation
    float value = 0.0F;            // the cell as the run has it
};

// Whether a step is the residual stream, so that its cells have a history: a sum of the stream and updates, another
// name for it, or a norm of it; of decoder and encoder.
[[nodiscard]] bool is_stream(const Plan& plan, const Step& step);

// Of a cell [batch, pos, d_model] of the stream. The rows are those of direct logit attribution
// (app/core/tabs/step/stream_writes.h), in the stream's own units: a norm that stands on the stream is a row by itself
// and scales nothing of what was written before it.
[[nodiscard]] Resumable<History> history_of(std::shared_ptr<const Run> run, StepId step, Cell cell);

// Of the shown run; empty while it is being computed.
[[nodiscard]] Value<History> shown_history(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell);

// "The mask hides 2 of 6 keys: 4, 5"; empty if none is.
[[nodiscard]] Sentence hidden_sentence(const HistoryRow& row);

// In aligned columns for a terminal: writer, write, total, hidden keys.
void write_history(std::ostream& out, const Step& step, const Cell& cell, const History& history);

}  // namespace decoderscope::core::step
