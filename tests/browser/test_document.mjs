// The page as a document (app/window/browser/document.js): what axe-core says of it, and a lesson that is finished by
// keyboard and text alone. Nothing here reads a pixel, moves a mouse or knows a place on the canvas.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {frames, siteInChromium, step, until, visit} from './visitor.mjs';

const site = siteInChromium();
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// A person with a keyboard and a screen reader, in the document.
async function reader() {
    const context = await site.browser.createBrowserContext();
    const {page, wrong} = await visit(context, site.server.url);
    const press = async (key, ...held) => {
        for (const mod of held) await page.keyboard.down(mod);
        await page.keyboard.press(key);
        for (const mod of held.reverse()) await page.keyboard.up(mod);
    };
    const text = part => page.evaluate(part => document.querySelector(part ? `#document [data-part="${part}"]` : '#document')?.innerText ?? '', part);
    // The document comes when the window rests: once some frames brought nothing new.
    const settled = async () => {
        for (let before = '', same = 0; same < 3;) {
            await frames(page, 10);
            const now = await page.evaluate(() => document.getElementById('document').textContent);
            same = now === before ? same + 1 : 0;
            before = now;
        }
    };
    await until('the document', () => page.evaluate(() => document.querySelectorAll('#document section').length > 3));
    await press('F6', 'Shift');
    await settled();
    const focused = () => page.evaluate(() => {
        const here = document.activeElement;
        return {part: here.closest('section')?.dataset.part ?? '', tag: here.tagName, name: here.labels?.[0]?.textContent || here.textContent || here.value,
                table: here.closest('table')?.caption?.textContent ?? '', disabled: here.disabled ?? false};
    });
    // By Tab from where the focus is, once around at most.
    const reach = async (what, condition) => {
        const seen = new Set();
        for (let i = 0; i < 1500; ++i) {
            const here = await focused();
            if (i > 0 && condition(here)) return here;
            seen.add(`${here.part}: ${here.name}`.slice(0, 60));
            await press('Tab');
            if (await page.evaluate(() => document.activeElement === document.body || document.activeElement.id === 'field'))
                await page.evaluate(() => document.getElementById('document-title').focus());  // around, past the browser's own controls
        }
        throw new Error(`Tab never came to ${what}, but to ${[...seen].slice(0, 80).join(' | ')}`);
    };
    const button = (name, part) => reach(`the button ${name}`, here => here.tag === 'BUTTON' && (!part || here.part === part) && (name instanceof RegExp ? name.test(here.name) : here.name === name));
    return {
        page, wrong, text, press, settled, reach, button,
        async push(name, part) {
            await button(name, part);
            await press('Enter');
            await settled();
        },
        async write(name, value, part) {
            await reach(`the field ${name}`, here => ['INPUT', 'TEXTAREA'].includes(here.tag) && (!part || here.part === part) && here.name.includes(name));
            await press('a', 'Control');
            await page.keyboard.type(value);
            await press('Enter');
            await settled();
        },
        // From the cell of a table that Tab comes to, by the arrow keys.
        async select(title, row, column) {
            await reach(`the table ${title}`, here => here.tag === 'TD' && here.table.includes(title));
            const at = () => page.evaluate(() => [document.activeElement.parentElement.sectionRowIndex, document.activeElement.cellIndex - 1]);
            await press('Home');
            for (let here = await at(); here[0] !== row; here = await at()) await press(here[0] < row ? 'ArrowDown' : 'ArrowUp');
            for (let here = await at(); here[1] !== column; here = await at()) await press('ArrowRight');
            await press('Enter');
            await settled();
        },
    };
}

test('axe-core finds nothing in the page, light and dark, in a lesson and in Chinese', async () => {
    const {page, push, settled} = await reader();
    const check = async where => {
        for (const scheme of ['light', 'dark']) {
            await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
            await settled();
            const found = await page.evaluate(axe => {
                (0, eval)(axe);
                return window.axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']});
            }, axe).catch(async () => {  // the page's policy allows no eval: as a script of the browser's own
                const session = await page.createCDPSession();
                await session.send('Runtime.evaluate', {expression: axe});
                return page.evaluate(() => window.axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}));
            });
            assert.deepEqual(found.violations.map(one => `${where}, ${scheme}: ${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(' | ')}`), []);
        }
    };
    await check('first');
    await push('Learn', 'toolbar');
    await check('lessons');
    await push(/^3\. /, 'inspector');
    await check('a lesson');
    await push('…', 'toolbar');
    await push(/^Settings/, 'toolbar');
    await check('settings');
    await push(/中文|zh_CN/, 'dialog');
    await until('Chinese', () => page.evaluate(() => document.documentElement.lang === 'zh-CN'));
    await settled();
    await check('Chinese');
});

