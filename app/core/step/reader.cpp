#include "app/core/step/reader.h"

namespace decoderscope {

std::span<const float> Reader::operator()(const Tensor& tensor) {
    const auto* lazy = tensor.lazy<LazyValues>();
    if (lazy == nullptr) return tensor.values();
    room_.resize(static_cast<std::size_t>(tensor.size()));
    lazy->make(room_);
    return room_;
}

}  // namespace decoderscope
