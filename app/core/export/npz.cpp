#include "app/core/export/npz.h"

#include "app/core/export/npy.h"
#include "engine/error.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>

namespace decoderscope {
namespace {

// ---- a stream as minizip sees a file

// The bytes of one array's entry, held in memory until it is complete: minizip seeks back to its beginning to write its
// length, and the output stream need not be seekable.
struct Pending {
    std::ostream& out;
    std::uint64_t written = 0;  // bytes already in the stream
    std::string bytes;          // the bytes after them
    std::size_t at = 0;         // where in these bytes to write next

    void put(const char* from, std::size_t count) {
        bytes.replace(at, count, from, count);
        at += count;
    }
    bool seek(std::uint64_t offset) {
        if (offset < written || offset > written + bytes.size()) return false;
        at = static_cast<std::size_t>(offset - written);
        return true;
    }
    void flush() {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        written += bytes.size();
        bytes.clear();
        at = 0;
    }
};

Pending& pending(void* stream) { return *static_cast<Pending*>(stream); }

// minizip is C: no exception may escape into it.

voidpf open_stream(voidpf opaque, const void*, int) { return opaque; }

uLong read_nothing(voidpf, voidpf, void*, uLong) { return 0; }

uLong write_to_stream(voidpf, voidpf stream, const void* bytes, uLong count) noexcept {
    try {
        pending(stream).put(static_cast<const char*>(bytes), count);
        return count;
    } catch (...) {
        return 0;
    }
}

ZPOS64_T tell_in_stream(voidpf, voidpf stream) noexcept { return pending(stream).written + pending(stream).at; }

long seek_in_stream(voidpf, voidpf stream, ZPOS64_T offset, int origin) noexcept {
    const Pending& now = pending(stream);
    const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                               : origin == ZLIB_FILEFUNC_SEEK_CUR ? now.written + now.at
                                                                  : now.written + now.bytes.size();
    return pending(stream).seek(from + offset) ? 0 : -1;
}

int close_stream(voidpf, voidpf) { return 0; }

int error_of_stream(voidpf, voidpf) { return 0; }

zlib_filefunc64_def functions_on(Pending& stream) {
    return {open_stream,    read_nothing, write_to_stream, tell_in_stream,
            seek_in_stream, close_stream, error_of_stream, &stream};
}

// ---- the archive

void check(int status) {
    if (status != ZIP_OK) throw Error("cannot write the NPZ: error {status} of the archive", {{"status", status}});
}

// Always closes the archive; errors from closing are checked at a regular end.
class Archive {
public:
    explicit Archive(std::ostream& out) : stream_{out}, functions_(functions_on(stream_)) {
        zip_ = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions_);
        if (zip_ == nullptr) throw Error("cannot write the NPZ: the archive cannot be begun");
    }
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;
    ~Archive() {
        if (zip_ != nullptr) zipClose(zip_, nullptr);
    }

    void begin(const std::string& name, bool large) {
        zip_fileinfo info{};
        info.dosDate = 0x00210000;  // 1 January 1980, the first that a zip can name
        constexpr int stored = 0, store_level = 0;
        check(zipOpenNewFileInZip64(zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, stored, store_level,
                                    large ? 1 : 0));
    }
    void write(const std::string& bytes) {
        constexpr std::size_t most = std::size_t{1} << 30;
        for (std::size_t at = 0; at < bytes.size(); at += most)
            check(
                zipWriteInFileInZip(zip_, bytes.data() + at, static_cast<unsigned>(std::min(most, bytes.size() - at))));
    }
    void end() {
        check(zipCloseFileInZip(zip_));
        stream_.flush();
    }
    void close() {
        const int status = zipClose(zip_, nullptr);
        zip_ = nullptr;
        check(status);
        stream_.flush();
    }

private:
    Pending stream_;
    zlib_filefunc64_def functions_;
    zipFile zip_ = nullptr;
};

}  // namespace

void write_npz(std::ostream& out, const std::vector<NamedArray>& arrays) {
    Archive archive(out);
    for (const NamedArray& array : arrays) {
        // Beyond 4 GB a zip needs wider numbers, and must know so beforehand.
        archive.begin(array.name + ".npy", array.size() > (Index{1} << 29));
        archive.write(npy_header(array.shape));
        array.for_each_piece([&](std::span<const float> values) { archive.write(npy_values(values)); });
        archive.end();
    }
    archive.close();
}

}  // namespace decoderscope
