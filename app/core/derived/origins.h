#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace decoderscope {

inline constexpr std::size_t kMostOrigins = 3;

// What a derived value is made from, mostly runs. A nullptr counts as an origin, too.
class Origins {
public:
    template <class... Held>
    requires(sizeof...(Held) <= kMostOrigins) Origins(const std::shared_ptr<Held>&... held) : held_{held...} {}

    [[nodiscard]] const std::array<std::shared_ptr<const void>, kMostOrigins>& all() const { return held_; }

private:
    std::array<std::shared_ptr<const void>, kMostOrigins> held_;
};

// The same, remembered without keeping them alive. While this exists, no other object is mistaken for one of them, even
// at the same address.
class HeldOrigins {
public:
    explicit HeldOrigins(const Origins& of) {
        for (std::size_t i = 0; i < kMostOrigins; ++i) held_[i] = of.all()[i];
    }

    // Whether one of them has been freed.
    [[nodiscard]] bool gone() const {
        const std::weak_ptr<const void> none;
        for (const auto& held : held_)
            if (held.expired() && !same(held, none)) return true;
        return false;
    }

    bool operator==(const Origins& other) const {
        for (std::size_t i = 0; i < kMostOrigins; ++i)
            if (!same(held_[i], other.all()[i])) return false;
        return true;
    }

private:
    template <class A, class B>
    static bool same(const A& a, const B& b) {
        return !a.owner_before(b) && !b.owner_before(a);
    }

    std::array<std::weak_ptr<const void>, kMostOrigins> held_;
};

}  // namespace decoderscope
