// Each output in a frame of its own, without an origin, as Colab shows them: none sees another one's viewer.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {convert, drawn, newFolder, untilDark, viewersIn, writeNotebook} from './jupyter.mjs';
import {chromium, until} from './visitor.mjs';

let browser, outputs;

before(async () => {
    const folder = await newFolder();
    await writeNotebook(join(folder, 'written.ipynb'), 'import sys, types\nsys.modules["google.colab"] = types.ModuleType("google.colab")',
        'ds.show(decoder, x, memory, height=300);', 'ds.show(decoder, x + 1, memory, height=300);');
    convert(join(folder, 'written.ipynb'), '--to', 'notebook', '--execute', '--output', 'stored.ipynb');
    assert.equal(await viewersIn(join(folder, 'stored.ipynb')), 2);
    const {cells} = JSON.parse(await readFile(join(folder, 'stored.ipynb'), 'utf8'));
    outputs = cells.map(cell => (cell.outputs ?? []).flatMap(output => output.data?.['text/html'] ?? []).join('')).filter(text => text);
    browser = await chromium();
});
after(() => browser?.close());

for (const theme of ['light', 'dark'])
    test(`each of two frames without an origin shows its output, ${theme}`, async () => {
        const page = await browser.newPage();
        await page.setViewport({width: 1280, height: 900});
        const style = theme === 'dark' ? 'background: #383838; color: #e3e3e3' : 'background: #fff; color: #1f1f1f';
        await page.setContent('<!doctype html><body></body>');
        await page.evaluate((outputs, style) => {
            for (const output of outputs) {
                const frame = Object.assign(document.createElement('iframe'), {sandbox: 'allow-scripts', width: 1200, height: 400, className: 'output'});
                frame.srcdoc = `<!doctype html><body style="${style}">${output}</body>`;
                document.body.append(frame);
            }
        }, outputs, style);
        assert.equal(outputs.length, 2);
        for (const element of await page.$$('.output')) {
            const frame = await until('the frame', () => element.contentFrame());
            const [{shows}] = await drawn(frame, 1);
            assert.match(shows.model, /recording\.safetensors$/);
            await untilDark(theme === 'dark', page, frame);
        }
        await page.close();
    });
