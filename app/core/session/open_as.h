#pragma once

namespace decoderscope {

// What a path is opened as.
enum class OpenAs {
    whatever_it_is,  // a recorder's file is a trace, another file of tensors a model
    model,           // also a recorder's file that holds parameters
    trace,           // also a file of tensors without calls
};

}  // namespace decoderscope
