#include "app/link_base.h"

namespace decoderscope {

LinkBase link_base(const Settings& settings) { return {address_of(settings.browser_address), true}; }

}  // namespace decoderscope
