// Paths are UTF-8 in the program. On Windows std::filesystem::path is made of wide characters, and GCC's library
// converts it from and to char by std::codecvt<wchar_t, char, std::mbstate_t>, which asks the C library. That one,
// msvcrt.dll, knows no UTF-8: it would take each byte for a character. These are that class's five functions, for
// UTF-8; the linker takes them before the library's.
#include <cwchar>
#include <locale>

namespace {

constexpr unsigned kFirstHigh = 0xd800, kFirstLow = 0xdc00, kAfterLow = 0xe000;

// The length of a character by its first byte; 0 if it isn't one.
int length_by(unsigned char first) {
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

// Reads one character: >0 bytes read, 0 cut short, −1 none.
int read(const char* from, const char* end, unsigned& code) {
    const int length = length_by(static_cast<unsigned char>(*from));
    if (length == 0) return -1;
    if (end - from < length) return 0;
    code = length == 1 ? static_cast<unsigned char>(*from) : static_cast<unsigned char>(*from) & (0x7fU >> length);
    for (int i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(from[i]);
        if ((byte & 0xc0U) != 0x80U) return -1;
        code = code << 6U | (byte & 0x3fU);
    }
    const bool half = code >= kFirstHigh && code < kAfterLow, overlong = length == 3 && code < 0x800;
    return half || overlong || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ? -1 : length;
}

}  // namespace

namespace std {

using Wide = codecvt<wchar_t, char, mbstate_t>;

codecvt_base::result Wide::do_in(state_type&, const char* from, const char* from_end, const char*& from_next,
                                 wchar_t* to, wchar_t* to_end, wchar_t*& to_next) const {
    result outcome = ok;
    while (from < from_end) {
        unsigned code = 0;
        const int bytes = read(from, from_end, code);
        const int units = code >= 0x10000 ? 2 : 1;
        if (bytes <= 0 || to_end - to < units) {
            outcome = bytes < 0 ? error : partial;
            break;
        }
        from += bytes;
        if (units == 2) {
            *to++ = static_cast<wchar_t>(kFirstHigh + ((code - 0x10000) >> 10U));
            *to++ = static_cast<wchar_t>(kFirstLow + ((code - 0x10000) & 0x3ffU));
        } else {
            *to++ = static_cast<wchar_t>(code);
        }
    }
    from_next = from;
    to_next = to;
    return outcome;
}

// Half a pair, which a name on Windows may contain, is written as if it were a character.
codecvt_base::result Wide::do_out(state_type&, const wchar_t* from, const wchar_t* from_end, const wchar_t*& from_next,
                                  char* to, char* to_end, char*& to_next) const {
    result outcome = ok;
    while (from < from_end) {
        unsigned code = static_cast<unsigned short>(*from);
        int units = 1;
        if (code >= kFirstHigh && code < kFirstLow && from_end - from > 1) {
            const unsigned low = static_cast<unsigned short>(from[1]);
            if (low >= kFirstLow && low < kAfterLow) {
                code = 0x10000 + ((code - kFirstHigh) << 10U) + (low - kFirstLow);
                units = 2;
            }
        }
        const int bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (to_end - to < bytes) {
            outcome = partial;
            break;
        }
        from += units;
        if (bytes == 1) {
            *to++ = static_cast<char>(code);
            continue;
        }
        for (int i = bytes - 1; i >= 0; --i) {
            const unsigned part = code >> (6U * static_cast<unsigned>(i));
            *to++ = static_cast<char>(i == bytes - 1 ? (0xf00U >> static_cast<unsigned>(bytes) & 0xffU) | part
                                                     : 0x80U | (part & 0x3fU));
        }
    }
    from_next = from;
    to_next = to;
    return outcome;
}

int Wide::do_encoding() const throw() { return 0; }
int Wide::do_max_length() const throw() { return 4; }

int Wide::do_length(state_type&, const char* from, const char* end, size_t most) const {
    const char* const begin = from;
    for (unsigned code = 0; from < end && most > 0; --most) {
        const int bytes = read(from, end, code);
        if (bytes <= 0) break;
        from += bytes;
    }
    return static_cast<int>(from - begin);
}

}  // namespace std
