import { unprintable } from '../../base/safe-text.ts';

/**
 * Part of the page's program: what its texts, times and bars are made of. Everything from the API becomes text nodes or
 * attributes set by the DOM, never markup: names of collectors come from machines.
 */
export const pageElements = String.raw`
  // State → how it looks and what it is called.
  const tones = {
    planned: 'late', awaitingApproval: 'late', needsApproval: 'late', otherAccount: 'bad', waitsForService: 'bad',
    waitsForInventory: 'bad', waitsForWindow: 'late', waitsForCollectors: 'late', running: 'busy', held: 'bad', paused: 'late', rollingBack: 'late',
    succeeded: 'good', finishedWithFailures: 'bad', aborted: 'bad', rolledBack: 'late', superseded: 'rest',
    waiting: 'rest', open: 'busy', soaking: 'busy', passed: 'good', resumed: 'busy', opened: 'busy', approved: 'busy',
    drifted: 'late', reopened: 'busy', soakSkipped: 'late', pass: 'good', fail: 'bad', hold: 'late',
    inconclusive: 'late', upgrading: 'busy', retrying: 'late', deferred: 'late', failed: 'bad', timedOut: 'bad',
    unconfirmed: 'bad', notAlive: 'late', inUpgrade: 'late',
  };
  const groups = [
    { tone: 'good', label: 'succeeded', states: ['succeeded'] },
    { tone: 'busy', label: 'on the way', states: ['queued', 'starting', 'upgrading', 'verifying'] },
    { tone: 'late', label: 'retrying or deferred', states: ['retrying', 'deferred'] },
    { tone: 'bad', label: 'failed', states: ['failed', 'timedOut', 'unconfirmed'] },
    { tone: 'rest', label: 'pending', states: ['pending'] },
    { tone: 'rest', label: 'withdrawn', states: ['withdrawn', 'rolledBack'] },
  ];
  // Characters that would turn the reading direction or be invisible are shown as what they are.
  const printable = (text) => text.replace(${unprintable}, (character) =>
    character.split('').map((unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join(''));
  const words = (name) => String(name).replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const toneOf = (name) => tones[name] || 'rest';
  const sum = (counts, states) => states.reduce((total, state) => total + (counts[state] || 0), 0);

  function make(tag, options, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (value === undefined || value === null) continue;
      if (name === 'class') element.className = value;
      else if (name === 'onclick') element.addEventListener('click', value);
      else element.setAttribute(name, printable(String(value)));
    }
    return add(element, ...children);
  }

  // Every text on the page passes here.
  function add(element, ...children) {
    const shown = children.filter((child) => child !== null && child !== undefined);
    element.append(...shown.map((child) => (typeof child === 'string' ? printable(child) : child)));
    return element;
  }

  // A name from a machine, kept from turning the text around it.
  const named = (text) => make('bdi', {}, text);

  function clock(at, timeZone) {
    const date = new Date(at);
    const day = (instant) => instant.toLocaleDateString([], { timeZone, year: 'numeric', month: 'short', day: 'numeric' });
    const time = date.toLocaleTimeString([], { timeZone, hour: '2-digit', minute: '2-digit', hour12: false });
    const isToday = day(date) === day(new Date());
    const text = isToday ? time : date.toLocaleDateString([], { timeZone, month: 'short', day: 'numeric' }) + ' ' + time;
    return make('time', { datetime: date.toISOString(), title: date.toISOString() }, text);
  }

  // On another day with the zone: the reader may be elsewhere by then.
  function etaClock(at) {
    const zone = new Date(at).toDateString() === new Date().toDateString() ? '' : ' ' + Intl.DateTimeFormat().resolvedOptions().timeZone;
    return make('span', {}, clock(at), zone);
  }

  function span(ms) {
    const seconds = Math.max(0, Math.round(ms / 1000));
    if (seconds < 60) return seconds + ' s';
    if (seconds < 600) return Math.floor(seconds / 60) + ' min' + (seconds % 60 === 0 ? '' : ' ' + (seconds % 60) + ' s');
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
`;
