#include "app/core/picture/meaning.h"

namespace decoderscope {

Rgba meaning_color(Meaning meaning) {
    switch (meaning) {
        case Meaning::embedding:
            return {0xF0, 0xE4, 0x42, 255};
        case Meaning::query:
            return {0x00, 0x72, 0xB2, 255};
        case Meaning::key:
            return {0xD5, 0x5E, 0x00, 255};
        case Meaning::value:
            return {0x00, 0x9E, 0x73, 255};
        case Meaning::attention:
            return {0xCC, 0x79, 0xA7, 255};
        case Meaning::mlp:
            return {0xE6, 0x9F, 0x00, 255};
        case Meaning::norm:
            return {0x56, 0xB4, 0xE9, 255};
        case Meaning::residual:
            return {0x6E, 0x6E, 0x6E, 255};
        case Meaning::output:
            break;
    }
    return {0x8A, 0x55, 0x32, 255};
}

std::string_view meaning_name(Meaning meaning) {
    switch (meaning) {
        case Meaning::embedding:
            return "embedding";
        case Meaning::query:
            return "query";
        case Meaning::key:
            return "key";
        case Meaning::value:
            return "value";
        case Meaning::attention:
            return "attention";
        case Meaning::mlp:
            return "MLP";
        case Meaning::norm:
            return "norm";
        case Meaning::residual:
            return "residual stream";  // not a message: a name, like an axis's
        case Meaning::output:
            break;
    }
    return "output";
}

}  // namespace decoderscope
