// A service worker: what was loaded once is there without a network. VERSION is the build's.
const cacheName = 'decoderscope-@VERSION@';
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
    await self.clients.claim();
})()));
self.addEventListener('fetch', event => {
    if (event.request.cache === 'no-store') return;  // a teacher's lesson, which may have changed
    if (event.request.method !== 'GET' || new URL(event.request.url).origin !== location.origin) return;
    event.respondWith((async () => {
        const cache = await caches.open(cacheName);
        const kept = await cache.match(event.request, {ignoreSearch: event.request.mode === 'navigate'});
        if (kept) return kept;
        const answer = await fetch(event.request);
        if (answer.ok) await cache.put(event.request, answer.clone());
        return answer;
    })());
});
