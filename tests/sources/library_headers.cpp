#include "tests/sources/library_headers.h"

#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace decoderscope::testing {

namespace {

// A header, and what is used of it; what several headers have is listed with each, what nearly all have with "*".
constexpr const char* kStandard = R"(
* size_t ptrdiff_t nullptr_t move forward pair swap begin end size data declval integral_constant true_type false_type
* initializer_list ranges
<algorithm> all_of any_of none_of for_each find find_if find_if_not count count_if mismatch equal search copy copy_if
<algorithm> copy_n copy_backward fill fill_n transform generate remove remove_if remove_copy remove_copy_if replace
<algorithm> replace_if reverse rotate unique sort stable_sort partial_sort nth_element is_sorted lower_bound
<algorithm> upper_bound equal_range binary_search partition stable_partition partition_point merge includes max min
<algorithm> minmax max_element min_element minmax_element clamp lexicographical_compare set_difference find_first_of
<algorithm> set_intersection set_union next_permutation shuffle adjacent_find inplace_merge
<any> any any_cast
<array> array to_array get
<atomic> atomic atomic_bool memory_order memory_order_relaxed memory_order_acquire memory_order_release
<atomic> atomic_thread_fence memory_order_acq_rel memory_order_seq_cst atomic_flag
<bit> bit_cast bit_floor bit_ceil bit_width has_single_bit endian popcount rotl rotr countr_zero countl_zero
<cctype> isalnum isalpha isdigit islower isupper isspace ispunct isxdigit tolower toupper
<charconv> from_chars to_chars chars_format errc
<chrono> chrono chrono_literals ratio milli micro nano
<cmath> isnan isinf isfinite signbit floor ceil round lround llround trunc sqrt cbrt exp exp2 expm1 log log2 log10 nearbyint
<cmath> log1p erfc pow sin cos tan acos asin atan atan2 tanh sinh cosh erf hypot ldexp frexp fmod fabs abs nan nanf
<cmath> fma nextafter copysign fmax fmin remainder modf ilogb
<codecvt> codecvt
<concepts> same_as integral floating_point convertible_to invocable equality_comparable derived_from
<condition_variable> condition_variable condition_variable_any
<coroutine> coroutine_handle suspend_always suspend_never coroutine_traits noop_coroutine
<csignal> signal sig_atomic_t raise
<cstddef> byte max_align_t
<cstdint> int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t
<cstdio> snprintf fclose fopen fwrite fread fflush rewind tmpfile fputs puts printf fprintf remove rename sscanf FILE
<cstdlib> getenv free malloc abort exit strtod strtol strtoull atol atoll aligned_alloc abs atoi system
<cstring> memcpy memcmp memset memmove memchr strlen strcmp strerror strchr strncmp
<ctime> tm clock clock_t time_t strftime time gmtime localtime
<cwchar> mbstate_t wcslen
<deque> deque erase erase_if
<exception> exception exception_ptr current_exception rethrow_exception terminate uncaught_exceptions
<filesystem> filesystem error_code errc
<fstream> streamoff ifstream ofstream fstream filebuf ios streamsize
<functional> function less greater hash plus minus multiplies divides equal_to invoke bind ref cref identity not_fn
<iomanip> setprecision setw setfill hex left right
<ios> ios streamsize
<iosfwd> ostream istream streambuf
<iostream> cout cerr cin ostream istream flush endl ios streamsize
<istream> istream ws getline ios streamsize
<iterator> back_inserter inserter istream_iterator istreambuf_iterator ostream_iterator next prev distance advance
<iterator> make_move_iterator ssize reverse_iterator forward_iterator_tag input_iterator_tag
<iterator> random_access_iterator_tag
<latch> latch
<limits> numeric_limits
<list> list
<locale> codecvt locale
<map> map multimap erase_if less
<memory> shared_ptr unique_ptr weak_ptr make_shared make_unique owner_less addressof allocator enable_shared_from_this
<memory> static_pointer_cast dynamic_pointer_cast const_pointer_cast default_delete
<mutex> mutex lock_guard unique_lock scoped_lock once_flag call_once try_to_lock recursive_mutex
<new> bad_alloc align_val_t nothrow launder
<numbers> numbers
<numeric> accumulate inner_product iota partial_sum reduce gcd lcm midpoint
<optional> optional nullopt make_optional
<ostream> ostream flush endl ios streamsize
<queue> queue priority_queue
<random> random_device mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution normal_distribution
<ranges> views
<regex> regex smatch cmatch sregex_iterator regex_search regex_match regex_replace
<set> set multiset erase_if less
<span> span as_bytes as_writable_bytes dynamic_extent
<sstream> istringstream ostringstream stringstream ios streamsize getline
<stdexcept> logic_error runtime_error invalid_argument out_of_range length_error domain_error
<stop_token> stop_token stop_source stop_callback
<streambuf> streambuf streamsize
<string> string wstring u8string u16string u32string to_string to_wstring stoi stol stoul stoll stoull stod stof
<string> getline erase erase_if char_traits string_view wstring_view
<string_view> string_view wstring_view u32string_view
<system_error> error_code error_category generic_category system_category errc make_error_code system_error
<thread> thread jthread this_thread stop_token stop_source
<tuple> tuple make_tuple tie get apply ignore tuple_size tuple_size_v tuple_element_t forward_as_tuple
<type_traits> is_same_v is_base_of_v decay_t conditional_t remove_cvref_t is_trivially_copyable_v is_signed_v
<type_traits> invoke_result_t is_invocable_v underlying_type_t enable_if_t is_arithmetic_v is_integral_v
<type_traits> is_floating_point_v remove_reference_t is_void_v is_const_v make_unsigned_t is_convertible_v
<type_traits> type_identity
<typeindex> type_index
<unordered_map> unordered_map erase_if
<unordered_set> unordered_set erase_if
<utility> exchange make_pair index_sequence make_index_sequence get as_const in_place in_place_type cmp_less
<utility> unreachable move forward pair swap
<variant> variant visit get_if holds_alternative get monostate variant_size_v variant_alternative_t
<vector> vector erase erase_if
)";

