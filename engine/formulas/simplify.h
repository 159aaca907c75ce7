#pragma once

#include "engine/formulas/elaborate.h"

namespace decoderscope::formulas {

// An expression in fewer words: sums of products with common factors in front, constants in front of sums, Σ/n as a
// mean, Σ_j [j = i] · x[j] as x[i]; and a product that one of `named` stands for as that name, so that softmax's
// gradient reads pattern · (g − Σ_j g[j] · pattern[j]). `numbers` are the sizes of the axes by their names.
class Simplifier {
public:
    Simplifier(const std::vector<Definition>& named, std::map<std::string, double, std::less<>> numbers);

    [[nodiscard]] Expr operator()(const Expr& e) const;

private:
    // A power of an expression in a product.
    struct Part {
        Expr base;
        double exponent;
    };
    // A coefficient and powers.
    struct Product {
        double coefficient = 1.0;
        std::vector<Part> parts{};

        [[nodiscard]] const Part* find(const Expr& base) const;
        [[nodiscard]] Product without(const Expr& base) const;
    };
    using Sum = std::vector<Product>;
    struct Named {
        Definition definition;
        Product product;
    };

    [[nodiscard]] static Product base(const Expr& e, double exponent = 1.0) { return {1.0, {{e, exponent}}}; }
    [[nodiscard]] static Product times(Product a, const Product& b);
    [[nodiscard]] static Product to_power(const Product& a, double exponent);
    [[nodiscard]] static Sum collected(const Sum& sum);

    [[nodiscard]] Sum sum_of(const Expr& e) const;
    // Adds the products of `e` to those of a sum, of which it is a summand.
    void add_terms(Sum& to, const Expr& e, double sign) const;
    [[nodiscard]] Sum applied(const Expr& e, Op op) const;
    [[nodiscard]] Sum power_of(const Expr& base, double exponent) const;
    [[nodiscard]] Sum reduced(const Expr& e) const;
    [[nodiscard]] std::optional<Expr> conditions_outside(const Reduce& reduce, const std::string& name,
                                                         const Product& inner) const;
    // A sum as its common factors times the rest.
    [[nodiscard]] Product product_of(const Sum& sum) const;
    [[nodiscard]] Product product_of(const Expr& e) const { return product_of(sum_of(e)); }
    [[nodiscard]] Product as_mean(Product m) const;
    [[nodiscard]] Product folded(Product m) const;
    [[nodiscard]] std::optional<Product> folded_into(const Named& named, const Product& m) const;
    [[nodiscard]] Expr size_of(const Dim& dim) const;
    [[nodiscard]] Expr written(Sum sum) const;

    std::vector<Named> named_;
    std::map<std::string, double, std::less<>> numbers_;
};

}  // namespace decoderscope::formulas
