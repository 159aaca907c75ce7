// A visitor of the page: opens it in Chromium or Firefox, waits until it shows a model, and presses keys and buttons.
import {mkdtemp, readdir, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before} from 'node:test';
import {inflateSync} from 'node:zlib';
import puppeteer from 'puppeteer-core';
import {serve} from './server.mjs';

export const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

export const chromium = options => puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
    ...options,
});

// Firefox offers no WebGL without a screen: it gets one (display.mjs).
export const firefox = screen => puppeteer.launch({
    browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: false, env: {...process.env, DISPLAY: screen.name, WAYLAND_DISPLAY: '', MOZ_ENABLE_WAYLAND: '0'},
});

// Waits for a condition; names it if it never comes.
export async function until(what, condition, most = 60000) {
    const end = Date.now() + most;
    for (;;) {
        const value = await condition();
        if (value) return value;
        if (Date.now() > end) throw new Error(`waited ${most} ms for ${what}`);
        await sleep(50);
    }
}

// Waits for the time of so many frames, 60 a second, and until there were ten, for which a busy machine takes longer. A tab behind
// another has none, and doesn't always know that it is behind.
export const frames = (page, count) => page.evaluate(count => new Promise(done => {
    const end = performance.now() + 1000 * count / 60;
    let had = 0;
    const next = () => had++ < 10 || performance.now() < end ? requestAnimationFrame(next) : done();
    next();
    setTimeout(done, document.hidden ? 1000 : 20000);
}), count);

// May the page read the clipboard? A person is asked; here it may.
export const allowClipboard = (context, address) =>
    context.overridePermissions(new URL(address).origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);

export async function visit(browser, address, {width = 1280, height = 800, ratio = 1, touch = false, before} = {}) {
    const page = await browser.newPage();
    // It also turns the screen, which Firefox 140 doesn't know; the size is set all the same.
    await page.setViewport({width, height, deviceScaleFactor: ratio, hasTouch: touch}).catch(error => {
        if (!error.message.includes('setScreenOrientationOverride')) throw error;
    });
    const wrong = [], asked = [];
    page.on('pageerror', error => wrong.push(String(error.stack ?? error)));
    page.on('console', message => { if (message.type() === 'error') wrong.push(message.text()); });
    page.on('request', request => asked.push(request.url()));
    if (before) await before(page);
    await page.goto(address);
    await shown(page);
    return {page, wrong, asked};
}

// For all tests of a file: the server of the site, and a Chromium. Filled before the first of them.
export function siteInChromium() {
    const there = {};
    before(async () => {
        there.server = await serve(process.env.SITE);
        there.browser = await chromium();
    });
    after(async () => {
        await there.browser?.close();
        there.server?.close();
    });
    return there;
}

// A visitor who was never here, with own settings and autosaves.
export async function stranger({server, browser}, options = {}, address = '') {
    const context = await browser.createBrowserContext();
    await allowClipboard(context, server.url);
    return {...await visit(context, server.url + address, options), context};
}

// "reverse · blocks.1.attn.pattern · Decoderscope": a model and a step are shown.
export const title = async page => (await page.title()).split(' · ');
export const shown = page => until('a model to be shown', async () => (await title(page)).length >= 3);
export const step = async page => (await title(page)).at(-2);

export async function press(page, key, ...held) {
    for (const mod of held) await page.keyboard.down(mod);
    await page.keyboard.press(key);  // on a busy machine one that is held for a moment would repeat
    for (const mod of held.reverse()) await page.keyboard.up(mod);
    await frames(page, 15);
}

export async function click(page, x, y, options = {}) {
    await page.mouse.move(x, y);
    await frames(page, 4);
    await page.mouse.click(x, y, {delay: 60, ...options});
    await frames(page, 15);
}

// By the page's document, wherever it is drawn: a button by what stands on it, or a field by its name, with Enter.
const inDocument = async (page, tags, name, act, ...given) => {
    await until(`${name} in the document`, () => page.evaluate((tags, name, act, given) => {
        const found = [...document.querySelectorAll(`#document :is(${tags})`)].find(one => (one.labels?.[0]?.textContent || one.textContent).includes(name));
        if (found && act === 'push') found.click();
        if (found && act === 'write') {
            found.value = given[0];
            found.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true}));
        }
        return Boolean(found);
    }, tags, name, act, given));
    await frames(page, 48);
};
export const push = (page, name) => inDocument(page, 'button', name, 'push');
export const write = (page, name, text) => inDocument(page, 'input, textarea', name, 'write', text);

// {name: bytes, …}, all at once, in this order.
export const drop = (page, files) => page.evaluate(files => {
    const data = new DataTransfer();
    for (const [name, base64] of files) data.items.add(new File([Uint8Array.from(atob(base64), one => one.charCodeAt(0))], name));
    window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
}, Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')]));

// What the page downloads from now on goes into a folder of its own: next() waits for a file there.
export async function downloads(page) {
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

// What is open, as the link that the palette copies says it: the JSON of a session.
export async function state(page) {
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await press(page, 'p', 'Control');
    await frames(page, 30);
    await page.keyboard.type('copy a link', {delay: 20});
    await frames(page, 30);
    await press(page, 'Enter');
    const link = await until('a link on the clipboard', () => page.evaluate(() => navigator.clipboard.readText()), 10000);
    return sessionOf(link);
}

export const sessionOf = link => JSON.parse(inflateSync(Buffer.from(link.split('#s1=')[1], 'base64url')));

// Paths of the sessions that the program keeps in the page's files while work is unsaved.
export const autosaves = page => page.evaluate(() => {
    const found = [];
    const walk = folder => {
        for (const name of FS.readdir(folder).filter(name => !['.', '..'].includes(name))) {
            const path = `${folder}/${name}`;
            if (FS.isDir(FS.stat(path).mode)) walk(path);
            else if (/^autosave-.*\.dscope$/.test(name)) found.push(path);
        }
    };
    walk('/home/web_user');
    return found;
});

// Fingers on the screen, as Chromium's protocol sends them.
export async function fingers(page) {
    const session = await page.createCDPSession();
    const send = (type, points) => session.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
    return {
        down: (...points) => send('touchStart', points),
        move: (...points) => send('touchMove', points),
        up: () => send('touchEnd', []),
    };
}

// What the page shows: its width and height in pixels of the screen; red, green, blue and 255 for each, row by row.
export async function picture(page) {
    const {width, height, data} = await page.evaluate(async png => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const {width, height} = image;
        const context = Object.assign(document.createElement('canvas'), {width, height}).getContext('2d');
        context.drawImage(image, 0, 0);
        const {data} = context.getImageData(0, 0, width, height);
        const text = await new Promise(done => {
            const reader = new FileReader();
            reader.onload = () => done(reader.result);
            reader.readAsDataURL(new Blob([data]));
        });
        return {width, height, data: text.slice(text.indexOf(',') + 1)};
    }, await page.screenshot({encoding: 'base64'}));
    return {width, height, data: Buffer.from(data, 'base64')};
}

// The colour of a point of the picture, as [red, green, blue].
export async function color(page, x, y) {
    const {width, data} = await picture(page);
    const ratio = await page.evaluate(() => devicePixelRatio);
    const at = 4 * (Math.round(y * ratio) * width + Math.round(x * ratio));
    return [...data.subarray(at, at + 3)];
}

export const brightness = ([red, green, blue]) => (red + green + blue) / 3;