// A header of another library, or of macros, and how its names begin.
constexpr const char* kOthers = R"(
<CLI/CLI.hpp> CLI
<Eigen/Core> Eigen
<GLFW/glfw3.h> GLFW glfw
<cairo-ft.h> cairo_
<cairo-pdf.h> cairo_
<cairo.h> cairo_
<cfloat> FLT_ DBL_
<cmark.h> cmark_
<cmath> INFINITY NAN
<cstdint> SIZE_MAX UINT32_MAX UINT64_MAX
<dnnl.hpp> dnnl
<fast_float/fast_float.h> fast_float
<imgui.h> ImGui ImVec ImU32 ImDraw ImFont ImTexture ImColor
<imgui_internal.h> ImGui ImRect
<libxsmm.h> libxsmm_
<nlohmann/json.hpp> nlohmann
<nlohmann/json_fwd.hpp> nlohmann
<pcre2.h> pcre2_
<png.h> png_
<utf8proc.h> utf8proc_
<xxhash.h> XXH
<zlib.h> inflateInit inflateEnd deflateInit deflateEnd
)";

// The words of each line, each with the line's first word.
std::vector<std::pair<std::string, std::string>> read_table(const std::string& table) {
    std::vector<std::pair<std::string, std::string>> words;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream read(line);
        std::string header;
        read >> header;
        for (std::string word; read >> word;) words.emplace_back(word, header);
    }
    return words;
}

}  // namespace

std::set<std::string> standard_headers_of(const std::string& name) {
    static const auto all = [] {
        std::map<std::string, std::set<std::string>> headers;
        for (const auto& [word, header] : read_table(kStandard)) headers[word].insert(header);
        return headers;
    }();
    const auto found = all.find(name);
    return found == all.end() ? std::set<std::string>{} : found->second;
}

std::set<std::string> library_headers_of(const std::string& name) {
    static const auto all = read_table(kOthers);
    std::set<std::string> headers;
    for (const auto& [beginning, header] : all)
        if (name.starts_with(beginning)) headers.insert(header);
    return headers;
}

}  // namespace decoderscope::testing
