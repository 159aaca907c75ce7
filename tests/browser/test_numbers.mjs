// Every number of every reference configuration (tests/reference/fixtures), as the page in Chromium shows it, against
// PyTorch's: what tests/engine/test_parity.cpp checks of the engine, in the same tolerance.
//
// As a person could do it: the fixture's files are dropped on the page together with a session that names its input,
// edits and dropout seed. Then, from the first step to the last, each head is chosen by its digit, and what is shown is
// copied as CSV (Ctrl+C), which gives each float exactly. The page exports no whole trace; so it is read slice by slice.
// A session opens each batch row. FIXTURES is the folder; STORED that of GGUF files with every tensor of theirs
// (tests/reference/stored), which open in the same way.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {promisify} from 'node:util';
import {deflateSync} from 'node:zlib';
import {numbers, parsed} from './safetensors.mjs';
import {downloads, drop, frames, press, siteInChromium, title, until, visit} from './visitor.mjs';

const tolerance = 1e-5;  // of a tensor's scale, as in test_parity.cpp
const fill = 1e4;
// Steps of the timeline that no trace has: those on the way to a tensor, and those that are computed on demand.
const inTheWindowOnly = /(_un[a-z]+|embed_sum|\.result|\.attn\.(q|kv)_down|\.attn\.k_own|\.mlp\.shared_logit)$/;

// ---- a fixture

// {name, files: {name: bytes}, run, nhead, rows, inputs: {name: tensor}, expected: [tensor]}
async function fixture(name, among = process.env.FIXTURES) {
    const folder = join(among, name);
    const files = {};
    for (const file of await readdir(folder)) files[file] = await readFile(join(folder, file));
    const json = file => files[file] && JSON.parse(files[file]);
    const inputs = Object.fromEntries(parsed(files['inputs.safetensors']).tensors.map(tensor => [tensor.name, tensor]));
    return {
        name, files, inputs, run: json('run.json') ?? {}, edits: json('edits.json') ?? [],
        nhead: (json('config.json') ?? json('about.json').our_config).nhead, rows: (inputs.tokens ?? inputs.x).shape[0],
        expected: parsed(files['expected.safetensors']).tensors,
    };
}

// [[1, 2], [3, 4]]: a tensor's numbers as nested lists.
function nested(tensor) {
    let lists = numbers(tensor);
    for (const size of tensor.shape.slice(1).reverse())
        lists = Array.from({length: lists.length / size}, (_, i) => lists.slice(i * size, (i + 1) * size));
    return lists;
}

// A session beside the fixture's own files (docs/sessions.md), at a batch row's first tensor. Weights that come from a
// random seed are a bundled model's.
function session({files, inputs, run, edits, expected}, batch, tab = 'step') {
    const input = {};
    for (const [name, tensor] of Object.entries(inputs))
        input[name] = tensor.dtype === 'F32' || name === 'custom_mask' ? {file: 'inputs.safetensors'} : nested(tensor);
    return Buffer.from(JSON.stringify({
        format: 'decoderscope-session', version: 1, input, edits, tab,
        ...(tab === 'experts' ? {labs: {experts: {}}} : {}),
        model: run.bundled ? {bundled: run.bundled} : {path: files['model.gguf'] ? 'model.gguf' : '.'},
        ...('dropout_seed' in run ? {dropout_seed: run.dropout_seed} : {}),
        cursor: {step: expected[0].name, batch, head: 0},
    }));
}

// ---- what the page shows

// Frames follow keys at once, without waiting for the screen. Nothing is painted: a machine without a graphics card takes
// twenty times as long for that as for all else, and pictures are compared elsewhere. What the page gives to the clipboard
// is the test's.
const prepare = page => page.evaluateOnNewDocument(() => {
    WebGL2RenderingContext.prototype.drawElements = () => {};
    const ask = window.requestAnimationFrame.bind(window);
    let next = [], asked = 0;
    const drawn = time => {
        for (const draw of next.splice(0)) draw(time);
    };
    window.requestAnimationFrame = draw => next.push(draw) > 1 ? asked : asked = ask(drawn);
    window.drawNow = () => {
        cancelAnimationFrame(asked);
        drawn(performance.now());
    };
    navigator.clipboard.writeText = async text => { window.copied = text; };
});

