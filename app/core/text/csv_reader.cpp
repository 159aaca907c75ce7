#include "app/core/text/csv_reader.h"

#include "app/core/text/at_line.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"

#include <utility>

namespace decoderscope::core {

namespace {

constexpr std::string_view kBlanks = " \t\r", kByteOrderMark = "\xEF\xBB\xBF";

class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& path) : text_(text), path_(path) {
        if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    }

    [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }

    CsvRecord record() {
        CsvRecord record{.line = line_};
        for (;;) {
            record.fields.push_back(field());
            if (is_at_end() || text_[at_] != ',') break;
            ++at_;
        }
        if (!is_at_end()) {
            ++at_;  // the end of the line
            ++line_;
        }
        return record;
    }

private:
    // Ends at a comma, at the end of the line or at the end of the text.
    std::string field() {
        skip_blanks();
        return !is_at_end() && text_[at_] == '"' ? quoted_field() : plain_field();
    }

    std::string plain_field() {
        const std::size_t begin = at_;
        for (int depth = 0; !is_at_end() && text_[at_] != '\n' && (depth > 0 || text_[at_] != ','); ++at_) {
            if (text_[at_] == '[') ++depth;
            if (text_[at_] == ']') --depth;
        }
        return std::string(trimmed(text_.substr(begin, at_ - begin), kBlanks));
    }

    // A quote in it is written twice.
    std::string quoted_field() {
        const int begin = line_;
        std::string field;
        for (++at_;; ++at_) {
            if (is_at_end()) fail(begin, message("a text in quotes doesn't end; expected another \" after it"));
            if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
            if (text_[at_] == '"') ++at_;
            if (text_[at_] == '\n') ++line_;
            field += text_[at_];
        }
        ++at_;
        skip_blanks();
        if (!is_at_end() && text_[at_] != ',' && text_[at_] != '\n')
            fail(line_, message("more text after a text in quotes; expected a comma, and each quote inside the text "
                                "written twice"));
        return field;
    }

    [[noreturn]] void fail(int line, const Sentence& why) const {
        throw Error("{path}:{line}: {why}", {{"path", path_}, {"line", line}, {"why", why}});
    }

    void skip_blanks() {
        while (!is_at_end() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
    }

    std::string_view text_;
    const std::string& path_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}  // namespace

std::vector<CsvRecord> read_csv(std::string_view text, const std::string& path, std::size_t most) {
    std::vector<CsvRecord> records;
    for (CsvReader reader(text, path); !reader.is_at_end();) {
        CsvRecord record = reader.record();
        if (record.fields.size() == 1 && record.fields.front().empty()) continue;
        at_line(path, record.line, [&] {
            if (records.size() >= most) throw Error("too many lines, expected at most {most}", {{"most", most}});
        });
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace decoderscope::core
