// JupyterLab's parts (lab.js) in Chromium, with the kernels of Debian's Jupyter: what is shown under a cell, and what stays.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {cells, drawn, jupyter, newFolder, untilDark, viewersIn, writeNotebook} from './jupyter.mjs';
import {chromium, sleep, until} from './visitor.mjs';

const bundler = await import('esbuild').catch(() => null);
const skip = bundler === null && 'JupyterLab was not tried: its parts are not installed (npm install, with tests/notebook/package.json)';
const wrong = [];
let folder, server, browser;

before(async () => {
    if (skip) return;
    folder = await newFolder();
    const site = join(folder, 'site', 'lab');
    await mkdir(site, {recursive: true});
    await bundler.build({
        entryPoints: {lab: 'lab.js', light: '@jupyterlab/theme-light-extension/style/theme.css', dark: '@jupyterlab/theme-dark-extension/style/theme.css'},
        bundle: true, format: 'esm', outdir: site, logLevel: 'error', define: {'process.env': '{}', global: 'globalThis'},
        loader: Object.fromEntries(['.svg', '.png', '.ttf', '.eot', '.woff', '.woff2'].map(ending => [ending, 'dataurl'])),
    });
    await writeFile(join(site, 'index.html'), '<!doctype html><html><head><meta charset="utf-8"><title>Notebook</title><link rel="stylesheet" href="lab.css">'
        + '<style>#notebook { position: absolute; inset: 0; }</style></head><body><script type="module" src="lab.js"></script></body></html>');
    server = await jupyter(folder, `--NotebookApp.extra_static_paths=['${join(folder, 'site')}']`, '--NotebookApp.disable_check_xsrf=True');
    browser = await chromium();
});
after(async () => {
    await browser?.close();
    server?.kill();
});

const opened = async (query, height = 2000) => {
    const page = await browser.newPage();
    await page.setViewport({width: 1280, height});
    page.on('pageerror', error => wrong.push(String(error)));
    await page.goto(`${server.url}static/lab/index.html?${query}`);
    await until('the notebook', () => page.evaluate(() => Boolean(window.lab)));
    return page;
};
// lab.js's function of this name, in the page.
const ask = (page, what, ...given) => page.evaluate(async (what, given) => { await window.lab[what](...given); }, what, given);
const viewers = page => page.evaluate(() => document.querySelectorAll('script[data-decoderscope-viewer]').length);

test('the first cell draws, the second uses the same program, and both follow the theme', {skip}, async () => {
    await writeNotebook(join(folder, 'two.ipynb'), 'ds.show(decoder, x, memory, height=400);', 'ds.show(decoder, x + 1, memory, height=400);');
    const page = await opened('path=two.ipynb&kernel');
    await ask(page, 'runAll');
    const both = await drawn(page, 2);
    assert.ok(both.every(({shows}) => shows.model.endsWith('recording.safetensors') && shows.said === null), JSON.stringify(both));
    assert.equal(await viewers(page), 1);
    for (const theme of ['light', 'dark', 'light']) {
        await ask(page, 'theme', theme);
        for (const cell of [0, 1]) await untilDark(theme === 'dark', page, page, cell);
    }
    await ask(page, 'save');
    await page.close();
    assert.deepEqual(wrong, []);
});

test('the first cell edited and run again, or the last one deleted and another run: the file has the viewer once', {skip}, async () => {
    const path = join(folder, 'edited.ipynb');
    await writeNotebook(path, 'ds.show(decoder, x, memory, height=400);', 'ds.show(decoder, x + 1, memory, height=400);');
    const page = await opened('path=edited.ipynb&kernel');
    await ask(page, 'runAll');
    await drawn(page, 2);
    await ask(page, 'edit', 1, 'print("edited")\nds.show(decoder, x + 2, memory, height=400);');
    await ask(page, 'run', 1);
    await drawn(page, 2);
    await ask(page, 'save');
    assert.equal(await viewersIn(path), 1);
    await ask(page, 'remove', 1);
    await ask(page, 'run', 1);
    await drawn(page, 1);
    await ask(page, 'save');
    assert.equal(await viewersIn(path), 1);
    await page.close();
});

