/**
 * The page's program, as the browser gets it. Everything from the API becomes text nodes or attributes set by the DOM,
 * never markup: names of collectors come from machines. The token is kept for this tab only.
 */
export const pageScript = String.raw`
'use strict';
(() => {
  const api = document.documentElement.dataset.api;
  const pollMs = 3000, eventsShown = 12, cardsMax = 12, earlierMax = 30, tokenKey = 'upwave.token';
  const byId = (id) => document.getElementById(id);
  let timer, verbDialog;

  // State → how it looks and what it is called.
  const tones = {
    planned: 'late', awaitingApproval: 'late', running: 'busy', held: 'bad', paused: 'late', rollingBack: 'late',
    succeeded: 'good', finishedWithFailures: 'bad', aborted: 'bad', rolledBack: 'late', superseded: 'rest',
    waiting: 'rest', open: 'busy', soaking: 'busy', passed: 'good', resumed: 'busy', opened: 'busy', tripped: 'bad',
    targetWithdrawn: 'bad', upgrading: 'busy', retrying: 'late', deferred: 'late', failed: 'bad', timedOut: 'bad',
    unconfirmed: 'bad',
  };
  const groups = [
    { tone: 'good', label: 'succeeded', states: ['succeeded'] },
    { tone: 'busy', label: 'on the way', states: ['queued', 'starting', 'upgrading', 'verifying'] },
    { tone: 'late', label: 'retrying or deferred', states: ['retrying', 'deferred'] },
    { tone: 'bad', label: 'failed', states: ['failed', 'timedOut', 'unconfirmed'] },
    { tone: 'rest', label: 'pending', states: ['pending'] },
    { tone: 'rest', label: 'withdrawn', states: ['withdrawn', 'rolledBack'] },
  ];
  const verbsIn = {
    planned: ['pause', 'abort'], awaitingApproval: ['abort'], running: ['pause', 'abort'],
    held: ['resume', 'abort'], paused: ['resume', 'abort'], rollingBack: ['pause'],
  };

  // Characters that would turn the reading direction or be invisible are shown as what they are.
  const printable = (text) => text.replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (character) => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'));
  const words = (name) => String(name).replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const toneOf = (name) => tones[name] || 'rest';
  const sum = (counts, states) => states.reduce((total, state) => total + (counts[state] || 0), 0);

  function make(tag, options, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (value === undefined || value === null) continue;
      if (name === 'class') element.className = value;
      else if (name === 'onclick') element.addEventListener('click', value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function clock(at) {
    const date = new Date(at);
    const sameDay = date.toDateString() === new Date().toDateString();
    const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });
    const text = sameDay ? time : date.toLocaleDateString([], { month: 'short', day: 'numeric' }) + ' ' + time;
    return make('time', { datetime: date.toISOString(), title: date.toISOString() }, text);
  }

  function span(ms) {
    const minutes = Math.max(0, Math.round(ms / 60000));
    if (minutes < 60) return minutes + ' min';
    const hours = Math.floor(minutes / 60);
    return hours < 48 ? hours + ' h ' + (minutes % 60) + ' min' : Math.round(hours / 24) + ' d';
  }

  const badge = (state) => make('span', { class: 'badge ' + toneOf(state) }, words(state));

  function bar(counts, size, label) {
    const element = make('div', { class: 'bar', role: 'img', 'aria-label': label });
    for (const group of groups) {
      const count = sum(counts, group.states);
      if (count === 0 || size === 0) continue;
      const part = make('span', { class: group.tone, title: count + ' ' + group.label });
      part.style.width = (100 * count) / size + '%';
      element.append(part);
    }
    return element;
  }

  function describe(counts) {
    return groups.filter((group) => sum(counts, group.states) > 0)
      .map((group) => sum(counts, group.states) + ' ' + group.label).join(', ') || 'nothing yet';
  }

  function key(counts) {
    const parts = groups.filter((group) => sum(counts, group.states) > 0).map((group) =>
      make('li', {}, make('i', { class: group.tone, 'aria-hidden': 'true' }),
        make('b', {}, String(sum(counts, group.states))), ' ' + group.label));
    return make('ul', { class: 'key' }, ...parts);
  }

  function fact(name, ...value) {
    return make('div', {}, make('dt', {}, name), make('dd', {}, ...value));
  }

  function facts(rollout) {
    const leftOut = Object.entries(rollout.leftOut);
    const total = leftOut.reduce((all, [, count]) => all + count, 0);
    const why = leftOut.map(([reason, count]) => count + ': ' + reason).join('\n');
    const list = make('dl', { class: 'facts' },
      fact('In flight', rollout.inFlight + ' of ' + rollout.concurrency),
      fact('Collectors', String(rollout.planned), total > 0 ? make('span', { title: why }, ', ' + total + ' left out') : null));
    if (rollout.endedAt !== null) list.append(fact('Ended', clock(rollout.endedAt)));
    else if (rollout.eta) list.append(fact('Done about', clock(rollout.eta.at), ' ± ' + span(rollout.eta.plusMinusMs)));
    else list.append(fact('Done about', 'not known yet'));
    list.append(fact('Started', clock(rollout.createdAt), ' by ' + rollout.startedBy));
    list.append(fact('Plan', rollout.planHash));
    return list;
  }

  function waveRow(wave) {
    const until = wave.state === 'soaking' && wave.soakEndsAt !== null;
    const why = make('span', { class: 'quiet small' });
    if (until) why.append(' until ', clock(wave.soakEndsAt));
    else if (wave.passedAt !== null) why.append(' ', clock(wave.passedAt));
    else if (wave.waits) why.append(' ' + wave.waits);
    const over = wave.failures > wave.failuresAllowed;
    const allowed = 'weighted failures, of those allowed';
    return make('tr', {},
      make('th', { scope: 'row' }, wave.name),
      make('td', {}, badge(wave.state), why),
      make('td', {}, bar(wave.counts, wave.size, wave.name + ': ' + describe(wave.counts))),
      make('td', { class: 'number' }, sum(wave.counts, ['succeeded']) + ' / ' + wave.size),
      make('td', { class: 'number' }, make('span', { class: over ? 'error' : undefined, title: allowed }, wave.failures + ' of ' + wave.failuresAllowed)),
      make('td', { class: 'number' }, String(wave.lost)));
  }

  function waveTable(rollout) {
    const head = (text, kind) => make('th', { scope: 'col', class: kind }, text);
    return make('div', { class: 'scroll' }, make('table', {},
      make('thead', {}, make('tr', {}, head('Wave', 'name'), head('State', 'state'), head('Progress', 'progress'),
        head('Succeeded', 'number'), head('Failures', 'number'), head('Lost', 'number'))),
      make('tbody', {}, ...rollout.waves.map(waveRow))));
  }

  function eventRow(event) {
    const last = event.event.split('.').pop();
    const what = make('span', { class: 'what' });
    if (event.collectorName !== undefined) what.append(make('bdi', {}, printable(event.collectorName)), ' ');
    else if (event.wave !== undefined) what.append(event.wave + ' ');
    const by = event.by === 'daemon' ? '' : ' (by ' + event.by + ')';
    what.append(make('span', { class: 'quiet' }, event.reason + by));
    return make('li', {}, clock(event.at),
      make('span', { class: 'name ' + (last === 'passed' || last === 'succeeded' ? 'good' : toneOf(last)) }, event.event), what);
  }

  function card(rollout, events) {
    const title = 'rollout-' + rollout.id;
    const verbs = (verbsIn[rollout.state] || []).map((verb) => make('button', {
      type: 'button', class: verb === 'abort' ? 'bad' : undefined, 'data-key': verb + ' ' + rollout.id,
      'aria-label': verb + ' ' + rollout.id, onclick: () => askVerb(verb, rollout.id),
    }, verb));
    const article = make('article', { class: 'card', 'aria-labelledby': title },
      make('div', { class: 'title' }, make('h2', { id: title }, rollout.id), badge(rollout.state),
        make('span', { class: 'builds' }, rollout.fromBuilds.join(', ') + ' → ', make('strong', {}, rollout.targetBuild)),
        make('div', { class: 'verbs' }, ...verbs)),
      make('p', { class: 'quiet' }, rollout.reason));
    if (rollout.holds.length > 0) {
      article.append(make('ul', { class: 'holds' + (rollout.state === 'held' ? ' bad' : ''), 'aria-label': 'Nothing more starts because' },
        ...rollout.holds.map((hold) => make('li', {}, hold.reason, ...(hold.until === null ? [] : [', until ', clock(hold.until)])))));
    }
    article.append(bar(rollout.counts, rollout.planned, describe(rollout.counts)), key(rollout.counts), facts(rollout),
      make('h3', {}, 'Waves'), waveTable(rollout));
    if (events.length > 0) {
      article.append(make('h3', {}, 'Latest events'), make('ol', { class: 'events' }, ...events.map(eventRow)));
    }
    return article;
  }

  function earlierRow(rollout) {
    return make('tr', {},
      make('th', { scope: 'row' }, rollout.id), make('td', {}, badge(rollout.state)), make('td', {}, rollout.targetBuild),
      make('td', { class: 'number' }, sum(rollout.counts, ['succeeded']) + ' / ' + rollout.planned),
      make('td', { class: 'number' }, String(sum(rollout.counts, ['failed', 'timedOut', 'unconfirmed']))),
      make('td', {}, rollout.endedAt === null ? '–' : clock(rollout.endedAt)));
  }

  async function call(path, options) {
    const token = sessionStorage.getItem(tokenKey);
    const headers = { accept: 'application/json' };
    if (token !== null) headers.authorization = 'Bearer ' + token;
    if (options && options.body) headers['content-type'] = 'application/json';
    const response = await fetch(api + path, { ...options, headers, cache: 'no-store', signal: AbortSignal.timeout(options ? 65000 : 8000) });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      const error = new Error(body.message || 'HTTP ' + response.status);
      error.status = response.status;
      throw error;
    }
    return body;
  }

  async function load() {
    const { rollouts } = await call('/rollouts');
    let current = rollouts.filter((rollout) => rollout.endedAt === null).slice(0, cardsMax);
    if (current.length === 0) current = rollouts.slice(0, 1);
    const events = await Promise.all(current.map((rollout) =>
      call('/rollouts/' + encodeURIComponent(rollout.id) + '/events?limit=' + eventsShown)
        .then((body) => body.events, () => [])));
    const earlier = rollouts.filter((rollout) => !current.includes(rollout)).slice(0, earlierMax);
    return { current, events, earlier };
  }

  function show({ current, events, earlier }) {
    const focused = document.activeElement && document.activeElement.getAttribute('data-key');
    byId('rollouts').replaceChildren(...(current.length > 0
      ? current.map((rollout, index) => card(rollout, events[index]))
      : [make('p', { class: 'empty' }, 'No rollout yet. The daemon looks for work at the times its policies name.')]));
    byId('earlier').hidden = earlier.length === 0;
    byId('earlier-rows').replaceChildren(...earlier.map(earlierRow));
    if (focused) {
      const again = [...document.querySelectorAll('[data-key]')].find((element) => element.getAttribute('data-key') === focused);
      if (again) again.focus();
    }
    const first = current[0];
    document.title = first ? words(first.state) + ' ' + Math.floor((100 * sum(first.counts, ['succeeded'])) / Math.max(1, first.planned)) + ' % · upwave' : 'upwave';
  }

  // Said only when it changes, so that a screen reader is not interrupted at each poll.
  function connection(text, bad) {
    const element = byId('connection');
    if (element.textContent !== text) element.textContent = text;
    element.className = bad ? 'bad' : '';
  }

  function showSignIn(message) {
    byId('rollouts').replaceChildren();
    byId('earlier').hidden = true;
    byId('sign-in').hidden = false;
    byId('sign-in-error').textContent = message;
    connection('signed out', false);
    byId('token').focus();
  }

  async function refresh() {
    clearTimeout(timer);
    try {
      show(await load());
      byId('sign-in').hidden = true;
      connection('live', false);
    } catch (error) {
      if (error.status === 401) {
        const tried = sessionStorage.getItem(tokenKey) !== null;
        sessionStorage.removeItem(tokenKey);
        showSignIn(tried ? 'This token was refused.' : '');
        return;
      }
      connection(error.status === undefined ? 'the daemon does not answer; what you see is old' : error.message, true);
    }
    timer = setTimeout(() => { if (!document.hidden) void refresh(); }, pollMs);
  }

  function askVerb(verb, id) {
    if (verbDialog) verbDialog.remove();
    const reason = make('input', { id: 'reason', maxlength: '500', autocomplete: 'off', placeholder: 'why, for whoever looks next' });
    const problem = make('p', { class: 'error', role: 'alert' });
    const submit = make('button', { type: 'submit', class: verb === 'abort' ? 'bad' : undefined }, verb);
    const form = make('form', {}, make('h2', {}, verb + ' ' + id + '?'),
      make('label', { for: 'reason' }, 'Reason'), reason, problem,
      make('div', { class: 'verbs' }, make('button', { type: 'button', onclick: () => verbDialog.close() }, 'back'), submit));
    verbDialog = make('dialog', { 'aria-label': verb + ' ' + id }, form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.textContent = '';
      try {
        await call('/rollouts/' + encodeURIComponent(id) + '/' + verb, { method: 'POST', body: JSON.stringify({ reason: reason.value }) });
        verbDialog.close();
        void refresh();
      } catch (error) {
        problem.textContent = error.message;
        submit.disabled = false;
      }
    });
    document.body.append(verbDialog);
    verbDialog.showModal();
  }

  byId('sign-in').addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(tokenKey, byId('token').value);
    byId('token').value = '';
    void refresh();
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden && byId('sign-in').hidden) void refresh(); });
  void refresh();
})();
`;
