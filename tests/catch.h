#pragma once

// Catch2 in either form: version 2 as one header, version 3 as many.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {

// Version 3's name for it.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }

}  // namespace Catch::Matchers
#endif

namespace decoderscope {

namespace core::files {}
namespace decoder {}
namespace load {}
namespace tokenizer {}
namespace views {}

// Tests say what they use without saying where it is from.
namespace testing {

using namespace decoderscope;
using namespace core;
using namespace core::files;
using namespace decoder;
using namespace load;
using namespace tokenizer;
using namespace views;

}  // namespace testing

}  // namespace decoderscope
