#include "engine/base/file.h"

#include "engine/base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <streambuf>
#include <utility>

namespace decoderscope {

namespace {

// Between a file's name and the number of the process that writes it.
constexpr const char* kTemporary = ".part-";

Sentence why(int error) { return Sentence::verbatim(std::strerror(error)); }

[[noreturn]] void fail_to_write(const std::string& path, const Sentence& reason) {
    throw Error("{path}: cannot be written: {reason}", {{"path", path}, {"reason", reason}});
}

// An open file or folder.
class Descriptor {
public:
    explicit Descriptor(const std::string& path, int flags, mode_t mode = 0)
        : number_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { static_cast<void>(close()); }
    [[nodiscard]] bool open() const { return number_ >= 0; }
    [[nodiscard]] int number() const { return number_; }
    // Some file systems report only on close that what was written could not be stored.
    [[nodiscard]] bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

// Writes to a descriptor, and remembers why it could not.
class DescriptorBuffer : public std::streambuf {
public:
    explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
        setp(room_.data(), room_.data() + room_.size());
    }
    [[nodiscard]] int error() const { return error_; }

protected:
    int_type overflow(int_type c) override {
        if (sync() != 0) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }
    int sync() override {
        const bool written = write_out(pbase(), pptr() - pbase());
        setp(room_.data(), room_.data() + room_.size());
        return written ? 0 : -1;
    }
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        if (count <= epptr() - pptr()) return std::streambuf::xsputn(from, count);
        return sync() == 0 && write_out(from, count) ? count : 0;  // large pieces aren't copied
    }

private:
    bool write_out(const char* from, std::streamsize count) {
        while (count > 0 && error_ == 0) {
            const ssize_t written = ::write(descriptor_, from, static_cast<std::size_t>(count));
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) error_ = errno;
            from += written;
            count -= written;
        }
        return error_ == 0;
    }

    int descriptor_;
    int error_ = 0;
    std::array<char, 65536> room_;
};

void write_to(Descriptor& file, const std::string& path, const std::function<void(std::ostream&)>& write) {
    DescriptorBuffer buffer(file.number());
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    if (!stream)
        fail_to_write(path, buffer.error() != 0 ? why(buffer.error()) : message("a part of it could not be written"));
}

// A temporary next to the target, with a unique name; removed unless it was renamed.
class Temporary {
public:
    explicit Temporary(const std::string& target) : path_(unused_name(target)), file_(path_, kFlags, kMode) {
        if (!file_.open()) fail_to_write(target, why(errno));
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (file_.open() || written_) ::unlink(path_.c_str());
    }
    [[nodiscard]] Descriptor& file() { return file_; }
    void become(const std::string& target) {
        written_ = file_.open();
        if (!file_.close() || ::rename(path_.c_str(), target.c_str()) != 0) fail_to_write(target, why(errno));
        written_ = false;
    }

private:
    static constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL;
    static constexpr mode_t kMode = 0666;  // reduced by the umask

    static std::string unused_name(const std::string& target) {
        static std::atomic<unsigned> count = 0;  // several threads may write the same file
        for (;;) {
            std::string name = target + kTemporary + std::to_string(::getpid()) + "-" + std::to_string(count++);
            struct stat there {};
            if (::lstat(name.c_str(), &there) != 0) return name;
        }
    }

    std::string path_;
    Descriptor file_;
    bool written_ = false;  // closed, and not yet renamed
};

// A write-protected file is not replaced either, although its folder would allow it.
void check_writable(const std::string& path) {
    if (::access(path.c_str(), W_OK) != 0 && errno != ENOENT) fail_to_write(path, why(errno));
}

// Gives the temporary the permissions of the existing file, before anything is written to it.
void keep_mode(const std::string& target, int temporary) {
    struct stat before {};
    if (::stat(target.c_str(), &before) != 0) return;
    // Keeps another owner's file theirs, if the system allows it. The mode is set last, because changing the owner
    // clears bits of it.
    const bool kept_owner = ::fchown(temporary, before.st_uid, before.st_gid) == 0;
    const mode_t kept = before.st_mode & (kept_owner ? mode_t{07777} : mode_t{0777});
    if (::fchmod(temporary, kept) != 0) fail_to_write(target, why(errno));
}

// Flushes the new name to disk. Not every file system can do this for a folder, and not every folder may be opened.
void flush_folder(const std::string& target) {
    const std::filesystem::path folder = std::filesystem::path(target).parent_path();
    const Descriptor opened(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
    if (opened.open() && ::fsync(opened.number()) != 0 && errno == EIO) fail_to_write(target, why(errno));
}

// A pipe or a device can't be replaced by a file; it is written to directly.
void write_device(const std::string& path, const std::function<void(std::ostream&)>& write) {
    Descriptor file(path, O_WRONLY);
    if (!file.open()) fail_to_write(path, why(errno));
    write_to(file, path, write);
    if (!file.close()) fail_to_write(path, why(errno));
}

// The target of a link, whether it exists yet or not: the link stays, and its target is replaced.
std::string behind_links(const std::string& name) {
    constexpr int kMostLinks = 40;  // Linux's own limit
    std::error_code failed;
    std::filesystem::path path = name;
    for (int links = 0; std::filesystem::is_symlink(path, failed); ++links) {
        if (links == kMostLinks) throw Error("{name}: a broken link, expected a file to write", {{"name", name}});
        path = path.parent_path() / std::filesystem::read_symlink(path, failed);
    }
    return path.string();
}

}  // namespace

std::string read_text(const std::string& path, std::size_t limit) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed))
        throw Error("{path}: is a folder, expected a file", {{"path", path}});
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error("{path}: cannot be read: {why}", {{"path", path}, {"why", why(errno)}});
    // Piece by piece, because the length of a pipe or a device is unknown.
    std::string text;
    std::array<char, 65536> piece;
    while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > limit)
            throw Error("{path}: too long, expected at most {limit} bytes", {{"path", path}, {"limit", limit}});
    }
    if (file.bad()) throw Error("{path}: cannot be read: {why}", {{"path", path}, {"why", why(errno)}});
    return text;
}

void write_whole(const std::string& name, const std::function<void(std::ostream&)>& write) {
    std::error_code failed;
    if (std::filesystem::is_directory(name, failed))
        throw Error("{name}: is a folder, expected a file to write", {{"name", name}});
    if (std::filesystem::exists(name, failed) && !std::filesystem::is_regular_file(name, failed))
        return write_device(name, write);
    const std::string path = behind_links(name);
    check_writable(path);
    Temporary temporary(path);
    keep_mode(path, temporary.file().number());
    write_to(temporary.file(), path, write);
    if (::fsync(temporary.file().number()) != 0) fail_to_write(path, why(errno));
    temporary.become(path);
    flush_folder(path);
}

std::string absolute_path(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
    return failed ? path : absolute.lexically_normal().string();
}

void remove_abandoned(const std::string& path) {
    const std::filesystem::path target = behind_links(path);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const std::string beginning = target.filename().string() + kTemporary;
    std::error_code failed;
    for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(beginning)) continue;
        const pid_t writer = static_cast<pid_t>(std::atol(name.c_str() + beginning.size()));
        std::error_code ignored;
        if (writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH) std::filesystem::remove(at->path(), ignored);
    }
}

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
