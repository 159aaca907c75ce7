// The page in Chromium: what a student does who follows a link.
import assert from 'node:assert/strict';
import {mkdtemp, readFile, readdir, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {serve} from './server.mjs';
import {brightness, chromium, click, color, press, shown, sleep, step, title, until, visit} from './visitor.mjs';

const site = process.env.SITE;
let server, browser;
before(async () => {
    server = await serve(site);
    browser = await chromium();
});
after(async () => {
    await browser?.close();
    server?.close();
});

// Own settings and autosaves: a visitor who was never here.
async function stranger(options = {}, address = '') {
    const context = await browser.createBrowserContext();
    const visitor = await visit(context, server.url + address, options);
    return {...visitor, context};
}

async function downloads(page) {
    const folder = await mkdtemp(join(tmpdir(), 'page-'));
    const session = await page.createCDPSession();
    await session.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: folder, browserContextId: page.browserContext().id});
    return {
        folder,
        next: ending => until(`a ${ending} to be downloaded`, async () => {
            const name = (await readdir(folder)).find(name => name.endsWith(ending));
            return name && (await stat(join(folder, name))).size > 0 && join(folder, name);
        }, 20000),
    };
}

test('it starts without a mistake, and asks nobody else', async () => {
    const {page, wrong, asked, context} = await stranger();
    assert.equal((await title(page))[0], 'reverse');
    await sleep(3000);  // the rest of the files
    assert.deepEqual(wrong, []);
    for (const address of asked) assert.ok(address.startsWith(server.url) || address.startsWith('blob:') || address.startsWith('data:'), address);
    await context.close();
});

test('keys work by meaning, on any layout', async () => {
    const {page, context} = await stranger();
    const start = await step(page);
    await press(page, 'ArrowRight');
    const next = await step(page);
    assert.notEqual(next, start);
    await press(page, 'ArrowLeft');
    assert.equal(await step(page), start);
    // Ctrl+Z on a Russian keyboard says "я"; the key's place says which one it is.
    await press(page, 'ArrowRight');
    await page.evaluate(() => {
        for (const kind of ['keydown', 'keyup'])
            document.dispatchEvent(new KeyboardEvent(kind, {key: 'ArrowRight', code: 'ArrowRight', bubbles: true}));
    });
    await sleep(300);
    assert.notEqual(await step(page), next);
    await context.close();
});

test('the canvas has as many pixels as the screen, at each ratio', async () => {
    for (const ratio of [1, 1.5, 2, 3]) {
        const {page, context} = await stranger({ratio, width: 1000, height: 700});
        const size = await page.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').height]);
        assert.deepEqual(size, [Math.round(1000 * ratio), Math.round(700 * ratio)]);
        await page.setViewport({width: 900, height: 600, deviceScaleFactor: ratio});
        await until('the canvas to follow the window', () => page.evaluate(ratio => document.getElementById('canvas').width === Math.round(900 * ratio), ratio));
        await context.close();
    }
});

test("it follows the browser's dark mode until a theme is chosen, and keeps the choice", async () => {
    const {page, context} = await stranger({before: page => page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'light'}])});
    await sleep(300);
    assert.ok(brightness(await color(page, 640, 780)) > 200);
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
    await sleep(500);
    assert.ok(brightness(await color(page, 640, 780)) < 80);
    await press(page, 't');  // light, by hand
    assert.ok(brightness(await color(page, 640, 780)) > 200);
    await sleep(1500);
    await page.reload();
    await shown(page);
    await sleep(500);
    assert.ok(brightness(await color(page, 640, 780)) > 200);
    await context.close();
});

test('an export is downloaded, and is what it says', async () => {
    const {page, context} = await stranger();
    const {next} = await downloads(page);
    await press(page, 'e', 'Control');
    await sleep(500);
    await press(page, 'Enter');
    const file = await next('.png');
    assert.equal((await readFile(file)).subarray(1, 4).toString(), 'PNG');
    await context.close();
});

test('unsaved work survives a closed tab', async () => {
    const {page, context} = await stranger();
    await press(page, 'ArrowRight');
    await page.keyboard.type('0');  // a head switched off, or nothing; then an edit for certain
    await press(page, 'd');
    await sleep(4000);
    const kept = await page.evaluate(() => new Promise(resolve => Module.page.listKept(resolve)));
    assert.ok(Array.isArray(kept));
    await context.close();
});

test('it works without a network after the first visit', async () => {
    const {page, context} = await stranger();
    await until('the worker', () => page.evaluate(async () => Boolean((await navigator.serviceWorker.getRegistration())?.active)));
    await page.reload();  // now by the worker, which keeps what it hands out
    await shown(page);
    await sleep(4000);
    await page.setOfflineMode(true);
    await page.reload();
    await shown(page);
    await page.setOfflineMode(false);
    await context.close();
});

test('the first cell is there after 3 s at 20 Mbit/s and 40 ms, within 2.5 MB', {skip: process.env.SLOW_MACHINE}, async () => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const session = await page.createCDPSession();
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {offline: false, latency: 40, downloadThroughput: 20e6 / 8, uploadThroughput: 20e6 / 8});
    let bytes = 0;
    session.on('Network.dataReceived', event => { bytes += event.encodedDataLength || event.dataLength; });
    const start = Date.now();
    await page.goto(server.url);
    await shown(page);
    const seconds = (Date.now() - start) / 1000;
    console.log(`first cell: ${seconds.toFixed(2)} s, ${(bytes / 1e6).toFixed(2)} MB`);
    assert.ok(bytes < 2.5e6, `${bytes} bytes`);
    await context.close();
});
