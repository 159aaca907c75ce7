// The link's arguments. What is behind the '#' is a session (docs/browser.md); "?embed" shows its stage alone;
// "?model=verses" opens a bundled model, "?lesson=my-lesson.md" a lesson that lies beside the page. A page that is one
// file (scripts/site.py) stands in a frame without an origin: it has no address, keeps nothing, and gets what it shows
// from the page around it.
var Module = (() => {
    const query = new URLSearchParams(location.search);
    const alone = document.querySelector('script[data-address]') !== null;
    const embedded = alone || query.has('embed'), model = alone ? 'simple-decoder' : query.get('model'), lesson = query.get('lesson');
    document.documentElement.classList.toggle('embedded', embedded);
    const hasLink = () => /^#s\d+=/.test(location.hash);
    return {
        canvas: document.getElementById('canvas'),
        alone, embedded, hasLink, model, lesson,
        arguments: [...(model ? ['--model', model] : []), ...(embedded ? ['--embed'] : []), ...(hasLink() ? [location.hash] : [])],
    };
})();
