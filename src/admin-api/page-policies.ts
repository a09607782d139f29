/** Part of the page's program: how the looks for work went. */
export const pagePolicies = `
  function configNote({ kind, others }) {
    if (kind === 'agreed') return null;
    const words = kind === 'outdated' ? 'this daemon has an older config than ' + others + ' other(s): they scan'
      : others + ' other daemon(s) have another config: this one scans';
    return make('span', { class: 'late' }, words + '. ');
  }

  function policyRow({ policy, lastLook, nextLookAt, config }) {
    const failed = lastLook !== null && lastLook.outcome === 'failed';
    return make('tr', {}, make('th', { scope: 'row' }, named(policy)),
      make('td', {}, lastLook === null ? '–' : clock(lastLook.at)),
      make('td', {}, configNote(config), failed ? badge('failed') : null, lastLook === null ? 'none yet' : (failed ? ' ' : '') + lastLook.reason),
      make('td', {}, nextLookAt === null ? '–' : clock(nextLookAt)));
  }

  function orphanRow({ id, policy, state }) {
    return make('tr', {}, make('th', { scope: 'row' }, named(policy)), make('td', {}, '–'),
      make('td', {}, badge(state), ' ' + id + ' stands still: its policy is not in the config'), make('td', {}, '–'));
  }

  function showPolicies({ policies, orphans }) {
    byId('policies').hidden = policies.length + orphans.length === 0;
    byId('policy-rows').replaceChildren(...orphans.map(orphanRow), ...policies.map(policyRow));
  }
`;
