// The window as a document beside the canvas, for whoever reads it by ear, by Braille or as large text: headings, texts,
// buttons, fields, and every heatmap as a table. The program says what its window shows (Frontend::document); this makes
// elements of it, part by part, and keeps those that are the same. What is pressed here, the program takes for a click.
// Shift+F6 goes from the canvas to the document, and from there back.
Module.readable = (() => {
    const main = () => document.getElementById('document');
    const call = (name, types, values) => Module.ccall(name, null, types, values);
    const make = (tag, text, attributes = {}) => {
        const element = document.createElement(tag);
        if (text) element.textContent = text;
        for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
        return element;
    };

    // ---- one item as an element

    const button = item => {
        const element = make('button', item.text, {
            type: 'button', 'data-id': item.id, title: item.hint,
            'aria-pressed': item.on === undefined ? undefined : String(item.on),
        });
        element.disabled = item.disabled ?? false;
        element.addEventListener('click', () => call('page_press', ['number'], [item.id]));
        return element;
    };
    // What is typed is sent when the field is left, and when Enter is pressed in one of a single line.
    const field = item => {
        const label = make('label', item.text);
        const typed = make(item.lines ? 'textarea' : 'input', '', {'data-id': item.id, title: item.hint, spellcheck: 'false'});
        typed.defaultValue = item.value;
        if (!item.lines) typed.type = 'text';
        let sent = item.value;
        const send = enter => {
            if (typed.value === sent && !enter) return;
            sent = typed.defaultValue = typed.value;
            call('page_fill', ['number', 'string', 'number'], [item.id, sent, enter ? 1 : 0]);
        };
        typed.addEventListener('change', () => send(false));
        typed.addEventListener('blur', () => call('page_damage', [], []));  // what was held back for it is shown now
        typed.addEventListener('keydown', event => {
            if (event.key !== 'Enter' || item.lines || event.isComposing) return;
            event.preventDefault();
            send(true);
        });
        label.append(typed);
        return label;
    };
    // A grid: one cell is reached by Tab, the others by the arrow keys, Home and End; Enter selects it.
    const table = item => {
        const {key, axes, rows, columns, cells, first, all, selected} = item.table;
        const presses = key !== '0';
        const grid = make('table', '', presses ? {role: 'grid', 'aria-rowcount': all[0] + 1, 'aria-colcount': all[1] + 1} : {});
        const part = rows.length < all[0] || columns.length < all[1];
        const shown = part ? ` (${first[0]}–${first[0] + rows.length - 1} / ${all[0]}, ${first[1]}–${first[1] + columns.length - 1} / ${all[1]})` : '';
        grid.append(make('caption', `${item.text}${shown}`));
        const head = make('tr');
        head.append(make('th', axes.filter(axis => axis).join(' \\ ') || '·', {scope: 'col'}), ...columns.map(label => make('th', label, {scope: 'col'})));
        const thead = make('thead'), body = make('tbody');
        thead.append(head);
        const at = (row, column) => body.rows[row]?.cells[column + 1];
        const start = [Math.max((selected?.[0] ?? first[0]) - first[0], 0), Math.max((selected?.[1] ?? first[1]) - first[1], 0)];
        rows.forEach((label, row) => {
            const line = make('tr');
            line.append(make('th', label, {scope: 'row'}), ...columns.map((_, column) => make('td', cells[row * columns.length + column] ?? '', {
                tabindex: !presses ? undefined : row === start[0] && column === start[1] ? 0 : -1, 'data-id': `${key}.${row}.${column}`,
                'aria-selected': selected && selected[0] === first[0] + row && selected[1] === first[1] + column ? 'true' : undefined,
            })));
            body.append(line);
        });
        grid.append(thead, body);
        if (!presses) return grid;
        const place = element => [element.parentElement.sectionRowIndex, element.cellIndex - 1];
        const select = element => {
            const [row, column] = place(element);
            call('page_press_cell', ['string', 'number', 'number'], [key, first[0] + row, first[1] + column]);
        };
        const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity]};
        body.addEventListener('keydown', event => {
            const cell = event.target.closest('td');
            if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
            if (event.key === 'Enter' || event.key === ' ') {
                event.preventDefault();
                return select(cell);
            }
            const move = moves[event.key];
            if (!move) return;
            event.preventDefault();
            const [row, column] = place(cell), within = (value, most) => Math.min(Math.max(value, 0), most);
            const next = at(within(row + move[0], rows.length - 1), within(column + move[1], columns.length - 1));
            cell.tabIndex = -1;
            next.tabIndex = 0;
            next.focus();
        });
        body.addEventListener('click', event => event.target.closest('td') && select(event.target.closest('td')));
        return grid;
    };
    const elements = {button, field, table, heading: item => make('h3', item.text), text: item => make('p', item.text)};

    // Several buttons in a row are a list: how many there are is said first.
    const contents = items => {
        const all = [];
        for (let i = 0; i < items.length;) {
            let end = i;
            while (items[end]?.kind === 'button') ++end;
            if (end - i < 3) {
                all.push(elements[items[i].kind](items[i]));
                ++i;
                continue;
            }
            const list = make('ul');
            for (; i < end; ++i) {
                const entry = make('li');
                entry.append(button(items[i]));
                list.append(entry);
            }
            all.push(list);
        }
        return all;
    };

    // ---- the parts

    const shown = new Map();  // by a part's name: its JSON, and its element
    const section = ({part, name, items}) => {
        const element = make('section', '', {'data-part': part, 'aria-label': name});
        element.append(make('h2', name), ...contents(items));
        return element;
    };
    // The focus stays on what it was on, though its element is another one now.
    const renew = (before, element) => {
        const focused = before.contains(document.activeElement) ? document.activeElement.dataset.id : undefined;
        before.replaceWith(element);
        if (focused === undefined) return;
        const again = element.querySelector(`[data-id="${focused}"]`);
        if (again?.tagName === 'TD') {
            again.closest('table').querySelector('td[tabindex="0"]')?.setAttribute('tabindex', -1);
            again.tabIndex = 0;
        }
        if (again) again.focus();
        else element.querySelector('h2').tabIndex = -1, element.querySelector('h2').focus();
    };
    // What is being typed is not taken away.
    const isTyping = element => {
        const here = document.activeElement;
        return element.contains(here) && ['INPUT', 'TEXTAREA'].includes(here.tagName) && here.value !== here.defaultValue;
    };
    const update = part => {
        const text = JSON.stringify(part), known = shown.get(part.part);
        if (known && (known.text === text || isTyping(known.element))) return known.element;
        const element = section(part);
        if (known) renew(known.element, element);
        shown.set(part.part, {text, element});
        return element;
    };
    // Read aloud when it changes: what is told of an edit or a failure, and what the picture shows now.
    const announce = now => {
        const messages = now.parts.find(({part}) => part === 'messages')?.items ?? [];
        const told = messages.filter(({kind}) => kind === 'text').map(({text}) => text);
        const words = [...told, now.said].join(' '), live = document.getElementById('live');
        if (live.textContent !== words) live.textContent = words;
    };
    const show = text => {
        const now = JSON.parse(text);
        document.documentElement.lang = now.language;
        document.getElementById('document-title').textContent = now.title;
        for (const [name, {element}] of shown)
            if (!now.parts.some(({part}) => part === name)) {
                if (element.contains(document.activeElement)) document.getElementById('document-title').focus();
                element.remove();
                shown.delete(name);
            }
        let last = document.getElementById('live');
        for (const part of now.parts) {
            const element = update(part);
            if (last.nextElementSibling !== element) last.after(element);
            last = element;
        }
        announce(now);
    };

    // ---- to it and back

    const holds = element => main().contains(element);
    const flip = () => {
        if (holds(document.activeElement)) return document.getElementById('field').focus({preventScroll: true});
        document.getElementById('document-title').focus();
    };
    return {show, flip, holds};
})();
