"""The texts that are tokenised, and the longest ones as what is repeated how often."""

TEXTS = [
    "", " ", "  ", "   ", "a", " a", "a ", " a ", "\n", "\t", "\r\n", "\n\n", "\n\n\n", " \n", "\n ", " \n \n ", "a\nb\n\nc\n\n\nd",
    "The decoder reads the tokens of a text.", "Hello, world!", "hello world", "HELLO WORLD", "hElLo WoRlD", "two  spaces", "three   spaces",
    "four    spaces", "trailing space ", "trailing spaces    ", "    leading spaces", "\tindented\n\t\ttwice", "tab\tbetween",
    "line one\r\nline two\r\n", "mixed \t \n spaces", "  \n\n  x", "x\n\n\n  y", " " * 16 + "sixteen", "\t" * 5 + "tabs", "\n" * 9,
    "I'm sure they've said we'll see; it's what you'd do, isn't it? They're here.", "I'M SURE THEY'VE SAID WE'LL SEE. IT'S",
    "'s 't 're 've 'm 'll 'd", "don''t", "it’s curly", "rock 'n' roll", "''''", "'", "_'s", "x's'll",
    "0", "12", "123", "1234", "12345", "1234567890", "3.14159", "1,000,000", "2024-05-03", "٣٤٥", "½ ² ①", "Ⅷ", "x86_64", "a1b2c3",
    "for (int i = 0; i < n; ++i) {\n    sum += a[i] * b[i];\n}\n", "def f(x):\n\treturn x**2  # square\n", "{\"key\": [1, 2.5, null]}",
    "<p class=\"text\">&nbsp;</p>", "https://example.org/text?a=1&b=2#part", "....", "!!!???", "----------------", "#$%^&*()_+",
    "a,,b,,,c,,,,d", "( ( ) )", "\"quoted\" 'text'", "C:\\text\\of", "$$E = mc^2$$", "!\n", "?!\r\n\r\n", "...\n\n  next",
    "😀", "😀😃😄", "I ❤️ NY", "👍🏽", "👨‍👩‍👧‍👦", "👩‍💻 writes", "🏳️‍🌈", "🇩🇪🇫🇷🇯🇵", "a😀b", " 😀 ", "😀 😀", "☃", "🎉🎉🎉🎉",
    "你好，世界！", "我喜欢学习注意力模型。", "中文 and English 混排", "学习学习学习", "吃葡萄不吐葡萄皮", "𠀀𠀁", "こんにちは世界", "カタカナとひらがな", "안녕하세요 세계",
    "مرحبا بالعالم", "שלום עולם", "Привет, мир!", "Съешь ещё этих мягких булок", "Καλημέρα κόσμε", "नमस्ते दुनिया", "สวัสดีชาวโลก",
    "Größe, Straße, Äpfel", "naïve café résumé", "nai\u0308ve cafe\u0301", "A\u030Angstro\u0308m", "ﬁn ﬂow", "İstanbul ığdır", "e\u0301\u0323", "각 \u1100\u1161\u11a8",
    "ａｂｃ１２３", "𝒜𝓁𝓅𝒽𝒶", "→ ← ∀x∈ℝ", "€100 £50", "™ ℡ ㎏", "no\u00a0break", "\u00a0\u00a0", "full\u3000width", "\u3000段落", "thin\u2009space",
    "line\u2028separator", "para\u2029graph", "zero\u200bwidth", "word\u2060joiner", "soft\u00adhyphen", "\ufeffmark", "a \ufeff b", "ogham\u1680space",
    "next\u0085line", "\u0000\u0001\u0002", "a\u0000b", "bell\u0007", "\u001b[31mred", "\u007f", "\u000b\u000c", "\u202eright to left", "\ufffd", "\uffff", "\U0010ffff",
    "▁", "▁▁", "a▁b", "▁text", " ▁ ", "<0x41>", "<0x0A>", "Ġtext", "Ċ", "<unk>", "<s>", "</s>", "a<s>b", " <s> ", "<s><s>", "the </s> end", "<pad>",
    "<|endoftext|>", "a<|endoftext|>b", "<|begin_of_text|>", "<|im_start|>user\n", "the end.<|endoftext|>", "<|endoftext", "<bos>", "<start_of_turn>user",
    "constructor __proto__ toString", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abababababababab", "thethethethe", "tttttttt", "ACGT" * 9, "0" * 25, "é" * 9,
    "Donaudampfschifffahrtsgesellschaftskapitän", "pneumonoultramicroscopicsilicovolcanoconiosis",
]

LONGEST = [("the decoder reads ", 3000), ("a", 20000), ("注意力 😀 text\n", 1500), (" ", 5000), ("x y  z   ", 2500), ("12345 ", 3000)]
