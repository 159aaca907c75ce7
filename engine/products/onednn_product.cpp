#include "engine/products/onednn_product.h"

#include <array>
#include <utility>

// OpenMP's. Declared here: its header comes with each compiler's own runtime, and oneDNN has brought GCC's.
extern "C" void omp_set_num_threads(int count);

namespace decoderscope::products::onednn_products {

void stay_on_this_thread() {
    thread_local const bool told = [] {
        omp_set_num_threads(1);
        return true;
    }();
    (void)told;
}

const dnnl::engine& cpu() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

memory::desc matrix(Index rows, Index columns, Index row_stride, Index column_stride) {
    return {memory::dims{rows, columns}, kFloat, memory::dims{row_stride, column_stride}};
}
memory::desc rows_of(Index rows, Index columns, Index stride) { return matrix(rows, columns, stride, 1); }
memory::desc any_layout(Index rows, Index columns) {
    return {memory::dims{rows, columns}, kFloat, memory::format_tag::any};
}

memory at(const memory::desc& layout, const void* values) { return {layout, cpu(), const_cast<void*>(values)}; }

namespace {

dnnl::primitive_attr scaled_by(float scale) {
    dnnl::primitive_attr attributes;
    if (scale == 1.0F) return attributes;
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0.0F);
#else
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_linear, scale, 0.0F);
#endif
    attributes.set_post_ops(after);
    return attributes;
}

}  // namespace

MatmulDesc matmul_desc(const memory::desc& a, const memory::desc& b, const memory::desc* bias, const memory::desc& out,
                       float scale) {
#if DNNL_VERSION_MAJOR >= 3
    return bias != nullptr ? MatmulDesc(cpu(), a, b, *bias, out, scaled_by(scale))
                           : MatmulDesc(cpu(), a, b, out, scaled_by(scale));
#else
    return bias != nullptr ? MatmulDesc(dnnl::matmul::desc(a, b, *bias, out), scaled_by(scale), cpu())
                           : MatmulDesc(dnnl::matmul::desc(a, b, out), scaled_by(scale), cpu());
#endif
}

InnerProductDesc inner_product_desc(const memory::desc& x, const memory::desc& weight, const memory::desc* bias,
                                    const memory::desc& out) {
    const auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    return bias != nullptr ? InnerProductDesc(cpu(), kind, x, weight, *bias, out)
                           : InnerProductDesc(cpu(), kind, x, weight, out);
#else
    return bias != nullptr ? InnerProductDesc(dnnl::inner_product_forward::desc(kind, x, weight, *bias, out), cpu())
                           : InnerProductDesc(dnnl::inner_product_forward::desc(kind, x, weight, out), cpu());
#endif
}

template <class Description>
Product::Product(const Description& description, dnnl::primitive primitive, const memory::desc* bias)
    : primitive_(std::move(primitive)),
      stream_(cpu()),
      a_(at(description.src_desc(), nullptr)),
      b_(at(description.weights_desc(), nullptr)),
      out_(at(description.dst_desc(), nullptr)) {
    if (bias != nullptr) bias_ = at(*bias, nullptr);
}

Product::Product(const MatmulDesc& description, const memory::desc* bias)
    : Product(description, dnnl::matmul(description), bias) {}
Product::Product(const InnerProductDesc& description, const memory::desc* bias)
    : Product(description, dnnl::inner_product_forward(description), bias) {}

void Product::run(const float* a, const memory& b, const float* bias, float* out) {
    a_.set_data_handle(const_cast<float*>(a));
    out_.set_data_handle(out);
    std::array<dnnl_exec_arg_t, 4> arguments = {
        {{DNNL_ARG_SRC, a_.get()}, {DNNL_ARG_WEIGHTS, b.get()}, {DNNL_ARG_DST, out_.get()}, {DNNL_ARG_BIAS, nullptr}}};
    if (bias_) {
        bias_->set_data_handle(const_cast<float*>(bias));
        arguments[3].memory = bias_->get();
    }
    // The C++ interface would rebuild the arguments for every call.
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream_.get(), bias_ ? 4 : 3, arguments.data()),
                            "could not run a product");
}

void Product::run(const float* a, const float* b, float* out) {
    b_.set_data_handle(const_cast<float*>(b));
    run(a, b_, nullptr, out);
}

}  // namespace decoderscope::products::onednn_products
