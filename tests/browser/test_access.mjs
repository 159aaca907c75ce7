// Pages that the desktop program writes, read as a screen reader does: axe-core finds nothing against WCAG 2.1 AA in a
// lesson, a report, a comparison, an explanation or a talk, light and dark, and every picture says what it shows.
// DESKTOP is the program.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {promisify} from 'node:util';
import {chromium} from './visitor.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const run = promisify(execFile);
const program = process.env.DESKTOP;
let browser, folder;

before(async () => {
    browser = await chromium();
    folder = await mkdtemp(join(tmpdir(), 'access-'));
    const edits = JSON.stringify([{edit: 'scale_head', attention: 'blocks.0.attn', head: 1, factor: 0}]);
    await writeFile(join(folder, 'edits.json'), edits);
    const session = {format: 'decoderscope-session', version: 1, model: {bundled: 'reverse'}};
    const state = {...session, edits: JSON.parse(edits), cursor: {step: 'blocks.1.cross_attn.pattern', batch: 0, head: 2}};
    await writeFile(join(folder, 'a.dscope'), JSON.stringify({...session, talk: [{say: 'A head off', notes: 'Ask why.', show: state}]}));
    await writeFile(join(folder, 'b.dscope'), JSON.stringify({...session, edits: JSON.parse(edits)}));
});
after(async () => {
    await browser?.close();
    await rm(folder, {recursive: true, force: true});
});

// What each command writes; `compare` says by its status that runs differ.
const pages = {
    'lesson.html': ['lessons', 'export', 'weight', '--out'],
    'lesson-zh.html': ['lessons', 'export', 'masks', '--language', 'zh_CN', '--out'],
    'test.html': ['lessons', 'export', 'test', '--out'],
    'report.html': ['report', 'b.dscope', '--out'],
    'compare.html': ['compare', 'reverse', 'b.dscope', '--html'],
    'talk.html': ['talk', 'a.dscope', '--notes', '--site', 'https://example.org/', '--out'],
};

for (const [file, command] of Object.entries(pages))
    test(`axe-core finds nothing in ${file}`, {skip: !program && 'no program'}, async () => {
        await run(program, [...command, file], {cwd: folder}).catch(error => assert.equal(error.code, 1, error.stderr));
        for (const scheme of ['light', 'dark']) {
            const page = await browser.newPage();
            await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
            await page.goto(pathToFileURL(join(folder, file)).href);
            await page.evaluate(() => { for (const folded of document.querySelectorAll('details')) folded.open = true; });
            await page.evaluate(axe);
            const found = await page.evaluate(() => window.axe.run({resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}));
            assert.deepEqual(found.violations.map(one => `${scheme}: ${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`), []);
            const silent = await page.$$eval('svg', all => all.filter(one => (one.getAttribute('aria-label') ?? '').length < 20).length);
            assert.equal(silent, 0);
            await page.close();
        }
    });
