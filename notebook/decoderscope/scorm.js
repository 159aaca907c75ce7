// Reports a lesson's score and status to a learning platform by SCORM 1.2's run-time API. `scorm`, which stands before
// this: how many answers to a question count, and the words of what is said.
{
  const api = (() => {
    const within = from => {
      for (let at = from, depth = 0; depth < 20; ++depth) {
        try { if (at.API) return at.API; } catch { return undefined; }  // a page of another origin
        if (at.parent === at) return undefined;
        at = at.parent;
      }
    };
    return within(window) ?? (window.opener ? within(window.opener) : undefined);
  })();
  const forms = [...document.querySelectorAll('form[data-answer]:not([data-again])')].map(form => form.dataset.question);
  // What was answered: {tries, right} by question. It is kept as "kept:2r,leak:1w" between visits.
  const answers = new Map(forms.map(id => [id, { tries: 0, right: false }]));
  const right = () => [...answers.values()].filter(one => one.right).length;
  const isOver = one => one.right || one.tries >= scorm.tries;
  const started = Date.now();
  let reports = false;
  const set = (name, value) => api.LMSSetValue('cmi.' + name, String(value));
  const span = milliseconds => {
    const part = (size, most, width) => String(Math.floor(milliseconds / size) % most).padStart(width, '0');
    return part(3600000, 10000, 4) + ':' + part(60000, 60, 2) + ':' + part(1000, 60, 2);
  };

  const said = document.createElement('p');
  said.className = 'below';
  said.setAttribute('aria-live', 'polite');
  document.querySelector('header').append(said);
  const say = () => {
    said.textContent = scorm.counted.replace('{right}', right()).replace('{count}', forms.length) + ' ' + (reports ? scorm.rule : scorm.alone);
  };

  const report = () => {
    if (!reports) return;
    const all = [...answers.values()], score = forms.length ? Math.round(10000 * right() / forms.length) / 100 : 100;
    set('core.score.min', 0);
    set('core.score.max', 100);
    set('core.score.raw', score);
    set('core.lesson_status', all.every(isOver) ? 'completed' : 'incomplete');
    set('suspend_data', forms.map(id => [id, answers.get(id)]).filter(([, one]) => one.tries).map(([id, one]) => id + ':' + one.tries + (one.right ? 'r' : 'w')).join(','));
    api.LMSCommit('');
  };
  const finish = () => {
    if (!reports) return;
    set('core.session_time', span(Date.now() - started));
    set('core.exit', [...answers.values()].every(isOver) ? '' : 'suspend');
    api.LMSCommit('');
    api.LMSFinish('');
    reports = false;
  };

  if (api && String(api.LMSInitialize('')) === 'true') {
    reports = api.LMSGetValue('cmi.core.lesson_mode') !== 'review';
    for (const part of String(api.LMSGetValue('cmi.suspend_data') ?? '').split(',')) {
      const found = /^(.+):(\d+)([rw])$/.exec(part);
      if (found && answers.has(found[1])) answers.set(found[1], { tries: Number(found[2]), right: found[3] === 'r' });
    }
    report();
  }
  say();
  document.addEventListener('answered', event => {
    const id = event.target.dataset.question, one = answers.get(id), { good, typed: given } = event.detail;
    if (!one || isOver(one)) return;
    ++one.tries;
    one.right = good;
    if (reports) {
      const isChoice = event.target.querySelector('[name=choice]') !== null;
      const item = 'interactions.' + (Number(api.LMSGetValue('cmi.interactions._count')) || 0) + '.';
      set(item + 'id', id);
      set(item + 'type', isChoice ? 'choice' : 'numeric');
      set(item + 'student_response', isChoice ? 'abcdefghijklmnopqrstuvwxyz'[Number(given)] : typed(given).number);
      set(item + 'result', good ? 'correct' : 'wrong');
    }
    report();
    say();
  });
  window.addEventListener('pagehide', finish);
}
