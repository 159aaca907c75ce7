#include "engine/model/folder_file.h"

#include "engine/error.h"
#include "engine/file.h"

namespace decoderscope {

bool is_there(const std::filesystem::path& file) {
    std::error_code failed;
    return std::filesystem::status(file, failed).type() != std::filesystem::file_type::not_found;
}

std::string text_of_file(const std::filesystem::path& file) {
    std::error_code failed;
    const std::filesystem::file_status status = std::filesystem::status(file, failed);
    if (!failed && std::filesystem::is_other(status))
        throw Error("{file}: expected a file, found something that is not a file", {{"file", file.string()}});
    return read_text(file.string());
}

}  // namespace decoderscope
