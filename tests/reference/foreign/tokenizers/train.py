"""Makes the tokenizers of this folder: NAME/tokenizer.json, as the families' files are, with small vocabularies.

    /usr/bin/python3 train.py        # needs sentencepiece (Debian's python3-sentencepiece)

The byte-level vocabulary is trained here, by counting pairs. The byte-fallback and Unigram vocabularies are trained by
sentencepiece and then written as tokenizer.json. second_opinion.json has ids from another implementation than the one
in make_golden.mjs: for the byte-level ones a plain one below, else sentencepiece with the model that it trained.
"""

import base64
import collections
import io
import json
import pathlib
import re
import unicodedata

import sentencepiece

from texts import LONGEST, TEXTS

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = (HERE / "corpus.txt").read_text(encoding="utf-8")

GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
                r"\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2_WORDS = LLAMA3_WORDS.replace(r"\p{N}{1,3}", r"\p{N}")


def opinion(ids, fits):
    """The ids of the texts and of the longest ones; null where this implementation doesn't do what the file says."""
    return {"cases": [ids(text) if fits(text) else None for text in TEXTS],
            "longest": [summary(ids(text * times)) if fits(text) else None for text, times in LONGEST]}


def summary(ids):
    """Their number and FNV-1a over them as 32-bit little-endian numbers."""
    h = 0xCBF29CE484222325
    for byte in b"".join(id.to_bytes(4, "little") for id in ids):
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return [len(ids), f"{h:016x}"]


# --- patterns, for Python's re ----------------------------------------------------------------------------------------


def ranges(wanted):
    found, start = [], None
    for code in range(0x110000 + 1):
        inside = code < 0x110000 and wanted(chr(code))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(found)


SPACES = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"  # Unicode's White_Space


def compiled(pattern):
    letters = ranges(lambda c: unicodedata.category(c)[0] == "L")
    numbers = ranges(lambda c: unicodedata.category(c)[0] == "N")

    def replace(match):
        inner = match.group(0)
        for name, members in ((r"\p{L}", letters), (r"\p{N}", numbers), (r"\s", SPACES)):
            inner = inner.replace(name, members)
        return inner if match.group(0).startswith("[") else "[" + inner + "]"

    pattern = pattern.replace(r"\S", "[^" + SPACES + "]")
    return re.compile(re.sub(r"\[\^?[^\]]*\\[ps][^\]]*\]|\\p\{[LN]\}|\\s", replace, pattern))


# --- byte-level BPE ---------------------------------------------------------------------------------------------------


def byte_alphabet():
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(0x100 + len(letters) - len(shown))
    return letters


ALPHABET = byte_alphabet()


def written(text):
    return "".join(ALPHABET[byte] for byte in text.encode("utf-8"))


def merged(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def train_byte_level(words, count):
    words = {word: [list(word), times] for word, times in words.items()}
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for parts, times in words.values():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += times
        pair = max(pairs, key=lambda p: (pairs[p], p))
        if pairs[pair] < 2:
            break
        merges.append(pair)
        for entry in words.values():
            entry[0] = merged(entry[0], pair)
    return merges


def byte_level_ids(text, words, ranks, vocabulary, whole_words):
    ids = []
    for word in words.findall(text):
        word = written(word)
        if whole_words and word in vocabulary:
            ids.append(vocabulary[word])
            continue
        parts = list(word)
        while True:
            known = [(ranks[pair], pair) for pair in zip(parts, parts[1:]) if pair in ranks]
            if not known:
                break
            parts = merged(parts, min(known)[1])
        ids += [vocabulary[part] for part in parts]
    return ids


# --- tokenizer.json ---------------------------------------------------------------------------------------------------


def added(content, id, special=True, normalized=False):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": normalized,
            "special": special}


def special_first(token, id):
    """What puts a token before every text."""
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                     {"SpecialToken": {"id": token, "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}}}


def special_last(token, id):
    return {"type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": token, "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": token, "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": token, "type_id": 0}}],
            "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}}}


def bpe(vocabulary, merges, **more):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **more, "vocab": vocabulary,
            "merges": merges}


def save(name, added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model):
    (HERE / name).mkdir(exist_ok=True)
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens,
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": model}
    text = json.dumps(file, ensure_ascii=False, indent=None, separators=(",", ":"))
    (HERE / name / "tokenizer.json").write_text(text + "\n", encoding="utf-8")


