#pragma once

#include "app/core/export/exhibit.h"

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A page of HTML being written. The only place that defines how its parts look.
class Page {
public:
    // The head of the page, up to its title.
    Page(std::ostream& out, const std::string& title, const std::string& below);
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    // The end of the page.
    ~Page();

    void section(const std::string& heading);
    void subsection(const std::string& heading);
    void paragraph(const std::string& text);
    void list(const std::vector<std::string>& items);
    // Names and what they are, in two columns.
    void facts(const std::vector<std::pair<std::string, std::string>>& facts);
    // A sequence of tokens, each in its own box.
    void tokens(const std::string& name, const std::vector<std::string>& tokens);
    // A drawing with its caption.
    void figure(const Exhibit& exhibit);

private:
    std::ostream& out_;
    bool in_section_ = false;
};

}  // namespace decoderscope
