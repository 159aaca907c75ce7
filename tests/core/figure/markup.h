#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

// What tests check in XML and HTML.
namespace decoderscope::testing {

inline int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

// The first fault in a document's tags, attributes, entities or characters; empty if none.
inline std::string xml_fault(const std::string& text) {
    std::vector<std::string> open;
    const std::set<std::string> entities = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte < 0x20 && byte != '\n') return "a control character";
        if (text[at] == '&') {
            const std::size_t end = text.find(';', at);
            if (end == std::string::npos || entities.count(text.substr(at, end - at + 1)) == 0) return "a bare &";
        }
        if (text[at] != '<') {
            ++at;
            continue;
        }
        const std::size_t end = text.find('>', at);
        if (end == std::string::npos) return "a tag without end";
        const std::string tag = text.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string::npos) return "a < inside a tag";
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open quote";
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return "a </" + tag.substr(1) + "> out of place";
            open.pop_back();
        } else if (tag[0] != '?' && tag[0] != '!' && tag.back() != '/' && !tag.starts_with("meta ")) {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
        at = end + 1;
    }
    return open.empty() ? "" : "an open <" + open.back() + ">";
}

}  // namespace decoderscope::testing
