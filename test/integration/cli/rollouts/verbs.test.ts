import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { auditEvents } from '../../../../src/base/vocabulary.ts';
import { verbCommand } from '../../../../src/cli/rollouts/verb-command.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import type { RolloutStatus } from '../../../../src/contract/admin/rollout-status.ts';
import { summarizeBuilds } from '../../../../src/rollout/report/build-history.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { aBuildRecord, because, startedAt } from '../../../support/builders.ts';
import { ending } from '../../../support/ending.ts';
import {
  anExplanation,
  aRolloutEvent,
  aRolloutStatus,
  aWaveStatus,
  countsOf,
  makeFakeOperations,
} from '../../../support/fake-operations.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';
import { aPolicyStatus } from '../../../support/status-parts.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const running = 'production-20260302-1';
const build = '19.455-2';
const label = 'Linux / amd64 / 19.441-2';
const since = { by: 'alice', reason: 'broken disk', at: startedAt };
const ended = { state: 'succeeded', endedAt: startedAt, eta: null } as const;

/** A daemon's API over plain data, and the command line in front of it. */
const setUp = (...rollouts: readonly RolloutStatus[]) => setUpWith({}, ...rollouts);

async function setUpWith(
  given: Partial<Parameters<typeof makeFakeOperations>[0]>,
  ...rollouts: readonly RolloutStatus[]
) {
  const failed = { collectorId: 7, collectorName: 'web-7', wave: 0 };
  const reason = 'disk full';
  const operations = makeFakeOperations({
    ...given,
    rollouts: rollouts.length > 0 ? rollouts : [aRolloutStatus()],
    events: [
      aRolloutEvent({ ...failed, event: 'upgrade.failed', wave: 'canary', reason }),
      aRolloutEvent({ event: 'rollout.paused', by: 'alice', reason: 'lunch' }),
    ],
    buildRecords: [aBuildRecord()],
    audit: [{ at: startedAt, event: 'rollout.paused', subject: running, by: 'alice', reason: 'lunch' }],
    upgrades: given.upgrades ?? [
      anEndedOne('failed', { reason: because(reason), failureClass: 'permanent' }, failed),
    ],
    held: { builds: [{ build, ...since }], collectors: [], groups: [], strata: [] },
    holdResults: {
      [build]: { kind: 'done', subject: { kind: 'build', build } },
      '19.455-22': {
        kind: 'done',
        subject: { kind: 'build', build: '19.455-22' },
        note: { kind: 'buildNotOffered', seenAt: startedAt, nearest: [build] },
      },
      'rack=r77': {
        kind: 'done',
        subject: { kind: 'group', label: 'rack=r77', attributes: [{ key: 'rack', value: 'r77' }] },
        note: { kind: 'groupEmpty', nearest: ['rack=r7'] },
      },
      [label]: { kind: 'unchanged', subject: { kind: 'stratum', label, rolloutId: running } },
      'web-7': { kind: 'done', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
      'web-8': { kind: 'unavailable', reason: 'the service does not answer' },
    },
    explanations: {
      'web-7': {
        kind: 'explained',
        ...failed,
        build: '19.441-2',
        seen: null,
        attributes: [],
        explanations: [anExplanation({ rollout: running })],
        history: [],
      },
    },
  });
  const { url } = ending(await startFakeAdminApi(operations));
  return { operations, url, upwave: (...args: string[]) => callUpwave(...args, '--url', url) };
}

const soaking = aWaveStatus({ state: 'soaking' });
const awaiting = { name: 'rest', state: 'awaitingApproval', waits: 'approval' } as const;
const rest = aWaveStatus({ ...awaiting, counts: countsOf({ pending: 2 }) });
const partlyHeld = aWaveStatus({
  ...awaiting,
  size: 73,
  counts: countsOf({ pending: 68, retrying: 2, withdrawn: 3 }),
  setAside: 24,
});

describe('a verb', () => {
  it.each([
    ['pause', { verb: 'pause' }],
    ['resume --hold 17', { verb: 'resume', hold: 17 }],
    ['skip-soak --wave canary', { verb: 'skipSoak', wave: 'canary' }],
    ['abort --yes', { verb: 'abort' }],
    ['rollback --yes --now', { verb: 'rollback', now: true, shown: { collectors: 40, leftBehind: 3 } }],
    ['retry --failed 0', { verb: 'retry', failed: 0 }],
    ['retry --failed 2 --cause timedOut', { verb: 'retry', failed: 2, cause: 'timedOut' }],
    ['approve --wave rest', { verb: 'approve', wave: 'rest' }],
    [`approve ${running} --plan abcd`, { verb: 'approve', planHash: 'abcd' }],
  ] as const)('as `%s` is sent with its reason, and shows its result', async (words, asked) => {
    const { operations, upwave } = await setUp();
    const { code, out } = await upwave(...words.split(' '), '--reason', 'lunch');
    const by = expect.stringMatching(/./);
    expect(operations.requests).toEqual([{ rolloutId: running, by, reason: 'lunch', ...asked }]);
    expect(out).toMatch(new RegExp(`^${running} .*\n(.*\n)*do `));
    expect(code).toBe(exitCodes.done);
  });

  it('shows what a rollback does before it asks (P15), also as JSON', async () => {
    const { operations, upwave } = await setUp();
    const { code, out, err } = await upwave('rollback', 'production');
    expect(code).toBe(exitCodes.heldOrNeedsAPerson);
    expect(err).toBe(
      `upwave: Take 40 collectors of ${running} back?\n  To confirm it, run: upwave rollback ${running} --collectors 40\n`,
    );
    const again = await upwave('rollback', 'production', '--reason', 'bad disk');
    expect(again.err).toContain(`--collectors 40 --reason "bad disk"\n`);
    for (const words of ['takes 40 collectors back', 'canary    at most 4, 0 may fail, soak 30m'])
      expect(out).toContain(words);
    const data = JSON.parse((await upwave('rollback', 'production', '--json')).out);
    expect(data).toMatchObject({ collectors: 40, leftBehind: [{ count: 3 }], waves: [{ size: 4 }, {}] });
    expect(operations.requests).toEqual([]);
  });

  it.each([
    [
      'approve',
      { state: 'awaitingApproval', planned: 1185 },
      `Plan 7f3a: 1,185 collectors to 19.536-4 (canary 2, rest 8).\nThe collectors run 19.441-2 now.\n3 left out: excluded.\nApprove plan 7f3a of ${running}?`,
      'approve production --plan 7f3a',
      { verb: 'approve', planHash: '7f3a' },
    ],
    [
      'approve',
      { state: 'paused', waves: [rest] },
      `Wave rest opens: 2 collectors to 19.536-4; 50 at a time.\nIt stops at more than 0 failures.\nSo far 1 collector succeeded and 0 failed.\nApprove wave rest of ${running}?`,
      'approve production --wave rest',
      { verb: 'approve', wave: 'rest' },
    ],
    [
      'approve',
      { state: 'paused', waves: [partlyHeld] },
      `Wave rest opens: 46 collectors to 19.536-4, 24 more are set aside in held strata; 50 at a time.\nIt stops at more than 0 failures.\nSo far 1 collector succeeded and 0 failed.\nApprove wave rest of ${running}?`,
      'approve production --wave rest',
      { verb: 'approve', wave: 'rest' },
    ],
    [
      'resume',
      { state: 'held', hold: 17, reason: 'The service refuses the access key (401). Then resume.' },
      `It was stopped: The service refuses the access key (401). Then resume.\nTo continue: 8 collectors, 50 at a time.\nResume ${running}?`,
      'resume production --hold 17',
      { verb: 'resume', hold: 17 },
    ],
    [
      'skip-soak',
      { waves: [soaking], rollbackOf: 'a' },
      `No longer watched: 1 upgraded collector. The gates are still checked.\nEnd the soak of wave canary of ${running} now?`,
      `skip-soak ${running} --wave canary`,
      { verb: 'skipSoak', wave: 'canary' },
    ],
    [
      'retry',
      { counts: countsOf({ failed: 2, unconfirmed: 1 }) },
      `To be upgraded again, with new attempts: 3 failed collectors.\nFailures of these upgrades no longer count until they fail again.\nRetry the failed collectors of ${running}?`,
      'retry production --failed 3',
      { verb: 'retry', failed: 3 },
    ],
  ] as const)(
    'a bare `%s` shows its target, and asks (P15)',
    async (name, changes, question, command, asked) => {
      const { operations, upwave, url } = await setUp(aRolloutStatus(changes));
      const { code, err } = await upwave(name);
      expect(code).toBe(exitCodes.heldOrNeedsAPerson);
      expect(err).toBe(`upwave: ${question}\n  To confirm it, run: upwave ${command}\n`);
      expect(operations.requests).toEqual([]);
      for (const answer of ['n', 'y']) {
        const [out, terminal] = [new PassThrough(), new PassThrough()];
        const input = Object.assign(new PassThrough(), { isTTY: true });
        const output = { out, err: terminal, isLive: true, paint: (_format: unknown, text: string) => text };
        const options = { config: '/no/such/upwave.yaml', url, json: true };
        const answered = verbCommand(asked.verb, undefined, options, output, input);
        input.end(`${answer}\n`);
        if (answer === 'y') expect(await answered).toBe(exitCodes.done);
        else await expect(answered).rejects.toMatchObject({ exitCode: exitCodes.finishedWithFailures });
        expect(String(terminal.read())).toContain(`${question} [y/N] `);
      }
      expect(operations.requests).toMatchObject([asked]);
      const again = await setUp(aRolloutStatus(changes));
      const unasked = await again.upwave(name, '--yes');
      expect(unasked).toMatchObject({
        code: exitCodes.done,
        err: expect.stringContaining(`${question} yes\n`),
      });
      expect(again.operations.requests).toMatchObject([asked]);
    },
  );

  it('asks before an abort, and aborts nothing where nobody can answer', async () => {
    const { operations, upwave, url } = await setUp(aRolloutStatus());
    const [out, terminal] = [new PassThrough(), new PassThrough()];
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = { out, err: terminal, isLive: true, paint: (_format: unknown, text: string) => text };
    const options = { config: '/no/such/upwave.yaml', url, json: true };
    const answered = verbCommand('abort', undefined, options, output, input);
    input.end('n\n');
    await expect(answered).rejects.toMatchObject({ exitCode: exitCodes.finishedWithFailures });
    expect(String(terminal.read())).toContain(`End ${running}? This can't be undone. [y/N] `);
    expect(operations.requests).toEqual([]);
    const { code, err } = await upwave('abort');
    expect(code).toBe(exitCodes.heldOrNeedsAPerson);
    expect(err).toContain('To confirm it, run: upwave abort production --yes');
    expect(operations.requests).toEqual([]);
    expect((await upwave('abort', '--yes')).code).toBe(exitCodes.done);
    expect(operations.requests).toMatchObject([{ verb: 'abort' }]);
  });

  it('asks nothing before an abort that the state refuses', async () => {
    const { operations, upwave } = await setUp(aRolloutStatus({ state: 'rollingBack', verbs: [] }));
    const { code, err } = await upwave('abort', '--yes');
    expect(code).toBe(exitCodes.heldOrNeedsAPerson);
    expect(err).toContain(`${running}: it is rolling back: its rollback has not started`);
    expect(err).not.toContain('End ');
    expect(operations.requests).toEqual([]);
  });

  it('asks about the failures of a class only, and prints a command with it', async () => {
    const status = aRolloutStatus({ counts: countsOf({ failed: 2, timedOut: 1 }) });
    const upgrades = [
      anEndedOne('timedOut', { failureClass: 'timedOut' }, { collectorId: 1 }),
      ...[2, 3].map((collectorId) =>
        anEndedOne('failed', { reason: because('disk full'), failureClass: 'permanent' }, { collectorId }),
      ),
    ];
    const { operations, upwave } = await setUpWith({ upgrades }, status);
    for (const [asked, option, question] of [
      ['time-out', 'time-out', `1 of the 3 failures of ${running} matches "time-out". Retry it?`],
      ['disk full', '"disk full"', `2 of the 3 failures of ${running} match "disk full". Retry them?`],
    ] as const) {
      const { code, err } = await upwave('retry', '--cause', asked);
      expect(code).toBe(exitCodes.heldOrNeedsAPerson);
      const command = `upwave retry production --failed 3 --cause ${option}`;
      expect(err).toBe(`upwave: ${question}\n  To confirm it, run: ${command}\n`);
    }
    expect(operations.requests).toEqual([]);
    const { err } = await upwave('retry', '--cause', 'time-out', '--yes');
    expect(err).toBe(`1 of the 3 failures of ${running} matches "time-out". Retry it? yes\n`);
    expect(operations.requests).toMatchObject([{ failed: 3, cause: 'time-out' }]);
  });

  it('leaves it to the daemon to refuse a class that no failure has', async () => {
    const { operations, upwave } = await setUp(aRolloutStatus({ counts: countsOf({ failed: 2 }) }));
    await upwave('retry', '--cause', 'timedOut');
    expect(operations.requests).toMatchObject([{ verb: 'retry', failed: 2, cause: 'timedOut' }]);
  });

  it.each([
    ['approve', aRolloutStatus(), `${running} does not wait for approval (running)`],
    ['resume', aRolloutStatus(), `${running} is running: it is neither held nor paused`],
    ['skip-soak', aRolloutStatus(), `no wave of ${running} is soaking`],
    ['retry', aRolloutStatus(), `no collector of ${running} has failed`],
    [`pause ${running}`, aRolloutStatus(ended), 'it has ended: succeeded'],
    [`approve ${running} --wave rest`, aRolloutStatus(ended), 'it has ended: succeeded'],
  ] as const)('%s ends with 3 where it has no target', async (words, status, message) => {
    const { upwave } = await setUp(status);
    const { code, err } = await upwave(...words.split(' '));
    expect([code, err]).toEqual([
      exitCodes.heldOrNeedsAPerson,
      expect.stringContaining(`upwave: ${message}`),
    ]);
  });

  it('reports what was approved, also when it was approved before', async () => {
    const waiting = await setUp(aRolloutStatus({ state: 'paused', waves: [rest] }));
    const approve = ['approve', '--wave', 'rest', '--json'];
    expect((await waiting.upwave(...approve)).err).toBe(`approved wave rest of ${running}\n`);
    const again = await setUp();
    expect((await again.upwave(...approve)).err).toBe(`wave rest of ${running} was approved already\n`);
  });

  it('applies to the named rollout, and takes one target', async () => {
    const other = aRolloutStatus({ id: 'b', policy: 'test', state: 'awaitingApproval', planHash: 'abcd' });
    const { operations, upwave } = await setUp(aRolloutStatus(), other);
    const { err } = await upwave('approve', 'test', '--plan', 'abcd');
    expect(operations.requests).toMatchObject([{ rolloutId: 'b', planHash: 'abcd' }]);
    expect(err).toBe('approved plan abcd of b\n');
    const both = await upwave('approve', 'test', '--plan', 'abcd', '--wave', 'rest');
    expect(both.code).toBe(exitCodes.usageOrConfig);
  });
});

describe('a hold', () => {
  it('takes several subjects at once, and holds the known ones where some are unknown', async () => {
    const { operations, upwave } = await setUp();
    const both = await upwave('hold', 'web-7', build);
    expect(operations.holdRequests.map(({ subject }) => subject)).toEqual(['web-7', build]);
    expect(both).toMatchObject({ code: 0, out: `collector 7 web-7: held\nbuild ${build}: held\n` });
    const some = await upwave('hold', 'nothing', 'web-7', 'at-all');
    expect(some).toMatchObject({
      code: exitCodes.usageOrConfig,
      out: 'collector 7 web-7: held\n',
      err: expect.stringMatching(/^upwave: nothing is not a build.*\n {2}at-all is not a build.*\n$/),
    });
    expect((await upwave('hold', 'web-8')).code).toBe(exitCodes.unreachable);
  });

  it('warns of a likely typo on stderr, and holds the build', async () => {
    const { upwave } = await setUp();
    const { code, out, err } = await upwave('hold', '19.455-22');
    expect([code, out]).toEqual([0, 'build 19.455-22: held\n']);
    expect(err).toMatch(/^warning: the service did not offer this build .*; did you mean "19\.455-2"\?\n$/);
    const json = await upwave('hold', '19.455-22', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ note: { kind: 'buildNotOffered', nearest: [build] } });
    expect(json.err).toBe('');
  });

  it('of a group without collectors names the release that takes it back', async () => {
    const { upwave } = await setUp();
    const { code, err } = await upwave('hold', 'rack=r77');
    expect(code).toBe(0);
    expect(err).toMatch(
      /^warning: did you mean "rack=r7"\? .*; `upwave release "rack=r77"` takes the hold back\n$/,
    );
  });

  it('accepts the label of a stratum as several words; a release names what was released', async () => {
    const { operations, upwave } = await setUp();
    const held = await upwave('hold', ...label.split(' '), '--reason', 'smoke');
    const released = await upwave('release', build);
    expect(operations.holdRequests).toMatchObject([
      { did: 'hold', subject: label, reason: 'smoke' },
      { did: 'release', subject: build },
    ]);
    expect(held.out).toBe(`stratum ${label} of ${running}: was held already\n`);
    expect(released.out).toBe(
      `build ${build}: released; \`upwave status\` shows how to resume a rollout that was held for it\n`,
    );
  });
});

