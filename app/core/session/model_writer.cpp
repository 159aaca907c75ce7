#include "app/core/session/model_writer.h"

#include "app/core/train/shown_training.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace decoderscope::core {

namespace {

// The folder that models are offered to be written to need not be there yet; any other has to.
void make_trained_models_folder(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    std::error_code failed;
    if (parent == train::trained_models_folder()) std::filesystem::create_directories(parent, failed);
}

ModelWriter::Result written(const ModelWriter::Order& order) {
    try {
        make_trained_models_folder(order.path);
        load::write_model_folder(order.path, *order.model);
        return {absolute_path(order.path), order.open, {}};
    } catch (const std::exception& error) {
        return {order.path, false, sentence_of(error)};
    }
}

}  // namespace

ModelWriter::~ModelWriter() {
    while (busy()) {
        finish();
        static_cast<void>(collect());
    }
}

void ModelWriter::start(Order order) {
    orders_.push_back(std::move(order));
    if (orders_.size() == 1) begin();
}

void ModelWriter::begin() {
    job_.start(
        [order = orders_.front()](const std::stop_token&) { return in_one_slice([order] { return written(order); }); });
}

std::optional<ModelWriter::Result> ModelWriter::collect() {
    std::optional<Result> result = job_.collect();
    if (!result) return std::nullopt;
    orders_.pop_front();
    if (!orders_.empty()) begin();
    return result;
}

}  // namespace decoderscope::core
