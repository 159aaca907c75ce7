#include "app/core/work/link_address.h"

#include "app/core/export/svg.h"

namespace decoderscope {

std::string address_of(std::string_view typed) {
    constexpr std::string_view kBlanks = " \t\r\n";
    typed = typed.substr(0, typed.find('#'));
    const std::size_t begin = typed.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return std::string(typed.substr(begin, typed.find_last_not_of(kBlanks) + 1 - begin));
}

std::string link_at(const std::string& address, const std::string& fragment) { return address + fragment; }

std::string embedding_of(const std::string& address, const std::string& fragment, const std::string& title) {
    const char* query = address.find('?') == std::string::npos ? "?embed" : "&embed";
    return "<iframe src=\"" + xml_escaped(address + query + fragment) +
           "\" width=\"800\" height=\"500\" loading=\"lazy\" title=\"" + xml_escaped(title) + "\"></iframe>";
}

}  // namespace decoderscope
