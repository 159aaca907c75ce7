#pragma once

#include <string>

// The class of docs/lessons.md: thirty hand-ins for the lesson `text` as "Hand in" writes them.
namespace decoderscope::testing {

// Twenty-four learners, one whose file was edited by hand, three damaged files, and two of another lesson. The same
// files each time but for their moments.
void write_class_of_thirty(const std::string& folder);

}  // namespace decoderscope::testing
