#include "engine/model/tokenizer/byte_pairs.h"

#include "engine/error.h"

#include <functional>
#include <queue>
#include <string>

namespace decoderscope {

namespace {

std::uint64_t key(Index left, Index right) {
    return (static_cast<std::uint64_t>(left) << 32U) | static_cast<std::uint64_t>(right);
}

std::string hexadecimal(unsigned char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {digits[byte >> 4U], digits[byte & 15U]};
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// One token of a word that is being merged, in a chain with its neighbours.
struct Link {
    Index id = 0;
    std::size_t before = kNone, after = kNone;
    bool gone = false;  // merged into the one before
};

// Two neighbours that can merge; outdated once either has merged with another.
struct Candidate {
    std::uint32_t rank = 0;
    std::size_t left = 0;
    Index left_id = 0, right_id = 0, result = 0;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
};
using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

}  // namespace

BytePairs::BytePairs(const std::array<Index, 256>& bytes, const std::vector<Merge>& merges) : bytes_(bytes) {
    std::uint32_t rank = 0;
    // A pair listed twice gets its later rank, as in GPT-2's own table.
    for (const Merge& merge : merges) merges_[key(merge.left, merge.right)] = {rank++, merge.result};
}

void BytePairs::encode(std::string_view word, std::vector<Index>& ids) const {
    std::vector<Link> chain(word.size());
    for (std::size_t i = 0; i < word.size(); ++i) {
        const auto byte = static_cast<unsigned char>(word[i]);
        if (bytes_[byte] < 0)
            throw Error("the vocabulary has no token for the byte {byte}", {{"byte", hexadecimal(byte)}});
        chain[i] = {bytes_[byte], i == 0 ? kNone : i - 1, i + 1 == word.size() ? kNone : i + 1};
    }
    Candidates candidates;
    const auto consider = [&](std::size_t left) {
        if (left == kNone || chain[left].after == kNone) return;
        const Index left_id = chain[left].id, right_id = chain[chain[left].after].id;
        const auto found = merges_.find(key(left_id, right_id));
        if (found != merges_.end())
            candidates.push({found->second.rank, left, left_id, right_id, found->second.result});
    };
    for (std::size_t i = 0; i < chain.size(); ++i) consider(i);
    while (!candidates.empty()) {
        const Candidate next = candidates.top();
        candidates.pop();
        Link& left = chain[next.left];
        if (left.gone || left.id != next.left_id || left.after == kNone || chain[left.after].id != next.right_id)
            continue;
        Link& right = chain[left.after];
        left.id = next.result;
        left.after = right.after;
        right.gone = true;
        if (left.after != kNone) chain[left.after].before = next.left;
        consider(left.before);
        consider(next.left);
    }
    for (const Link& link : chain)
        if (!link.gone) ids.push_back(link.id);
}

}  // namespace decoderscope
