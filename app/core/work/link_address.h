#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// Where links lead: what stands before their '#'.
struct LinkBase {
    std::string address;         // "https://example.org/decoderscope/"; empty: not known
    bool from_settings = false;  // the person gives it; else it is the page's own
};

// The address as it was typed: without blanks around it and without a fragment.
[[nodiscard]] std::string address_of(std::string_view typed);

// The link to a session: the address, if there is one, and its fragment.
[[nodiscard]] std::string link_at(const std::string& address, const std::string& fragment);

// HTML that shows the session's stage within another page, under this title.
[[nodiscard]] std::string embedding_of(const std::string& address, const std::string& fragment,
                                       const std::string& title);

}  // namespace decoderscope
