#pragma once

namespace decoderscope {

class Catalog;

// While such an object lives, the texts that its thread makes are English, whatever the window speaks: those of files.
class InEnglish {
public:
    InEnglish();
    ~InEnglish();
    InEnglish(const InEnglish&) = delete;
    InEnglish& operator=(const InEnglish&) = delete;

private:
    const Catalog* before_;
};

}  // namespace decoderscope
