#pragma once

#include "engine/files/block_numbers.h"
#include "engine/load/checkpoint.h"
#include "engine/load/state_dict.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::load {

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
