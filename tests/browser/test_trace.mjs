// Recordings of other programs, dropped on the page in Chromium: looked at, bisected, cut short, in several files, wrong.
// TRACES is the folder of recordings that PyTorch made (tests/reference/bugs/traces).
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {parsed, written} from './safetensors.mjs';
import {click, drop, frames, press, push, siteInChromium, step, stranger, title, until} from './visitor.mjs';

const site = siteInChromium();

// ---- the files

// A recording that holds its model's parameters, as the recorder writes them: before what was computed.
async function recording(name) {
    const folder = join(process.env.TRACES, 'gpt');
    const trace = parsed(await readFile(join(folder, `${name}.safetensors`)));
    const model = parsed(await readFile(join(folder, 'model.safetensors')));
    const parameters = model.tensors.map(tensor => ({...tensor, name: `param/${tensor.name}`}));
    return {metadata: trace.metadata, tensors: [...parameters, ...trace.tensors]};
}

// What each of two ranks holds: half of the last axis of the tensors that are sharded, and all of the others.
function rank(whole, number, sharded) {
    const half = tensor => {
        const {shape, bytes} = tensor;
        const row = bytes.length / shape.slice(0, -1).reduce((a, b) => a * b, 1);
        const rows = Array.from({length: bytes.length / row}, (_, i) => bytes.subarray(i * row, (i + 1) * row));
        return {...tensor, shape: [...shape.slice(0, -1), shape.at(-1) / 2], bytes: Buffer.concat(rows.map(one => one.subarray(number * row / 2, (number + 1) * row / 2)))};
    };
    return written({metadata: {...whole.metadata, rank: String(number), world_size: '2'},
                    tensors: whole.tensors.map(tensor => sharded.test(tensor.name) ? half(tensor) : tensor)});
}
const manifest = Buffer.from(JSON.stringify({
    format: 'decoderscope-trace 1', world_size: 2,
    ranks: [{rank: 0, file: 't.rank0-of-2.safetensors'}, {rank: 1, file: 't.rank1-of-2.safetensors'}],
    shards: [{tensors: '*.c_fc/out', axis: -1}],
}));

// ---- what a person does

async function newcomer() {
    const visitor = await stranger(site);
    await frames(visitor.page, 60);
    return visitor;
}

const opened = (page, name) => until(`${name} to be open`, async () => (await title(page)).at(-3) === name, 20000);

// The recording that is shown, as the model that it holds; then Diff.
async function bisecting(page) {
    await push(page, 'open it as a model');
    await frames(page, 30);
    await click(page, 540, 368);  // activation
    await frames(page, 30);
    await click(page, 532, 455);  // "gelu_tanh", which neither tensors nor calls say
    await click(page, 347, 506);  // "Open"
    await until('the model', async () => (await step(page)) === 'blocks.0.attn.pattern', 20000);
    await frames(page, 60);
    await press(page, 'c');
    await frames(page, 30);
}

// All that was found, by "Copy as text".
async function found(page, what) {
    await page.evaluate(() => navigator.clipboard.writeText(''));
    return until(`a bisection with ${what}`, async () => {
        await push(page, 'Copy as text');
        const text = await page.evaluate(() => navigator.clipboard.readText());
        return what.test(text) && text;
    });
}

test('a recording is shown, opened as the model that it holds, and bisected; the repaired one agrees', async () => {
    const {page, wrong, context} = await newcomer();
    const bug = written(await recording('causal-one-too-far'));
    await drop(page, {'bug.safetensors': bug});
    await opened(page, 'bug.safetensors');
    await press(page, 'End');
    await until('the last tensor', async () => (await step(page)) === 'lm_head/out');
    await press(page, 'Home');
    assert.equal(await step(page), '(model)/in.tokens');
    await bisecting(page);
    await drop(page, {'bug.safetensors': bug});
    const text = await found(page, /^First difference/);
    assert.match(text, /^First difference: blocks\.0\.attn\.masked_scores, theirs h\.0\.attn\/masked_fill\/out\. The causal mask is off by one: each position sees the next one\.$/m);
    assert.match(text, /^ +causal-one-too-far: .* With it, everything agrees\.$/m);
    // Recorded again under the same name: all of it is what is computed, and the model that is open was recorded with the mistake.
    const repaired = written(await recording('right-plain'));
    await drop(page, {'bug.safetensors': repaired});
    assert.match(await found(page, /All of theirs is what is computed here/), /^Differs: lm_head\/out: .*this model computed something else when it was recorded\.$/m);
    await press(page, 's');
    await drop(page, {'repaired.safetensors': repaired});
    await opened(page, 'repaired.safetensors');
    await bisecting(page);
    await drop(page, {'repaired.safetensors': repaired});
    assert.match(await found(page, /agree/), /^45 tensors agree/);
    assert.deepEqual(wrong, []);
    await context.close();
});

