#include "app/core/figure/zip.h"

#include "engine/base/error.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <ostream>

namespace decoderscope::core {

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
    if (status != ZIP_OK) throw Error("cannot write the zip: the archive reports error {status}", {{"status", status}});
}

}  // namespace

struct ZipWriter::Archive {
    Pending stream;
    zlib_filefunc64_def functions;
    zipFile zip = nullptr;
};

ZipWriter::ZipWriter(std::ostream& out)
    : archive_(std::make_unique<Archive>(Archive{.stream = {.out = out, .bytes = {}}, .functions = {}})) {
    archive_->functions = functions_on(archive_->stream);
    archive_->zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &archive_->functions);
    if (archive_->zip == nullptr) throw Error("cannot write the zip: the archive cannot be created");
}

ZipWriter::~ZipWriter() {
    if (archive_->zip != nullptr) zipClose(archive_->zip, nullptr);
}

void ZipWriter::begin(const std::string& name, bool large) {
    zip_fileinfo info{};
    info.dosDate = 0x00210000;  // 1 January 1980, the first that a zip can name
    constexpr int stored = 0, store_level = 0;
    check(zipOpenNewFileInZip64(archive_->zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, stored,
                                store_level, large ? 1 : 0));
}

void ZipWriter::write(const std::string& bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += most)
        check(zipWriteInFileInZip(archive_->zip, bytes.data() + at,
                                  static_cast<unsigned>(std::min(most, bytes.size() - at))));
}

void ZipWriter::end() {
    check(zipCloseFileInZip(archive_->zip));
    archive_->stream.flush();
}

void ZipWriter::close() {
    const int status = zipClose(archive_->zip, nullptr);
    archive_->zip = nullptr;
    check(status);
    archive_->stream.flush();
}

}  // namespace decoderscope::core
