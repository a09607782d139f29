import { pageCard } from './card.ts';
import { pageElements } from './elements.ts';
import { pagePolicies } from './policies.ts';

/** The page's program, as the browser gets it. The token is kept for this tab only. */
export const pageScript = `
'use strict';
(() => {
  const api = document.documentElement.dataset.api;
  const pollMs = 3000, eventsShown = 12, cardsMax = 12, earlierMax = 30, heldMax = 50, tokenKey = 'upwave.token';
  const byId = (id) => document.getElementById(id);
  let timer, verbDialog, history = { of: undefined, rollouts: [] };
${pageElements}${pageCard}${pagePolicies}
  function earlierRow(rollout) {
    return make('tr', {},
      make('th', { scope: 'row' }, rollout.id), make('td', {}, badge(rollout.headline.kind)), make('td', {}, rollout.targetBuild),
      make('td', { class: 'number' }, sum(rollout.counts, ['succeeded']) + ' / ' + rollout.planned),
      make('td', { class: 'number' }, String(sum(rollout.counts, ['failed', 'timedOut', 'unconfirmed']))),
      make('td', {}, rollout.endedAt === null ? '–' : clock(rollout.endedAt)));
  }

  function heldRow(what, held) {
    return make('tr', {}, make('th', { scope: 'row' }, named(what)), make('td', {}, held.reason),
      make('td', {}, held.by), make('td', {}, clock(held.at)));
  }

  function showHeld({ builds, collectors }) {
    const rows = builds.map((held) => heldRow('build ' + held.build, held))
      .concat(collectors.slice(0, heldMax).map((held) => heldRow('collector ' + held.collectorId + (held.name === undefined ? '' : ' ' + held.name), held)));
    const more = collectors.length - heldMax;
    if (more > 0) rows.push(make('tr', {}, make('th', { scope: 'row' }, more + ' more collectors')));
    byId('held').hidden = rows.length === 0;
    byId('held-rows').replaceChildren(...rows);
  }

  async function call(path, options) {
    const token = sessionStorage.getItem(tokenKey);
    const headers = { accept: 'application/json' };
    if (token !== null) headers.authorization = 'Bearer ' + token;
    if (options && options.body) headers['content-type'] = 'application/json';
    const response = await fetch(api + path, { ...options, headers, cache: 'no-store', signal: AbortSignal.timeout(options ? 305000 : 8000) });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      const error = new Error(body.message || 'HTTP ' + response.status);
      error.status = response.status;
      throw error;
    }
    return body;
  }

  async function load() {
    const [{ rollouts }, held, standings] = await Promise.all([call('/rollouts'), call('/holds'), call('/policies')]);
    let current = rollouts.filter((rollout) => rollout.endedAt === null).slice(0, cardsMax);
    if (current.length === 0) current = rollouts.slice(0, 1);
    const cards = await Promise.all(current.map(async (rollout) => {
      const path = '/rollouts/' + encodeURIComponent(rollout.id);
      // A card without these is better than no page.
      const [events, verbs] = await Promise.all([
        call(path + '/events?limit=' + eventsShown).then((body) => body.events, () => []),
        call(path + '/verbs').then((body) => body.verbs, () => [])]);
      return { rollout, events, verbs };
    }));
    const shown = new Set(current.map((rollout) => rollout.id));
    const earlier = (await readHistory(rollouts)).filter((rollout) => !shown.has(rollout.id)).slice(0, earlierMax);
    return { cards, held, earlier, standings };
  }

  // Read anew only when a rollout began or ended: the daemon describes each of them anew.
  async function readHistory(rollouts) {
    const of = JSON.stringify(rollouts.map((rollout) => [rollout.id, rollout.endedAt]));
    if (history.of !== of)
      history = { of, rollouts: (await call('/rollouts?limit=' + (earlierMax + cardsMax))).rollouts };
    return history.rollouts;
  }

  function show({ cards, held, earlier, standings }) {
    const focused = document.activeElement && document.activeElement.getAttribute('data-key');
    showHeld(held);
    showPolicies(standings);
    byId('rollouts').replaceChildren(...(cards.length > 0
      ? cards.map(card)
      : [make('p', { class: 'empty' }, 'No rollout yet. The daemon looks for work at the times its policies name.')]));
    byId('earlier').hidden = earlier.length === 0;
    byId('earlier-rows').replaceChildren(...earlier.map(earlierRow));
    if (focused) {
      const again = [...document.querySelectorAll('[data-key]')].find((element) => element.getAttribute('data-key') === focused);
      if (again) again.focus();
    }
    const first = (cards.find(({ rollout }) => rollout.headline.needsPerson) || cards[0] || {}).rollout;
    document.title = first ? words(first.headline.kind) + ' ' + Math.floor((100 * sum(first.counts, ['succeeded'])) / Math.max(1, first.planned)) + ' % · upwave' : 'upwave';
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
    byId('held').hidden = true;
    byId('policies').hidden = true;
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

  function askVerb(verb, rollout) {
    const { id } = rollout;
    const label = verbLabel(verb, rollout);
    // What was shown, not what the daemon may have by then.
    const shown = shownFor(verb, rollout);
    // What a rollback does is not in the status: it is shown before it can be asked for.
    const preview = verb === 'rollback' ? rollbackPreview(rollout) : null;
    if (verbDialog) verbDialog.remove();
    const reason = make('input', { id: 'reason', maxlength: '500', autocomplete: 'off', placeholder: 'why, for whoever looks next' });
    const problem = make('p', { class: 'error', role: 'alert' });
    const submit = make('button', { type: 'submit', class: stopping.includes(verb) ? 'bad' : undefined }, label);
    const form = make('form', {}, make('h2', {}, label + ' of ' + id + '?'),
      make('p', { class: 'quiet' }, rollout.reason), preview && preview.element,
      make('label', { for: 'reason' }, 'Reason'), reason, problem,
      make('div', { class: 'verbs' }, make('button', { type: 'button', onclick: () => verbDialog.close() }, 'back'), submit));
    verbDialog = make('dialog', { 'aria-label': label + ' of ' + id }, form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.textContent = '';
      try {
        await call('/rollouts/' + encodeURIComponent(id) + '/' + (verbPaths[verb] || verb),
          { method: 'POST', body: JSON.stringify({ reason: reason.value, ...shown, ...(preview ? preview.confirmed() : {}) }) });
        verbDialog.close();
        void refresh();
      } catch (error) {
        problem.textContent = error.message;
        submit.disabled = false;
      }
    });
    document.body.append(verbDialog);
    verbDialog.showModal();
    if (preview === null) return;
    submit.disabled = true;
    return preview.load().then(() => { submit.disabled = false; }, (error) => { problem.textContent = error.message; });
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