test('a recording that was cut short shows and compares what it holds, and says so', async () => {
    const {page, wrong, context} = await newcomer();
    const whole = await recording('right-plain');
    const file = written(whole);
    const last = whole.tensors.findIndex(({name}) => name === 'h.1.attn.c_attn/out');
    const lost = whole.tensors.slice(last).reduce((sum, {bytes}) => sum + bytes.length, 0);
    await drop(page, {'cut.safetensors': file.subarray(0, file.length - lost + 4)});
    await opened(page, 'cut.safetensors');
    await press(page, 'End');
    await until('the last that is whole', async () => (await step(page)) === 'h.1.ln_1/out');
    await bisecting(page);
    await drop(page, {'cut.safetensors': file.subarray(0, file.length - lost + 4)});
    const text = await found(page, /agree/);
    assert.match(text, new RegExp(`^Note: the file is truncated: ${whole.tensors.length - last} tensors are missing, h\\.1\\.attn\\.c_attn/out the first$`, 'm'));
    assert.deepEqual(wrong, []);
    await context.close();
});

test('the ranks of a recording open by their manifest, and are bisected as one', async () => {
    const {page, wrong, context} = await newcomer();
    const whole = await recording('gelu-exact');
    await drop(page, {'whole.safetensors': written(whole)});
    await opened(page, 'whole.safetensors');
    await bisecting(page);
    await drop(page, {'whole.safetensors': written(whole)});
    const alone = await found(page, /^First difference/);
    assert.match(alone, /^ +gelu-exact: /m);
    await drop(page, {'right.safetensors': written(await recording('right-plain'))});
    await found(page, /agree/);
    const ranks = {'t.rank0-of-2.safetensors': rank(whole, 0, /\.c_fc\/out$/), 't.rank1-of-2.safetensors': rank(whole, 1, /\.c_fc\/out$/)};
    await drop(page, {...ranks, 't.manifest.json': manifest});
    assert.equal(await found(page, /^First difference/), alone);
    // As above, in the step's view.
    await press(page, 's');
    await drop(page, {...ranks, 't.manifest.json': manifest});
    await opened(page, 't.manifest.json');
    await press(page, 'End');
    await until('the last tensor', async () => (await step(page)) === 'lm_head/out');
    assert.deepEqual(wrong, []);
    await context.close();
});

test('what is no recording leaves the page as it is', async () => {
    const {page, wrong, context} = await newcomer();
    const whole = await recording('right-plain');
    const file = written(whole);
    const lying = Buffer.from(file);
    lying.writeBigUInt64LE(1n << 60n);
    const rank0 = rank(whole, 0, /\.c_fc\/out$/);
    const wrongOnes = [
        {'text.safetensors': Buffer.from('this is no recording')},
        {'header.safetensors': lying},
        {'parameters.safetensors': file.subarray(0, file.length - whole.tensors.filter(({name}) => !name.startsWith('param/')).reduce((sum, {bytes}) => sum + bytes.length, 0))},
        {'t.manifest.json': manifest},                                            // without its files
        {'t.rank0-of-2.safetensors': rank0, 't.rank1-of-2.safetensors': rank0, 't.manifest.json': manifest},  // the same rank twice
        {'pickle.pt': Buffer.from('\x80\x02}q\x00.', 'latin1')},
        {'nothing.npz': Buffer.alloc(0)},
    ];
    for (const files of wrongOnes) {
        await drop(page, files);
        await frames(page, 72);
        await press(page, 'Escape');  // the dialog that says how a pickle is converted
        assert.equal((await title(page)).at(-3), 'words', Object.keys(files).join());
    }
    // And it still opens one.
    await drop(page, {'right.safetensors': file});
    await opened(page, 'right.safetensors');
    assert.deepEqual(wrong, []);
    await context.close();
});

test('a drop that is too large is refused before it is read, whatever is open stays', async () => {
    const {page, wrong, context} = await newcomer();
    await page.evaluate(() => {
        const piece = new Blob([new Uint8Array(1 << 26)]);
        const data = new DataTransfer();
        // Each alone would be read.
        for (const name of ['a.safetensors', 'b.safetensors']) data.items.add(new File(Array(12).fill(piece), name));
        window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
    });
    const said = await until('a sentence', () => page.evaluate(() => document.getElementById('say').textContent));
    assert.match(said, /1\.6 GB, expected at most 1\.5 GB/);
    assert.equal((await title(page)).at(-3), 'words');
    await page.click('#say');
    assert.equal(await page.evaluate(() => document.getElementById('say').textContent), '');
    await drop(page, {'right.safetensors': written(await recording('right-plain'))});
    await opened(page, 'right.safetensors');
    assert.deepEqual(wrong, []);
    await context.close();
});
