// The link's arguments, and the worker that keeps the page's files for the next visit, also without a network.
var Module = {
    canvas: document.getElementById('canvas'),
    arguments: new URLSearchParams(location.search).getAll('arg'),
};
if ('serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => {});
