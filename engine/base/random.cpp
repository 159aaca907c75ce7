#include "engine/base/random.h"

#include <cmath>

namespace decoderscope {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio

constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
constexpr std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return h;
}

constexpr double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view stream)
    : key_(mix(mix(seed + kGolden) ^ hash(stream))) {}

std::uint64_t RandomStream::bits(std::uint64_t index) const { return mix(key_ + (index + 1) * kGolden); }

double RandomStream::uniform(std::uint64_t index) const { return unit(bits(index)); }

double RandomStream::normal(std::uint64_t index) const {
    // Each index has its own sequence, long enough for any number of rejected pairs.
    const std::uint64_t key = bits(index);
    for (std::uint64_t attempt = 0;; ++attempt) {
        const double u = 2.0 * unit(mix(key + (2 * attempt + 1) * kGolden)) - 1.0;
        const double v = 2.0 * unit(mix(key + (2 * attempt + 2) * kGolden)) - 1.0;
        const double uu = u * u;
        const double s = uu + v * v;
        if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * portable_log(s) / s);
    }
}

double portable_log(double x) {
    // x = m·2^e with m in [√½, √2), and ln m = 2·atanh(z) with z = (m − 1)/(m + 1): |z| < 0.172, so the series is
    // short.
    int e = 0;
    double m = std::frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        --e;
    }
    const double z = (m - 1.0) / (m + 1.0);
    const double zz = z * z;
    double sum = 0.0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * zz + 1.0 / k;
    return 2.0 * z * sum + e * 0.69314718055994530942;
}

}  // namespace decoderscope
