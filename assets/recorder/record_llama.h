// Records what llama.cpp computes, for Decoderscope to open, compare and explain. It is one header, without other
// files:
//
//     decoderscope recorder --for llama.cpp > record_llama.h
//
//     decoderscope_recorder recorder("trace.safetensors");          // written when it is destroyed
//     llama_context_params params = llama_context_default_params();
//     params.cb_eval = decoderscope_recorder::evaluated;
//     params.cb_eval_user_data = &recorder;
//     params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;      // otherwise scores and pattern exist nowhere
//     params.type_k = params.type_v = GGML_TYPE_F32;                // otherwise keys and values are rounded to float16
//     …                                                             // llama_decode() as ever, with logits for all
//     tokens
//
//     decoderscope bisect MODEL.gguf --against trace.safetensors
//
// One sequence, without a batch of several. A product with a weight is a call of the weight's name ("blk.0.attn_q"),
// any other node one of llama.cpp's own name ("blk.0.attn/kq_soft_max"). Views and copies aren't recorded. Scores have
// the keys that are there, without those that the cache keeps room for. Numbers stay in memory until the file is
// written.
#pragma once

#include "ggml-backend.h"
#include "ggml.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class decoderscope_recorder {
public:
    explicit decoderscope_recorder(std::string path) : path_(std::move(path)) {}
    decoderscope_recorder(const decoderscope_recorder&) = delete;
    decoderscope_recorder& operator=(const decoderscope_recorder&) = delete;
    ~decoderscope_recorder() {
        if (!write()) std::fprintf(stderr, "record_llama: %s can't be written\n", path_.c_str());
    }

    // The scheduler's callback: asked before each node whether its numbers are wanted, then told that they are there.
    static bool evaluated(ggml_tensor* node, bool ask, void* recorder) {
        auto& self = *static_cast<decoderscope_recorder*>(recorder);
        if (ask) return !moves_numbers_only(node);
        self.record(node);
        return true;
    }

