#include "app/core/work/link_address.h"

#include "app/core/export/svg.h"
#include "app/core/text/trimmed.h"

namespace decoderscope {

std::string address_of(std::string_view typed) { return std::string(trimmed(typed.substr(0, typed.find('#')))); }

std::string link_at(const std::string& address, const std::string& fragment) { return address + fragment; }

std::string embedding_of(const std::string& address, const std::string& fragment, const std::string& title) {
    const char* query = address.find('?') == std::string::npos ? "?embed" : "&embed";
    return "<iframe src=\"" + xml_escaped(address + query + fragment) +
           "\" width=\"800\" height=\"500\" loading=\"lazy\" title=\"" + xml_escaped(title) + "\"></iframe>";
}

}  // namespace decoderscope
