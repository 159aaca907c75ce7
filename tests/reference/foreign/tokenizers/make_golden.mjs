// Writes NAME/golden.json: ids by the npm package @huggingface/tokenizers 0.2.0 of the texts of texts.json with
// the tokenizer.json beside it, compared with second_opinion.json.
//
//     npm pack @huggingface/tokenizers@0.2.0 && tar xzf huggingface-tokenizers-0.2.0.tgz
//     node make_golden.mjs package/dist/tokenizers.mjs
//
// "ids" are without what the post-processor adds, "with_special" with it, for one text. The longest texts are given as
// what is repeated how often, and their ids as their number and a hash (FNV-1a over 32-bit little-endian ids).
import fs from 'fs';
import path from 'path';
import { fileURLToPath, pathToFileURL } from 'url';

const here = path.dirname(fileURLToPath(import.meta.url));
const { Tokenizer } = await import(pathToFileURL(path.resolve(process.argv[2])));
const read = (...parts) => JSON.parse(fs.readFileSync(path.join(here, ...parts), 'utf8'));
const texts = read('texts.json');
const longest = read('longest.json');

function hash(ids) {
  let h = 0xcbf29ce484222325n;
  for (const id of ids)
    for (let byte = 0; byte < 4; ++byte)
      h = ((h ^ BigInt((id >> (8 * byte)) & 255)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return h.toString(16).padStart(16, '0');
}

// This package doesn't read a precompiled_charsmap (it normalises as most files' maps do), and has no byte fallback for
// Unigram: there, sentencepiece's ids are taken, and its own where these two don't matter. A text is left out where
// neither is sure.
const sentencepieceFirst = {
  't5': text => !/[\u0085\u0323]/.test(text),
  'unigram-bytes': (text, ids) => !ids.includes(2) && !text.includes('<0x'),
};

const opinions = read('second_opinion.json');
for (const name of fs.readdirSync(here).filter(name => fs.existsSync(path.join(here, name, 'tokenizer.json')))) {
  const tokenizer = new Tokenizer(read(name, 'tokenizer.json'), {});
  const own = text => tokenizer.encode(text, { add_special_tokens: false }).ids;
  const sure = sentencepieceFirst[name];
  const counts = { texts: 0, confirmed: 0, unconfirmed: 0, sentencepiece: 0, left_out: 0 };

  function choose(text, ids, second) {
    ++counts.texts;
    const same = second !== null && JSON.stringify(second) === JSON.stringify(ids);
    if (same) return ++counts.confirmed, ids;
    if (second !== null && sure) return ++counts.sentencepiece, second;
    if (second !== null)
      throw new Error(`${name}: ${JSON.stringify(text)}: ${JSON.stringify(ids)}, but ${JSON.stringify(second)}`);
    if (sure && !sure(text, ids)) return ++counts.left_out, null;
    return ++counts.unconfirmed, ids;
  }

  const second = opinions[name] ?? { cases: texts.map(() => null), longest: longest.map(() => null) };
  const cases = texts.map((text, i) => ({ text, ids: choose(text, own(text), second.cases[i]) }))
    .filter(one => one.ids !== null);
  const long = longest.map(([text, times], i) => {
    const found = own(text.repeat(times));
    if (sure && second.longest[i] === null && found.includes(2)) return null;
    const [count, digest] = choose(text, [found.length, hash(found)], second.longest[i]);
    return { text, times, count, hash: digest };
  }).filter(one => one !== null);
  console.log(`${name}: ${JSON.stringify(counts)}`);
  const example = 'hello world';
  const golden = { counts, with_special: { text: example, ids: tokenizer.encode(example).ids }, cases, longest: long };
  fs.writeFileSync(path.join(here, name, 'golden.json'), JSON.stringify(golden).replaceAll('},{', '},\n{') + '\n');
}
