// Writes NAME/golden.json: ids of the texts of texts.json with the tokenizer.json beside it, and the texts that they
// decode to, by Hugging Face's own library (tokenizers 0.22, in Rust, as the npm package @anush008/tokenizers 0.6.0
// wraps it). The ids are compared with those of its port to JavaScript (the npm package @huggingface/tokenizers 0.2.0)
// and with second_opinion.json; a difference that isn't expected stops the script.
//
//     npm install @anush008/tokenizers@0.6.0 @huggingface/tokenizers@0.2.0      # in a folder elsewhere
//     node make_golden.mjs FOLDER/node_modules
//
// "ids" are without what the post-processor adds, "with_special" with it, for one text. "decoded" is left out where it
// is the text. The longest texts are given as what is repeated how often, and their ids as their number and a hash
// (FNV-1a over 32-bit little-endian ids).
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';
import { fileURLToPath, pathToFileURL } from 'url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.resolve(process.argv[2]);
const { Tokenizer } = createRequire(path.join(modules, 'x.js'))('@anush008/tokenizers');
const port = await import(pathToFileURL(path.join(modules, '@huggingface/tokenizers/dist/tokenizers.mjs')));
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

// The port doesn't read a precompiled_charsmap (it normalises as most files' maps do), and has no byte fallback for
// Unigram; there it is not asked. sentencepiece takes "▁" at a text's end for a space.
const notAsked = ['t5', 'unigram-bytes'];
const expected = (name, text) => name === 't5' && text.endsWith('▁ ');

const opinions = read('second_opinion.json');
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
for (const name of fs.readdirSync(here).filter(name => fs.existsSync(path.join(here, name, 'tokenizer.json')))) {
  const file = read(name, 'tokenizer.json');
  const tokenizer = Tokenizer.fromString(JSON.stringify(file));
  const ported = new port.Tokenizer(file, {});
  const encoded = async (text, addSpecialTokens) =>
    Array.from((await tokenizer.encode(text, null, { addSpecialTokens })).getIds());
  const counts = { texts: 0, port: 0, second: 0 };

  function check(text, ids, second, summary) {
    ++counts.texts;
    const theirs = notAsked.includes(name) ? null : summary(ported.encode(text, { add_special_tokens: false }).ids);
    for (const [who, other] of [['port', theirs], ['second', second]])
      if (other !== null && other !== undefined && !expected(name, text)) {
        if (!same(other, ids)) throw new Error(`${name}, ${who}: ${JSON.stringify(text)}: ${ids}, but ${other}`);
        ++counts[who];
      }
  }

  const second = opinions[name] ?? { cases: texts.map(() => null), longest: longest.map(() => null) };
  const cases = [];
  for (const [i, text] of texts.entries()) {
    const ids = await encoded(text, false);
    check(text, ids, second.cases[i], other => other);
    const decoded = await tokenizer.decode(ids, false);
    cases.push(decoded === text ? { text, ids } : { text, ids, decoded });
  }
  const long = [];
  for (const [i, [text, times]] of longest.entries()) {
    const ids = await encoded(text.repeat(times), false);
    const summary = [ids.length, hash(ids)];
    check(text.repeat(times), summary, second.longest[i], other => [other.length, hash(other)]);
    long.push({ text, times, count: summary[0], hash: summary[1] });
  }
  console.log(`${name}: ${JSON.stringify(counts)}`);
  const example = 'hello world';
  const golden = { counts, with_special: { text: example, ids: await encoded(example, true) }, cases, longest: long };
  fs.writeFileSync(path.join(here, name, 'golden.json'), JSON.stringify(golden).replaceAll('},{', '},\n{') + '\n');
}
