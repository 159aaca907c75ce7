#include "app/core/report/talk_page.h"

#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "app/core/files/link.h"
#include "app/core/report/html_page.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"

#include <functional>
#include <ostream>
#include <utility>
#include <vector>

namespace decoderscope::core::report {
namespace {

void for_each_picture(const Talk& talk, const Scenario& open, const PictureOf& picture_of,
                      const std::function<void(std::size_t number, const Exhibit& exhibit)>& write) {
    for (std::size_t i = 0; i < talk.size(); ++i)
        naming(message("state {number} of the talk", {{"number", i + 1}}),
               [&] { write(i, picture_of(files::shown_state(talk[i], open))); });
}

}  // namespace

void write_talk_page(std::ostream& out, const Talk& talk, const Scenario& open, const PictureOf& picture_of,
                     const TalkPage& page) {
    Page written(out, page.title, tr_n("A talk of {count} state", "A talk of {count} states", talk.size()));
    for_each_picture(talk, open, picture_of, [&](std::size_t number, const Exhibit& exhibit) {
        const TalkState& state = talk[number];
        written.section(tr("{number}. {sentence}", {{"number", number + 1}, {"sentence", state.sentence}}));
        written.paragraph(spoken_text(written.figure(exhibit)));
        if (!page.site.empty()) written.link(files::link_at(page.site, files::link_of(state)), tr("Open this state"));
        if (page.notes && !state.notes.empty())
            written.folded_facts(tr("Notes"), {{tr("For the speaker"), state.notes}});
    });
}

void write_talk_pdf(std::ostream& out, const Talk& talk, const Scenario& open, const PictureOf& picture_of) {
    if (const Sentence obstacle = pdf_obstacle(); !obstacle.empty()) throw Error(obstacle);
    std::vector<Figure> pages;
    for_each_picture(talk, open, picture_of, [&](std::size_t number, Exhibit exhibit) {
        exhibit.caption = std::to_string(number + 1) + ". " + talk[number].sentence + " · " + exhibit.caption;
        pages.push_back(exhibit_figure(exhibit, {}));
    });
    if (pages.empty()) throw Error("a talk of no states, expected one at least");
    write_pdf(out, pages);
}

void write_talk(const std::string& path, const Talk& talk, const Scenario& open, const PictureOf& picture_of,
                const TalkPage& page) {
    const bool pdf = path.ends_with(".pdf");
    if (!pdf && !path.ends_with(".html"))
        throw Error("{path}: can't hold a talk, expected a path that ends in .html or .pdf", {{"path", path}});
    naming(path, [&] {
        write_whole(path, [&](std::ostream& out) {
            if (pdf)
                write_talk_pdf(out, talk, open, picture_of);
            else
                write_talk_page(out, talk, open, picture_of, page);
        });
    });
}

}  // namespace decoderscope::core::report
