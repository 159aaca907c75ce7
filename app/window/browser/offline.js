// A service worker: after the first visit the page works without a network. It keeps all files of this version, VERSION,
// and those of the one before, which may still be open somewhere. Their names say what is in them.
const cacheName = 'decoderscope-@VERSION@', files = '@FILES@';
self.addEventListener('install', event => event.waitUntil((async () => {
    const cache = await caches.open(cacheName);
    const keep = async name => {
        // The page itself is asked for anew: it names the others. Those that it has loaded, the browser has already.
        const known = name === './' ? undefined : await caches.match(name);
        await (known ? cache.put(name, known) : cache.add(new Request(name, {cache: name === './' ? 'reload' : 'force-cache'})));
    };
    await Promise.all(files.map(keep));
    await self.skipWaiting();
})()));
self.addEventListener('activate', event => event.waitUntil((async () => {
    const others = (await caches.keys()).filter(name => name.startsWith('decoderscope-') && name !== cacheName);
    await Promise.all(others.slice(0, -1).map(name => caches.delete(name)));
    await self.clients.claim();
})()));
self.addEventListener('fetch', event => {
    const {request} = event;
    if (request.cache === 'no-store') return;  // a teacher's lesson, which may have changed
    if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
    event.respondWith((async () => {
        const cache = await caches.open(cacheName);
        const page = request.mode === 'navigate' && request.url.replace(/(index\.html)?([?#].*)?$/, '');
        const kept = page ? await cache.match(page) : await caches.match(request);
        if (kept) return kept;
        const answer = await fetch(request);
        if (answer.ok && request.url.includes('/files/')) await cache.put(request, answer.clone());
        return answer;
    })());
});
