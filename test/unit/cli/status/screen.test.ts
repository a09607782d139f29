import { describe, expect, it } from 'vitest';
import type { PolicyRow } from '../../../../src/cli/rollouts/render-overview.ts';
import { withPreview } from '../../../../src/cli/status/ask-question.ts';
import { pressKey, pressKeys } from '../../../../src/cli/status/press-key.ts';
import { splitText } from '../../../../src/cli/status/read-keys.ts';
import { screenLines } from '../../../../src/cli/status/screen-lines.ts';
import {
  emptyScreen,
  type Key,
  openOne,
  type ScreenState,
  type Wish,
  withReading,
} from '../../../../src/cli/status/screen-state.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutEvent, aRolloutStatus, aWaveStatus, countsOf } from '../../../support/fake-operations.ts';
import { aCause, aHeldStratum, strataHolding } from '../../../support/status-parts.ts';

const plain = { paint: (_format: unknown, text: string) => text };
const size = { columns: 80, rows: 24 };
const row = (policy: string, changes: Parameters<typeof aRolloutStatus>[0] = {}) => ({
  policy,
  status: aRolloutStatus({ policy, id: `${policy}-1`, ...changes }),
  policyStatus: undefined,
});
const collector = (collectorName: string, collectorId: number) => ({
  collectorId,
  collectorName,
  wave: 'canary',
  stratum: 'Linux',
  group: null,
  order: 0,
  state: 'failed' as const,
  reason: 'no space\u001b[2J',
  reasonKind: 'task' as const,
  fromBuild: '19.1-1',
  toBuild: '19.2-1',
  attempts: 1,
  taskId: null,
  startedAt: null,
  dueAt: null,
  endedAt: startedAt,
  failureClass: 'permanent' as const,
});

/** Presses these keys; a word is typed letter by letter. */
function press(
  state: ScreenState,
  ...keys: ReadonlyArray<Exclude<Key['kind'], 'text'> | { readonly type: string }>
) {
  const wishes: Wish[] = [];
  const pressed = keys.flatMap((each): readonly Key[] =>
    typeof each === 'string'
      ? [{ kind: each }]
      : Array.from(each.type).map((text) => ({ kind: 'text', text })),
  );
  const end = pressed.reduce((now, key) => {
    const { state: next, wish } = pressKey(now, key);
    if (wish !== undefined) wishes.push(wish);
    return next;
  }, state);
  return { state: end, wishes };
}

const two = withReading(emptyScreen, {
  rows: [row('web'), row('edge')],
  notes: ['config    edge has another config'],
  seenAt: startedAt - 2_000,
});

