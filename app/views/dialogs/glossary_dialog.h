#pragma once

#include "app/core/glossary/glossary.h"

#include <array>
#include <memory>
#include <string>

namespace decoderscope {

struct ViewState;

// What the glossary remembers from one time to the next.
struct GlossaryDialogState {
    std::string term;                // the id of the entry that is shown
    std::array<char, 128> search{};  // what was typed
    bool scrolls = false;            // the list is to be scrolled to the entry

    // Finds terms in texts; made again when the language changes.
    [[nodiscard]] const TermFinder& finder();

private:
    std::shared_ptr<const TermFinder> finder_;
    const void* language_ = nullptr;
};

// Opens the glossary, at a term if one is given.
void open_glossary(ViewState& state, std::string_view term = {});

}  // namespace decoderscope