// Goes from where the cursor is to the last step. Returns the names of all steps, and [name, head or position, CSV] of
// each slice that is wanted: {name: {heads: [head, …]}}, of an empty list the one that is shown, whatever head it is; or
// {name: {positions: [0, 1, …]}}. `late`: steps that are computed once they are visited.
const walked = (page, wanted, late) => page.evaluate(async (wanted, late) => {
    const names = [], slices = [];
    const rest = milliseconds => new Promise(done => setTimeout(done, milliseconds));
    const step = () => document.title.split(' · ').at(-2);
    let before = '';
    const tap = (key, code, ctrlKey = false) => {
        const event = kind => document.dispatchEvent(new KeyboardEvent(kind, {key, code, ctrlKey, bubbles: true, cancelable: true}));
        if (key === before) window.drawNow();  // in which it comes up
        before = key;
        event('keydown');
        window.drawNow();
        event('keyup');
    };
    const copy = (name, slice) => {
        window.copied = null;
        tap('c', 'KeyC', true);
        slices.push([name, slice, window.copied]);
    };
    // Position by position, from the first; which one is shown, the page keeps from step to step.
    const copyPositions = (name, positions) => {
        for (const _ of positions) tap('PageUp', 'PageUp');
        for (const position of positions) {
            copy(name, position);
            tap('PageDown', 'PageDown');
        }
    };
    while (step() !== names.at(-1)) {
        const name = step();
        names.push(name);
        if (late.includes(name)) await rest(500);
        const {heads = null, positions = []} = wanted[name] ?? {};
        for (const head of heads ?? []) {
            tap(`${head}`, `Digit${head}`);
            copy(name, head);
        }
        if (heads?.length === 0) copy(name, 0);
        copyPositions(name, positions);
        tap('ArrowRight', 'ArrowRight');
        await rest(0);
    }
    return {names, slices};
}, wanted, late);

// The fields of each line. Labels may be quoted: they are tokens.
function lines(csv) {
    const found = [[]];
    for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
        found.at(-1).push(quoted ?? plain);
        if (end !== ',') found.push([]);
    }
    return found.slice(0, -1);
}

function number(text) {
    if (text === 'nan') return NaN;
    if (/^-?inf$/.test(text)) return text === 'inf' ? Infinity : -Infinity;
    assert.match(text, /^-?\d+(\.\d+)?(e[+-]?\d+)?$/);
    return Math.fround(Number(text));
}

// The numbers of a copied slice of this many rows and columns, without the column of a sink beside a pattern's keys.
function cells(csv, rows, columns) {
    assert.ok(csv, 'nothing was copied');
    const all = lines(csv);
    const [header, ...body] = all[0].at(-1) === 'sink' && columns > 1 ? all.map(line => line.slice(0, -1)) : all;
    assert.deepEqual([body.length, ...new Set([header, ...body].map(line => line.length))], [rows, columns + 1], 'rows and columns');
    return body.flatMap(line => line.slice(1).map(number));
}

// Drops a fixture's files and a session.
async function open(page, one, batch, tab) {
    const {name, files} = one;
    const {'expected.safetensors': _, 'edits.json': __, 'run.json': ___, 'about.json': ____, ...own} = files;
    const opened = `${name}.${batch}.dscope`;
    await drop(page, {[opened]: session(one, batch, tab), ...own});
    await until(`${opened} to be open`, async () => (await title(page))[0] === opened, 20000);
}

// How the page shows a tensor, [batch, head, row, column] without its first axes if there are fewer: in slices of rows
// and columns. What a position's experts compute is [batch, pos, slot, column].
const ofExperts = ({name, shape}) => shape.length > 3 && name.includes('.mlp.');
const slicing = ({shape}) => ({
    batches: shape.length > 2 ? shape[0] : 1, slices: shape.length > 3 ? shape[1] : 1, height: shape.at(-2), width: shape.at(-1),
});

