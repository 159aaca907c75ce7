// That the page works in another browser, too.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {serve} from './server.mjs';
import {firefox, press, step, title, visit} from './visitor.mjs';

test('Firefox shows a model and follows the keys', async () => {
    const server = await serve(process.env.SITE);
    const browser = await firefox();
    try {
        const {page} = await visit(browser, server.url);
        assert.equal((await title(page))[0], 'reverse');
        const start = await step(page);
        await press(page, 'ArrowRight');
        assert.notEqual(await step(page), start);
    } finally {
        await browser.close();
        server.close();
    }
});
