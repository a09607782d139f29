import { afterEach, describe, expect, it } from 'vitest';
import type { RunningAdminApi } from '../../../../src/admin-api/admin-api.ts';
import type { PolicyStatuses } from '../../../../src/orchestrator/operations/list-policies.ts';
import type { HeldThings } from '../../../../src/orchestrator/operations/operations.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { anApiBudgetStatus, aStandstill, startedAt } from '../../../support/builders.ts';
import {
  aRolloutEvent,
  aRolloutStatus,
  aWaveStatus,
  countsOf,
  makeFakeOperations,
} from '../../../support/fake-operations.ts';
import { openFakePage } from '../../../support/fake-page.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

const word = { by: 'alice', reason: 'its disk is full', at: startedAt };
const gate = {
  name: 'errors',
  verdict: 'fail',
  words: 'errors 0.93, expected >= 0.99',
  value: 0.93,
  unanswered: 0,
} as const;

describe('the page', () => {
  let api: RunningAdminApi | undefined;

  const open = async (rollouts: readonly RolloutStatus[], held?: HeldThings, policies?: PolicyStatuses) => {
    const operations = makeFakeOperations({
      rollouts,
      events: [aRolloutEvent({ collectorName: 'web-<b>7</b>\u202e' })],
      ...(held !== undefined && { held }),
      ...(policies !== undefined && { policies }),
      preview: {
        kind: 'planned',
        preview: {
          policy: 'production',
          planHash: '7f3a',
          targetBuild: '19.455-2',
          planned: 12,
          waves: [
            { name: 'canary', size: 2 },
            { name: 'rest', size: 10 },
          ],
          leftOut: [],
          approval: false,
          window: { isOpen: true, until: null, reason: '' },
        },
      },
    });
    api = await startFakeAdminApi(operations);
    const page = await openFakePage(`${api.url}/api/v1`);
    return { page, operations, card: page.byId('rollouts') };
  };

  afterEach(async () => {
    await api?.close();
    api = undefined;
  });

  it('shows the window, by the time zone of the policy', async () => {
    const window = { isOpen: false, until: startedAt, reason: 'frozen: holidays', ownZones: true } as const;
    const { card } = await open([aRolloutStatus({ window: { ...window, timeZone: 'Asia/Tokyo' } })]);
    // 21:00 UTC is six in the morning there.
    expect(card.textContent).toMatch(/Windowclosed until .*06:00 Asia\/Tokyo/);
    expect(card.textContent).toContain('frozen: holidays');
    expect(card.textContent).toContain('own time zone');
  });

  it('shows no window where upgrades may start at any time', async () => {
    const { card } = await open([aRolloutStatus()]);
    expect(card.textContent).not.toContain('Window');
  });

  it('shows the use of the API budget, and why all wait for the service', async () => {
    const standstill = aStandstill({
      kind: 'serviceDown',
      reason: 'the service does not answer',
      detail: 'getCollector: answered 503.',
      since: startedAt,
    });
    const quiet = aRolloutStatus({ id: 'quiet-20260302-1', api: null });
    const down = aRolloutStatus({ api: anApiBudgetStatus({ rateLimited: 3, standstill }) });
    const { card } = await open([down, quiet]);
    expect(card.textContent).toContain('3.4 of 4 requests/s, 429s 3');
    expect(card.textContent).toMatch(
      /the service does not answer since .*\(getCollector: answered 503\.\); next try /,
    );
    expect(card.textContent.match(/requests\/s/g)).toHaveLength(1);
  });

  it('shows the gates of the wave that is current, in words', async () => {
    const waves = [
      aWaveStatus({ state: 'passed', gates: [{ ...gate, words: 'over and done', dryRun: false }] }),
      aWaveStatus({ name: 'early', state: 'soaking', gates: [{ ...gate, dryRun: false }] }),
      aWaveStatus({ name: 'rest', state: 'waiting' }),
    ];
    const { card } = await open([aRolloutStatus({ waves })]);
    expect(card.textContent).toContain('Gates of earlyfailerrors 0.93, expected >= 0.99');
    expect(card.textContent).not.toContain('over and done');
  });

  it('shows strata: covered by each wave, uncovered, held with their figures, and what is set aside', async () => {
    const { card } = await open([
      aRolloutStatus({
        strata: {
          total: 12,
          held: [
            { label: 'Windows / amd64', ...word, reason: '3 of 4 failed, 1 of 80 elsewhere', waiting: 7 },
          ],
          uncovered: { count: 2, labels: ['AIX / ppc'] },
        },
        waves: [aWaveStatus({ strata: 10, setAside: 5, joined: 1 })],
      }),
    ]);
    const text = card.textContent;
    expect(text).toContain('10 / 12');
    expect(text).toContain('5 set aside');
    expect(text).toContain('1 joined late');
    expect(text).toContain('stratum Windows / amd64: 3 of 4 failed, 1 of 80 elsewhere, 7 wait');
    expect(text).toContain('2 in the last wave only');
    expect(card.all().some((element) => element.getAttribute('title') === 'AIX / ppc · …')).toBe(true);
  });

  it('starts the plan that it has shown, and reads the config file again', async () => {
    const { page, operations } = await open([aRolloutStatus()], undefined, {
      orphans: [],
      configProblem: 'upwave.yaml:3: concurrency',
      policies: [
        {
          policy: 'production',
          lastScan: null,
          lastGoodAt: null,
          nextScanAt: null,
          config: { kind: 'agreed', others: 0 },
        },
      ],
    });
    expect(page.byId('config-problem').textContent).toContain('upwave.yaml:3: concurrency');
    await page.button('start …').dispatch('click');
    expect(page.body.textContent).toContain('12 collectors to 19.455-2 in plan 7f3a: canary 2, rest 10');
    const [form] = page.body.all().filter(({ tag }) => tag === 'form');
    await form?.dispatch('submit');
    expect(operations.starts).toMatchObject([{ policy: 'production', planHash: '7f3a' }]);
    await page.byId('reload').dispatch('click');
    expect(operations.reloads).toHaveLength(1);
    expect(page.byId('config-note').textContent).toBe('nothing has changed');
  });

  it('shows how each policy looked for work last, as a text', async () => {
    const failed = { at: startedAt, outcome: 'failed', reason: '<b>the key is wrong</b>' } as const;
    const { page } = await open([], undefined, {
      policies: [
        {
          policy: 'night',
          lastScan: failed,
          lastGoodAt: null,
          nextScanAt: null,
          config: { kind: 'agreed', others: 0 },
        },
      ],
      orphans: [{ id: 'first-20260302-1', policy: 'first', state: 'paused' }],
    });
    expect(page.byId('policies').hidden).toBe(false);
    expect(page.byId('policy-rows').textContent).toMatch(
      /^first.*paused first-20260302-1 waits: its policy is not in the config.*night.*failed <b>the key is wrong<\/b>–start …$/,
    );
    const none = await open([]);
    expect(none.page.byId('policies').hidden).toBe(true);
  });

  it('shows builds and collectors that are held, and nothing where none is', async () => {
    const buildHold = { build: '19.536-4', ...word, reason: 'it tripped a canary' };
    const held = { builds: [buildHold], collectors: [{ collectorId: 7, ...word }], strata: [] };
    const { page, card } = await open([aRolloutStatus({ buildHold })], held);
    expect(card.textContent).toContain('build 19.536-4: it tripped a canary (held by alice');
    expect(page.byId('held').hidden).toBe(false);
    expect(page.byId('held-rows').textContent).toContain('build 19.536-4it tripped a canaryalice');
    expect(page.byId('held-rows').textContent).toContain('collector 7its disk is fullalice');
    await api?.close();
    const free = await open([aRolloutStatus()]);
    expect(free.page.byId('held').hidden).toBe(true);
    expect(free.card.textContent).not.toContain('held');
  });

  it('has the headline as badge and title, of what needs a person first', async () => {
    const waves = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];
    const { page, card } = await open([aRolloutStatus({ id: 'a' }), aRolloutStatus({ id: 'b', waves })]);
    const badges = card.all().filter(({ className }) => className.startsWith('badge'));
    expect(badges.map(({ textContent }) => textContent)).toEqual(
      expect.arrayContaining(['running', 'needs approval']),
    );
    expect(page.title()).toBe('needs approval 10 % · upwave');
  });

  it('shows why upgrades failed, with strata and names as texts, and how many others there are', async () => {
    const cause = {
      kind: 'failed',
      failureClass: 'permanent',
      text: 'service did not start',
      count: 18,
      strata: [{ label: 'Windows', count: 14 }],
      otherStrata: { count: 4, strata: 2 },
      names: ['<b>svr-12</b>', 'svr-31'],
    } as const;
    const others = { count: 16, causes: 9, unread: 0 };
    const { card } = await open([
      aRolloutStatus({ causes: [{ of: 'failed', total: 34, causes: [cause], others }] }),
    ]);
    expect(card.textContent).toContain(
      '18 failed service did not start (Windows ×14, 2 more strata ×4; <b>svr-12</b>, svr-31, …)',
    );
    expect(card.textContent).toContain('and 16 others failed (9 causes)');
  });

  it.each([
    [{ kind: 'at', at: startedAt, plusMinusMs: 600_000, requests: 24 }, /Done about.+ ± 10 min, 24 requests/],
    [
      { kind: 'afterApproval', approvalAt: null, durationMs: 100_000, plusMinusMs: 25_000, requests: 24 },
      /Done1 min 40 s after approval ± 25 s, 24 requests/,
    ],
    [{ kind: 'atTheLatest', at: startedAt }, /Done at the latest.*\d\d:\d\d/],
    [{ kind: 'unknown', reason: 'held' }, /Done aboutunknown: it is held/],
  ] as const)('says when it ends: %o', async (eta, words) => {
    const { card } = await open([aRolloutStatus({ eta })]);
    expect(card.textContent).toMatch(words);
  });

  it('shows a rollback and what it takes back', async () => {
    const { card } = await open([
      aRolloutStatus({ id: 'b', kind: 'rollback', rollbackOf: 'a' }),
      aRolloutStatus({ id: 'a', state: 'rollingBack', rollbackId: 'b' }),
    ]);
    expect(card.textContent).toContain('Rolls backa');
    expect(card.textContent).toContain('Rolled back byb');
  });

  it('asks for the approval of the very plan that it shows, with how the fleet moved', async () => {
    const drift = { from: '11aa', joined: 1, left: 0, words: '1 came (web-9)' };
    const { page, operations, card } = await open([
      aRolloutStatus({ state: 'awaitingApproval', planHash: '7f3a', drift, verbs: ['approve'] }),
    ]);
    expect(card.textContent).toContain('The fleet moved since plan 11aa was shown: 1 came (web-9)');
    expect(card.textContent).toContain('approve plan 7f3a.');
    await page.button('approve plan 7f3a').dispatch('click');
    const form = page.body.all().find(({ tag }) => tag === 'form');
    const reason = form?.all().find(({ tag }) => tag === 'input');
    if (reason !== undefined) reason.value = 'looked at it';
    await form?.dispatch('submit');
    expect(operations.requests).toEqual([
      {
        rolloutId: 'production-20260302-1',
        verb: 'approve',
        by: 'operator',
        reason: 'looked at it',
        planHash: '7f3a',
      },
    ]);
  });

  const soaking = [aWaveStatus({ state: 'soaking' })];
  const waiting = [aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' })];
  it.each([
    ['pause', { verb: 'pause' }, {}],
    ['resume', { verb: 'resume', hold: 17 }, { state: 'paused', hold: 17 }],
    ['approve wave rest', { verb: 'approve', wave: 'rest' }, { waves: waiting }],
    ['skip soak of wave canary', { verb: 'skipSoak', wave: 'canary' }, { waves: soaking }],
    ['abort', { verb: 'abort' }, {}],
    ['retry 1 failed', { verb: 'retry', failed: 1 }, { counts: countsOf({ failed: 1 }) }],
  ] as const)('has a button to %s, which sends what it showed', async (label, asked, changes) => {
    const { page, operations } = await open([aRolloutStatus({ ...changes, verbs: [asked.verb] })]);
    await page.button(label).dispatch('click');
    await page.body
      .all()
      .find(({ tag }) => tag === 'form')
      ?.dispatch('submit');
    expect(operations.requests).toEqual([
      { rolloutId: 'production-20260302-1', by: 'operator', reason: 'no reason given', ...asked },
    ]);
  });

  it('shows what a rollback does before it can be asked for, and asks for just that (P15)', async () => {
    const { page, operations } = await open([aRolloutStatus()]);
    const opened = page.button('roll back').dispatch('click');
    const form = page.body.all().find(({ tag }) => tag === 'form');
    const submit = form?.all().findLast(({ tag }) => tag === 'button');
    expect(submit?.disabled).toBe(true);
    await opened;
    expect(submit?.disabled).toBe(false);
    for (const text of [
      '40 collectors go back',
      '19.441-2 (30), 19.456-3 (10)',
      '3 stay: the service no longer',
    ])
      expect(form?.textContent).toContain(text);
    expect(form?.textContent).toContain('canary at most 4, 0 may fail, soak 30 min → rest 36, 2% may fail');
    await form?.dispatch('submit');
    expect(operations.requests).toMatchObject([
      { verb: 'rollback', shown: { collectors: 40, leftBehind: 3 } },
    ]);
  });

  it('has buttons for legal verbs only', async () => {
    const { page } = await open([aRolloutStatus({ state: 'awaitingApproval', verbs: ['approve', 'abort'] })]);
    for (const label of ['pause', 'resume', 'skip soak', 'roll back', 'retry'])
      expect(() => page.button(label)).toThrow(`no button ${label}`);
  });

  it('says why a verb was refused', async () => {
    const { page } = await open([aRolloutStatus({ state: 'succeeded', endedAt: startedAt })]);
    await page.button('roll back').dispatch('click');
    await page.body
      .all()
      .find(({ tag }) => tag === 'form')
      ?.dispatch('submit');
    expect(page.body.textContent).toContain('it has ended: succeeded');
  });

  it('shows texts from machines as what they are: nothing turns the reading direction', async () => {
    const odd = '<img src=x onerror=alert(1)>\u202e\u0007\u061c\u200b\u{e0041}';
    const shown = '<img src=x onerror=alert(1)>\\u202e\\u0007\\u061c\\u200b\\udb40\\udc41';
    const { page, card } = await open(
      [
        aRolloutStatus({
          reason: `reason ${odd}`,
          leftOut: [{ kind: 'text', reason: `left out ${odd}`, count: 2 }],
          blockers: [{ kind: 'turn', reason: `hold ${odd}`, until: null }],
          drift: { from: '1', joined: 0, left: 0, words: `drift ${odd}` },
          state: 'awaitingApproval',
          strata: {
            total: 2,
            held: [{ label: `label ${odd}`, ...word, reason: `figures ${odd}`, waiting: 1 }],
            uncovered: { count: 1, labels: [`uncovered ${odd}`] },
          },
          buildHold: { build: '19.536-4', ...word, reason: `build ${odd}` },
          window: { isOpen: true, until: null, reason: `window ${odd}`, timeZone: 'UTC', ownZones: false },
          waves: [
            aWaveStatus({
              name: `wave ${odd}`,
              waits: `waits ${odd}`,
              gates: [{ ...gate, words: `gate ${odd}`, dryRun: true }],
            }),
          ],
        }),
      ],
      { builds: [], collectors: [{ collectorId: 7, ...word, reason: `collector ${odd}` }], strata: [] },
    );
    const elements = [card, page.byId('held-rows')].flatMap((element) => element.all());
    const texts = elements.flatMap(({ textContent, attributes }) => [textContent, ...attributes.values()]);
    const whole = texts.join('\n');
    const names = ['reason', 'left out', 'hold', 'drift', 'label', 'figures', 'uncovered', 'build', 'window'];
    for (const name of [...names, 'wave', 'waits', 'gate', 'collector'])
      expect(whole).toContain(`${name} ${shown}`);
    expect(whole).toContain('web-<b>7</b>\\u202e');
    for (const character of ['\u202e', '\u0007', '\u061c', '\u200b', '\u{e0041}'])
      expect(whole).not.toContain(character);
  });
});
