#include "app/folder.h"

namespace decoderscope {

Sentence open_folder(const std::string& folder) {
    return message("{folder}: a browser shows no folders; what is written is downloaded", {{"folder", folder}});
}

}  // namespace decoderscope
