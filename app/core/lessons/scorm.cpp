#include "app/core/lessons/scorm.h"

#include "app/core/figure/picture_files.h"
#include "app/core/figure/zip.h"
#include "app/core/lessons/handin.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::core::lessons {

namespace {

// The build makes it of assets/pages/ (app/CMakeLists.txt).
constexpr std::string_view kReporting =
#include "scorm.js.inc"
    ;

constexpr const char* kPage = "index.html";

// IMS Content Packaging 1.1.2 with SCORM 1.2's extensions: one organisation of one item.
std::string manifest_of(const Lesson& lesson) {
    const std::string name = "decoderscope-" + in_file_name(lesson.name), title = xml_escaped(plain_text(lesson.title));
    std::ostringstream xml;
    xml << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest identifier=\"" << xml_escaped(name)
        << "\" version=\"1.0\" xmlns=\"http://www.imsproject.org/xsd/imscp_rootv1p1p2\""
        << " xmlns:adlcp=\"http://www.adlnet.org/xsd/adlcp_rootv1p2\">\n"
        << " <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>\n"
        << " <organizations default=\"course\">\n  <organization identifier=\"course\">\n   <title>" << title
        << "</title>\n   <item identifier=\"lesson\" identifierref=\"page\"><title>" << title
        << "</title></item>\n  </organization>\n </organizations>\n <resources>\n"
        << "  <resource identifier=\"page\" type=\"webcontent\" adlcp:scormtype=\"sco\" href=\"" << kPage
        << "\"><file href=\"" << kPage << "\"/></resource>\n </resources>\n</manifest>\n";
    return xml.str();
}

}  // namespace

void write_scorm(std::ostream& out, const Lesson& lesson, LessonPageOptions options, int tries) {
    const int count = lesson.tries > 0 ? lesson.tries : tries;
    const nlohmann::ordered_json words = {{"tries", count},
                                          {"counted", tr("Right: {right} of {count}.")},
                                          {"rule", tr_n("The first answer to each question counts.",
                                                        "The first {count} answers to each question count.", count)},
                                          {"alone", tr("No learning platform was found: nothing is reported.")}};
    options.script = "const scorm = " + words.dump() + ";\n" + std::string(kReporting);
    std::ostringstream page;
    write_lesson_page(page, lesson, options);
    ZipWriter zip(out);
    for (const auto& [name, contents] :
         {std::pair(std::string("imsmanifest.xml"), manifest_of(lesson)), std::pair(std::string(kPage), page.str())}) {
        zip.begin(name);
        zip.write(contents);
        zip.end();
    }
    zip.close();
}

}  // namespace decoderscope::core::lessons
