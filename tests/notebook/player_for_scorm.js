// A learning platform for one page, and a learner: what a browser has of a lesson's page, as far as its script uses it,
// with SCORM 1.2's API in the frame around. Prints what the page reported. Before this stands `html`, and behind it the
// page's script, in visit(window, document, FormData, CustomEvent).
class FormData {
  constructor(form) { this.form = form; }
  get(name) { return this.form.values[name] ?? null; }
}
class CustomEvent {
  constructor(type, init) { Object.assign(this, { type, detail: init.detail }); }
}
const unpack = text => JSON.parse(Buffer.from(text, 'base64').toString('utf8'));

function platform(values) {
  const log = [];
  const call = (name, answer) => (...given) => { log.push([name, ...given]); return answer(...given); };
  const set = (name, value) => {
    const score = /^cmi\.core\.score\./.test(name) ? Number(value) : 0;
    const fits = typeof value === 'string' && score >= 0 && score <= 100 && value.length < 4096 &&
      (name !== 'cmi.core.session_time' || /^\d{2,4}:\d\d:\d\d$/.test(value)) &&
      (name !== 'cmi.core.lesson_status' || ['passed', 'completed', 'failed', 'incomplete', 'browsed'].includes(value));
    if (!fits) return 'false';
    values[name] = value;
    const item = /^cmi\.interactions\.(\d+)\./.exec(name);
    if (item) values['cmi.interactions._count'] = String(Math.max(Number(values['cmi.interactions._count'] ?? 0), Number(item[1]) + 1));
    return 'true';
  };
  return { values, log, LMSInitialize: call('Initialize', () => 'true'), LMSFinish: call('Finish', () => 'true'), LMSCommit: call('Commit', () => 'true'),
    LMSGetValue: name => values[name] ?? '', LMSSetValue: (name, value) => { const done = set(name, value); log.push(['Set', name, value, done]); return done; } };
}

// Opens the page in a frame of the platform; without one, alone.
function open(api) {
  const heard = {}, said = [];
  const window = { addEventListener: (type, hear) => { heard[type] = hear; } };
  window.parent = api ? { API: api } : window;
  if (api) window.parent.parent = window.parent;
  const forms = [...html.matchAll(/<form data-question="([^"]*)" data-answer="([^"]*)">([\s\S]*?)<\/form>/g)].map(([, question, answer, inside]) => {
    const form = { dataset: { question, answer }, values: {}, known: unpack(answer), output: {}, addEventListener: (type, hear) => { form.submit = hear; },
      querySelector: name => name === 'output' ? form.output : name === '[name=choice]' && !inside.includes('name="choice"') ? null : {},
      dispatchEvent: event => heard.answered?.(Object.assign(event, { target: form })) };
    return form;
  });
  const document = { querySelectorAll: name => name.startsWith('form[data-answer]') ? forms : [], querySelector: () => ({ append: one => said.push(one) }),
    createElement: () => ({ setAttribute: () => {} }), addEventListener: (type, hear) => { heard[type] = hear; } };
  visit(window, document, FormData, CustomEvent);
  const answer = (form, good) => {
    const { right, number, within } = form.known;
    form.values = right !== undefined ? { choice: String(good ? right : right === 0 ? 1 : 0) } : { number: String(good ? number : number + 3 * within + 1000) };
    form.submit({ preventDefault: () => {} });
  };
  return { forms, answer, said: () => said[0].textContent, leave: () => heard.pagehide() };
}

function learn() {
  const kept = {}, first = platform(kept);
  let page = open(first);
  const begun = kept['cmi.core.lesson_status'];
  page.answer(page.forms[0], true);
  page.answer(page.forms[0], false);  // it is solved: nothing changes
  page.answer(page.forms[1], false);
  page.answer(page.forms[1], true);   // the first answer counts
  const halfway = { ...kept };
  page.leave();
  // Another day: what was answered still counts.
  const second = platform(kept);
  page = open(second);
  const resumed = page.said();
  for (const form of page.forms) page.answer(form, true);
  page.leave();
  const alone = open(undefined);
  alone.answer(alone.forms[0], true);
  return { count: page.forms.length, begun, halfway, kept, resumed, alone: alone.said(), refused: [...first.log, ...second.log].filter(one => one[3] === 'false'),
    calls: first.log.filter(one => one[0] !== 'Set').map(one => one[0]) };
}
console.log(JSON.stringify(learn()));
