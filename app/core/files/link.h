#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace decoderscope::core::files {

// Where links lead: what comes before their '#'.
struct LinkBase {
    std::string address;         // "https://example.org/decoderscope/"; empty: not known
    bool from_settings = false;  // the person gives it; otherwise it is the page's own
};

// The address as it was typed: without blanks around it and without a fragment.
[[nodiscard]] std::string address_of(std::string_view typed);

// The link to a session: the address, if there is one, and its fragment.
[[nodiscard]] std::string link_at(const std::string& address, const std::string& fragment);

// HTML that shows the session's stage within another page, under this title.
[[nodiscard]] std::string embedding_of(const std::string& address, const std::string& fragment,
                                       const std::string& title);

// A session as a link: the JSON of its file, packed (engine/base/packed_text.h), as base64url in a URL's fragment:
// "https://…/#s1=eNq…". No browser sends the fragment anywhere. A link opens the same thing on any machine, so it names
// bundled models and never a file.

// The longest fragment that is made or read. RFC 9110, section 4.1, recommends that everything that passes URIs on
// takes at least 8000 octets of them.
inline constexpr std::size_t kMostLinkCharacters = 8000;

// The longest session that is put into a link or read from one. Zlib packs at most about 1000 to 1, so it could unpack
// a whole fragment of repetitions to 6 MB; no session needs that.
inline constexpr std::size_t kMostLinkBytes = std::size_t{4} << 20;

// Whether a text is meant as a link: a URL with such a fragment, or the fragment alone, with its '#' or without. Also
// true for one that is damaged or of a newer version.
[[nodiscard]] bool is_link(std::string_view text);

// The fragment that opens this session, "#s1=…". Which file it was saved to and what is unsaved stay behind. Throws
// Error if the session uses a file, or if the fragment would be too long; both errors say what else can be done.
[[nodiscard]] std::string link_of(SessionFile file);

// The session of a link, which may come from anywhere: nothing in it names a file. Throws Error saying what is wrong
// with the link.
[[nodiscard]] SessionFile session_of_link(std::string_view text);

// As above, with its model read, as open_session() does.
[[nodiscard]] SavedSession open_link(std::string_view text);
// What errors call a link.
[[nodiscard]] Sentence link_name();

}  // namespace decoderscope::core::files
