// Axes are values: copies share one list until one of them is written.
#include "engine/tensor/tensor.h"
#include "tests/catch.h"

using namespace decoderscope::testing;

TEST_CASE("axes that are written leave their copies as they were") {
    const Axes axes = {{axis::batch, 2}, {axis::pos, 6}, {axis::d_model, 64}};
    Axes other = axes;
    CHECK(other == axes);
    CHECK(other.begin() == axes.begin());
    other.resize(1, 5);
    CHECK(shape_text(other) == "[2, 5, 64]");
    other.rename(1, axis::src);
    CHECK(axes_text(other) == "[batch, src, d_model]");
    other.replace(0, {axis::head, 8});
    other.push_back({axis::key, 3});
    CHECK(axes_text(other) == "[head, src, d_model, key]");
    CHECK(element_count(other) == 8 * 5 * 64 * 3);
    CHECK(axes == Axes{{axis::batch, 2}, {axis::pos, 6}, {axis::d_model, 64}});
    CHECK_FALSE(other == axes);
}

TEST_CASE("no axes at all are those of one number") {
    Axes none;
    CHECK(none.empty());
    CHECK(none == Axes{});
    CHECK(none.begin() == none.end());
    CHECK(element_count(none) == 1);
    CHECK(shape_text(none) == "[]");
    none.push_back({axis::out, 3});
    CHECK(none == Axes{{axis::out, 3}});
}