for (const [windowing, theme] of [['contentVisibility', 'light'], ['full', 'dark']])
    test(`opened again without a kernel it shows what was stored, ${theme}, also after scrolling away and back (${windowing})`, {skip}, async () => {
        const empty = Array.from({length: 40}, () => '"a line";');
        await writeNotebook(join(folder, 'long.ipynb'), 'ds.show(decoder, x, memory, height=300);', ...empty, 'ds.show(decoder, x + 1, memory, height=300);');
        const writer = await opened('path=long.ipynb&kernel');
        await ask(writer, 'runAll');
        await ask(writer, 'scroll', 1e6);
        await ask(writer, 'save');
        await writer.close();
        const reader = await opened(`path=long.ipynb&windowing=${windowing}&theme=${theme}`, 900);
        for (const index of [1, 42, 1]) {
            await until(`the viewer of cell ${index}`, async () => {
                await ask(reader, 'scroll', index === 1 ? 0 : 1e6);  // again, since cells are as high as they are only once they are drawn
                const all = await cells(reader);
                return all.length > 0 && all.at(index === 1 ? 0 : -1).seen;
            }, 60000).catch(async error => { throw new Error(`${error.message}; there is ${JSON.stringify(await cells(reader))}`); });
        }
        await untilDark(theme === 'dark', reader);
        await reader.close();
    });

// What a process and all that it started hold, in MB; what they share is counted once.
const memory = async root => {
    const processes = execFileSync('ps', ['-eo', 'pid=,ppid='], {encoding: 'utf8'}).trim().split('\n').map(line => line.trim().split(/\s+/).map(Number));
    const below = pid => [pid, ...processes.filter(([, parent]) => parent === pid).flatMap(([child]) => below(child))];
    const each = await Promise.all(below(root).map(pid => readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')));
    return each.reduce((sum, text) => sum + Number(/^Pss: +(\d+)/m.exec(text)?.[1] ?? 0), 0) / 1000;
};

test('of ten cells eight are live, and the two that rest come back', {skip}, async context => {
    await writeNotebook(join(folder, 'ten.ipynb'), ...Array.from({length: 10}, (_, i) => `ds.show(decoder, x + ${i}, memory, height=150);`));
    const page = await opened('path=ten.ipynb&kernel', 3600);  // out of sight none is drawn
    const before = await memory(browser.process().pid);
    await ask(page, 'runAll');
    const live = () => page.evaluate(() => [...document.querySelectorAll('.decoderscope')].map(cell => cell.querySelector('iframe') !== null));
    await until('ten cells', async () => (await live()).length === 10 && (await live()).filter(one => one).length === 8);
    await until('eight viewers', async () => (await cells(page)).filter(({seen}) => seen).length === 8, 120000);
    const held = await memory(browser.process().pid) - before;
    context.diagnostic(`eight viewers hold ${held.toFixed(0)} MB`);
    assert.ok(held < 2500, `${held} MB`);
    assert.equal(await viewers(page), 1);
    await page.evaluate(() => document.querySelector('.decoderscope button').click());
    await until('the first to come back', async () => (await cells(page))[0].seen, 60000);
    assert.equal((await live()).filter(one => one).length, 8);
    await page.close();
});

test('a recording that is refused is a sentence under the cell, and no other model', {skip}, async () => {
    await writeNotebook(join(folder, 'refused.ipynb'), 'run = ds.record(decoder, x, memory)\nopen("cut.safetensors", "wb").write(run.data[:5000])\nds.show("cut.safetensors");');
    const page = await opened('path=refused.ipynb&kernel');
    await ask(page, 'runAll');
    const [{says}] = await until('a sentence', async () => {
        const all = await cells(page);
        return /cut\.safetensors/.test(all[0]?.says) && all;
    });
    await sleep(500);
    const [{seen}] = await cells(page);
    assert.equal(seen, false, says);
    await page.close();
});