describe('the live screen', () => {
  it('opens the rollout at the cursor, and a collector of it, and goes back step by step', () => {
    const opened = press(two, 'down', 'enter');
    expect(openOne(opened.state)?.policy).toBe('edge');
    expect(opened.wishes).toMatchObject([{ kind: 'list', words: '' }]);
    const listed = { ...opened.state, collectors: [collector('a', 1), collector('b', 2)] };
    const asked = press(listed, 'down', 'down', 'enter');
    expect(asked.wishes).toEqual([{ kind: 'explain', collectorId: 2 }]);
    const reported = { ...asked.state, story: { lines: ['b', 'attempt 1'], from: 0 } };
    expect(openOne(press(reported, 'back').state)?.policy).toBe('edge');
    expect(openOne(press(reported, 'back', 'back').state)).toBeUndefined();
  });

  it('searches the collectors of the rollout while words are typed, and goes back to those before on escape', () => {
    const { state, wishes } = press(two, { type: '/wez' }, 'erase', { type: 'b ' }, 'enter');
    const status = { policy: 'web' };
    expect(wishes).toMatchObject(
      ['w', 'we', 'wez', 'we', 'web'].map((words) => ({ kind: 'list', words, status })),
    );
    expect(state).toMatchObject({ words: 'web', typing: undefined });
    expect(press(state, 'back').wishes).toMatchObject([{ kind: 'list', words: '' }]);
    const left = press(state, { type: '/s' }, 'back');
    expect(left.wishes).toMatchObject([{ words: 'webs' }, { words: 'web' }]);
    expect(left.state).toMatchObject({ words: 'web', typing: undefined });
  });

  it('keeps the cursor at its rollout while rows change places', () => {
    const [web, edge, lab] = [row('web'), row('edge'), row('lab')];
    const read = (state: ScreenState, ...rows: ReadonlyArray<typeof web>) =>
      withReading(state, { rows, notes: [], seenAt: startedAt });
    const moved = read(two, edge, web);
    expect(press(moved, { type: 'p' }, 'enter').wishes).toMatchObject([{ status: { id: 'web-1' } }]);
    // The rollback of a rollout takes its row.
    const rolledBack = { ...web, status: aRolloutStatus({ policy: 'web', id: 'web-2' }) };
    expect(read(moved, lab, edge, rolledBack).cursor).toBe(2);
    expect(read(moved, lab, edge).cursor).toBe(0);
  });

  it('shows all keys on a question mark', () => {
    const { state } = press(two, { type: '?' });
    const lines = screenLines(state, startedAt, size, plain).map((line) => line.trim());
    expect(lines).toContain('p                pause the rollout: shows what that does, and asks first');
    const search = lines.findIndex((line) => line.startsWith('/ '));
    expect(lines[search]).toMatch(/^\/ {16}search collectors/);
    const { columns } = size;
    expect(screenLines(state, startedAt, size, plain)[search + 1]).toMatch(/^ {17}\S/);
    expect(screenLines(state, startedAt, size, plain).every(({ length }) => length <= columns)).toBe(true);
    expect(press(state, 'back').state.story).toBeUndefined();
    expect(press(state, { type: '?' }).state.story).toBeUndefined();
    expect(press(two, { type: '/?' }).state.words).toBe('?');
  });

  it('shows for a minute what a key has done, or until the next key', () => {
    const done = { ...two, done: { words: 'done: hold osName=AIX', at: startedAt } };
    const footOf = (state: ScreenState, now: number) => screenLines(state, now, size, plain).at(-2);
    expect(footOf(done, startedAt + 59_000)).toBe('done: hold osName=AIX');
    expect(footOf(done, startedAt + 60_000)).toBe('');
    expect(footOf(press(done, 'down').state, startedAt)).toBe('');
  });

  it('pauses with the typed reason, only where that is legal, and not on escape', () => {
    const pause = press(two, { type: 'plunch, q' }, 'enter');
    expect(pause.wishes).toMatchObject([
      { kind: 'verb', asked: { verb: 'pause' }, reason: 'lunch, q', status: { policy: 'web' } },
    ]);
    expect(press(two, { type: 'plunch' }, 'back').wishes).toEqual([]);
    const held = withReading(emptyScreen, {
      rows: [row('web', { verbs: [], state: 'held' })],
      notes: [],
      seenAt: startedAt,
    });
    expect(press(held, { type: 'p' }, 'enter').wishes).toEqual([]);
    expect(press(held, { type: 'p' }).state.message).toBe('web-1 is held');
  });

  it('resumes the hold that was shown, approves the wave that waits, and shows first what that does', () => {
    const held = row('web', { verbs: ['resume'], state: 'held', hold: 17 });
    const waiting = row('edge', {
      verbs: ['approve', 'pause'],
      waves: [aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' })],
    });
    const state = withReading(emptyScreen, { rows: [held, waiting], notes: [], seenAt: startedAt });
    const asked = press(state, { type: 'r' }).state;
    const lines = screenLines(asked, startedAt, size, plain);
    expect(lines.join(' ')).toContain('Resume web-1?');
    expect(lines.at(-1)).toMatch(/^resume web-1, reason:/);
    // The hold that was shown is named, also when there is another one by now.
    const later = withReading(asked, {
      rows: [row('web', { verbs: ['resume'], state: 'held', hold: 18 }), waiting],
      notes: [],
      seenAt: startedAt,
    });
    expect(press(later, { type: 'fixed' }, 'enter').wishes).toMatchObject([
      { kind: 'verb', asked: { verb: 'resume', hold: 17 }, reason: 'fixed' },
    ]);
    expect(press(state, 'down', { type: 'a' }, 'enter').wishes).toMatchObject([
      { kind: 'verb', asked: { verb: 'approve', wave: 'rest' }, status: { id: 'edge-1' } },
    ]);
    expect(press(state, { type: 'a' }, 'enter')).toMatchObject({
      wishes: [{ kind: 'list' }],
      state: { message: undefined },
    });
    expect(press(state, { type: 'a' }).state.message).toBe('web-1 does not wait for approval (held)');
    expect(screenLines(state, startedAt, size, plain).at(-1)).toContain('r resume');
    expect(press(state, { type: 'r' }, 'back').wishes).toEqual([]);
  });

  it('holds the group that explains the failures, and shows first what that does', () => {
    const held = row('web', {
      ...{ verbs: ['resume'], state: 'held', planned: 100 },
      causes: [{ of: 'failed', total: 9, causes: [], others: { causes: 0, count: 0, unread: 0 } }],
      sharedAttribute: {
        attributes: [{ key: 'osName', value: 'Windows*' }],
        ...{ failed: 9, tried: 9, elsewhere: { failed: 0, tried: 20 }, share: 0.46 },
      },
    });
    const state = withReading(emptyScreen, { rows: [held, row('edge')], notes: [], seenAt: startedAt });
    expect(screenLines(state, startedAt, size, plain).at(-1)).toContain('h hold group');
    const asked = press(state, { type: 'h' }).state;
    const lines = screenLines(asked, startedAt, size, plain);
    expect(lines.join(' ')).toContain('Hold the 46 collectors with osName=Windows*?');
    expect(lines.at(-1)).toMatch(/^hold osName=Windows\*, reason:.*enter confirms/);
    expect(press(asked, { type: 'disk' }, 'enter').wishes).toEqual([
      { kind: 'hold', group: 'osName=Windows*', reason: 'disk' },
    ]);
    expect(press(asked, 'back').wishes).toEqual([]);
    // What waits for approval shows that key first.
    const waiting = row('web', { ...held.status, state: 'awaitingApproval', verbs: ['approve'] });
    const early = withReading(emptyScreen, { rows: [waiting], notes: [], seenAt: startedAt });
    expect(screenLines(early, startedAt, size, plain).at(-1)).toContain('a approve');
    const without = press(two, { type: 'h' });
    expect(without.wishes).toEqual([]);
    expect(without.state.message).toBe('no group of collectors explains the failures of web-1');
    const messageOf = (changes: Parameters<typeof aRolloutStatus>[0]) => {
      const changed = row('web', { ...held.status, ...changes });
      const shown = withReading(emptyScreen, { rows: [changed], notes: [], seenAt: startedAt });
      return press(shown, { type: 'h' }).state.message;
    };
    const strata = strataHolding(aHeldStratum({ label: 'osName=Windows*' }));
    expect(messageOf({ strata })).toBe('group osName=Windows* is held already');
    expect(messageOf({ state: 'aborted', endedAt: startedAt })).toBe('web-1 is aborted');
  });

  const failure = {
    causes: [{ of: 'failed' as const, total: 9, causes: [], others: { causes: 0, count: 0, unread: 0 } }],
    sharedAttribute: {
      attributes: [{ key: 'osName', value: 'Windows*' }],
      ...{ failed: 9, tried: 9, elsewhere: { failed: 0, tried: 20 }, share: 0.46 },
    },
  };
  const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it failed', at: startedAt };
  const heldForBuild = { state: 'held', hold: 17, verbs: ['abort', 'rollback'], buildHold } as const;
  const shownOf = (...rows: readonly PolicyRow[]) =>
    withReading(emptyScreen, { rows, notes: [], seenAt: startedAt });

  it('releases the held build that the advice names first, and shows first what that does', () => {
    const state = shownOf(row('web', heldForBuild), row('edge', heldForBuild));
    expect(screenLines(state, startedAt, size, plain).join(' ')).toMatch(/do +upwave release 19\.536-4/);
    expect(screenLines(state, startedAt, size, plain).at(-1)).toContain('l release build');
    const asked = press(state, { type: 'l' }).state;
    const lines = screenLines(asked, startedAt, size, plain);
    expect(lines.slice(0, 4)).toEqual([
      'All policies can start build 19.536-4 again.',
      'web-1 stays held until you resume it.',
      'edge-1 stays held until you resume it.',
      'Release build 19.536-4?',
    ]);
    expect(lines.at(-1)).toMatch(/^release build 19\.536-4, reason:.*enter confirms/);
    expect(press(asked, { type: 'fixed' }, 'enter').wishes).toEqual([
      { kind: 'release', released: { of: 'build', subjects: ['19.536-4'] }, reason: 'fixed' },
    ]);
    expect(press(asked, 'back').wishes).toEqual([]);
    // A plan that waits for approval needs the release as well.
    const waiting = row('web', { ...heldForBuild, state: 'awaitingApproval', hold: null });
    expect(wordsOf(linesIn(press(shownOf(waiting), { type: 'l' }).state, 80, 24))).toContain(
      'again. web-1 can be approved then. Release build',
    );
  });

  it('releases the strata without which a resume would end the rollout, and held strata of a running one', () => {
    const group = aHeldStratum({ label: 'osName=Windows*', waiting: 4, by: 'alice' });
    const strata = strataHolding(group, aHeldStratum({ label: 'Linux', waiting: 2 }));
    const counts = countsOf({ pending: 6 });
    const waves = [aWaveStatus({ setAside: 6 })];
    const held = { state: 'held', hold: 17, verbs: ['resume'], reasonKind: 'onlyHeldStrata' } as const;
    const stopped = shownOf(row('web', { ...held, strata, counts, waves }));
    expect(linesIn(stopped, 80, 24).at(-1)).toContain('l release strata');
    const asked = press(stopped, { type: 'l' }).state;
    expect(wordsOf(linesIn(asked, 80, 24))).toMatch(
      /^4 collectors of web-1 can start after a resume\. Held by alice: .+ elsewhere\. 2 collectors of web-1 can start after a resume\. Release group osName=Windows\*, stratum Linux\? .*release 2 strata, reason:/,
    );
    expect(press(asked, 'enter').wishes).toEqual([
      { kind: 'release', released: { of: 'strata', subjects: ['osName=Windows*', 'Linux'] }, reason: '' },
    ]);
    // The cause may stand, so the end without them is as good.
    const failed = strataHolding({ ...group, failed: 3 });
    const either = shownOf(
      row('web', { ...held, strata: failed, counts, waves }),
      row('edge', { ...held, strata: failed, counts, waves }),
    );
    for (const shown of [either, press(either, 'enter').state]) {
      const keys = linesIn(shown, 80, 24).at(-1) ?? '';
      expect(keys).toMatch(/r resume {3}l release strata .*\? keys/);
      expect(keys.length).toBeLessThanOrEqual(80);
    }
    // An operator held the group on purpose.
    const running = shownOf(row('web', { strata }));
    expect(linesIn(running, 80, 24).at(-1)).toContain('p pause');
    expect(press(running, { type: 'l' }, 'enter').wishes).toMatchObject([
      { released: { subjects: ['Linux'] } },
    ]);
    const ofOperator = shownOf(row('web', { strata: strataHolding(group) }));
    expect(press(ofOperator, { type: 'l' }, 'enter').wishes).toMatchObject([
      { released: { subjects: ['osName=Windows*'] } },
    ]);
  });

  it('asks nothing where nothing is held, or more than one command releases', () => {
    const messageOf = (changes: Parameters<typeof aRolloutStatus>[0]) => {
      const { state, wishes } = press(shownOf(row('web', changes)), { type: 'l' }, 'enter');
      expect(wishes).toEqual([]);
      return state.message;
    };
    expect(messageOf({})).toBe('nothing of web-1 is held');
    expect(messageOf({ state: 'aborted', endedAt: startedAt })).toBe('web-1 is aborted');
    const strata = strataHolding(...Array.from({ length: 92 }, () => aHeldStratum()));
    expect(messageOf({ strata })).toBe('92 strata of web-1 are held; `upwave holds` lists them');
    const stopped = { ...heldForBuild, buildHold: null, verbs: ['resume'], strata } as const;
    const counts = countsOf({ pending: 2 });
    const all = {
      ...stopped,
      reasonKind: 'onlyHeldStrata',
      counts,
      waves: [aWaveStatus({ setAside: 2 })],
    } as const;
    expect(linesIn(shownOf(row('web', all)), 80, 24).at(-1)).not.toMatch(/release|resume|pause/);
  });

  it.each([
    ['p pause', {}],
    ['h hold group', { ...heldForBuild, ...failure }],
    ['l release build', heldForBuild],
    ['r resume', { ...heldForBuild, verbs: ['pause', 'resume'], buildHold: null }],
    [undefined, { ...heldForBuild, verbs: ['abort'], buildHold: null }],
    [undefined, { state: 'rollingBack', verbs: ['rollback'] }],
    [undefined, { state: 'aborted', verbs: ['rollback'], endedAt: startedAt }],
    [undefined, { state: 'succeeded', verbs: [], endedAt: startedAt }],
  ] as const)('offers %s for what `do` shows first, and no key that is not legal', (key, changes) => {
    const foot = linesIn(shownOf(row('web', changes)), 80, 24).at(-1) ?? '';
    const offered = ['p pause', 'a approve', 'r resume', 'h hold group', 'l release build'];
    expect(offered.filter((each) => foot.includes(each))).toEqual(key === undefined ? [] : [key]);
    const list = linesIn(shownOf(row('web', changes), row('edge', changes)), 80, 24).at(-1) ?? '';
    expect(offered.filter((each) => list.includes(each))).toEqual(key === undefined ? [] : [key]);
    expect(foot.length).toBeLessThanOrEqual(80);
  });

  it.each(['y', 'Yes ', ' YES'])('takes a lone "%s" for consent, and not for the reason', (typed) => {
    expect(press(two, { type: `p${typed}` }, 'enter').wishes).toMatchObject([{ kind: 'verb', reason: '' }]);
    expect(press(two, { type: `p${typed} lunch` }, 'enter').wishes).toMatchObject([
      { reason: `${typed} lunch`.trim() },
    ]);
  });

  it('quits by q, but not by a q within a reason', () => {
    expect(press(two, { type: 'q' }).wishes).toEqual([{ kind: 'quit' }]);
    expect(press(two, { type: '/q' }).wishes).toMatchObject([{ kind: 'list' }]);
  });

  /** Types these texts, each in one write, as a paste or `tmux send-keys` does. */
  const write = (state: ScreenState, ...texts: readonly string[]) => {
    const wishes: Wish[] = [];
    const end = texts.reduce((now, text) => {
      const pressed = pressKeys(now, splitText(text));
      wishes.push(...pressed.wishes);
      return pressed.state;
    }, state);
    return { state: end, wishes };
  };

  it.each(['\r', '\n', '\r\n'])('ends a search and a reason at %j within one write', (enter) => {
    const found = write(two, '/', `2016${enter}`);
    expect(found.state).toMatchObject({ words: '2016', typing: undefined });
    expect(found.wishes).toMatchObject([{ kind: 'list', words: '2016' }]);
    expect(write(two, '/', `2016${enter}q`).wishes).toMatchObject([{ kind: 'list' }, { kind: 'quit' }]);
    expect(write(two, `/2016${enter}`)).toMatchObject({
      state: { words: '2016', typing: undefined },
      wishes: [{ kind: 'list', words: '2016' }],
    });
    expect(write(two, 'p', `lunch${enter}`).wishes).toMatchObject([{ kind: 'verb', reason: 'lunch' }]);
    expect(write(two, '/', `web${enter}?`).state.story).toBeDefined();
    expect(write(two, '/', 'wex\u007fb').state.typing?.text).toBe('web');
  });

  it('confirms no question with the write that opens it, because nobody has read it', () => {
    const asked = write(two, '/', 'web\rp\r');
    expect(asked.wishes).toMatchObject([{ kind: 'list' }]);
    expect(asked.state.typing).toMatchObject({ what: 'verb', text: '' });
    expect(write(asked.state, 'lunch\r').wishes).toMatchObject([{ kind: 'verb', reason: 'lunch' }]);
    // The first line answers the question that was read, the others are no keys.
    expect(write(two, 'p', 'lunch\nwith alice\np\n').wishes).toMatchObject([{ reason: 'lunch' }]);
  });

  it('takes a paste outside a prompt for no keys', () => {
    expect(write(two, 'quiet\r').wishes).toMatchObject([{ kind: 'list' }]);
    expect(write(two, 'production')).toEqual({ state: two, wishes: [] });
  });

  it('fills the terminal exactly, shows the age of the data, and keeps the last state without an update', () => {
    const lines = screenLines({ ...two, trouble: 'no answer since 12:00:00' }, startedAt, size, plain);
    expect(lines).toHaveLength(24);
    expect(lines[0]).toMatch(/^> web +RUNNING wave 1\/2 canary/);
    expect(lines).toContain('config    edge has another config');
    expect(lines.at(-2)).toBe('no answer since 12:00:00');
    expect(lines.at(-1)).toMatch(/^up\/down {3}enter open .* updated 2 s ago$/);
    expect(screenLines(emptyScreen, startedAt, size, plain)[0]).toBe('waiting for the daemon');
  });

  const trouble =
    'no answer since 12:00:00: Redis does not answer, so the state is unknown. Running upgrades continue at the service, and nothing new starts. Check `redis` in the config; the daemon continues when Redis is back';

  it('recomputes no duration until the next answer, and shows how old the last one is', () => {
    const eta = { kind: 'at', at: startedAt + 90_000, plusMinusMs: 0, requests: 1 } as const;
    const rows = [row('web', { eta, createdAt: startedAt - 60_000 }), row('edge', { eta })];
    const read = withReading(emptyScreen, { rows, notes: [], seenAt: startedAt });
    const at = (now: number, state: ScreenState) =>
      screenLines(state, now, { columns: 120, rows: 40 }, plain);
    const first = at(startedAt, read);
    expect(first[0]).toMatch(/ {2}1m30s left$/);
    for (const state of [read, { ...read, trouble: 'no answer since 12:00:00' }]) {
      const later = at(startedAt + 85_000, state);
      expect(later.slice(0, -2)).toEqual(first.slice(0, -2));
      expect(later.at(-1)).toMatch(/ updated 85 s ago$/);
    }
  });

  it.each([
    [{ buildHold }, 'l release build'],
    [{ ...failure, verbs: ['resume'] as const, buildHold: null }, 'h hold group'],
  ])('keeps the age and the keys that are needed whole in 80 columns: %o', (changes, due) => {
    const state = shownOf(row('web', { ...heldForBuild, ...changes }), row('edge'));
    for (const shown of [state, press(state, 'enter').state]) {
      const foot = screenLines(shown, startedAt + 999_000, size, plain).at(-1) ?? '';
      expect(foot.length).toBeLessThan(80);
      for (const part of [due, '? keys', 'q quit', 'updated 999 s ago']) expect(foot).toContain(part);
    }
  });

  it('shows the whole reason of an outage, whether something was read before or not', () => {
    const waiting = linesIn({ ...emptyScreen, trouble }, 80, 24);
    expect(waiting).toHaveLength(24);
    expect(waiting.slice(0, 2)).toEqual(['waiting for the daemon', '']);
    expect(wordsOf(waiting.slice(2, -1)).trim()).toBe(trouble);
    expect(waiting.every(({ length }) => length <= 80)).toBe(true);
    const known = linesIn({ ...two, trouble }, 80, 24);
    expect(known).toHaveLength(24);
    expect(known[0]).toMatch(/^> web +RUNNING/);
    expect(wordsOf(known.slice(-4, -1)).trim()).toBe(trouble);
    const keys = press({ ...emptyScreen, trouble }, { type: '?' }).state;
    expect(wordsOf(linesIn(keys, 80, 24))).toContain('when Redis is back');
    // A question is read in full, so it keeps its lines.
    expect(linesIn(press({ ...two, trouble }, { type: 'p' }).state, 80, 24).at(-2)).toMatch(
      /^no answer .* …$/,
    );
  });

  it('cuts a reason that would fill the screen', () => {
    const long = linesIn({ ...two, trouble: `no answer: ${'x y '.repeat(400)}` }, 80, 24);
    expect(long).toHaveLength(24);
    expect(long.at(-2)).toMatch(/ …$/);
    expect(long[0]).toMatch(/^> web +RUNNING/);
  });

  it('keeps the command and some collectors visible below a long status', () => {
    const waves = Array.from({ length: 30 }, (_, at) => aWaveStatus({ name: `wave ${at}` }));
    const rows = [row('web', { waves, counts: countsOf({ failed: 2 }) })];
    const state = {
      ...withReading(emptyScreen, { rows, notes: [], seenAt: startedAt }),
      collectors: [collector('web-7', 7)],
    };
    const lines = screenLines(state, startedAt, size, plain);
    expect(lines).toHaveLength(24);
    expect(lines.some((line) => line.startsWith('do      upwave pause web'))).toBe(true);
    expect(lines).toContain('> web-7  failed      canary  no space\\u001b[2J');
  });

  const reason = `wave early: 12 failures, 1 allowed; ${'the service rejected the task. '.repeat(5)}`.trim();
  const held = {
    state: 'held',
    hold: 17,
    verbs: ['abort', 'resume'],
    reason,
    strata: strataHolding(...Array.from({ length: 92 }, () => aHeldStratum())),
    waves: Array.from({ length: 30 }, (_, at) => aWaveStatus({ name: `wave-${at}` })),
    counts: countsOf({ failed: 12 }),
  } as const;
  const night = withReading(emptyScreen, {
    rows: [row('production', held), row('edge', { waves: [aWaveStatus({ name: 'shore' })] })],
    notes: [],
    seenAt: startedAt,
  });
  const many = Array.from({ length: 40 }, (_, at) => row(`policy-${at}`));
  const failed = Array.from({ length: 50 }, (_, at) => collector(`web-${at}`, at));
  const linesIn = (state: ScreenState, columns: number, rows: number) =>
    screenLines(state, startedAt, { columns, rows }, plain);
  const wordsOf = (lines: readonly string[]) => lines.join(' ').replaceAll(/\s+/g, ' ');

  it('shows in 80 × 24 the whole reason of a hold and the verbs first, and cuts lists', () => {
    const lines = linesIn({ ...press(night, 'enter').state, collectors: failed }, 80, 24);
    expect(lines).toHaveLength(24);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    expect(wordsOf(lines)).toContain(`held ${reason} held 92 strata`);
    expect(lines.findIndex((line) => line.startsWith('do '))).toBeLessThan(8);
    expect(wordsOf(lines)).toMatch(/… \d+ more waves: upwave report production-1/);
    expect(lines.filter((line) => /^[> ] web-/.test(line)).length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['walks through them', { cursor: 20 }, '21 of 50', 'web-20'],
    ['searches them', { words: 'web' }, '1 of 50', 'web-0'],
  ])('gives the collectors half of 80 × 24 while a person %s', (_how, changes, at, name) => {
    const state = { ...press(night, 'enter').state, collectors: failed, ...changes };
    const lines = linesIn(state, 80, 24);
    expect(lines).toHaveLength(24);
    expect(lines[0]).toMatch(/^production-1 .*NEEDS YOU/);
    expect(lines.find((line) => line.startsWith('collectors '))).toContain(at);
    expect(lines.filter((line) => /^[> ] web-/.test(line)).length).toBeGreaterThanOrEqual(10);
    expect(lines.some((line) => line.startsWith(`> ${name} `))).toBe(true);
  });

  it.each(['running', 'held'] as const)(
    'shows the chosen collector and two more in 80 × 24 below a %s rollout with much to show',
    (state) => {
      const others = { count: 0, causes: 0, unread: 0 };
      const windows = aHeldStratum({ by: 'daemon', label: 'Windows Server 2016 / amd64', waiting: 10 });
      const waves = ['canary', 'early', 'mid', 'late', 'rest'].map((name, at) =>
        aWaveStatus({ name, state: at === 0 ? 'passed' : at === 1 ? 'open' : 'waiting' }),
      );
      const full = row('web', {
        ...{ state, hold: 3, reason, waves, planned: 64, verbs: ['resume', 'abort', 'rollback'] },
        strata: strataHolding(windows, aHeldStratum({ by: 'ann' })),
        blockers: [
          { kind: 'concurrency', reason: 'all 5 slots are in use', until: null },
          { kind: 'pace', reason: 'no more than 30 an hour', until: startedAt + 60_000 },
        ],
        sharedAttribute: {
          attributes: [{ key: 'osName', value: 'Windows Server 2016' }],
          ...{ failed: 6, tried: 7, elsewhere: { failed: 1, tried: 40 }, share: 0.1 },
        },
        causes: [
          { of: 'failed', total: 7, causes: [aCause({ count: 4 }), aCause({ text: 'locked' })], others },
          { of: 'retrying', total: 5, causes: [aCause({ text: 'throttled' })], others },
        ],
        counts: countsOf({ failed: 7, pending: 20, retrying: 2, succeeded: 30 }),
      });
      const open = withReading(emptyScreen, { rows: [full], notes: [], seenAt: startedAt });
      const lines = linesIn({ ...open, collectors: failed.slice(0, 7) }, 80, 24);
      expect(lines.filter((line) => /^[> ] web-\d+ /.test(line))).toHaveLength(3);
      expect(lines.some((line) => line.startsWith('> web-0 '))).toBe(true);
      expect(lines.some((line) => line.startsWith('do '))).toBe(true);
      expect(lines.some((line) => line.startsWith('early '))).toBe(true);
      expect(lines.some((line) => line.startsWith('plan '))).toBe(false);
    },
  );

  it.each([
    ['common  all 9 failures have osName=Windows*', true],
    ['failed  9 permission denied', false],
  ])('keeps the line "%s" in 80 × 24 below three long reasons', (line, isShared) => {
    const label = (at: number) => `Windows Server 201${at} Datacenter / amd64 / 19.441-2 / eu-central-1`;
    const waiting = { waiting: 4, failed: 3 } as const;
    const asked = { by: 'ann', reason: `the database team asked for it: ${'INC-4711 is open. '.repeat(5)}` };
    const groups = ['category=prod/db/postgres', 'category=prod/db/mysql'];
    const strata = strataHolding(
      ...[1, 2, 6].map((at) => aHeldStratum({ label: label(at), ...waiting })),
      ...groups.map((each) => aHeldStratum({ label: each, ...asked, ...waiting })),
    );
    const labels = strata.held.map((each) => each.label).join('; ');
    const full = row('production', {
      ...{ state: 'held', hold: 51, reasonKind: 'onlyHeldStrata', strata, planned: 64 },
      reason: `all else is done: 20 collectors of held strata wait (${labels}); release them, or resume to end without them`,
      verbs: ['resume', 'abort', 'rollback', 'retry'],
      waves: ['canary', 'early', 'rest'].map((name) => aWaveStatus({ name, setAside: 7 })),
      sharedAttribute: isShared
        ? {
            attributes: [{ key: 'osName', value: 'Windows*' }],
            ...{ failed: 9, tried: 12, elsewhere: { failed: 0, tried: 40 }, share: 0.2 },
          }
        : null,
      causes: [
        {
          ...{ of: 'failed', total: 9, others: { count: 0, causes: 0, unread: 0 } },
          causes: [aCause({ count: 9, text: 'permission denied' })],
        },
      ],
      counts: countsOf({ failed: 9, pending: 20, succeeded: 35 }),
    });
    const open = withReading(emptyScreen, { rows: [full], notes: [], seenAt: startedAt });
    const lines = linesIn({ ...open, collectors: failed.slice(0, 7) }, 80, 24);
    expect(lines).toHaveLength(24);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    expect(lines.some((each) => each.startsWith(line))).toBe(true);
    expect(lines.some((each) => each.startsWith('do '))).toBe(true);
    expect(lines.filter((each) => each.startsWith('held '))).toHaveLength(3);
    expect(lines.filter((each) => /^[> ] web-\d+ /.test(each))).toHaveLength(3);
  });

  it('says of a long list of collectors that it has only the first', () => {
    const most = Array.from({ length: 100 }, (_, at) => collector(`web-${at}`, at));
    const lines = linesIn({ ...press(night, 'enter').state, collectors: most }, 80, 24);
    expect(lines).toContain('collectors failed, else to retry or in flight: 1 of the first 100');
  });

  it('shows in 80 × 24 each of three waves of a hold, before collectors, other causes and left-behind ones', () => {
    const reason = 'wave early: 18 failures, 6 allowed (3 lost collectors count as 9)';
    const causes = ['no space left on device', 'no end within 35m', 'permission denied'].map((text) =>
      aCause({ text }),
    );
    const others = { count: 0, causes: 0, unread: 0 };
    const state = withReading(emptyScreen, {
      rows: [
        row('web', {
          ...{ state: 'held', hold: 17, verbs: ['abort', 'resume'], reason, strata: held.strata },
          buildHold: { build: '19.536-4', by: 'daemon', reason, at: startedAt },
          waves: [
            aWaveStatus({ state: 'passed' }),
            aWaveStatus({ name: 'early', failures: 18, lost: 3, failuresAllowed: 6, joined: 2 }),
            aWaveStatus({ name: 'rest', state: 'waiting', waits: 'gate of early' }),
          ],
          causes: [
            { of: 'failed', total: 15, causes, others },
            { of: 'retrying', total: 5, causes: [aCause({ text: 'throttled' })], others },
          ],
          leftBehind: [{ kind: 'claimed', reason: 'another rollout has them', count: 1, names: ['web-9'] }],
          counts: countsOf({ failed: 15 }),
        }),
      ],
      notes: [],
      seenAt: startedAt,
    });
    const lines = linesIn({ ...state, collectors: failed }, 80, 24);
    expect(lines).toHaveLength(24);
    expect(lines[0]).toMatch(/^web-1 .*NEEDS YOU: it is held/);
    expect(lines).toContain(`held    ${reason}`);
    expect(wordsOf(lines)).toContain('do upwave resume web --hold 17');
    expect(wordsOf(lines)).toMatch(
      /canary passed .* early open +1 ok +0 failed +budget 18\/6 .* rest waiting +2\/2 /,
    );
    expect(wordsOf(lines)).toContain('failed 5 no space left on device');
    expect(wordsOf(lines)).not.toMatch(/upwave report|no end within|^left /);
  });

  it.each([
    [120, 30],
    [120, 50],
  ])('shows in %i × %i the policies above the rollout at the cursor', (columns, rows) => {
    const lines = linesIn(night, columns, rows);
    expect(lines).toHaveLength(rows);
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^> production +NEEDS YOU: it is held/),
      expect.stringMatching(/^ {2}edge +RUNNING/),
      '─'.repeat(columns),
    ]);
    expect(wordsOf(lines)).toContain(`held ${reason} held 92 strata`);
    const next = linesIn(press(night, 'down').state, columns, rows);
    expect(next[1]).toMatch(/^> edge/);
    expect(next.some((line) => line.startsWith('shore '))).toBe(true);
  });

  it('shows the last events of the rollout at the cursor where lines are free, and none of another', () => {
    const events = Array.from({ length: 100 }, (_, at) =>
      aRolloutEvent({ rollout: 'edge-1', event: 'wave.opened', wave: `shore-${at}` }),
    );
    const below = press({ ...night, events }, 'down').state;
    const lines = linesIn(below, 120, 40);
    expect(lines).toHaveLength(40);
    const from = lines.indexOf('last events, times in UTC');
    expect(lines[from + 1]).toMatch(/ {2}wave\.opened {2}wave shore-0\b/);
    // Down to the two lines at the end.
    expect(lines[37]).toMatch(/ {2}wave\.opened {2}wave shore-\d+/);
    expect(linesIn({ ...night, events }, 120, 60)).not.toContain('last events, times in UTC');
    expect(linesIn(press(below, 'enter').state, 120, 40)).not.toContain('last events, times in UTC');
    expect(linesIn(press(below, 'enter').state, 80, 24)).not.toContain('last events, times in UTC');
  });

  it('fills a small screen: the rollout at the cursor, what needs a person in full, and plain steps last', () => {
    const reason = 'the disk of the collector is full, and its log cannot be written any more';
    const events = Array.from({ length: 100 }, (_, at) =>
      at % 40 === 30
        ? aRolloutEvent({ rollout: 'edge-1', event: 'upgrade.failed', collectorId: at, reason })
        : aRolloutEvent({ rollout: 'edge-1', event: at % 2 ? 'upgrade.queued' : 'upgrade.succeeded' }),
    );
    const rows = [row('web'), row('edge')];
    const state = { ...withReading(emptyScreen, { rows, notes: [], seenAt: startedAt }), cursor: 1, events };
    const lines = linesIn(state, 80, 24);
    expect(lines).toHaveLength(24);
    expect(lines.slice(0, -2)).not.toContain('');
    expect(lines.filter((line) => line.includes('upgrade.failed'))).toHaveLength(2);
    expect(wordsOf(lines)).toContain(reason);
    expect(wordsOf(lines)).toContain('upgrade.succeeded');
    expect(wordsOf(lines)).not.toContain('upgrade.queued');
    const few = linesIn({ ...state, events: events.filter((_, at) => at < 4) }, 80, 24);
    expect(few.filter((line) => line.includes('upgrade.queued'))).toHaveLength(2);
  });

  it('cuts no list of an open rollout for collectors that are not there', () => {
    const waves = Array.from({ length: 30 }, (_, at) => aWaveStatus({ name: `wave ${at}` }));
    const one = withReading(emptyScreen, { rows: [row('web', { waves })], notes: [], seenAt: startedAt });
    const lines = linesIn(one, 80, 24).slice(0, -2);
    expect(lines.filter((line) => line === '')).toHaveLength(1);
  });

  it('keeps the policies above the open rollout and its collectors', () => {
    const opened = { ...press(night, 'enter').state, collectors: failed };
    const lines = linesIn(opened, 120, 40);
    expect(lines[0]).toMatch(/^> production/);
    expect(lines).toContain('collectors failed, else to retry or in flight: 1 of 50');
    const unread = linesIn({ ...opened, collectors: undefined }, 120, 40);
    expect(unread).toContain('collectors failed, else to retry or in flight: reading …');
    expect(lines.some((line) => line.startsWith('> web-0 '))).toBe(true);
    expect(linesIn(opened, 120, 29)[0]).toMatch(/^production-1 /);
  });

  it('leaves two thirds of a split screen to the rollout, however many policies there are', () => {
    const state = withReading(
      { ...emptyScreen, cursor: 39 },
      { rows: many, notes: ['a', 'b'], seenAt: startedAt },
    );
    const lines = linesIn(state, 120, 50);
    expect(lines).toHaveLength(50);
    expect(lines.findIndex((line) => line.startsWith('─'))).toBeLessThanOrEqual(17);
    expect(lines.some((line) => line.startsWith('> policy-39 '))).toBe(true);
    expect(lines.some((line) => line.startsWith('policy-39-1 '))).toBe(true);
  });

  it('shows how an operator starts a policy again, also in place of its last rollout', () => {
    const needs = { kind: 'start', reason: 'Redis lost its data, and web-1 was paused' } as const;
    const ended = { ...row('web', { state: 'succeeded', endedAt: startedAt }), needs };
    const one = withReading(emptyScreen, { rows: [ended], notes: [], seenAt: startedAt });
    const asked = /^> web {2}NEEDS YOU: start it again {2}do upwave start web$/;
    expect(linesIn(one, 80, 24).slice(0, 2)).toEqual([
      expect.stringMatching(asked),
      expect.stringMatching(/^ +Redis lost its data, and web-1 was paused$/),
    ]);
    const both = withReading(one, { rows: [ended, row('edge')], notes: [], seenAt: startedAt });
    const lines = linesIn(both, 120, 50);
    expect(lines.filter((line) => line.trim() === 'do upwave start web')).toHaveLength(1);
    expect(lines[0]).toMatch(/do upwave start web$/);
  });

  describe('for a policy that waits for a start', () => {
    const needs = { kind: 'start', reason: 'Redis lost its data, and web-1 was paused' } as const;
    const waiting = shownOf(
      { ...row('web', { state: 'succeeded', endedAt: startedAt }), needs },
      row('edge'),
    );
    const preview = {
      ...{ policy: 'web', planHash: '7f3a', targetBuild: '19.455-2', planned: 12, concurrency: 50 },
      waves: [{ name: 'rest', size: 12, soakMs: 0 }],
      estimate: { durationMs: 7_980_000, plusMinusMs: 1_800_000, requests: 1_200 },
      ...{ leftOut: [], earlier: null, failedBefore: 0, expectedFailures: null, approval: false },
      window: { isOpen: true, until: null, reason: '' },
    };
    const asked = press(waiting, { type: 's' });
    const shown = withPreview(asked.state, 'web', { value: preview });

    it('names the key, reads the plan, and starts what it has shown with a y or a reason', () => {
      expect(linesIn(waiting, 80, 24).at(-1)).toContain('s start');
      expect(asked.wishes).toEqual([{ kind: 'previewStart', policy: 'web' }]);
      expect(linesIn(asked.state, 80, 24)[0]).toBe('reading the fleet …');
      const lines = linesIn(shown, 80, 24);
      expect(wordsOf(lines)).toMatch(
        /^web: plan 7f3a: 12 collectors to 19\.455-2 .* Start these 12 upgrades\? /,
      );
      expect(lines.at(-1)).toMatch(/^start web, y or a reason: .*enter confirms, esc cancels$/);
      const start = { kind: 'start', policy: 'web', planHash: '7f3a' } as const;
      expect(press(shown, { type: 'y' }, 'enter').wishes).toEqual([{ ...start, reason: '' }]);
      const begun = press(shown, { type: 'disk is back' }, 'enter');
      expect(begun.wishes).toEqual([{ ...start, reason: 'disk is back' }]);
      expect(begun.state.typing).toBeUndefined();
    });

    it('starts nothing before the plan is shown, by enter without a word, or after escape', () => {
      const early = press(asked.state, { type: 'y' }, 'enter');
      expect([early.wishes, withPreview(early.state, 'web', { value: preview })]).toEqual([[], shown]);
      expect(press(shown, 'enter')).toMatchObject({ wishes: [], state: { typing: { what: 'start' } } });
      const left = press(asked.state, 'back').state;
      expect(withPreview(left, 'web', { value: preview })).toBe(left);
    });

    it('shows why there is no plan, and asks nothing of a policy that does not wait', () => {
      const refused = withPreview(asked.state, 'web', { message: 'no build is available' });
      expect(linesIn(refused, 80, 24).at(-2)).toBe('no build is available');
      expect(refused.typing).toBeUndefined();
      const edge = press(waiting, 'down', { type: 's' });
      expect(edge).toMatchObject({ wishes: [], state: { message: 'edge does not wait for a start' } });
    });
  });

  it('splits no screen of one policy, and shows a policy without a rollout', () => {
    const rowless = { policy: 'night', status: undefined, policyStatus: undefined };
    const one = withReading(emptyScreen, { rows: [row('web')], notes: [], seenAt: startedAt });
    expect(linesIn(one, 120, 50)[0]).toMatch(/^web-1 /);
    const two = withReading(emptyScreen, { rows: [rowless, row('web')], notes: [], seenAt: startedAt });
    expect(linesIn(two, 120, 50)[3]).toBe('no rollout yet');
  });
});