private:
    struct Tensor {
        std::string name;
        const char* dtype;
        std::vector<int64_t> shape;
        std::vector<char> bytes;
    };
    using Ports = std::vector<std::pair<std::string, std::string>>;  // an argument's name, and a tensor's
    struct Call {
        std::string name, module, kind, function;
        Ports in, out;
    };

    static bool moves_numbers_only(const ggml_tensor* t) {
        static const std::set<ggml_op> ops = {GGML_OP_NONE, GGML_OP_RESHAPE,   GGML_OP_VIEW, GGML_OP_PERMUTE,
                                              GGML_OP_CPY,  GGML_OP_TRANSPOSE, GGML_OP_CONT, GGML_OP_SET_ROWS};
        return ops.count(t->op) != 0;
    }
    static bool ends_with(const std::string& text, const std::string& end) {
        return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
    }
    // What a view shows: the node that computed it.
    static const ggml_tensor* computed(const ggml_tensor* t) {
        while (t != nullptr && t->op != GGML_OP_NONE && moves_numbers_only(t)) t = t->src[0];
        return t;
    }
    static std::string module_of(const ggml_tensor* t, const char* ending) {
        const std::string name = t == nullptr ? "" : t->name;
        return t != nullptr && t->op == GGML_OP_NONE && ends_with(name, ending)
                   ? name.substr(0, name.size() - std::strlen(ending))
                   : "";
    }

    void record(const ggml_tensor* t) {
        const std::string desc = ggml_op_desc(t);
        const bool product = t->op == GGML_OP_MUL_MAT || t->op == GGML_OP_MUL_MAT_ID;
        const std::string weighed = module_of(t->src[product || t->op == GGML_OP_GET_ROWS ? 0 : 1], ".weight");
        const std::string biased = t->op == GGML_OP_ADD ? module_of(t->src[1], ".bias") : "";
        const bool looks_up = t->op == GGML_OP_GET_ROWS && weighed == "token_embd";
        if (looks_up || calls_.empty())
            begin_pass(looks_up ? t->src[1] : nullptr);  // without tokens: vectors are given
        if (const ggml_tensor* positions = t->op == GGML_OP_ROPE ? t->src[1] : nullptr) note_positions(positions);
        if (t->op == GGML_OP_GET_ROWS && weighed == "position_embd") note_positions(t->src[1]);
        const ggml_tensor* norm = t->op == GGML_OP_MUL ? computed(t->src[0]) : nullptr;
        const bool is_norm = norm != nullptr && (norm->op == GGML_OP_RMS_NORM || norm->op == GGML_OP_NORM);
        if (!weighed.empty() && (product || t->op == GGML_OP_GET_ROWS || is_norm)) {
            const char* kind = product ? "Linear" : is_norm ? "Norm" : "Embedding";
            const ggml_tensor* input = is_norm ? norm->src[0] : t->src[1];
            call(weighed, weighed, kind, "", {{"input", name_of(input)}}, t);
        } else if (!biased.empty()) {  // the bias is the last part of what the weight's call gives
            const auto found = given_by_.find(name_of(t->src[0]));
            const std::size_t whole = found == given_by_.end() ? calls_.size() : found->second;
            if (!call(biased + "/add", biased, "", "add", {}, t)) return;
            if (whole < calls_.size()) calls_[whole].out = calls_.back().out;
            given_by_[calls_.back().out.front().second] = whole;
        } else {
            function(t, desc, product);
        }
        if (module_of(t->src[0], ".weight") == "output" || std::string(t->name) == "result_output")
            calls_[pass_].out = {{"", name_of(t)}};
    }

    void function(const ggml_tensor* t, const std::string& desc, bool product) {
        // "kq_soft_max-0": what llama.cpp calls it, and of which layer.
        std::string name = t->name;
        const std::size_t dash = name.rfind('-');
        const bool numbered = dash != std::string::npos && dash + 1 < name.size() &&
                              name.find_first_not_of("0123456789", dash + 1) == std::string::npos;
        if (numbered) layer_ = name.substr(dash + 1);
        const bool attends =
            t->op == GGML_OP_SOFT_MAX || t->op == GGML_OP_FLASH_ATTN_EXT || t->op == GGML_OP_ROPE || product;
        std::string function = t->op == GGML_OP_SOFT_MAX         ? "softmax"
                               : t->op == GGML_OP_FLASH_ATTN_EXT ? "scaled_dot_product_attention"
                               : product                         ? "matmul"
                                                                 : desc;
        std::transform(function.begin(), function.end(), function.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        const std::string module = layer_.empty() ? "(model)" : "blk." + layer_ + (attends ? ".attn" : "");
        Ports in;
        // The softmax scales and masks its scores itself, so what it is given isn't what PyTorch's would be given.
        if (t->op == GGML_OP_SOFT_MAX) {
            cut_keys(t->src[0]);
            in = {{"scores", name_of(t->src[0])}};
        } else if (product) {
            in = {{"input", name_of(t->src[1])}};  // rows of the second are multiplied by rows of the first
        } else {
            for (int i = 0; i < 2; ++i)
                if (!name_of(t->src[i]).empty()) in.emplace_back(i == 0 ? "input" : "other", name_of(t->src[i]));
        }
        call(module + "/" + (numbered ? name.substr(0, dash) : function), module, "", function, in, t);
        if (t->op == GGML_OP_SOFT_MAX) cut_keys(t);
    }

    // Returns false for a node whose numbers can't be stored.
    bool call(const std::string& name, const std::string& module, const std::string& kind, const std::string& function,
              const Ports& in, const ggml_tensor* t) {
        const std::string own = numbered(name);
        std::vector<int64_t> shape(t->ne, t->ne + std::max(ggml_n_dims(t), 2));
        std::reverse(shape.begin(), shape.end());
        // [position, head, column], as [position, head · column]: otherwise heads could be taken for positions.
        const bool by_heads = shape.size() == 3 && function != "matmul" && function != "softmax";
        if (by_heads) shape = {shape[0], shape[1] * shape[2]};
        if (!store(own + "/out", t, shape)) return false;
        calls_.push_back({own, module, kind, function, in, {{"", name_of(t)}}});
        if (kind == "Linear" || kind == "Norm") given_by_[own + "/out"] = calls_.size() - 1;
        return true;
    }

    std::string numbered(const std::string& name) {
        const int count = ++counts_[name];
        return count == 1 ? name : name + "#" + std::to_string(count);
    }

    // A pass begins where tokens are looked up; what it is given is stored under the names of a model's arguments.
    void begin_pass(const ggml_tensor* tokens) {
        pass_ = calls_.size();
        names_.clear();
        layer_.clear();
        positions_known_ = false;
        calls_.push_back({numbered("(model)"), "(model)", "llama.cpp", "", {}, {}});
        if (tokens != nullptr) give("tokens", tokens);
    }
    void note_positions(const ggml_tensor* positions) {
        if (positions_known_ || positions->type != GGML_TYPE_I32) return;
        positions_known_ = true;
        give("position_ids", positions);
        const std::vector<char>& bytes = tensors_.back().bytes;
        std::vector<int32_t> numbers(bytes.size() / sizeof(int32_t));
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        keys_ = numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end());
    }
    void give(const char* argument, const ggml_tensor* t) {
        if (store(calls_[pass_].name + "/in." + argument, t, {1, ggml_nelements(t)}))
            calls_[pass_].in.emplace_back(argument, name_of(t));
    }

    // ---- tensors

    std::string name_of(const ggml_tensor* t) const {
        const auto found = names_.find(computed(t));
        return found == names_.end() ? "" : found->second;
    }

    bool store(const std::string& name, const ggml_tensor* t, std::vector<int64_t> shape) {
        const char* dtype = t->type == GGML_TYPE_F32    ? "F32"
                            : t->type == GGML_TYPE_F16  ? "F16"
                            : t->type == GGML_TYPE_BF16 ? "BF16"
                            : t->type == GGML_TYPE_I32  ? "I32"
                                                        : nullptr;
        if (dtype == nullptr || !ggml_is_contiguous(t)) return false;
        Tensor stored = {name, dtype, std::move(shape), std::vector<char>(ggml_nbytes(t))};
        ggml_backend_tensor_get(t, stored.bytes.data(), 0, stored.bytes.size());
        tensors_.push_back(std::move(stored));
        names_[t] = name;
        return true;
    }

    // Leaves those columns of scores or weights out that stand for keys which aren't there.
    void cut_keys(const ggml_tensor* scores) {
        const std::string name = name_of(scores);
        for (Tensor& tensor : tensors_) {
            if (tensor.name != name || keys_ <= 0 || tensor.shape.back() <= keys_) continue;
            const std::size_t one = ggml_type_size(scores->type);
            const std::size_t row = static_cast<std::size_t>(tensor.shape.back()) * one,
                              kept = static_cast<std::size_t>(keys_) * one;
            const std::size_t rows = tensor.bytes.size() / row;
            for (std::size_t i = 0; i < rows; ++i)
                std::memmove(tensor.bytes.data() + i * kept, tensor.bytes.data() + i * row, kept);
            tensor.bytes.resize(rows * kept);
            tensor.shape.back() = keys_;
        }
    }

    // ---- the file: safetensors, whose header is JSON

    static std::string quoted(const std::string& text) {
        std::string out = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
        return out + "\"";
    }
    static std::string object(const Ports& ports) {
        std::string out = "{";
        for (const auto& port : ports)
            if (!port.second.empty())
                out += (out.size() > 1 ? "," : "") + quoted(port.first) + ":" + quoted(port.second);
        return out + "}";
    }

    bool write() const {
        std::string calls = "[";
        for (const Call& c : calls_)
            calls += std::string(calls.size() > 1 ? "," : "") + "{\"name\":" + quoted(c.name) +
                     ",\"module\":" + quoted(c.module) + ",\"class\":" + quoted(c.kind) +
                     ",\"function\":" + quoted(c.function) + ",\"in\":" + object(c.in) + ",\"out\":" + object(c.out) +
                     "}";
        std::string header =
            "{\"__metadata__\":{\"format\":\"decoderscope-trace 1\",\"finished\":\"yes\",\"program\":\"llama.cpp\"," +
            ("\"calls\":" + quoted(calls + "]")) + "}";
        std::size_t end = 0;
        for (const Tensor& tensor : tensors_) {
            header += "," + quoted(tensor.name) + ":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[";
            for (std::size_t i = 0; i < tensor.shape.size(); ++i)
                header += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
            header +=
                "],\"data_offsets\":[" + std::to_string(end) + "," + std::to_string(end + tensor.bytes.size()) + "]}";
            end += tensor.bytes.size();
        }
        header += "}";
        header.resize((header.size() + 7) / 8 * 8, ' ');
        const std::uint64_t size = header.size();
        std::FILE* file = std::fopen(path_.c_str(), "wb");
        if (file == nullptr) return false;
        bool good = std::fwrite(&size, sizeof size, 1, file) == 1 && std::fwrite(header.data(), size, 1, file) == 1;
        for (const Tensor& tensor : tensors_)
            good = good && std::fwrite(tensor.bytes.data(), 1, tensor.bytes.size(), file) == tensor.bytes.size();
        return (std::fclose(file) == 0) && good;
    }

    std::string path_;
    std::vector<Tensor> tensors_;
    std::vector<Call> calls_;
    std::map<const ggml_tensor*, std::string> names_;  // of what this pass computed
    std::map<std::string, std::size_t> given_by_;      // the call of a weight that gave a tensor
    std::map<std::string, int> counts_;
    std::size_t pass_ = 0;
    std::string layer_;
    bool positions_known_ = false;
    int64_t keys_ = 0;
};
