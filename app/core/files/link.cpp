#include "app/core/files/link.h"

#include "app/core/figure/picture_files.h"
#include "app/core/text/characters.h"
#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/base/packed_text.h"

#include <optional>

namespace decoderscope::core::files {

std::string address_of(std::string_view typed) { return std::string(trimmed(typed.substr(0, typed.find('#')))); }

std::string link_at(const std::string& address, const std::string& fragment) { return address + fragment; }

std::string embedding_of(const std::string& address, const std::string& fragment, const std::string& title) {
    const char* query = address.find('?') == std::string::npos ? "?embed" : "&embed";
    return "<iframe src=\"" + xml_escaped(address + query + fragment) +
           "\" width=\"800\" height=\"500\" loading=\"lazy\" title=\"" + xml_escaped(title) + "\"></iframe>";
}

namespace {

constexpr std::string_view kVersion = "1";

// "s1=eNq…" in its parts.
struct Fragment {
    std::string_view version, packed;
};

std::optional<Fragment> fragment_of(std::string_view text) {
    std::string_view fragment = trimmed(text);
    if (const std::size_t hash = fragment.find('#'); hash != std::string_view::npos) fragment.remove_prefix(hash + 1);
    const std::size_t equals = fragment.find('=');
    if (equals == std::string_view::npos || equals < 2 || fragment.front() != 's') return std::nullopt;
    const std::string_view version = fragment.substr(1, equals - 1);
    if (version.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return Fragment{version, fragment.substr(equals + 1)};
}

// The first file that a session uses; empty if it needs none.
std::string file_used(const SavedRun& run) {
    if (!run.model.bundled) return run.model.name;
    for (const auto& [name, tensor] : run.input.numbers)
        if (!tensor.file.empty()) return tensor.file;
    return run.lens;
}
std::string file_used(const SessionFile& file) {
    std::string used = file_used(file.run);
    for (const SavedPin& pin : file.pins)
        if (used.empty()) used = file_used(pin.run);
    for (const TalkState& state : file.talk)
        if (used.empty()) used = file_used(parse_session(state.work, {}));
    if (used.empty()) used = file.view.trace;
    return used.empty() ? file.saved_as : used;
}

std::string unpacked(std::string_view packed) {
    if (packed.size() > kMostLinkCharacters)
        throw Error("{length} characters, but a link has at most {most}",
                    {{"length", packed.size()}, {"most", kMostLinkCharacters}});
    if (packed.find_first_not_of(kBase64UrlCharacters) != std::string_view::npos)
        throw Error("damaged: it has characters that can't be in a link; copy it again, to its end");
    const std::optional<std::string> bytes = bytes_of_base64(packed, Base64::url);
    if (!bytes) throw Error("truncated: its end is missing");
    return unpacked_text(*bytes, kMostLinkBytes);
}

}  // namespace

Sentence link_name() { return message("the link"); }

bool is_link(std::string_view text) { return fragment_of(text).has_value(); }

std::string link_of(SessionFile file) {
    file.saved_as.clear();
    file.changed.clear();
    if (const std::string used = file_used(file); !used.empty())
        throw Error("{path}: a file of your own, which a link can't hold; save a session file instead",
                    {{"path", used}});
    const std::string text = session_text(file, {});
    if (text.size() > kMostLinkBytes)
        throw Error("the session has {length} bytes, but a link can hold only {most}; save a session file instead",
                    {{"length", text.size()}, {"most", kMostLinkBytes}});
    std::string fragment = "#s";
    fragment.append(kVersion).append("=").append(base64(packed_text(text), Base64::url));
    if (fragment.size() > kMostLinkCharacters)
        throw Error(
            "the link would have {length} characters, but only links of up to {most} arrive reliably; save a session "
            "file instead",
            {{"length", fragment.size()}, {"most", kMostLinkCharacters}});
    return fragment;
}

SessionFile session_of_link(std::string_view text) {
    const std::optional<Fragment> fragment = fragment_of(text);
    if (!fragment) throw Error("not a link to a session; expected an address with #s1= in it");
    return naming(link_name(), [&] {
        if (fragment->version != kVersion)
            throw Error("made by a newer version of Decoderscope; open it with that one");
        SessionFile file = parse_session(unpacked(fragment->packed), {});
        if (const std::string used = file_used(file); !used.empty())
            throw Error("names the file {path}, but a link may only open bundled models", {{"path", used}});
        file.changed.clear();
        file.linked = true;
        return file;
    });
}

SavedSession open_link(std::string_view text) { return open_session(session_of_link(text), link_name()); }

}  // namespace decoderscope::core::files
