#include "app/core/run/snapshot.h"

namespace decoderscope::core {

const Run& Snapshot::run_of(const Step& step) const {
    if (!early || step.id >= early->plan().steps().size()) return *run;
    const Step& same = early->plan()[step.id];
    const bool there = computed_alike(early->plan(), same, run->plan(), step) && !early->value(step.id).empty();
    return there ? *early : *run;
}

const Companion* Snapshot::companion(const std::string& name) const {
    const auto found = companions.find(name);
    const bool there = found != companions.end() && found->second.run && found->second.beside == run;
    return there ? &found->second : nullptr;
}

}  // namespace decoderscope::core
