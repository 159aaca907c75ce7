#include "engine/json.h"

namespace nlohmann {

template class detail::lexer<json, TextAdapter>;
template class detail::lexer<ordered_json, TextAdapter>;
template class detail::parser<json, TextAdapter>;
template class detail::parser<ordered_json, TextAdapter>;
template class detail::serializer<json>;
template class detail::serializer<ordered_json>;

}  // namespace nlohmann
