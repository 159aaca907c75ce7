#pragma once

#include <cstddef>
#include <cstdint>

// As much of ggml's interface as a recorder of its nodes reads, so that one can be tested without llama.cpp. Names and
// meanings are those of https://github.com/ggml-org/ggml; numbers are its own.
enum ggml_type { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_I32 };
enum ggml_op {
    GGML_OP_NONE,
    GGML_OP_ADD,
    GGML_OP_MUL,
    GGML_OP_MUL_MAT,
    GGML_OP_MUL_MAT_ID,
    GGML_OP_RMS_NORM,
    GGML_OP_NORM,
    GGML_OP_ROPE,
    GGML_OP_SOFT_MAX,
    GGML_OP_FLASH_ATTN_EXT,
    GGML_OP_GET_ROWS,
    GGML_OP_SET_ROWS,
    GGML_OP_CPY,
    GGML_OP_CONT,
    GGML_OP_RESHAPE,
    GGML_OP_VIEW,
    GGML_OP_PERMUTE,
    GGML_OP_TRANSPOSE,
    GGML_OP_GLU
};

struct ggml_tensor {
    ggml_type type = GGML_TYPE_F32;
    std::int64_t ne[4] = {1, 1, 1, 1};  // the innermost axis first
    ggml_op op = GGML_OP_NONE;
    ggml_tensor* src[10] = {};
    const void* data = nullptr;
    char name[64] = {};
};

inline int ggml_n_dims(const ggml_tensor* t) {
    for (int axis = 3; axis > 0; --axis)
        if (t->ne[axis] > 1) return axis + 1;
    return 1;
}
inline std::int64_t ggml_nelements(const ggml_tensor* t) { return t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3]; }
inline std::size_t ggml_type_size(ggml_type type) { return type == GGML_TYPE_F16 || type == GGML_TYPE_BF16 ? 2 : 4; }
inline std::size_t ggml_nbytes(const ggml_tensor* t) {
    return static_cast<std::size_t>(ggml_nelements(t)) * ggml_type_size(t->type);
}
inline bool ggml_is_contiguous(const ggml_tensor*) { return true; }
inline const char* ggml_op_desc(const ggml_tensor* t) {
    switch (t->op) {
        case GGML_OP_ADD:
            return "ADD";
        case GGML_OP_RMS_NORM:
            return "RMS_NORM";
        case GGML_OP_ROPE:
            return "ROPE";
        case GGML_OP_GLU:
            return "SWIGLU";
        default:
            return "OTHER";
    }
}
