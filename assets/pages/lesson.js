// Judges what can be judged without the program: a choice and a number. What the page knows is packed as base64.
const unpacked = text => new TextDecoder().decode(Uint8Array.from(atob(text), c => c.charCodeAt(0)));
// A number as the program reads it, by the same rules (typed_number.cpp): {number, plain}; nothing if it isn't one.
const numeral = text => {
  const form = rules.forms.find(([pattern]) => new RegExp(pattern).test(text));
  if (!form) return NaN;
  return Number([...text].filter(c => !form[1].includes(c)).map(c => form[2].includes(c) ? '.' : c).join(''));
};
const typed = text => {
  for (const [from, to] of rules.replace) text = text.replaceAll(from, to);
  const found = new RegExp(rules.whole).exec(text);
  const number = found ? numeral(found[1]) / (found[2] === undefined ? 1 : numeral(found[2])) / (found[3] ? 100 : 1) : NaN;
  return Number.isFinite(number) ? { number, plain: new RegExp(rules.plain).test(text) } : undefined;
};
for (const folded of document.querySelectorAll('details[data-text]'))
  folded.addEventListener('toggle', () => { folded.querySelector('div').innerHTML = unpacked(folded.dataset.text); }, { once: true });
// How a number is read is said as it is typed, before it counts.
for (const said of document.querySelectorAll('p.read'))
  said.closest('form').addEventListener('input', event => {
    const text = event.target.value, read = typed(text);
    said.textContent = text.trim() === '' || read?.plain ? '' : read ? said.dataset.read.replace('{number}', read.number) : said.dataset.none;
  });
for (const form of document.querySelectorAll('form[data-answer]')) {
  const known = JSON.parse(unpacked(form.dataset.answer)), said = form.querySelector('output');
  form.addEventListener('submit', event => {
    event.preventDefault();
    const data = new FormData(form);
    let good = false, reply = known.otherwise;
    if ('right' in known) {
      if (data.get('choice') === null) return;
      const choice = Number(data.get('choice'));
      good = choice === known.right;
      reply = known.replies[choice] || reply;
    } else {
      const number = typed(String(data.get('number')))?.number;
      if (number === undefined) return;
      good = Math.abs(number - known.number) <= known.within;
      for (const wrong of known.wrong.slice().reverse()) if (Math.abs(number - wrong.number) <= known.within) reply = wrong.reply;
    }
    said.className = good ? 'good' : 'bad';
    said.textContent = good ? known.learned : reply;
    form.dispatchEvent(new CustomEvent('answered', { bubbles: true, detail: { good, typed: String(data.get('choice') ?? data.get('number')) } }));
  });
}