// Opens a fixture at each of its batch rows. Returns {names, tensors: {name: its numbers}}.
async function shown(page, fixture) {
    const {run, nhead, rows, expected} = fixture;
    const tensors = Object.fromEntries(expected.map(({name, bytes}) => [name, new Array(bytes.length / 4)]));
    let names;
    for (let batch = 0; batch < rows; ++batch) {
        await open(page, fixture, batch);
        const wanted = {};
        for (const tensor of expected) {
            const {batches, slices} = slicing(tensor);
            const each = Array.from({length: slices}, (_, slice) => slice);
            if (batch >= batches) continue;
            // A key/value head is shown for the query heads that read it.
            wanted[tensor.name] = ofExperts(tensor) ? {positions: each} : {heads: slices > 1 ? each.map(head => head * nhead / slices) : []};
        }
        const {slices, ...walk} = await walked(page, wanted, run.asked ?? []);
        names ??= walk.names;
        assert.deepEqual(walk.names, names);
        for (const [name, shown, csv] of slices) {
            const tensor = expected.find(tensor => tensor.name === name);
            const {slices: count, height, width} = slicing(tensor);
            const at = (batch * count + (ofExperts(tensor) ? shown : shown * count / nhead)) * height * width;
            cells(csv, height, width).forEach((value, i) => { tensors[name][at + i] = value; });
        }
    }
    return {names, tensors};
}

// The largest difference relative to the tensor's scale (its largest finite magnitude, at least 1; fills such as -1e20
// must match and don't count for the scale). Infinite if a NaN, an infinity or a fill doesn't match. As in
// test_parity.cpp.
function difference(ours, theirs) {
    const scale = theirs.reduce((most, value) => Number.isFinite(value) && Math.abs(value) < fill ? Math.max(most, Math.abs(value)) : most, 1);
    let worst = 0;
    theirs.forEach((b, i) => {
        const a = ours[i];
        if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return;
        const off = Number.isFinite(a) && Number.isFinite(b) ? Math.abs(a - b) / (Math.abs(b) < fill ? scale : Math.abs(b)) : Infinity;
        worst = Math.max(worst, off);
    });
    return worst;
}

const site = siteInChromium();

// Compares every tensor of the models in a folder; `inOrder`: and what is shown is these and no others. In CI of every third
// model: a page takes seconds for each.
async function compared(context, among, inOrder) {
    const all = (await readdir(among, {withFileTypes: true})).filter(one => one.isDirectory()).map(({name}) => name).sort();
    const names = all.filter((_, index) => !process.env.SLOW_MACHINE || index % 3 === 0);
    const {page, wrong} = await visit(site.browser, site.server.url, {before: prepare});
    let tensors = 0, worst = 0, worstAt = '';
    for (const name of names)
        await context.test(name, async () => {
            const one = await fixture(name, among);
            const {names, tensors: ours} = await shown(page, one);
            const recorded = one.expected.map(({name}) => name);
            if (inOrder) assert.deepEqual(names.filter(name => recorded.includes(name) || !inTheWindowOnly.test(name)), recorded);
            const off = [];
            for (const tensor of one.expected) {
                const largest = difference(ours[tensor.name], numbers(tensor));
                if (!(largest <= tolerance)) off.push(`${tensor.name}: ${largest}`);
                if (largest > worst) [worst, worstAt] = [largest, `${name}: ${tensor.name}`];
                ++tensors;
            }
            assert.deepEqual(off, []);
        });
    console.log(`${tensors} tensors; the largest difference is ${worst} of the scale, at ${worstAt}`);
    assert.deepEqual(wrong, []);
    return all.length;
}

test('every tensor of every fixture equals PyTorch\'s, by name and in order', async context => {
    const count = await compared(context, process.env.FIXTURES, true);
    assert.ok(count >= 80, `${count} fixtures`);
});

test('every tensor of a dropped GGUF file equals that of its module', async context => {
    const count = await compared(context, process.env.STORED, false);
    assert.ok(count >= 6, `${count} files`);
});

// Rows of experts, columns of positions: what the module gives to each at a batch row; 0 where it wasn't chosen.
function expertWeights(one, mlp, batch) {
    const tensor = name => one.expected.find(tensor => tensor.name === `${mlp}.${name}`);
    const [, positions, slots] = tensor('expert').shape;
    const chosen = numbers(tensor('expert')), weights = numbers(tensor('expert_weight'));
    const table = Array.from({length: tensor('router_scores').shape[2]}, () => new Array(positions).fill(0));
    for (let i = 0; i < positions * slots; ++i) {
        const at = batch * positions * slots + i;
        table[chosen[at]][Math.floor(i / slots)] = weights[at];
    }
    return table.flat();
}

