#pragma once

#include <iosfwd>
#include <memory>
#include <string>

namespace decoderscope::core {

// Writes a zip, entry by entry: uncompressed and without dates, so that the same entries give the same bytes. One entry
// at a time is in memory. All throw Error if it cannot be written.
class ZipWriter {
public:
    explicit ZipWriter(std::ostream& out);
    ZipWriter(const ZipWriter&) = delete;
    ZipWriter& operator=(const ZipWriter&) = delete;
    // An archive that wasn't closed is no zip.
    ~ZipWriter();

    // `large`: the entry may exceed 4 GB, which a zip must know beforehand.
    void begin(const std::string& name, bool large = false);
    void write(const std::string& bytes);
    void end();
    void close();

private:
    struct Archive;
    std::unique_ptr<Archive> archive_;
};

}  // namespace decoderscope::core
