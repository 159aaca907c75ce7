// The link's arguments, and the worker that keeps the page's files for the next visit, also without a network. What is
// behind the '#' is a session (docs/browser.md); "?embed" shows its stage alone; "?model=verses" opens a bundled model,
// "?lesson=my-lesson.md" a lesson that lies beside the page.
var Module = (() => {
    const query = new URLSearchParams(location.search);
    const embedded = query.has('embed'), model = query.get('model'), lesson = query.get('lesson');
    const hasLink = () => /^#s\d+=/.test(location.hash);
    return {
        canvas: document.getElementById('canvas'),
        embedded, hasLink, model, lesson,
        arguments: [...(model ? ['--model', model] : []), ...(embedded ? ['--embed'] : []), ...(hasLink() ? [location.hash] : [])],
    };
})();
if ('serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => {});
