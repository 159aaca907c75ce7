#pragma once

#include "engine/load/names/mapping.h"
#include "engine/model/config.h"
#include "engine/trace/trace.h"

namespace decoderscope::load {

// What the parameters of a recorded decoder are, by what it did with them, whatever they are called: which table the
// tokens were looked up in, what the queries, keys and values of each attention were projected by, what stands between
// the attentions. `mapping` names every stored tensor; what nothing was done with isn't used. Empty if the calls are
// not those of a decoder without a memory, each of whose parameters has one place.
struct RecordedGraph {
    names::Mapping mapping;
    Overrides hints;                  // keys of the configuration that it shows
    std::string unread;               // a parameter that nothing known was done with, if there is one
    bool begins_with_stream = false;  // what makes it isn't read, so that a run is given what was recorded
};
[[nodiscard]] RecordedGraph graph_of_trace(const trace::Trace& trace);

// A mapping whose norms are numbered as the calls use them: names such as n1, nc and n2 don't tell which of a layer's
// norms stands before, or behind, which of its sublayers.
[[nodiscard]] names::Mapping with_norms_by_calls(const trace::Trace& trace, names::Mapping mapping);

}  // namespace decoderscope::load
