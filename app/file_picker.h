#pragma once

namespace decoderscope {

// Shows the system's own dialog for choosing files, where it has one (Surroundings::picks_files). What is chosen
// arrives like files that are dropped on the window.
void pick_files();

}  // namespace decoderscope