def byte_level(opinions):
    words = collections.Counter(written(word) for word in compiled(GPT2_WORDS).findall(CORPUS))
    merges = train_byte_level(words, 340)
    vocabulary = {letter: id for id, letter in enumerate(sorted(ALPHABET.values()))}
    for pair in merges:
        vocabulary.setdefault("".join(pair), len(vocabulary))
    first = len(vocabulary)
    # A word that no merge leads to: Llama 3 finds it as a whole, GPT-2 doesn't.
    with_word = {**vocabulary, written(" Aufmerksamkeit"): first, written("decoder"): first + 1}
    texts, pairs = [" ".join(pair) for pair in merges], [list(pair) for pair in merges]
    decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}

    def level(**more):
        return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **more}

    def split(pattern):
        return {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": pattern},
                                                       "behavior": "Isolated",
                                                       "invert": False}, level(use_regex=False)]}

    save("gpt2", [added("<|endoftext|>", first)], None, level(), level(trim_offsets=False), decoder,
         bpe(vocabulary, texts))
    spaces = [added(" " * n, first + 1 + i, special=False, normalized=True) for i, n in enumerate(range(8, 1, -1))]
    save("gpt-neox", [added("<|endoftext|>", first), *spaces], {"type": "NFC"}, level(), level(), decoder,
         bpe(vocabulary, texts))
    begin = [added("<|begin_of_text|>", first + 2), added("<|endoftext|>", first + 3)]
    save("llama-3", begin, None, split(LLAMA3_WORDS),
         {"type": "Sequence", "processors": [level(trim_offsets=False), special_first("<|begin_of_text|>", first + 2)]},
         decoder,
         bpe(with_word, pairs, ignore_merges=True))
    save("qwen2", [added("<|endoftext|>", first), added("<|im_start|>", first + 1)], {"type": "NFC"},
         split(QWEN2_WORDS),
         level(trim_offsets=False, use_regex=False), decoder, bpe(vocabulary, texts))

    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for name, pattern, table, whole, nfc in (("gpt2", GPT2_WORDS, vocabulary, False, False),
                                             ("llama-3", LLAMA3_WORDS, with_word, True, False),
                                             ("qwen2", QWEN2_WORDS, vocabulary, False, True)):
        words = compiled(pattern)

        def ids(text):
            return byte_level_ids(unicodedata.normalize("NFC", text) if nfc else text, words, ranks, table, whole)

        opinions[name] = opinion(ids, lambda text: "<|" not in text)

    words, runs = compiled(GPT2_WORDS), {token["content"]: token["id"] for token in spaces}

    def neox_ids(text):
        parts = re.split("(" + "|".join(runs) + ")", unicodedata.normalize("NFC", text))  # the longest stands first
        return [id for part in parts for id in
                ([runs[part]] if part in runs else byte_level_ids(part, words, ranks, vocabulary, False))]

    opinions["gpt-neox"] = opinion(neox_ids, lambda text: "<|" not in text)


# --- sentencepiece ----------------------------------------------------------------------------------------------------


def trained(**options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS.splitlines()), model_writer=model,
                                             character_coverage=0.98, num_threads=1, minloglevel=2, **options)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()), model.getvalue()


def pieces_of(processor):
    return [(processor.id_to_piece(id), processor.get_score(id)) for id in range(processor.get_piece_size())]


def merges_of(pieces):
    """Each way to put a piece together from two others, the best piece first: such a model as a list of merges."""
    ids = {piece: id for id, (piece, _) in enumerate(pieces)}
    merges = []
    for piece, score in pieces:
        ways = [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in ids and piece[i:] in ids]
        merges += [(*way, score) for way in sorted(ways, key=lambda way: (ids[way[0]], ids[way[1]]))]
    return [list(merge[:2]) for merge in sorted(merges, key=lambda merge: -merge[2])]


FALLBACK_DECODER = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
                    {"type": "Fuse"}]


