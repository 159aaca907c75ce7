#include "app/core/text/counting.h"

#include "engine/message.h"

namespace decoderscope {

std::string grouped(Index number) {
    std::string text = std::to_string(number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

Sentence counted_rows(std::size_t count) {
    return message_n("{count} row", "{count} rows", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_numbers(std::size_t count) {
    return message_n("{count} number", "{count} numbers", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_steps(std::size_t count) {
    return message_n("{count} step", "{count} steps", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_tensors(std::size_t count) {
    return message_n("{count} tensor", "{count} tensors", count, {{"count", grouped(static_cast<Index>(count))}});
}

}  // namespace decoderscope
