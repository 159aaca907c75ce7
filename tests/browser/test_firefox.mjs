// The page in Debian's Firefox: that another browser's WebGL, events and IndexedDB do, too.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {display} from './display.mjs';
import {serve} from './server.mjs';
import {autosaves, click, firefox, press, shown, sleep, step, title, until, visit} from './visitor.mjs';

let server, screen, browser;
before(async () => {
    server = await serve(process.env.SITE);
    screen = await display({width: 1400, height: 1000});  // the page's 1280 x 800, and the browser's bars
    browser = await firefox(screen);
});
after(async () => {
    await browser?.close();
    await screen?.close();
    server?.close();
});

test('Firefox shows a model, follows mouse and keys, and keeps unsaved work', async () => {
    const {page, wrong} = await visit(browser, server.url + '?model=reverse');
    assert.equal((await title(page)).at(-3), 'reverse');
    await sleep(3000);  // the rest of the files

    const start = await step(page);
    await press(page, 'ArrowRight');
    await until('the next step', async () => (await step(page)) !== start);
    await press(page, 'ArrowLeft');
    await until('the step before', async () => (await step(page)) === start);

    // The session that the program keeps while work is unsaved says what is open.
    await click(page, 200, 20);  // the source's text
    await press(page, 'a', 'Control');
    await page.keyboard.type('attention', {delay: 40});
    await press(page, 'Escape');  // leaves the field
    await click(page, 706, 380);  // a cell of the pattern
    await press(page, '0', 'Shift');  // switches head 0 off
    await press(page, 'm');
    const kept = async () => {
        const [path] = await autosaves(page);
        return path && JSON.parse(await page.evaluate(path => FS.readFile(path, {encoding: 'utf8'}), path));
    };
    const session = await until('the masks to be kept', async () => {
        const session = await kept();
        return session?.tab === 'masks' && session;
    });
    assert.equal(session.input.encoder_text[0], 'attention');
    assert.equal(session.cursor.step, start);
    assert.equal(session.cursor.cell.length, 4);
    assert.equal(session.edits.length, 1);

    await sleep(1500);  // on its way into IndexedDB
    await page.reload();
    await shown(page);
    assert.equal((await autosaves(page)).length, 1);
    assert.deepEqual(wrong, []);
});
