// Writes variants.json: the tokenizers of this folder with other steps, as further families have them, and what Hugging
// Face's own library makes of many texts. See make_golden.mjs for the package.
//
//     node make_variants.mjs FOLDER/node_modules
//
// A variant is one of the folders and values at JSON pointers of its tokenizer.json. "ids" holds the lower 32 bits of a
// hash (FNV-1a) over the ids of each text as 32-bit little-endian numbers, with special tokens; "decoded" the same over
// the bytes of the text that these ids without special tokens decode to.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';
import { fileURLToPath } from 'url';

const here = path.dirname(fileURLToPath(import.meta.url));
const { Tokenizer } = createRequire(path.join(path.resolve(process.argv[2]), 'x.js'))('@anush008/tokenizers');
const read = (...parts) => JSON.parse(fs.readFileSync(path.join(here, ...parts), 'utf8'));

// ---- the texts: those of texts.json, and random ones that put unlike characters side by side

const pieces = [' ', '  ', '\n', '\r\n', '\t', "'s", "'S", "'\u017f", "'ll", 'the', ' the', 'The', 'decoder', ' reads', 'a', 'É', 'e\u0301',
  'e\u0301\u0323', '\u0323\u0301', '1', '12', '٣', '½', 'Ⅷ', '.', '...', '!', '(', '|', '-', '_', '«', '▁', '▁▁', '中', '文字', 'ひら', '한국', 'ش', 'ﬁ', '™',
  '😀', '👨‍👩‍👧', '🇩🇪', '\u0085', '\ufeff', '\u00a0', '\u3000', '\u200b', '\u200d', '\u2028', '\u0000', '\u001c', 'ß', 'İ', 'K', 'ǅ', 'ʰ', '<s>', '</s>', '<unk>',
  '<|endoftext|>', '<0x41>', 'aa', 'क्ष', 'ก', '$', '€', 'x²', '\u1160\u11a8', '가'];
let state = 12345;
const random = below => (state = (state * 1103515245 + 12345) % 2147483648, Math.floor(state / 65536) % below);
const texts = read('texts.json');
for (let i = 0; i < 400; ++i) {
  let text = '';
  for (let left = 1 + random(9); left > 0; --left) text += pieces[random(pieces.length)];
  texts.push(text);
}

// ---- the variants

const byteLevel = more => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true, ...more });
const split = (pattern, behavior = 'Isolated', invert = false) => ({ type: 'Split', pattern, behavior, invert });
const regex = (text, behavior, invert) => split({ Regex: text }, behavior, invert);
const inTurn = (...pretokenizers) => ({ type: 'Sequence', pretokenizers });
const metaspace = (prepend_scheme, split) => ({ type: 'Metaspace', replacement: '▁', prepend_scheme, split });
const bytes = byteLevel({ use_regex: false });
const token = (id, content, more) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const gpt2 = read('gpt2', 'tokenizer.json').model.vocab;
const words = ['the', 'The', 'a', 'decoder', '.', '...', '!', 'reads', '中', '1', '12', "'", 's'];

