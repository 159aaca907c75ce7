#include "app/core/report/page.h"

#include "app/core/export/exhibit_figure.h"
#include "app/core/export/svg.h"

#include <ostream>
#include <string_view>

namespace decoderscope {

namespace {

// Light or dark as the reader's browser prefers; always light on paper.
constexpr std::string_view style = R"css(
:root { --page: #ffffff; --text: #1b1f24; --quiet: #565d66; --line: #8e959d; --soft: #f3f4f6; --edge: #d5d9de; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #16181c; --text: #e8eaed; --quiet: #a4abb3; --line: #5a6068; --soft: #202329; --edge: #363b42; }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 Inter, Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-bottom: .3rem; border-bottom: 1px solid var(--edge); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; font-family: 'JetBrains Mono', 'DejaVu Sans Mono', monospace; }
p { max-width: 46rem; margin: .4rem 0; overflow-wrap: anywhere; }
.below, figcaption { color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .6rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
li { font-family: 'JetBrains Mono', 'DejaVu Sans Mono', monospace; font-size: .85rem; overflow-wrap: anywhere; }
.tokens { display: flex; flex-wrap: wrap; gap: .25rem; align-items: baseline; margin: .4rem 0; }
.tokens b { font-weight: normal; color: var(--quiet); margin-right: .5rem; }
.tokens span { background: var(--soft); border: 1px solid var(--edge); border-radius: .25rem; padding: 0 .35rem;
  font-family: 'JetBrains Mono', 'DejaVu Sans Mono', monospace; font-size: .85rem; white-space: pre; }
figure { margin: .8rem 0 1.4rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; max-width: 60rem; overflow-wrap: anywhere; }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  figure, dl, .tokens { break-inside: avoid; }
  h2, h3, h2 + p { break-after: avoid; }
}
)css";

}  // namespace

Page::Page(std::ostream& out, const std::string& title, const std::string& below) : out_(out) {
    out_ << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" << xml_escaped(title)
         << "</title>\n<style>" << style << "</style>\n</head>\n<body>\n<header>\n<h1>" << xml_escaped(title)
         << "</h1>\n<p class=\"below\">" << xml_escaped(below) << "</p>\n</header>\n<main>\n";
}

Page::~Page() {
    if (in_section_) out_ << "</section>\n";
    out_ << "</main>\n</body>\n</html>\n";
}

void Page::section(const std::string& heading) {
    if (in_section_) out_ << "</section>\n";
    in_section_ = true;
    out_ << "<section>\n<h2>" << xml_escaped(heading) << "</h2>\n";
}

void Page::subsection(const std::string& heading) { out_ << "<h3>" << xml_escaped(heading) << "</h3>\n"; }

void Page::paragraph(const std::string& text) { out_ << "<p>" << xml_escaped(text) << "</p>\n"; }

void Page::list(const std::vector<std::string>& items) {
    out_ << "<ol>\n";
    for (const std::string& item : items) out_ << "<li>" << xml_escaped(item) << "</li>\n";
    out_ << "</ol>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    out_ << "<dl>\n";
    for (const auto& [name, value] : facts)
        out_ << "<dt>" << xml_escaped(name) << "</dt><dd>" << xml_escaped(value) << "</dd>\n";
    out_ << "</dl>\n";
}

void Page::tokens(const std::string& name, const std::vector<std::string>& tokens) {
    out_ << "<div class=\"tokens\"><b>" << xml_escaped(name) << "</b>";
    for (const std::string& token : tokens) out_ << "<span>" << xml_escaped(token) << "</span>";
    out_ << "</div>\n";
}

// The caption is HTML text, not part of the drawing, so that it can be searched and wraps to the reader's width.
void Page::figure(const Exhibit& exhibit) {
    Exhibit drawn = exhibit;
    drawn.caption.clear();
    out_ << "<figure>\n";
    write_svg_element(out_, exhibit_figure(drawn, {}), SvgColors::of_page);
    if (!exhibit.caption.empty()) out_ << "<figcaption>" << xml_escaped(exhibit.caption) << "</figcaption>\n";
    out_ << "</figure>\n";
}

}  // namespace decoderscope