describe('a command that reads', () => {
  it.each([
    ['holds', /^build 19\.455-2 {3}by alice, since .*: broken disk\n$/, { builds: [{ build }] }],
    [
      'events',
      /^\S+( \S+)? {2}upgrade\.failed {2}7 web-7, wave canary: disk full\n.* rollout\.paused {2}by alice: lunch\n$/,
      { rollout: running, events: [{ event: 'upgrade.failed' }, {}] },
    ],
    ['explain web-7', /^collector 7 web-7 {3}build 19\.441-2\n/, { collectorId: 7, explanations: [{}] }],
    ['list', /^production-20260302-1 {2}→ .* RUNNING .*\n$/, { rollouts: [{ id: running }], next: null }],
    [
      'upgrades --state failed --cause disk',
      /^collector +id .* reason\nweb-7 +7 +canary +failed .* disk full\n$/,
      { collectors: [{}] },
    ],
    ['upgrades --match nobody', /^no collector matches\n$/, { collectors: [] }],
    ['audit --by alice', / alice {2}rollout\.paused {2}production-20260302-1: lunch\n$/, { entries: [{}] }],
    ['audit --by bob', /^no audit entries\n$/, { entries: [] }],
    ['audit --type pause --policy production', / rollout\.paused .*: lunch\n$/, { entries: [{}] }],
    ['audit --policy edge', /^no audit entries\n$/, { entries: [] }],
    ['builds --history', /│ 19\.536-4 │ 10 +│ 1 \(10%\) │ 1 +│/, { builds: [{ tried: 10, failed: 1 }] }],
    ['report production', /^md of production-20260302-1\n$/, undefined],
  ] as const)('`%s` prints the answer of the daemon, also as JSON', async (words, prints, data) => {
    const { upwave } = await setUp();
    const { code, out } = await upwave(...words.split(' '));
    expect([code, out]).toEqual([exitCodes.done, expect.stringMatching(prints)]);
    if (data !== undefined)
      expect(JSON.parse((await upwave(...words.split(' '), '--json')).out)).toMatchObject(data);
  });

  it('`builds --url` needs --history', async () => {
    const { upwave } = await setUp();
    expect(await upwave('builds')).toMatchObject({
      code: exitCodes.usageOrConfig,
      err: 'upwave: --url needs --history; without it, the service is asked\n',
    });
  });

  it('`builds --history` shows the rows of the named account, and refuses one that the daemon does not have', async () => {
    const of = (accountName: string) => ({ ...aPolicyStatus({ policy: `web-${accountName}` }), accountName });
    const fake = makeFakeOperations({
      rollouts: [],
      policies: { policies: [of('eu'), of('us'), of('asia')], orphans: [] },
    });
    const listBuildHistory = async () =>
      ['eu', 'us'].flatMap((accountName) =>
        summarizeBuilds([aBuildRecord()]).map((each) => ({ ...each, accountName })),
      );
    const { url } = ending(await startFakeAdminApi({ ...fake, listBuildHistory }));
    const history = (...args: string[]) => callUpwave('builds', '--history', ...args, '--url', url);
    const accountsOf = async (...args: string[]) => {
      const { builds } = JSON.parse((await history(...args, '--json')).out) as {
        builds: ReadonlyArray<{ accountName: string }>;
      };
      return builds.map(({ accountName }) => accountName);
    };
    expect(await accountsOf()).toEqual(['eu', 'us']);
    expect(await accountsOf('--account', 'us')).toEqual(['us']);
    expect(await accountsOf('--account', 'asia')).toEqual([]);
    expect(await history('--account', 'africa')).toMatchObject({
      code: exitCodes.usageOrConfig,
      err: 'upwave: there is no account africa; the config has eu, us, asia\n',
    });
    const { upwave } = await setUp();
    expect(await upwave('builds', '--history', '--account', 'eu')).toMatchObject({
      code: exitCodes.usageOrConfig,
      err: 'upwave: the config has no accounts, only service\n',
    });
  });

  it('`report --out` writes a file', async () => {
    const { upwave } = await setUp();
    const out = join(aFolder(), 'report.html');
    expect(await upwave('report', '--format', 'html', '--out', out)).toMatchObject({
      ...{ code: 0, out: '', err: `written: ${out}\n` },
    });
    expect(readFileSync(out, 'utf8')).toBe(`html of ${running}\n`);
  });

  it('`list` reads page by page, and shows the rollouts of one policy', async () => {
    const past = (id: string, policy: string) => aRolloutStatus({ ...ended, id, policy });
    const { upwave } = await setUp(
      ...[aRolloutStatus(), past('test-20260301-1', 'test'), past('production-20260301-1', 'production')],
    );
    const page = await upwave('list', '--limit', '2');
    expect(page.out).toMatch(/^production-20260302-1 .*\ntest-20260301-1 .* SUCCEEDED .*\n$/);
    expect(page.err).toBe('older ones: upwave list --before test-20260301-1\n');
    const { rollouts } = JSON.parse((await upwave('list', 'production', '--json')).out);
    expect(rollouts.map(({ id }: RolloutStatus) => id)).toEqual([running, 'production-20260301-1']);
  });

  it.each([
    ['explain web', 'no installed collector web; did you mean "web-7", "web-8"?'],
    ['upgrades --wave x', `${running} has no wave x; it has canary, rest`],
    [
      'audit --type rollbak',
      `nothing in the audit is of type rollbak; its events are ${auditEvents.join(', ')}`,
    ],
  ])('`%s` ends with 2, and names what exists', async (words, message) => {
    const { upwave } = await setUp();
    const { code, err } = await upwave(...words.split(' '));
    expect([code, err]).toEqual([exitCodes.usageOrConfig, `upwave: ${message}\n`]);
  });
});

