/** Part of the page’s program: the last scan of each policy, and the buttons that start a rollout and reload the config. */
export const pagePolicies = `
  function configNote({ kind, others }) {
    if (kind === 'agreed') return null;
    const words = kind === 'outdated' ? 'this daemon has an older config than ' + others + ' other(s): they scan'
      : others + ' other daemon(s) have another config: this one scans';
    return make('span', { class: 'late' }, words + '. ');
  }

  function policyRow({ policy, lastPoll, nextPollAt, config }) {
    const failed = lastPoll !== null && lastPoll.outcome === 'failed';
    return make('tr', {}, make('th', { scope: 'row' }, named(policy)),
      make('td', {}, lastPoll === null ? '–' : clock(lastPoll.at)),
      make('td', {}, configNote(config), failed ? badge('failed') : null, lastPoll === null ? 'none yet' : (failed ? ' ' : '') + lastPoll.reason),
      make('td', {}, nextPollAt === null ? '–' : clock(nextPollAt)),
      make('td', {}, make('button', { type: 'button', 'data-key': 'start/' + policy, 'aria-label': 'start ' + policy,
        onclick: () => askStart(policy) }, 'start …')));
  }

  function planText({ planHash, targetBuild, planned, waves, window, approval }) {
    return planned + ' collectors to ' + targetBuild + ' in plan ' + planHash + ': '
      + waves.map((wave) => wave.name + ' ' + wave.size).join(', ')
      + (window.isOpen ? '' : '; now closed: ' + window.reason)
      + (approval ? '; the plan then waits for approval' : '');
  }

  // What is started is the plan that the dialog shows, or nothing.
  async function askStart(policy) {
    const path = '/policies/' + encodeURIComponent(policy);
    const plan = make('p', { role: 'status' }, 'reading the fleet …');
    const reason = make('input', { id: 'start-reason', maxlength: '500', autocomplete: 'off', placeholder: 'why, for whoever looks next' });
    const problem = make('p', { class: 'error', role: 'alert' });
    const submit = make('button', { type: 'submit' }, 'start ' + policy);
    submit.disabled = true;
    let planHash;
    const form = make('form', {}, make('h2', {}, 'Start a rollout of ', named(policy), '?'), plan,
      make('label', { for: 'start-reason' }, 'Reason'), reason, problem,
      make('div', { class: 'verbs' }, make('button', { type: 'button', onclick: () => dialog.close() }, 'back'), submit));
    const dialog = make('dialog', { 'aria-label': 'start ' + policy }, form);
    dialog.addEventListener('close', () => dialog.remove());
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.textContent = '';
      try {
        await call(path + '/start', { method: 'POST', body: JSON.stringify({ reason: reason.value, planHash }) });
        dialog.close();
        void refresh();
      } catch (error) {
        problem.textContent = error.message;
      }
    });
    document.body.append(dialog);
    dialog.showModal();
    try {
      const preview = await call(path + '/start-preview', { method: 'GET' });
      planHash = preview.planHash;
      plan.textContent = printable(planText(preview));
      submit.disabled = false;
    } catch (error) {
      plan.textContent = '';
      problem.textContent = error.message;
    }
  }

  async function reloadConfig() {
    const note = byId('config-note');
    note.textContent = 'reading …';
    try {
      const { kind, policies, needsRestart, rollouts } = await call('/reload', { method: 'POST', body: '{}' });
      const waiting = rollouts.filter((each) => each.waiting.length > 0).map((each) => each.rollout);
      note.textContent = printable(kind === 'unchanged' ? 'nothing has changed' : 'changed: '
        + [...policies.map((each) => each.policy), ...needsRestart.map((key) => key + ' (needs a restart)')].join(', ')
        + (waiting.length === 0 ? '' : '; for the next rollout, plan and target of ' + waiting.join(', ')));
      void refresh();
    } catch (error) {
      note.textContent = printable(error.message);
    }
  }
  byId('reload').addEventListener('click', reloadConfig);

  function orphanRow({ id, policy, state }) {
    return make('tr', {}, make('th', { scope: 'row' }, named(policy)), make('td', {}, '–'),
      make('td', {}, badge(state), ' ' + id + ' stands still: its policy is not in the config'), make('td', {}, '–'), make('td', {}));
  }

  function showPolicies({ policies, orphans, configProblem }) {
    byId('config-problem').textContent = configProblem === undefined ? ''
      : printable('The config file has mistakes; the daemon works by the one before. ' + configProblem);
    byId('policies').hidden = policies.length + orphans.length === 0;
    byId('policy-rows').replaceChildren(...orphans.map(orphanRow), ...policies.map(policyRow));
  }
`;