test('the Experts tab of a dropped mixture shows the weights that PyTorch gives', async () => {
    const {page, wrong} = await visit(site.browser, site.server.url, {before: prepare});
    const one = await fixture('experts-routed');
    for (const batch of [0, 1]) {
        await open(page, one, batch, 'experts');
        const csv = await until('the weights to be copied', async () => {
            await page.evaluate(() => { window.copied = null; });
            await press(page, 'c', 'Control');
            const text = await page.evaluate(() => window.copied);
            return text?.startsWith('tensor,place,row,column') && text;
        });
        const shown = lines(csv).slice(1).filter(line => line[0] !== 'load').map(line => number(line[6]));
        assert.ok(difference(shown, expertWeights(one, 'blocks.0.mlp', batch)) <= tolerance, csv);
    }
    assert.deepEqual(wrong, []);
});

test('an exported file holds the same numbers', async () => {
    const {page, wrong} = await visit(site.browser, site.server.url);
    const {next} = await downloads(page);
    const one = await fixture('llama-like');
    await open(page, one, 1, 'heads');
    await frames(page, 60);
    await press(page, 'e', 'Control');
    await frames(page, 30);
    await page.keyboard.type('patterns.safetensors', {delay: 20});  // of all heads of all layers, as the tab shows them
    await frames(page, 30);
    await press(page, 'Enter');
    const {tensors} = parsed(await readFile(await next('.safetensors')));
    const expected = one.expected.filter(({name}) => name.endsWith('.attn.pattern'));
    assert.deepEqual(tensors.map(({name, shape}) => [name, ...shape]), expected.map(({name, shape}) => [name, ...shape.slice(1)]));
    tensors.forEach((tensor, i) => {
        const ours = numbers(tensor);
        assert.ok(difference(ours, numbers(expected[i]).slice(-ours.length)) <= tolerance, tensor.name);
    });
    assert.deepEqual(wrong, []);
});

// A step that was rewritten, a row of one's own over it, and one beside the unedited run: opened by link, each is what the
// desktop program exports of the same session.
test('a sheet of one\'s own opens from a link with the numbers of the command line', async () => {
    if (!process.env.DESKTOP) return;
    const session = step => JSON.stringify({
        format: 'decoderscope-session', version: 1, model: {bundled: 'reverse'}, tab: 'step', cursor: {step, batch: 0, head: 0},
        edits: [{edit: 'formula', step: 'blocks.0.attn.pattern', formula: 'softmax(x / 2, dim=-1)'},
                {edit: 'row', name: 'entropy', of: 'blocks.0.attn', formula: '-(pattern * (pattern + 1e-9).log()).sum(-1)'},
                {edit: 'row', name: 'moved', of: 'blocks.0.attn', formula: '(pattern - base.pattern).abs().sum(-1)'}],
    });
    const folder = await mkdtemp(join(tmpdir(), 'sheet-'));
    for (const name of ['pattern', 'entropy', 'moved'].map(name => `blocks.0.attn.${name}`)) {
        await writeFile(join(folder, 'sheet.dscope'), session(name));
        await promisify(execFile)(process.env.DESKTOP, ['export', 'sheet.dscope', '--tensor', name, '--batch', '0', '--head', '0', '--out', 'x.csv'],
                                  {cwd: folder});
        const exported = (await readFile(join(folder, 'x.csv'), 'utf8')).replaceAll(/\r?\n/g, '\r\n');
        const [header, ...rows] = lines(exported);
        const link = `#s1=${deflateSync(session(name)).toString('base64url')}`;
        const {page, wrong} = await visit(site.browser, site.server.url + link, {before: prepare});
        const copied = await until(`${name} to be copied`, async () => {
            await page.evaluate(() => { window.copied = null; });
            await press(page, 'c', 'Control');
            const text = await page.evaluate(() => window.copied);
            return text?.startsWith(header[0]) && text;
        });
        const values = csv => cells(csv, rows.length, header.length - 1);
        assert.ok(difference(values(copied), values(exported)) <= tolerance, name);
        assert.deepEqual(wrong, []);
        await page.close();
    }
    await rm(folder, {recursive: true});
});
