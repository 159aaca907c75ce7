// A cell's output under the content security policies that notebooks send, without a network and without a kernel.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtemp, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {chromium, until} from './visitor.mjs';

// What a notebook's page, or the frame that it puts an output into, sends. An output's own frame inherits it.
const policies = {
    // jupyter/notebook 6.4, notebook/base/handlers.py, AuthenticatedHandler.content_security_policy; jupyter_server says the same.
    'Jupyter': "frame-ancestors 'self'; report-uri /api/security/csp-report",
    // jupyter/notebook 6.4, notebook/files/handlers.py: a notebook's HTML that is opened from the file list.
    'Jupyter, a file': "frame-ancestors 'self'; report-uri /api/security/csp-report; sandbox allow-scripts",
    // microsoft/vscode, src/vs/workbench/contrib/notebook/browser/view/renderers/backLayerWebView.ts, where the setting
    // notebook.experimental.enableCsp is on; webviewGenericCspSource is 'self' https://*.vscode-cdn.net.
    'VS Code': "default-src 'none'; script-src 'self' https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; "
        + "style-src 'self' https://*.vscode-cdn.net 'unsafe-inline'; img-src 'self' https://*.vscode-cdn.net https: http: data:; "
        + "font-src 'self' https://*.vscode-cdn.net https:; connect-src https:; child-src https: data:",
    // Colab's output frames (*.colab.googleusercontent.com) publish none that we found. This is stricter than what its outputs
    // need: scripts in the output, and nothing from elsewhere.
    'Colab': "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; frame-src 'self'",
};
// A page that forbids WebAssembly.
const noPrograms = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

let server, browser, folder, html, address;
let policy = '';
const asked = [];

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'policies-'));
    execFileSync(process.env.PYTHON, ['-c', `
import torch, decoderscope as ds
from torch import nn
torch.manual_seed(0)
decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, batch_first=True, norm_first=True), 2).eval()
ds.save('page.html', decoder, torch.randn(1, 6, 32), torch.randn(1, 5, 32))
`], {cwd: folder});
    html = await readFile(join(folder, 'page.html'), 'utf8');
    server = createServer((request, response) => {
        asked.push(request.url);
        if (request.url !== '/') return response.writeHead(404).end();
        response.writeHead(200, {'Content-Type': 'text/html', 'Content-Security-Policy': policy}).end(html);
    });
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    address = `http://127.0.0.1:${server.address().port}/`;
    browser = await chromium();
});
after(async () => {
    await browser?.close();
    server?.close();
});

const opened = async url => {
    const page = await browser.newPage();
    await page.setViewport({width: 1280, height: 1000});
    const requests = [];
    page.on('request', request => requests.push(request.url()));
    await page.goto(url);
    return {page, requests};
};
const shows = page => page.evaluate(() => JSON.parse(document.querySelector('.decoderscope').dataset.shows ?? 'null'));
// Whether the viewer is what a person sees: not hidden, and without the still picture.
const seen = page => page.evaluate(() => {
    const stage = document.querySelector('.decoderscope-stage');
    return stage.childNodes.length === 1 && getComputedStyle(stage.querySelector('iframe')).opacity === '1';
});

for (const [host, sent] of Object.entries(policies))
    test(`under the policy of ${host} it shows the recording, and asks for nothing`, async () => {
        policy = sent;
        asked.length = 0;
        const {page} = await opened(address);
        const there = await until('the recording', async () => {
            const found = await shows(page);
            return found?.model.endsWith('recording.safetensors') && found;
        });
        assert.equal(there.said, null);
        assert.equal(there.step, 'layers.0.self_attn/softmax/out');
        await until('the viewer to be seen', () => seen(page));
        assert.deepEqual(asked.filter(url => !['/', '/favicon.ico', '/api/security/csp-report'].includes(url)), []);
        await page.close();
    });

test('where programs are forbidden, a sentence stands below the still picture', async () => {
    policy = noPrograms;
    const {page} = await opened(address);
    const said = await until('a sentence', () => page.evaluate(() => document.querySelector('.decoderscope-say').textContent.replace('Loading …', '')));
    assert.match(said, /WebAssembly/);
    assert.ok(await page.evaluate(() => document.querySelector('.decoderscope-stage img')?.src.startsWith('data:image/png')));
    await page.close();
});

test('from a file, without a network', async () => {
    const {page, requests} = await opened(pathToFileURL(join(folder, 'page.html')).href);
    await until('the recording', async () => (await shows(page))?.model.endsWith('recording.safetensors'));
    assert.deepEqual(requests.filter(url => !/^(file|data|blob|about):/.test(url)), []);
    await page.close();
});

test('out of sight it keeps its still picture until one scrolls to it', async () => {
    const path = join(folder, 'below.html');
    await writeFile(path, html.replace('<body>', '<body><div style="height: 9000px"></div>'));
    const {page} = await opened(pathToFileURL(path).href);
    await until('the frame', () => page.evaluate(() => document.querySelector('.decoderscope iframe') !== null));
    assert.equal(await page.evaluate(() => document.querySelector('.decoderscope-stage table') !== null), true);
    await page.evaluate(() => document.querySelector('.decoderscope').scrollIntoView());
    await until('the viewer to be seen', () => seen(page));
    await page.close();
});
