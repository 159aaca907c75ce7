// VS Code's own notebooks in Chromium, from the server of npm's code-server: a stored notebook without a kernel, as its renderer
// draws it. Of the server's native parts none is built; what lacks then (terminals, searching, logs) isn't used here.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {cells, convert, drawn, freePort, newFolder, untilDark, viewersIn, writeNotebook} from './jupyter.mjs';
import {chromium, sleep, until} from './visitor.mjs';

const program = join('node_modules', 'code-server', 'lib', 'vscode');
const skip = !existsSync(join(program, 'node_modules')) && 'VS Code was not tried: its parts are not installed (tests/notebook/run.sh)';
let folder, server, browser, address;

before(async () => {
    if (skip) return;
    folder = await newFolder();
    const path = join(folder, 'written.ipynb');
    await writeNotebook(path, 'ds.show(decoder, x, memory, height=300);', 'ds.show(decoder, x + 1, memory, height=300);');
    convert(path, '--to', 'notebook', '--execute', '--output', 'stored.ipynb');
    assert.equal(await viewersIn(join(folder, 'stored.ipynb')), 1);
    const port = await freePort();
    server = spawn(process.execPath, [join(program, 'out', 'server-main.js'), '--host=127.0.0.1', `--port=${port}`, '--without-connection-token',
        '--accept-server-license-terms', `--server-data-dir=${join(folder, '.data')}`, '--telemetry-level=off', '--disable-workspace-trust']);
    let said = '';
    server.stdout.on('data', text => { said += text; });
    await until('VS Code to start', () => said.includes('listening'));
    address = `http://127.0.0.1:${port}/?folder=${folder}`;
    browser = await chromium();
});
after(async () => {
    await browser?.close();
    server?.kill();
});

const settings = theme => mkdir(join(folder, '.vscode'), {recursive: true}).then(() => writeFile(join(folder, '.vscode', 'settings.json'), JSON.stringify({
    'workbench.colorTheme': theme, 'workbench.editorAssociations': {'*.ipynb': 'jupyter-notebook'}, 'workbench.startupEditor': 'none',
    'task.autoDetect': 'off', 'git.enabled': false,
})));
// Opens the notebook, and returns the frame that VS Code puts all its outputs into. Until the extension for notebooks runs, a
// click opens its text.
const outputs = page => until('the outputs', async () => {
    const file = await page.$('.explorer-folders-view .monaco-list-row[aria-label^=stored]');
    await file?.click({clickCount: 2});
    await sleep(4000);
    for (const frame of page.frames())
        if (await frame.evaluate(() => document.querySelector('.decoderscope') !== null).catch(() => false)) return frame;
}, 120000);

test('a stored notebook shows both cells by one program, and follows the theme', {skip}, async () => {
    await settings('Default Light Modern');
    const page = await browser.newPage();
    await page.setViewport({width: 1280, height: 1500});
    await page.goto(address);
    const frame = await outputs(page);
    const both = await drawn(frame, 2);
    assert.ok(both.every(({shows}) => shows.model.endsWith('recording.safetensors') && shows.said === null), JSON.stringify(both));
    assert.equal(await frame.evaluate(() => document.querySelectorAll('script[data-decoderscope-viewer]').length), 1);
    for (const theme of ['Light', 'Dark', 'Light']) {
        await settings(`Default ${theme} Modern`);
        await untilDark(theme === 'Dark', page, frame);
    }
    assert.ok((await cells(frame)).every(({seen}) => seen));
    await page.close();
});
