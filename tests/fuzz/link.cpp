// A link to a session: as it came, and with any bytes in it as the session's JSON, which chance would never pack with
// the right checksum. Copying what was opened gives a link to the same, or says that it would be too long.
#include "app/core/files/link.h"
#include "engine/base/base64.h"
#include "engine/base/packed_text.h"
#include "tests/fuzz/fuzz.h"

#include <string>

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::load::names;

namespace {

void read_link(const std::string& link) {
    fuzz::read([&] {
        const SessionFile file = session_of_link(link);
        const std::string again = link_of(file);
        fuzz::require(is_link(again) && again.size() <= kMostLinkCharacters, "a link is one, and not too long");
        fuzz::require(session_text(session_of_link(again), {}) == session_text(file, {}),
                      "a link opens what was copied");
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(fuzz::text_of(data, size));
    read_link(text);
    read_link("#s1=" + base64(text, Base64::url));
    read_link("#s1=" + base64(packed_text(text), Base64::url));
    return 0;
}
