#include "app/file_picker.h"

namespace decoderscope {

void pick_files() {}  // the dialog for opening lists the files itself

}  // namespace decoderscope
