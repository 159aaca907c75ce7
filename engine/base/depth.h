#pragma once

#include "engine/base/error.h"
#include "engine/base/limits.h"

#include <algorithm>

// Trees that come from outside (templates, expressions, quotes within quotes) are walked by recursion, and the stack is
// finite. So each has a most depth, whether it is a matter of brackets, which the reader recurses into, or of a chain
// such as a + b + c, which a loop makes as deep as it is long.
namespace decoderscope {

// Throws Error if a tree is this deep.
inline void check_depth(int depth, int most = limits::kTreeDepth) {
    if (depth > most) throw Error("more than {count} pieces stand in each other", {{"count", most}});
}

// One level of recursion, as long as it lives.
class Deeper {
public:
    explicit Deeper(int& depth, int most = limits::kTreeDepth) : depth_(depth) {
        check_depth(depth + 1, most);
        ++depth_;
    }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --depth_; }

private:
    int& depth_;
};

// How deep a tree is below one of its nodes, for a node that is put together of others.
class Depth {
public:
    // Puts a part below it. Throws Error if the tree is too deep now.
    void over(const Depth& part) {
        levels_ = std::max(levels_, part.levels_ + 1);
        check_depth(levels_);
    }

private:
    int levels_ = 1;
};

}  // namespace decoderscope
