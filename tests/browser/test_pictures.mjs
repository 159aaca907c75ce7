// The page in Chromium beside the desktop program's window: the same model, the same keys and clicks, the same pictures.
// DESKTOP is the program. Pictures that differ are written to the folder PICTURES, or to a temporary one.
import assert from 'node:assert/strict';
import {mkdir, mkdtemp, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {desktop} from './desktop.mjs';
import {display} from './display.mjs';
import {serve} from './server.mjs';
import {chromium, click, picture, press, sleep, until, visit} from './visitor.mjs';

// Both draw the same triangles with the same fonts, by two drivers' arithmetic. Edges of letters come out a few levels
// apart; where a cell's edge falls on a pixel's middle, one driver takes this cell's colour, the other the next one's:
// lines a pixel wide. And sums are taken in another order, which may change a number's last digit. None of that changes
// the mean of a block of 16 x 16 pixels by much, or many pixels by a lot: measured, at most 8 levels, and 0.02 % of the
// pixels. A scroll bar of another length is 0.07 % of them; two different tabs are at least 69 levels and 3.6 % apart.
const tolerance = {
    block: 16, blockLevels: 16,       // no block's mean may differ by more levels of 255, in any colour
    pixelLevels: 32, pixels: 0.0005,  // nor may more than this share of pixels differ by more levels
};
const patience = 180000;  // for what a tab computes, in ms: a page has one thread
const tabs = {s: 'Step', h: 'Heads', m: 'Masks', n: 'Norms', g: 'Generate', c: 'Diff', k: 'Ask', f: 'Train'};

// By how many levels the block differs most that does, and which share of pixels differs by more than pixelLevels.
function difference(a, b) {
    assert.deepEqual([a.width, a.height], [b.width, b.height]);
    const {block, pixelLevels} = tolerance, {width, height} = a;
    const columns = Math.ceil(width / block), rows = Math.ceil(height / block);
    const sums = new Float64Array(3 * columns * rows);
    let others = 0;
    for (let y = 0, at = 0; y < height; ++y)
        for (let x = 0; x < width; ++x, at += 4) {
            const sum = 3 * (Math.floor(y / block) * columns + Math.floor(x / block));
            let most = 0;
            for (let color = 0; color < 3; ++color) {
                const more = a.data[at + color] - b.data[at + color];
                sums[sum + color] += more;
                most = Math.max(most, Math.abs(more));
            }
            if (most > pixelLevels) ++others;
        }
    const blockLevels = sums.reduce((most, sum) => Math.max(most, Math.abs(sum)), 0) / (block * block);
    return {blockLevels, pixels: others / (width * height)};
}
const alike = ({blockLevels, pixels}) => blockLevels <= tolerance.blockLevels && pixels <= tolerance.pixels;
const told = ({blockLevels, pixels}) => `a block by ${blockLevels.toFixed(1)} levels, ${(100 * pixels).toFixed(3)} % of the pixels by more than ${tolerance.pixelLevels}`;

const size = {width: 1280, height: 800};
const program = process.env.DESKTOP;
const options = {skip: !program && 'DESKTOP names no program to compare the page with'};
let server, screen, browser, page, ours, theirs;
before(async () => {
    if (!program) return;
    server = await serve(process.env.SITE);
    screen = await display();
    theirs = await desktop(program, screen, size);
    browser = await chromium();
    // The desktop program is dark until one chooses.
    const surroundings = [{name: 'prefers-color-scheme', value: 'dark'}, {name: 'prefers-reduced-motion', value: 'reduce'}];
    ({page} = await visit(browser, server.url, {...size, before: page => page.emulateMediaFeatures(surroundings)}));
    await until('all fonts', () => page.evaluate(() => Module.page.later && FS.analyzePath(Module.page.later.at(-1).path).exists));
    await sleep(1000);  // they are drawn with
    ours = {
        press: (...keys) => press(page, ...keys),
        click: async (x, y) => {
            await click(page, x, y);
            await page.mouse.move(-1, -1);
        },
        picture: () => picture(page),
    };
});
after(async () => {
    await browser?.close();
    await theirs?.close();
    await screen?.close();
    server?.close();
});

const both = async act => {
    await act(ours);
    await act(theirs);
};

async function write(name, picture) {
    const folder = process.env.PICTURES ?? await mkdtemp(join(tmpdir(), 'pictures-'));
    await mkdir(folder, {recursive: true});
    const png = await page.evaluate((width, height, data) => {
        const canvas = Object.assign(document.createElement('canvas'), {width, height});
        const bytes = Uint8ClampedArray.from(atob(data), character => character.charCodeAt(0));
        canvas.getContext('2d').putImageData(new ImageData(bytes, width, height), 0, 0);
        return canvas.toDataURL();
    }, picture.width, picture.height, picture.data.toString('base64'));
    await writeFile(join(folder, `${name}.png`), Buffer.from(png.slice(png.indexOf(',') + 1), 'base64'));
    return join(folder, `${name}.png`);
}

// Waits until both show the same, and neither is as before (a picture) or still changes. Returns the picture.
async function compared(name, before) {
    const end = Date.now() + patience;
    let ourLast, theirLast;
    for (;;) {
        const [our, their] = [await ours.picture(), await theirs.picture()];
        const still = ourLast?.data.equals(our.data) && theirLast?.data.equals(their.data);
        const between = difference(our, their);
        if (still && alike(between) && !(before && alike(difference(their, before)))) {
            console.log(`${name}: ${told(between)}`);
            return their;
        }
        if (Date.now() > end) {
            const files = [await write(`${name}-page`, our), await write(`${name}-desktop`, their)];
            assert.fail(`${name}: ${told(between)}${still ? '' : ', still changing'}: ${files.join(', ')}`);
        }
        [ourLast, theirLast] = [our, their];
        await sleep(700);
    }
}

test('the page looks like the window, tab by tab', options, async t => {
    const pictures = {};
    let last;
    // One that differs does not end the test: the others say whether it is the only one.
    const step = (name, act) => t.test(name, async () => {
        await both(act);
        pictures[name] = await compared(name, last).finally(async () => { last = await theirs.picture(); });
    });
    await step('start', async () => {});
    await step('introduction-closed', window => window.press('Escape'));
    for (const [key, name] of Object.entries(tabs)) {
        if (key !== 's') await step(name, window => window.press(key));
    }
    await step('Step', window => window.press('s'));
    await step('cell', window => window.click(850, 380));  // a masked one: 0 in both, to the last digit that is shown
    await step('light', window => window.press('t'));
    await both(window => window.press('t'));
    await step('Diff-of-an-edit', async window => {
        await window.press('0', 'Shift');  // switches head 0 off
        await window.press('c');
    });
    await t.test('no tab passes for another', () => {
        const names = Object.values(tabs).filter(name => pictures[name]);
        for (const [i, a] of names.entries())
            for (const b of names.slice(i + 1)) {
                const between = difference(pictures[a], pictures[b]);
                assert.ok(between.blockLevels > 2 * tolerance.blockLevels && between.pixels > 10 * tolerance.pixels, `${a} and ${b}: ${told(between)}`);
            }
    });
});
