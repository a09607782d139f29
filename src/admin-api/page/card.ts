import { etaUnknownWords } from '../../rollout/status/eta.ts';

/** Part of the page's program: one rollout with all that an operator wants to see of it, and the verbs that are legal. */
export const pageCard = `
  // Which verbs are legal, the daemon says; here is only what they look like.
  const verbPaths = { skipSoak: 'skip-soak' };
  const verbNames = { skipSoak: 'skip soak', rollback: 'roll back' };
  const stopping = ['abort', 'rollback'];

  function fact(name, ...value) {
    return make('div', {}, make('dt', {}, name), make('dd', {}, ...value));
  }

  function facts(rollout) {
    const leftOut = Object.entries(rollout.leftOut);
    const total = leftOut.reduce((all, [, count]) => all + count, 0);
    const why = leftOut.map(([reason, count]) => count + ': ' + reason).join(' · ');
    const list = make('dl', { class: 'facts' },
      fact('In flight', rollout.inFlight + ' of ' + rollout.concurrency),
      fact('Collectors', String(rollout.planned), total > 0 ? make('span', { title: why }, ', ' + total + ' left out') : null));
    if (rollout.endedAt !== null) list.append(fact('Ended', clock(rollout.endedAt)));
    else if (rollout.eta) list.append(etaFact(rollout.eta));
    list.append(fact('Started', clock(rollout.createdAt), ' by ' + rollout.startedBy));
    list.append(fact('Plan', rollout.planHash));
    if (rollout.window) list.append(windowFact(rollout.window));
    if (rollout.api !== null) list.append(fact('API', rollout.api.requestsPerSecond.toFixed(1) + ' of '
      + Number(rollout.api.requestsPerSecondMax.toFixed(2)) + ' requests/s', rollout.api.rateLimited === 0 ? null
      : make('span', { title: 'in the last hour' }, ', 429s ' + rollout.api.rateLimited)));
    if (rollout.strata.total > 1) list.append(strataFact(rollout.strata));
    if (rollout.rollbackOf !== null) list.append(fact('Takes back', rollout.rollbackOf));
    if (rollout.rollbackId !== null) list.append(fact('Taken back by', rollout.rollbackId));
    return list;
  }

  const etaUnknownWords = ${JSON.stringify(etaUnknownWords)};

  function etaFact(eta) {
    if (eta.kind === 'unknown') return fact('Done about', 'unknown: ' + etaUnknownWords[eta.reason]);
    if (eta.kind === 'atTheLatest') return fact('Done at the latest', etaClock(eta.at));
    const range = [' ± ' + span(eta.plusMinusMs), make('span', { class: 'quiet small' }, ', ' + eta.requests + ' requests')];
    if (eta.kind === 'at') return fact('Done about', etaClock(eta.at), ...range);
    const due = eta.approvalAt === null ? [] : [' (due about ', etaClock(eta.approvalAt), ')'];
    return fact('Done', span(eta.durationMs) + ' after approval', ...due, ...range);
  }

  function windowFact(opening) {
    const until = opening.until === null ? [] : [' until ', clock(opening.until, opening.timeZone)];
    const own = opening.ownZones ? ", also by each collector's own time zone" : '';
    return fact('Window', make('span', { class: opening.isOpen ? undefined : 'late' }, opening.isOpen ? 'open' : 'closed'),
      ...until, ' ' + opening.timeZone, make('span', { class: 'quiet small' }, own, ' (' + opening.reason + ')'));
  }

  function strataFact({ total, uncovered }) {
    const few = uncovered.labels.join(' · ') + (uncovered.count > uncovered.labels.length ? ' · …' : '');
    return fact('Strata', String(total), uncovered.count === 0 ? null
      : make('span', { title: few }, ', ' + uncovered.count + ' in the last wave only'));
  }

  function standstillNote({ api }) {
    if (api === null || api.standstill === null) return null;
    const { kind, reason, detail, since, until } = api.standstill;
    const isDown = kind === 'serviceDown';
    return make('p', { class: 'holds' + (isDown ? ' bad' : ''), 'aria-label': 'All wait for the service because' }, reason,
      ...(since === null ? [] : [' since ', clock(since)]), detail === null ? null : make('span', { class: 'quiet' }, ' (' + detail + ')'),
      ...(until === null ? ['; one request tries it now'] : [isDown ? '; next try ' : ', until ', clock(until)]));
  }

  // What of this rollout waits for an operator's release.
  function heldList(rollout) {
    const { buildHold, strata } = rollout;
    const line = (kind, name, held, more) => make('li', {}, kind + ' ', named(name), ': ' + held.reason + more,
      make('span', { class: 'quiet' }, ' (held by ' + held.by + ', ', clock(held.at), '; upwave release ', named(name), ')'));
    const lines = strata.held.map((held) => line('stratum', held.label, held, ', ' + held.waiting + ' wait'));
    if (buildHold !== null) lines.unshift(line('build', buildHold.build, buildHold, ''));
    return lines.length === 0 ? null
      : make('ul', { class: 'holds bad', 'aria-label': 'Held until an operator releases it' }, ...lines);
  }

  function approvalNote(rollout) {
    if (rollout.state !== 'awaitingApproval') return null;
    const drift = rollout.drift === null ? ''
      : 'The fleet moved since plan ' + rollout.drift.from + ' was shown: ' + rollout.drift.words + '. ';
    return make('p', { class: 'holds' }, drift + 'Look at it, then approve plan ' + rollout.planHash + '.');
  }

  function causeLine({ kind, text, count, strata, otherStrata, names }) {
    const where = strata.map((stratum) => stratum.label + ' ×' + stratum.count);
    if (otherStrata.strata > 0) where.push(otherStrata.strata + ' more strata ×' + otherStrata.count);
    const who = names.flatMap((name, index) => [index === 0 ? '' : ', ', named(name)]);
    return make('li', {}, count + ' ', badge(kind), ' ' + (text || 'no reason given'),
      make('span', { class: 'quiet' }, ' (' + where.join(', ') + '; ', ...who, count > names.length ? ', …)' : ')'));
  }

  function causeList({ causes }) {
    if (causes.length === 0) return null;
    const lines = causes.flatMap((group) => {
      const { count, causes: kinds, unread } = group.others;
      const what = kinds === 0 ? ', not read' : ' (' + (unread > 0 ? 'at least ' : '') + kinds + (kinds === 1 ? ' cause)' : ' causes)');
      const others = count === 0 ? [] : [make('li', { class: 'quiet' }, 'and ' + count + ' others ', badge(group.of), what)];
      return [...group.causes.map(causeLine), ...others];
    });
    return make('ul', { class: 'holds', 'aria-label': 'Why upgrades failed, wait, or were withdrawn' }, ...lines);
  }

  function leftBehindList({ leftBehind }) {
    if (leftBehind.length === 0) return null;
    return make('ul', { class: 'holds bad', 'aria-label': 'Not taken back' }, ...leftBehind.map((left) => make('li', {},
      left.count + ' not taken back: ' + left.reason + ': ' + left.names.join(', ') + (left.count > left.names.length ? ', …' : ''))));
  }

  function gateList(rollout) {
    const wave = rollout.waves.find((each) => each.state !== 'passed');
    if (wave === undefined || wave.gates.length === 0) return [];
    return [make('h3', {}, 'Gates of ', named(wave.name)), make('ul', { class: 'gates' },
      ...wave.gates.map((gate) => make('li', {}, badge(gate.verdict), make('span', {}, gate.words))))];
  }

  function waveRow(wave, total) {
    const until = wave.state === 'soaking' && wave.soakEndsAt !== null;
    const why = make('span', { class: 'quiet small' });
    if (until) add(why, ' until ', clock(wave.soakEndsAt));
    else if (wave.passedAt !== null) add(why, ' ', clock(wave.passedAt));
    else if (wave.waits) add(why, ' ' + wave.waits);
    if (wave.setAside > 0) add(why, ' · ' + wave.setAside + ' set aside');
    if (wave.joined > 0) add(why, ' · ' + wave.joined + ' joined late');
    const over = wave.failures > wave.failuresAllowed;
    const allowed = 'weighted failures, of those allowed' + (wave.acknowledged > 0 ? ', not counting ' + wave.acknowledged + ' acknowledged' : '');
    return make('tr', {},
      make('th', { scope: 'row' }, named(wave.name)),
      make('td', {}, badge(wave.state), why),
      make('td', {}, bar(wave.counts, wave.size, wave.name + ': ' + describe(wave.counts))),
      make('td', { class: 'number' }, sum(wave.counts, ['succeeded']) + ' / ' + wave.size),
      make('td', { class: 'number' }, make('span', { class: over ? 'error' : undefined, title: allowed }, wave.failures + ' of ' + wave.failuresAllowed)),
      make('td', { class: 'number' }, String(wave.lost)),
      make('td', { class: 'number' }, wave.strata + ' / ' + total));
  }

  function waveTable(rollout) {
    const head = (text, kind) => make('th', { scope: 'col', class: kind }, text);
    return make('div', { class: 'scroll' }, make('table', {},
      make('thead', {}, make('tr', {}, head('Wave', 'name'), head('State', 'state'), head('Progress', 'progress'),
        head('Succeeded', 'number'), head('Failures', 'number'), head('Lost', 'number'), head('Strata', 'number'))),
      make('tbody', {}, ...rollout.waves.map((wave) => waveRow(wave, rollout.strata.total)))));
  }

  function eventRow(event) {
    const last = event.event.split('.').pop();
    const what = make('span', { class: 'what' });
    if (event.collectorName !== undefined) add(what, named(event.collectorName), ' ');
    else if (event.wave !== undefined) add(what, named(event.wave), ' ');
    const by = event.by === 'daemon' ? '' : ' (by ' + event.by + ')';
    add(what, make('span', { class: 'quiet' }, event.reason + by));
    return make('li', {}, clock(event.at),
      make('span', { class: 'name ' + (last === 'passed' || last === 'succeeded' ? 'good' : toneOf(last)) }, event.event), what);
  }

  // What a verb that starts or widens something is for: the daemon refuses it when that is another by then.
  function shownFor(verb, rollout) {
    const waveThat = (state) => (rollout.waves.find((wave) => wave.state === state) || {}).name;
    if (verb === 'approve' && rollout.state === 'awaitingApproval') return { planHash: rollout.planHash };
    if (verb === 'approve') return { wave: waveThat('awaitingApproval') };
    if (verb === 'skipSoak') return { wave: waveThat('soaking') };
    if (verb === 'resume') return { hold: rollout.hold };
    if (verb === 'retry') return { failed: sum(rollout.counts, ['failed', 'timedOut', 'unconfirmed']) };
    return {};
  }

  function verbLabel(verb, rollout) {
    if (verb === 'rollback' && rollout.kind === 'rollback') return 'start outside the window';
    const { planHash, wave, failed } = shownFor(verb, rollout);
    const what = planHash ? ' plan ' + planHash : wave ? (verb === 'approve' ? ' wave ' : ' of wave ') + wave : failed ? ' ' + failed + ' failed' : '';
    return (verbNames[verb] || verb) + what;
  }

  // What a rollback would do now, and what the request says of it.
  function rollbackPreview(rollout) {
    const element = make('ul', { class: 'holds', 'aria-live': 'polite' }, make('li', {}, 'Reading what it does…'));
    const now = make('input', { id: 'now', type: 'checkbox' });
    // A rollback is asked for a second time only to start outside its window.
    now.checked = rollout.kind === 'rollback';
    let shown;
    return {
      element,
      confirmed: () => ({ shown, now: now.checked === true }),
      load: async () => {
        const preview = await call('/rollouts/' + encodeURIComponent(rollout.id) + '/rollback-preview');
        const stays = preview.leftBehind.reduce((all, left) => all + left.count, 0);
        shown = { collectors: preview.collectors, leftBehind: stays };
        const waves = preview.waves.map((wave, index) => wave.name + ' ' + (wave.size === null ? 'those that match'
          : (index === 0 ? 'at most ' : '') + wave.size) + ', ' + wave.maxFailures + ' may fail'
          + (wave.soakMs > 0 ? ', soak ' + span(wave.soakMs) : ''));
        const caps = preview.caps.map(({ key, cap }) => ', ' + cap + ' for each ' + key).join('');
        const lines = [
          preview.collectors + ' collectors go back',
          'to ' + preview.builds.map(({ build, count }) => build + ' (' + count + ')').join(', '),
          preview.running > 0 ? preview.running + ' of them are still being upgraded; each ends first' : null,
          preview.unconfirmed > 0 ? preview.unconfirmed + ' of them never showed the build; they go back only if they do' : null,
          ...preview.leftBehind.map((left) => left.count + ' stay: ' + left.reason + ': ' + left.names.join(', ')),
          waves.join(' → '),
          preview.concurrency + ' at a time' + caps,
        ].filter((line) => line !== null && line !== '');
        element.replaceChildren(...lines.map((line) => make('li', {}, line)));
        if (preview.window === null) return;
        const { isOpen, until, timeZone } = preview.window;
        element.append(make('li', {}, 'window ' + (isOpen ? 'open' : 'closed'), ...(until === null ? [] : [' until ', clock(until, timeZone)])),
          make('li', {}, now, make('label', { for: 'now' }, ' start now, outside windows and inside freezes')));
      },
    };
  }

  function card({ rollout, verbs, events }) {
    const title = 'rollout-' + rollout.id;
    const buttons = verbs.map((verb) => make('button', {
      type: 'button', class: stopping.includes(verb) ? 'bad' : undefined, 'data-key': verb + ' ' + rollout.id,
      'aria-label': verbLabel(verb, rollout) + ' of ' + rollout.id, onclick: () => askVerb(verb, rollout),
    }, verbLabel(verb, rollout)));
    const article = make('article', { class: 'card', 'aria-labelledby': title },
      make('div', { class: 'title' }, make('h2', { id: title }, rollout.id), badge(rollout.headline.kind),
        make('span', { class: 'builds' }, rollout.fromBuilds.join(', ') + ' → ', make('strong', {}, rollout.targetBuild)),
        make('div', { class: 'verbs' }, ...buttons)),
      make('p', { class: 'quiet' }, rollout.reason));
    if (rollout.holds.length > 0) {
      article.append(make('ul', { class: 'holds' + (rollout.headline.kind === 'held' ? ' bad' : ''), 'aria-label': 'Nothing more starts because' },
        ...rollout.holds.map((hold) => make('li', {}, hold.reason, ...(hold.until === null ? [] : [', until ', clock(hold.until)])))));
    }
    add(article, standstillNote(rollout), approvalNote(rollout), heldList(rollout), causeList(rollout), leftBehindList(rollout));
    article.append(bar(rollout.counts, rollout.planned, describe(rollout.counts)), key(rollout.counts), facts(rollout),
      make('h3', {}, 'Waves'), waveTable(rollout), ...gateList(rollout));
    if (events.length > 0) {
      article.append(make('h3', {}, 'Latest events'), make('ol', { class: 'events' }, ...events.map(eventRow)));
    }
    return article;
  }
`;