def byte_fallback(opinions):
    common = {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity",
              "remove_extra_whitespaces": False,
              "split_digits": True, "vocab_size": 760, "allow_whitespace_only_pieces": True}
    processor, _ = trained(**common)
    pieces = pieces_of(processor)
    vocabulary = {piece: id for id, (piece, _) in enumerate(pieces)}
    merges = merges_of([entry for entry in pieces if not processor.is_byte(vocabulary[entry[0]])])
    special = [added("<unk>", 0), added("<s>", 1), added("</s>", 2)]
    model = bpe(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    joined = {**model, "merges": [" ".join(merge) for merge in merges]}
    save("llama-2", special, {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, None,
        special_first("<s>", 1), {"type": "Sequence", "decoders": [*FALLBACK_DECODER, strip]}, joined)
    save("mistral", special, None, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
         special_first("<s>", 1), {"type": "Sequence", "decoders": [*FALLBACK_DECODER, strip]}, model)
    def plain(text):
        return text != "" and not any(token in text for token in ("<s>", "</s>", "<unk>"))

    opinions["llama-2"] = opinion(processor.encode, plain)
    # Metaspace puts no second mark before a text that begins with one; sentencepiece does.
    opinions["mistral"] = opinion(processor.encode, lambda text: plain(text) and text[0] not in " ▁")

    runs = ["<start_of_turn>", "\n\n", "\n\n\n", "▁▁", "▁▁▁", "▁▁▁▁"]
    processor, _ = trained(**common, add_dummy_prefix=False, pad_id=0, eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>",
                           eos_piece="<eos>", bos_piece="<bos>", user_defined_symbols=runs)
    pieces = pieces_of(processor)
    vocabulary = {piece: id for id, (piece, _) in enumerate(pieces)}
    merges = merges_of([entry for entry in pieces if not processor.is_byte(vocabulary[entry[0]])])
    special = [added(piece, id) for id, piece in enumerate(("<pad>", "<eos>", "<bos>", "<unk>"))]
    special += [added(run, vocabulary[run], special=run.startswith("<")) for run in runs]
    save("gemma", special, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
         {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
         special_first("<bos>", 2), {"type": "Sequence", "decoders": FALLBACK_DECODER},
         bpe(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    opinions["gemma"] = opinion(processor.encode, lambda text: not any(
        token in text for token in ("<pad>", "<eos>", "<bos>", "<unk>")))


RULES = [("ﬁ", "fi"), ("ﬂ", "fl"), ("\u00a0", " "), ("\u3000", " "), ("\t", " "), ("\n", " "), ("\r", " "), ("™", "TM"),
         ("㎏", "kg"),
         ("½", "1/2"), ("²", "2"), ("e\u0301", "é"), ("\u0001", ""), ("\u200b", " "), ("\ufeff", ""), ("…", "...")]
RULES += [(chr(0xFF01 + i), chr(0x21 + i)) for i in range(94)]


def charsmap(model):
    """The precompiled_charsmap of a sentencepiece model: field 2 of normalizer_spec, field 3 of its protocol buffer."""

    def fields(data):
        at = 0

        def number():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            key = number()
            if key & 7 == 2:
                size = number()
                yield key >> 3, data[at:at + size]
                at += size
            elif key & 7 == 5:
                at += 4
            else:
                number()

    spec = next(value for field, value in fields(model) if field == 3)
    return next(value for field, value in fields(spec) if field == 2)


def unigram(opinions):
    common = {"model_type": "unigram", "vocab_size": 420, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1,
              "pad_piece": "<pad>",
              "eos_piece": "</s>", "unk_piece": "<unk>", "hard_vocab_limit": False}
    special = [added("<pad>", 0), added("</s>", 1), added("<unk>", 2)]
    rules = HERE / "rules.tsv"
    hexadecimal = [[" ".join(f"{ord(character):X}" for character in side) for side in rule] for rule in RULES]
    rules.write_text("".join("\t".join(rule) + "\n" for rule in hexadecimal))
    processor, model = trained(**common, normalization_rule_tsv=str(rules))
    rules.unlink()
    pieces = [[piece, round(score, 6)] for piece, score in pieces_of(processor)]
    # Scores as the file says them: those that sentencepiece computes with are the same, in float32.
    metaspace = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    save("t5", special, {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(model)).decode()},
         {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}, special_last("</s>", 1),
         metaspace,
         {"type": "Unigram", "unk_id": 2, "vocab": pieces})

    def plain(text):
        return text[:1] not in ("", "▁") and not any(token in text for token in ("</s>", "<pad>", "<unk>"))

    # WhitespaceSplit cuts at each of Unicode's spaces, sentencepiece at those of the rules alone. The accents below
    # and above one letter are a case of their own: the file's normaliser replaces a whole grapheme.
    opinions["t5"] = opinion(processor.encode,
                             lambda text: plain(text) and not re.search("[\x0b\x0c\x85\u1680\u2009\u2028\u2029\u0323]",
                                                                        text))

    processor, _ = trained(**{**common, "vocab_size": 680}, normalization_rule_name="identity", byte_fallback=True,
                           remove_extra_whitespaces=False, allow_whitespace_only_pieces=True)
    pieces = [[piece, round(score, 6)] for piece, score in pieces_of(processor)]
    save("unigram-bytes", special, None, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                                          "split": False},
         special_last("</s>", 1), {"type": "Sequence", "decoders": FALLBACK_DECODER},
         {"type": "Unigram", "unk_id": 2, "vocab": pieces, "byte_fallback": True})
    opinions["unigram-bytes"] = opinion(processor.encode,
                                        lambda text: plain(text) and text[0] != " " and "<0x" not in text)


def main():
    opinions = {}
    byte_level(opinions)
    byte_fallback(opinions)
    unigram(opinions)
    (HERE / "second_opinion.json").write_text(json.dumps(opinions, separators=(",", ":")) + "\n")
    (HERE / "texts.json").write_text(json.dumps(TEXTS) + "\n")
    (HERE / "longest.json").write_text(json.dumps(LONGEST) + "\n")


if __name__ == "__main__":
    main()
