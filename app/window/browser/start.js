// The link's arguments, and the worker that keeps the page's files for the next visit, also without a network. What is
// behind the '#' is a session (docs/browser.md); "?embed" shows its stage alone; "?model=verses" opens a bundled model,
// "?lesson=my-lesson.md" a lesson that lies beside the page. A page that is one file (scripts/one_page.py) stands in a
// frame without an origin: it has no address, keeps nothing, and gets what it shows from the page around it.
var Module = (() => {
    const query = new URLSearchParams(location.search);
    const alone = document.querySelector('script[data-address]') !== null;
    const embedded = alone || query.has('embed'), model = alone ? 'simple-decoder' : query.get('model'), lesson = query.get('lesson');
    const hasLink = () => /^#s\d+=/.test(location.hash);
    return {
        canvas: document.getElementById('canvas'),
        alone, embedded, hasLink, model, lesson,
        arguments: [...(model ? ['--model', model] : []), ...(embedded ? ['--embed'] : []), ...(hasLink() ? [location.hash] : [])],
    };
})();
if (!Module.alone && 'serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => {});
