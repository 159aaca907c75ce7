#include "engine/model/names/with_mapping.h"

#include "engine/error.h"
#include "engine/model/names/modules.h"

#include <algorithm>

namespace decoderscope {

RecognisedNames with_mapping(RecognisedNames recognised, const Mapping& given, const Shapes& stored) {
    const auto is_open = [&](const std::string& name) {
        return std::ranges::find(recognised.open, name) != recognised.open.end();
    };
    const bool only_open = std::ranges::all_of(given, [&](const auto& entry) { return is_open(entry.first); });
    for (const auto& [theirs, ours] : given)
        if (!stored.contains(theirs))
            throw Error("{tensor}: in the mapping, but not in the file", {{"tensor", theirs}});
    for (const auto& [name, shape] : stored) {
        if (given.contains(name) || names::is_buffer(name, shape)) continue;
        if (only_open && !is_open(name)) continue;
        throw Error(
            "{tensor}: the mapping leaves it out; expected a name for every tensor, \"\" for one that isn't used, "
            "or names for those alone that aren't recognised",
            {{"tensor", name}});
    }
    RecognisedNames names;
    if (only_open) {
        names = std::move(recognised);
        names.open.clear();
    }
    for (const auto& [theirs, ours] : given) names.mapping[theirs] = ours;
    return names;
}

}  // namespace decoderscope
