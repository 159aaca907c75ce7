#include "engine/base/file.h"

#include "engine/base/error.h"
#include "engine/platform/files.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <streambuf>
#include <system_error>

namespace decoderscope {

namespace {

Sentence why(const std::error_code& failed) { return Sentence::verbatim(failed.message()); }

[[noreturn]] void fail_to_write(const std::string& path, const Sentence& reason) {
    throw Error("{path}: cannot be written: {reason}", {{"path", path}, {"reason", reason}});
}

void check_written(const std::string& path, const std::error_code& failed) {
    if (failed) fail_to_write(path, why(failed));
}

// Writes to a file, and remembers why it could not.
class FileBuffer : public std::streambuf {
public:
    explicit FileBuffer(platform::WrittenFile& file) : file_(file) { setp(room_.data(), room_.data() + room_.size()); }
    [[nodiscard]] const std::error_code& failed() const { return failed_; }

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
        if (!failed_) failed_ = file_.write(from, static_cast<std::size_t>(count));
        return !failed_;
    }

    platform::WrittenFile& file_;
    std::error_code failed_;
    std::array<char, 65536> room_;
};

void write_to(platform::WrittenFile& file, const std::string& path, const std::function<void(std::ostream&)>& write) {
    FileBuffer buffer(file);
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    if (!stream)
        fail_to_write(path, buffer.failed() ? why(buffer.failed()) : message("a part of it could not be written"));
}

// A temporary next to the target, with a unique name; removed unless it was renamed.
class Temporary {
public:
    explicit Temporary(const std::string& target)
        : path_(temporary_beside(target)), file_(path_, platform::WrittenFile::Kind::created) {
        check_written(target, file_.failed());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        const bool there = file_.is_open() || written_;
        static_cast<void>(file_.close());
        std::error_code ignored;
        if (there) std::filesystem::remove(path_, ignored);
    }
    [[nodiscard]] platform::WrittenFile& file() { return file_; }
    void become(const std::string& target) {
        written_ = file_.is_open();
        check_written(target, file_.close());
        check_written(target, platform::replace_file(path_, target));
        written_ = false;
    }

private:
    std::string path_;
    platform::WrittenFile file_;
    bool written_ = false;  // closed, and not yet renamed
};

// A pipe or a device can't be replaced by a file; it is written to directly.
void write_device(const std::string& path, const std::function<void(std::ostream&)>& write) {
    platform::WrittenFile file(path, platform::WrittenFile::Kind::device);
    check_written(path, file.failed());
    write_to(file, path, write);
    check_written(path, file.close());
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
    const auto fail_as_too_long = [&] {
        throw Error("{path}: too long, expected at most {limit} bytes", {{"path", path}, {"limit", limit}});
    };
    const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
    if (!failed && bytes > limit) fail_as_too_long();
    const auto fail = [&] {
        const std::error_code reason(errno, std::generic_category());
        throw Error("{path}: cannot be read: {why}", {{"path", path}, {"why", why(reason)}});
    };
    std::ifstream file(std::filesystem::path(path), std::ios::binary);
    if (!file) fail();
    // Piece by piece, because the length of a pipe or a device is unknown.
    std::string text;
    std::array<char, 65536> piece;
    while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > limit) fail_as_too_long();
    }
    if (file.bad()) fail();
    if (const std::size_t nul = text.find('\0'); nul != std::string::npos)  // libraries end there, in silence
        throw Error("{path}: byte {at} is 0, expected a text", {{"path", path}, {"at", nul}});
    return text;
}

void write_whole(const std::string& name, const std::function<void(std::ostream&)>& write) {
    std::error_code failed;
    if (std::filesystem::is_directory(name, failed))
        throw Error("{name}: is a folder, expected a file to write", {{"name", name}});
    if (std::filesystem::exists(name, failed) && !std::filesystem::is_regular_file(name, failed))
        return write_device(name, write);
    const std::string path = behind_links(name);
    check_written(path, platform::write_protection(path));  // it is not replaced, although its folder would allow it
    Temporary temporary(path);
    check_written(path, temporary.file().keep_permissions(path));  // before anything is written to it
    write_to(temporary.file(), path, write);
    check_written(path, temporary.file().flush_to_disk());
    temporary.become(path);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    check_written(path, platform::flush_folder(folder.empty() ? "." : folder.string()));
}

std::string absolute_path(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
    return failed ? path : absolute.lexically_normal().string();
}

std::string name_beside(const std::string& path, std::string_view ending) {
    constexpr std::size_t kMost = 255 - 30;  // a process and a count follow the ending
    std::size_t end = std::min(path.size(), platform::name_in_path(path) + kMost - ending.size());
    while (end < path.size() && (static_cast<unsigned char>(path[end]) & 0xC0U) == 0x80U) --end;
    return path.substr(0, end) + std::string(ending);
}

std::string temporary_beside(const std::string& path) {
    const std::string stem = name_beside(path, ".part-");
    const std::filesystem::path target = stem;
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const std::string beginning = target.filename().string();
    std::error_code failed;
    for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(beginning)) continue;
        const long writer = std::atol(name.c_str() + beginning.size());
        std::error_code ignored;
        if (writer > 0 && platform::has_ended(writer)) std::filesystem::remove_all(at->path(), ignored);
    }
    static std::atomic<unsigned> count = 0;  // several threads may write the same file
    for (;;) {
        std::string name = stem + std::to_string(platform::process_number()) + "-" + std::to_string(count++);
        if (!std::filesystem::exists(std::filesystem::symlink_status(name, failed))) return name;
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