const variants = [
  ['a space before every text', 'gpt2', { '/pre_tokenizer': byteLevel({ add_prefix_space: true }) }],
  ['no words', 'gpt2', { '/pre_tokenizer': bytes }],
  ['cl100k and OLMo 2', 'llama-3', { '/pre_tokenizer': inTurn(regex("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+", 'Removed', true), bytes) }],
  ['o200k', 'llama-3', { '/pre_tokenizer': inTurn(regex("[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"), bytes) }],
  ['DeepSeek', 'qwen2', { '/pre_tokenizer': inTurn(regex('[\r\n]'), regex('\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶ]+'), regex('\\s?[!-/:-~！-／：-～‘-‟　-。]+'), regex('\\s+$'), regex('[一-龥ࠀ-一가-퟿]+'), { type: 'Digits', individual_digits: true }, bytes) }],
  ['DeepSeek 3', 'qwen2', { '/pre_tokenizer': inTurn(regex('\\p{N}{1,3}'), regex('[一-龥぀-ゟ゠-ヿ]+'), regex('[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+'), bytes) }],
  ['BLOOM', 'gpt2', { '/pre_tokenizer': inTurn(regex(' ?[^(\\s|[.,!?…。，、।۔،])]+'), bytes) }],
  ['StarCoder', 'gpt2', { '/pre_tokenizer': inTurn({ type: 'Digits', individual_digits: true }, byteLevel()) }],
  ['Falcon', 'gpt2', { '/pre_tokenizer': inTurn({ type: 'Punctuation', behavior: 'Contiguous' }, byteLevel(), { type: 'Digits', individual_digits: false }, regex('[0-9][0-9][0-9]')) }],
  ['scripts', 'gpt2', { '/pre_tokenizer': inTurn(regex('[\\p{Han}\\p{Hiragana}]+|\\P{L}|\\p{^Lu}|\\w+|\\d|[^\\w\\s]|\\u0041'), bytes) }],
  ...['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'].flatMap(behavior => [false, true].map(invert =>
    [`${behavior}${invert ? ', inverted' : ''}`, 'gpt2', { '/pre_tokenizer': inTurn(split({ String: ' ' }, behavior, invert), bytes) }])),
  ...['always', 'first', 'never'].flatMap(scheme => [false, true].map(cut =>
    [`Metaspace ${scheme}${cut ? ', split' : ''}`, 'mistral', { '/pre_tokenizer': metaspace(scheme, cut), '/decoder': metaspace(scheme, cut) }])),
  ['stripped on the left, Metaspace first', 'mistral', { '/normalizer': { type: 'Strip', strip_left: true, strip_right: false } }],
  ['stripped on both sides', 'mistral', { '/normalizer': { type: 'Strip', strip_left: true, strip_right: true } }],
  ['letters removed, Metaspace first', 'mistral', { '/normalizer': { type: 'Replace', pattern: { Regex: '[aT]' }, content: '' } }],
  ['words, then Metaspace first', 'mistral', { '/pre_tokenizer': inTurn({ type: 'WhitespaceSplit' }, metaspace('first', true)) }],
  ...['NFC', 'NFD', 'NFKC', 'NFKD'].map(type => [type, 'gpt2', { '/normalizer': { type } }]),
  ['T5, not as of old', 't5', { '/normalizer': { type: 'Sequence', normalizers: [read('t5', 'tokenizer.json').normalizer, { type: 'Strip', strip_left: false, strip_right: true }, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: '▁' }] }, '/pre_tokenizer': metaspace('first', true) }],
  ['added tokens with spaces beside them', 'gpt2', { '/added_tokens': [token(594, '<|endoftext|>', { lstrip: true, rstrip: true }), token(595, '<s>', { rstrip: true }), token(596, '</s>', { lstrip: true })] }],
  ['added tokens that are words', 'gpt2', { '/added_tokens': [token(gpt2.the ?? 0, 'the', { single_word: true }), token(gpt2.a, 'a', { single_word: true, special: false }), token(594, '  '), token(595, ' ', { rstrip: true })] }],
  ['added tokens in normalized text', 'llama-2', { '/added_tokens/1/normalized': true, '/added_tokens/2/normalized': true }],
  ['added tokens in composed text', 'gpt-neox', { '/added_tokens': [token(594, 'e\u0301', { normalized: true }), token(595, '中', { normalized: false })] }],
  ['unknown characters one by one', 'llama-2', { '/model/byte_fallback': false, '/model/fuse_unk': false }],
  ['unknown characters together', 'llama-2', { '/model/byte_fallback': false }],
  ['BART', 'gpt2', { '/post_processor': { type: 'RobertaProcessing', sep: ['<|endoftext|>', 594], cls: ['!', 0], trim_offsets: true, add_prefix_space: false } }],
  ['BERT', 'gpt2', { '/post_processor': { type: 'BertProcessing', sep: ['<|endoftext|>', 594], cls: ['!', 0] } }],
  ['words, from a tutorial', 'gpt2', { '/model': { type: 'WordLevel', vocab: Object.fromEntries(['[UNK]', '[PAD]', '[SOS]', '[EOS]', ...words].map((word, id) => [word, id])), unk_token: '[UNK]' }, '/added_tokens': ['[UNK]', '[PAD]', '[SOS]', '[EOS]'].map((word, id) => token(id, word)), '/pre_tokenizer': { type: 'Whitespace' }, '/post_processor': null, '/decoder': null }],
  ['affixes', 'gpt2', { '/model': { type: 'BPE', dropout: null, unk_token: '[UNK]', continuing_subword_prefix: '##', end_of_word_suffix: '</w>', fuse_unk: false, vocab: Object.fromEntries(['[UNK]', 't', '##h', '##e', '##e</w>', 'th', 'the</w>', 'a</w>', 'a', '##a', '##a</w>', 'aa</w>', '##s</w>'].map((word, id) => [word, id])), merges: [['t', '##h'], ['th', '##e</w>'], ['a', '##a</w>']] }, '/added_tokens': [token(0, '[UNK]')], '/pre_tokenizer': { type: 'Whitespace' }, '/post_processor': null, '/decoder': null }],
  ['signs', 'gpt2', { '/pre_tokenizer': inTurn({ type: 'Punctuation', behavior: 'Isolated' }, { type: 'Digits', individual_digits: false }, bytes) }],
];

function set(file, pointer, value) {
  const keys = pointer.split('/').slice(1), last = keys.pop();
  keys.reduce((object, key) => object[key], file)[last] = value;
}

function hash(bytes) {
  let h = 0xcbf29ce484222325n;
  for (const byte of bytes) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return (h & 0xffffffffn).toString(16).padStart(8, '0');
}

const written = [];
for (const [name, base, values] of variants) {
  const file = read(base, 'tokenizer.json');
  for (const [pointer, value] of Object.entries(values)) set(file, pointer, value);
  const tokenizer = Tokenizer.fromString(JSON.stringify(file));
  let ids = '', decoded = '';
  for (const text of texts) {
    const whole = (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds();
    const plain = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
    ids += hash(new Uint8Array(Uint32Array.from(whole).buffer));
    decoded += hash(new TextEncoder().encode(await tokenizer.decode(Array.from(plain), false)));
    if (process.argv[3] === name) console.log(JSON.stringify(text), Array.from(whole).join(), JSON.stringify(await tokenizer.decode(Array.from(plain), false)));
  }
  written.push({ name, base, set: values, ids, decoded });
}
fs.writeFileSync(path.join(here, 'variants.json'), JSON.stringify({ texts, variants: written }).replaceAll('},{"name"', '},\n{"name"') + '\n');
console.log(`${written.length} variants, ${texts.length} texts`);
