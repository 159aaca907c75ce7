#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/files/saved_session.h"
#include "app/core/run/scenario.h"
#include "app/core/run/talk.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace decoderscope::core::report {

// What a state shows, as a picture (app/views/shell/workspace.h). Throws Error saying what can't be shown.
using PictureOf = std::function<Exhibit(const files::ShownState& shown)>;

// How a talk is written down.
struct TalkPage {
    std::string title;
    std::string site;    // the browser version's address: each state links to it; empty: no links
    bool notes = false;  // with the speaker's notes
};

// A talk as one page of HTML without external references: a section a state, with its sentence, its picture (and in
// words, for whoever can't see it), and a link that opens it, so that the audience can follow. `open` is the
// model that states are shown on if it is theirs. Throws Error naming the state that can't be computed.
void write_talk_page(std::ostream& out, const Talk& talk, const Scenario& open, const PictureOf& picture_of,
                     const TalkPage& page);

// As above, as a PDF: a page a state, its sentence below its picture.
void write_talk_pdf(std::ostream& out, const Talk& talk, const Scenario& open, const PictureOf& picture_of);

// Writes it to a file as its ending says, .html or .pdf: completely or not at all. Throws Error naming the file.
void write_talk(const std::string& path, const Talk& talk, const Scenario& open, const PictureOf& picture_of,
                const TalkPage& page);

}  // namespace decoderscope::core::report
