#pragma once

#include <any>
#include <concepts>
#include <utility>

namespace decoderscope {

// A list of types. What derives from it gives the list a short name.
template <class... T>
struct Types {
    template <class U>
    static constexpr bool has = (std::same_as<T, U> || ...);

    // Calls `visitor` with what is held.
    template <class Visitor>
    static void visit(const std::any& held, Visitor&& visitor) {
        const auto is = [&]<class U>(const U* value) {
            if (value != nullptr) visitor(*value);
            return value != nullptr;
        };
        static_cast<void>((is(std::any_cast<T>(&held)) || ...));
    }
};

// A value of one of the types in List, like a std::variant. But a variant of sixty types is copied, moved and destroyed
// by a visit of all sixty, compiled anew in every file that passes one on; this is copied like a std::any.
template <class List>
class AnyOf {
public:
    template <class T>
    requires(List::template has<T>) AnyOf(T value) : held_(std::move(value)) {}  // NOLINT: like a variant's

    // The value, if it is of this type; otherwise nullptr.
    template <class T>
    requires(List::template has<T>) [[nodiscard]] const T* get_if() const { return std::any_cast<T>(&held_); }
    template <class Visitor>
    void visit(Visitor&& visitor) const {
        List::visit(held_, std::forward<Visitor>(visitor));
    }

private:
    std::any held_;
};

}  // namespace decoderscope
