#pragma once

// What the window asks of the page's script (page.js). Lengths are in pixels of the canvas.
extern "C" {
int page_width();
int page_height();
double page_scale();                      // devicePixelRatio, times the text size that the browser is set to
void page_prepare_gl();                   // after the context is made, or restored
void page_show_cursor(int imgui_cursor);  // an ImGuiMouseCursor
void page_show_title(const char* title);
void page_copy_text(const char* text);      // onto the clipboard
void page_show_document(const char* json);  // beside the canvas (Frontend::document)
void page_full_screen(int wanted);
void page_report(const char* json);  // to the page around this one (Frontend::report)
void page_place_caret(int typing);   // whether keys go into a field: an input method and a touch keyboard open there
}
