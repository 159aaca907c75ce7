#include "engine/file.h"

#include "engine/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace decoderscope {

namespace {

std::string why() { return std::strerror(errno); }

// A temporary beside the target; gone again unless it was renamed.
class Temporary {
public:
    explicit Temporary(const std::string& target) : path_(target + ".part-" + std::to_string(::getpid())) {}
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    void rename_to(const std::string& target) {
        if (::rename(path_.c_str(), target.c_str()) != 0) throw Error(target + ": cannot be written: " + why());
        path_.clear();
    }

private:
    std::string path_;
};

void flush_to_disk(const std::string& path, const std::string& target) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool flushed = file >= 0 && ::fsync(file) == 0;
    const std::string reason = why();
    if (file >= 0) ::close(file);
    if (!flushed) throw Error(target + ": cannot be written: " + reason);
}

// A pipe or a device can't be replaced by a file; what is written to it is out at once.
void write_device(const std::string& path, const std::function<void(std::ostream&)>& write) {
    std::ofstream file(path, std::ios::binary);
    if (file) write(file);
    file.close();
    if (!file) throw Error(path + ": cannot be written: " + why());
}

// The file that a link stands for, whether it is there yet or not: the link stays, and the file is replaced.
std::string behind_links(const std::string& name) {
    constexpr int kMostLinks = 40;  // as many as Linux follows
    std::error_code failed;
    std::filesystem::path path = name;
    for (int links = 0; std::filesystem::is_symlink(path, failed); ++links) {
        if (links == kMostLinks) throw Error(name + ": a link that leads nowhere, expected a file to write");
        path = path.parent_path() / std::filesystem::read_symlink(path, failed);
    }
    return path.string();
}

}  // namespace

std::string read_text(const std::string& path, std::size_t limit) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed)) throw Error(path + ": is a folder, expected a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(path + ": cannot be read: " + why());
    // Piece by piece, since a pipe or a device doesn't say how long it is.
    std::string text;
    std::array<char, 65536> piece;
    while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > limit) throw Error(path + ": too long, expected at most " + std::to_string(limit) + " bytes");
    }
    if (file.bad()) throw Error(path + ": cannot be read: " + why());
    return text;
}

void write_whole(const std::string& name, const std::function<void(std::ostream&)>& write) {
    std::error_code failed;
    if (std::filesystem::is_directory(name, failed)) throw Error(name + ": is a folder, expected a file to write");
    if (std::filesystem::exists(name, failed) && !std::filesystem::is_regular_file(name, failed))
        return write_device(name, write);
    const std::string path = behind_links(name);
    Temporary temporary(path);
    std::ofstream file(temporary.path(), std::ios::binary | std::ios::trunc);
    if (!file) throw Error(path + ": cannot be written: " + why());
    write(file);
    file.close();
    if (!file) throw Error(path + ": cannot be written: " + why());
    flush_to_disk(temporary.path(), path);
    temporary.rename_to(path);
}

}  // namespace decoderscope