test('the document says what the window shows, and keeps step with it', async () => {
    const {page, text, push, select, settled, press, wrong} = await reader();
    assert.match(await text('toolbar'), /Learn/);
    const isOn = tab => page.evaluate(tab => [...document.querySelectorAll('#document button')].find(one => one.textContent === tab).getAttribute('aria-pressed') === 'true', tab);
    await push('Heads', 'tabs');
    await until('Heads to be on', () => isOn('Heads'));
    await push('Step', 'tabs');
    await until('Step to be on', () => isOn('Step'));
    // A cell of the table, and what it is made from.
    const title = await step(page);
    await select(title, 2, 1);
    assert.match(await text('inspector'), /\[0, \d+, 2, 1\]/);
    assert.equal(await page.evaluate(() => document.querySelectorAll('#document td[aria-selected="true"]').length), 1);
    // The focus is still on it, and what changed was read out.
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TD');
    assert.ok((await page.evaluate(() => document.getElementById('live').textContent)).length > 40);
    await press('F6', 'Shift');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'field');
    await press('ArrowRight');
    await settled();
    assert.notEqual(await step(page), title);
    assert.deepEqual(wrong, []);
});

test('a lesson is finished by keyboard and text alone', {timeout: 600000}, async () => {
    const {page, text, push, write, select, press, settled, wrong} = await reader();
    await push('Learn', 'toolbar');
    await push(/A weight is a comparison/, 'inspector');
    const lesson = () => text('inspector');
    const names = part => page.evaluate(part => [...document.querySelectorAll(`#document [data-part="${part}"] button`)].map(one => one.textContent), part);
    const open = async () => (await names('inspector')).includes('Skip');
    const hints = async () => {
        while (!/Hint 3/.test(await lesson())) await push(/^(Hint|Another hint)$/, 'inspector');
        return (await lesson()).split('Hint 3')[1].split('\n').filter(line => line.trim())[0];
    };
    const solved = [];
    // How many questions of the page are solved: the next one is open at once.
    const done = async () => (await lesson()).split('✓').length;
    const answers = {
        async do() {  // "Type 30 over the score of the first letter in row 2, head 3."
            await select('attn_scores', 2, 1);
            await push('Inspector', 'inspector');
            await push('What if', 'inspector');
            await write('overwrite', '30', 'inspector');
            await push('Lessons', 'inspector');
        },
        async point() {
            const column = (await hints()).match(/column (\d+)/)[1], row = (await lesson()).match(/row (\d+)/)[1];
            await select('pattern', Number(row), Number(column));
            await push('This one', 'inspector');
        },
        async number() {
            const numbers = (await hints()).replaceAll('−', '-').match(/-?\d+(\.\d+)?/g).reverse();
            const before = await done();
            for (const number of numbers) if (await done() === before) await write('Answer', number, 'inspector');
        },
        async choice() {
            const asked = await names('inspector'), before = await done();
            for (const choice of asked.slice(0, asked.indexOf('Answer')).filter(name => name.length > 25)) {
                if (await done() !== before) return;
                await push(choice, 'inspector');
                await push('Answer', 'inspector');
            }
        },
    };
    const kind = async () => {
        if (/Do it on the stage/.test(await lesson())) return 'do';
        if ((await names('inspector')).includes('This one')) return 'point';
        return await page.evaluate(() => document.querySelector('#document [data-part="inspector"] label')?.firstChild.data === 'Answer') ? 'number' : 'choice';
    };
    while (solved.length < 20) {
        if (await open()) {
            const before = await lesson(), asked = await kind();
            await answers[asked]();
            solved.push(asked);
            assert.notEqual(await lesson(), before);
            assert.ok(/page \d+ of \d+/.test(await lesson()));
        } else if ((await names('inspector')).includes('Go on')) {
            await push('Go on', 'inspector');
        } else {
            break;
        }
    }
    assert.match(await lesson(), /The end/);
    assert.doesNotMatch(await lesson(), /questions left/);
    assert.deepEqual([...new Set(solved)].sort(), ['choice', 'do', 'number', 'point']);
    assert.match(await lesson(), /All \d+ questions|(\d+) of \1 questions/);
    assert.deepEqual(wrong, []);
});