describe('status', () => {
  it.each([
    ['held', exitCodes.heldOrNeedsAPerson],
    ['aborted', exitCodes.finishedWithFailures],
  ] as const)('of a rollout that is %s has its own exit code', async (state, code) => {
    const { upwave } = await setUp(
      aRolloutStatus({ state, endedAt: state === 'aborted' ? startedAt : null }),
    );
    expect((await upwave('status')).code).toBe(code);
  });

  it.each([[[]], [['night']]])(
    'of a policy that only an operator starts again asks for that: %j',
    async (words) => {
      const { upwave, operations } = await setUp();
      const needs = { kind: 'start', reason: 'Redis lost its data, and night-20260302-1 was held' } as const;
      operations.standAt({ policies: [{ ...aPolicyStatus({ policy: 'night' }), needs }], orphans: [] });
      const { code, out } = await upwave('status', ...words);
      expect(out).toMatch(/^night +NEEDS YOU: start it again {2}do upwave start night\n +Redis lost/);
      expect(code).toBe(exitCodes.heldOrNeedsAPerson);
      expect(JSON.parse((await upwave('status', '--json')).out)).toMatchObject({ policies: [{ needs }] });
    },
  );

  // A minute ago may be yesterday, which is shown with its date.
  const instant = String.raw`(?:\d{4}-\d{2}-\d{2} )?[\d:]+ [A-Z]\S*`;
  const night = { policy: 'night', lastGoodAt: null, config: { kind: 'agreed', others: 0 } } as const;
  const at = Date.now() - 60_000;
  it.each([
    [
      { ...night, nextScanAt: null, lastScan: { at, outcome: 'failed', reason: 'the key is\u202e wrong' } },
      String.raw`failed: the key is\\u202e wrong`,
      exitCodes.unreachable,
    ],
    [
      { ...night, nextScanAt: at, lastScan: { at, outcome: 'nothing', reason: 'no collector needs it' } },
      `no collector needs it; next ${instant}`,
      exitCodes.done,
    ],
  ] as const)('of a policy without a rollout shows its last scan', async (policy, words, exitCode) => {
    const { upwave, operations } = await setUp(aRolloutStatus(ended));
    operations.standAt({ policies: [policy], orphans: [] });
    const { code, out } = await upwave('status', 'night');
    expect(out).toMatch(new RegExp(String.raw`^no rollout yet\n\nlast scan night ${instant}: ${words}\n$`));
    expect(code).toBe(exitCode);
    const { outcome } = policy.lastScan;
    const policies = [{ policy: 'night', lastScan: { outcome } }];
    expect(JSON.parse((await upwave('status', '--json')).out)).toMatchObject({ policies });
  });
});
