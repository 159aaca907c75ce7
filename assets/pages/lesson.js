// Judges what can be judged without the program: a choice and a number. What the page knows is packed as base64.
const unpacked = text => new TextDecoder().decode(Uint8Array.from(atob(text), c => c.charCodeAt(0)));
const typed = text => {
  const found = /^\s*([^\/%\s]+)\s*(?:\/\s*([^\/%\s]+)\s*)?(%?)\s*$/.exec(text.replaceAll(',', '.').replaceAll('−', '-'));
  return found ? Number(found[1]) / Number(found[2] ?? 1) / (found[3] ? 100 : 1) : NaN;
};
for (const folded of document.querySelectorAll('details[data-text]'))
  folded.addEventListener('toggle', () => { folded.querySelector('div').innerHTML = unpacked(folded.dataset.text); }, { once: true });
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
      const number = typed(String(data.get('number')));
      if (!Number.isFinite(number)) return;
      good = Math.abs(number - known.number) <= known.within;
      for (const wrong of known.wrong.slice().reverse()) if (Math.abs(number - wrong.number) <= known.within) reply = wrong.reply;
    }
    said.className = good ? 'good' : 'bad';
    said.textContent = good ? known.learned : reply;
  });
}
