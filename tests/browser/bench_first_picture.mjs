// How long the page takes from its address to its first picture, at 20 Mbit/s and 40 ms, on a processor slowed down fourfold:
// the first visit, the second and the third of a browser. Of two sites, in turn:
//     node bench_first_picture.mjs SITE [OTHER-SITE] [ROUNDS]
import {chromium, sleep, until} from './visitor.mjs';
import {serve} from './server.mjs';

const given = process.argv.slice(2), rounds = Number(given.find(one => /^\d+$/.test(one)) ?? 5);
const sites = given.filter(one => !/^\d+$/.test(one));
const times = new Map(sites.map(site => [site, [[], [], []]])), sizes = new Map();

async function visit(browser, context, url) {
    const page = await context.newPage();
    await page.setViewport({width: 1280, height: 800});
    const session = await page.createCDPSession();
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {offline: false, latency: 40, downloadThroughput: 20e6 / 8, uploadThroughput: 20e6 / 8});
    await session.send('Emulation.setCPUThrottlingRate', {rate: 4});
    let bytes = 0;
    session.on('Network.responseReceived', ({response: {url, headers}}) => {
        if (!/\/later[_\/]/.test(url) && !url.startsWith('blob:')) bytes += Number(headers['content-length'] ?? headers['Content-Length'] ?? 0);
    });
    await page.evaluateOnNewDocument(() => {
        const look = () => {
            if (window.firstPicture === undefined && document.title.split(' · ').length >= 3) window.firstPicture = performance.now();
            setTimeout(look, 5);
        };
        look();
    });
    await page.goto(url, {timeout: 120000});
    const time = await until('the first picture', () => page.evaluate(() => window.firstPicture));
    const size = bytes;
    await session.send('Emulation.setCPUThrottlingRate', {rate: 1});
    await session.send('Network.emulateNetworkConditions', {offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1});
    await sleep(9000);  // the rest of the files, the worker, and what the browser keeps of the program
    await page.close();
    return {time, size};
}

for (let round = 0; round < rounds; ++round)
    for (const site of sites) {
        const server = await serve(site), browser = await chromium();
        const context = await browser.createBrowserContext();
        for (const number of [0, 1, 2]) {
            const {time, size} = await visit(browser, context, server.url);
            times.get(site)[number].push(time);
            if (number === 0) sizes.set(site, size);
        }
        await browser.close();
        server.close();
    }
const median = values => [...values].sort((a, b) => a - b)[values.length >> 1];
for (const site of sites) {
    const [first, second, third] = times.get(site).map(values => `${(median(values) / 1000).toFixed(2)} s (${(Math.min(...values) / 1000).toFixed(2)} to ${(Math.max(...values) / 1000).toFixed(2)})`);
    console.log(`${site}: first visit ${first}, ${(sizes.get(site) / 1e6).toFixed(2)} MB; second ${second}; third ${third}`);
}
