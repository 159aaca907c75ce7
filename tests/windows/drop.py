#!/usr/bin/env python3
"""Drops files on a window of an X server, as a file manager does it (XDND): drop.py WINDOW FILE ...
WINDOW is a number, as xdotool prints it. Status 1 where the window doesn't take them. Needs python3-xlib."""
import pathlib
import sys
import time

from Xlib import X, Xatom, display
from Xlib.protocol import event

VERSION, SECONDS = 5, 20


def main(window, *files):
    shown = display.Display()
    atom = shown.intern_atom
    uri_list = atom("text/uri-list")
    text = "".join(pathlib.Path(file).resolve().as_uri() + "\r\n" for file in files).encode()
    target = shown.create_resource_object("window", int(window))
    source = shown.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
    source.set_selection_owner(atom("XdndSelection"), X.CurrentTime)
    at = target.translate_coords(shown.screen().root, 0, 0)  # where the root begins, seen from the window
    middle = target.get_geometry()
    x, y = middle.width // 2 - at.x, middle.height // 2 - at.y

    def tell(kind, *numbers):
        data = [source.id, *numbers]
        target.send_event(event.ClientMessage(window=target, client_type=atom(kind),
                                              data=(32, data + [0] * (5 - len(data)))))
        shown.flush()

    # Answers what the window asks for until it says this.
    def wait_for(kind):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if not shown.pending_events():
                time.sleep(0.01)
                continue
            told = shown.next_event()
            if told.type == X.SelectionRequest:
                wanted = told.property or told.target
                if told.target == uri_list:
                    told.requestor.change_property(wanted, uri_list, 8, text)
                elif told.target == atom("TARGETS"):
                    told.requestor.change_property(wanted, Xatom.ATOM, 32, [uri_list])
                else:
                    wanted = X.NONE
                told.requestor.send_event(event.SelectionNotify(
                    time=told.time, requestor=told.requestor, selection=told.selection, target=told.target,
                    property=wanted))
                shown.flush()
            elif told.type == X.ClientMessage and told.client_type == atom(kind):
                return told.data[1]
        sys.exit(f"the window said no {kind}")

    tell("XdndEnter", VERSION << 24, uri_list)
    tell("XdndPosition", 0, x << 16 | y, X.CurrentTime, atom("XdndActionCopy"))
    if not wait_for("XdndStatus")[1] & 1:
        sys.exit("the window takes no files")
    tell("XdndDrop", 0, X.CurrentTime)
    wait_for("XdndFinished")


main(*sys.argv[1:])
