#pragma once

#include "ggml.h"

#include <cstring>

inline void ggml_backend_tensor_get(const ggml_tensor* t, void* to, std::size_t offset, std::size_t size) {
    std::memcpy(to, static_cast<const char*>(t->data) + offset, size);
}
