// The functions of page_script.h, each a call of the page's script.
addToLibrary({
    page_width: () => Module.page.width(),
    page_height: () => Module.page.height(),
    page_scale: () => Module.page.scale(),
    page_prepare_gl: () => Module.page.prepareGl(GLctx),
    page_show_cursor: cursor => Module.page.showCursor(cursor),
    page_show_title: title => Module.page.showTitle(UTF8ToString(title)),
    page_copy_text: text => Module.page.copyText(UTF8ToString(text)),
    page_report: json => Module.page.report(JSON.parse(UTF8ToString(json))),
    // What goes wrong beside the canvas doesn't stop the canvas.
    page_show_document: json => {
        try {
            Module.readable.show(UTF8ToString(json));
        } catch (error) {
            console.error(error);
        }
    },
    page_full_screen: wanted => Module.page.fullScreen(wanted !== 0),
    page_place_caret: typing => Module.page.placeCaret(typing !== 0),
});
