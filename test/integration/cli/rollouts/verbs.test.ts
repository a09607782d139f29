import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { addHistoryProgram } from '../../../../src/cli/history/history-program.ts';
import { verbCommand } from '../../../../src/cli/rollouts/verb-command.ts';
import { addVerbsProgram } from '../../../../src/cli/rollouts/verbs-program.ts';
import { makeCommandRunner } from '../../../../src/cli/shell/command.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { addStatusProgram } from '../../../../src/cli/status/status-program.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { anUpgrade, because, startedAt } from '../../../support/builders.ts';
import {
  anExplanation,
  aRolloutEvent,
  aRolloutStatus,
  aWaveStatus,
  countsOf,
  makeFakeOperations,
} from '../../../support/fake-operations.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';

const running = 'production-20260302-1';
const build = '19.455-2';
const label = 'Linux / amd64 / 19.441-2';
const since = { by: 'alice', reason: 'broken disk', at: startedAt };

describe('the commands that speak to a daemon', () => {
  const closers: Array<() => Promise<void>> = [];

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  /** A daemon's API over plain data, and the command line in front of it. */
  const setUp = async (...rollouts: readonly RolloutStatus[]) => {
    const operations = makeFakeOperations({
      rollouts: rollouts.length > 0 ? rollouts : [aRolloutStatus()],
      events: [
        aRolloutEvent({
          event: 'upgrade.failed',
          wave: 'canary',
          collectorId: 7,
          collectorName: 'web-7',
          reason: 'disk full',
        }),
        aRolloutEvent({ event: 'rollout.paused', by: 'alice', reason: 'lunch' }),
      ],
      audit: [{ at: startedAt, event: 'rollout.paused', subject: running, by: 'alice', reason: 'lunch' }],
      upgrades: [
        anUpgrade(
          {
            state: 'failed',
            endedAt: startedAt,
            reason: because('disk full'),
            failureClass: 'permanent',
            weight: 1,
            lost: false,
          },
          { collectorId: 7, collectorName: 'web-7', wave: 0 },
        ),
      ],
      held: { builds: [{ build, ...since }], collectors: [], strata: [] },
      holdResults: {
        [build]: { kind: 'done', subject: { kind: 'build', build } },
        '19.455-22': {
          kind: 'done',
          subject: { kind: 'build', build: '19.455-22' },
          note: { kind: 'buildNotOffered', seenAt: startedAt, nearest: [build] },
        },
        [label]: { kind: 'unchanged', subject: { kind: 'stratum', label, rolloutId: running } },
        'web-7': { kind: 'done', subject: { kind: 'collector', collectorId: 7, name: 'web-7' } },
        'web-8': { kind: 'unavailable', reason: 'the service does not answer' },
      },
      explanations: {
        'web-7': {
          kind: 'explained',
          collectorId: 7,
          collectorName: 'web-7',
          build: '19.441-2',
          explanations: [anExplanation({ rollout: running })],
          history: [],
        },
      },
    });
    const api = await startFakeAdminApi(operations);
    closers.push(() => api.close());
    const upwave = async (...args: readonly string[]) => {
      const output = {
        out: new PassThrough(),
        err: new PassThrough(),
        isLive: false,
        paint: (_format: unknown, text: string) => text,
      };
      let code: number | undefined;
      const json = args.includes('--json');
      const run = makeCommandRunner({
        globals: () => ({ config: '/no/such/upwave.yaml', json, color: false }),
        outputFor: () => output,
        onEnd: (exitCode) => {
          code = exitCode;
        },
      });
      const program = new Command().option('--json').exitOverride();
      program.configureOutput({ writeErr: (text) => output.err.write(text) });
      addVerbsProgram(program, run);
      addStatusProgram(program, run);
      addHistoryProgram(program, run);
      for (const command of program.commands) command.exitOverride().copyInheritedSettings(program);
      const failure: unknown = await program.parseAsync([...args, '--url', api.url], { from: 'user' }).then(
        () => undefined,
        (error: unknown) => error,
      );
      const text = (stream: PassThrough) => String(stream.read() ?? '');
      return { code, failure, out: text(output.out), err: text(output.err) };
    };
    return { operations, upwave, url: api.url };
  };

  it.each([
    [['pause'], { verb: 'pause' }],
    [['resume', '--hold', '17'], { verb: 'resume', hold: 17 }],
    [['skip-soak', '--wave', 'canary'], { verb: 'skipSoak', wave: 'canary' }],
    [['abort'], { verb: 'abort' }],
    [
      ['rollback', '--yes', '--now'],
      { verb: 'rollback', now: true, shown: { collectors: 40, leftBehind: 3 } },
    ],
    [['retry', '--failed', '0'], { verb: 'retry', failed: 0 }],
    [['approve', '--wave', 'rest'], { verb: 'approve', wave: 'rest' }],
  ] as const)('%j asks for it, with its reason, and shows what came of it', async (args, asked) => {
    const { operations, upwave } = await setUp();
    const { code, out } = await upwave(...args, '--reason', 'lunch');
    expect(operations.requests).toEqual([
      { rolloutId: running, by: expect.stringMatching(/./), reason: 'lunch', ...asked },
    ]);
    expect(out).toMatch(new RegExp(`^${running} .*\n(.*\n)*do `));
    expect(code).toBe(exitCodes.done);
  });

  it('shows what a rollback does before it asks (P15), as data too', async () => {
    const { operations, upwave } = await setUp();
    const { failure, out } = await upwave('rollback', 'production');
    const question = `Take 40 collectors of ${running} back?`;
    expect(failure).toMatchObject({
      exitCode: exitCodes.usageOrConfig,
      message: `${question}\n  To confirm it, run: upwave rollback ${running} --yes`,
    });
    for (const words of [
      'takes 40 collectors back',
      '19.441-2 (30), 19.456-3 (10)',
      '3: the service no longer offers the build they had: web-1 (had 19.402-1), …',
      'canary    at most 4, 0 may fail, soak 30m',
      'rest      36, 2% may fail',
      '50 at a time; 1 at a time for each fields.cluster',
    ])
      expect(out).toContain(words);
    const data = JSON.parse((await upwave('rollback', 'production', '--json')).out);
    expect(data).toMatchObject({ collectors: 40, leftBehind: [{ count: 3 }], waves: [{ size: 4 }, {}] });
    expect(operations.requests).toEqual([]);
  });

  const soaking = aWaveStatus({ state: 'soaking' });
  const rest = aWaveStatus({ name: 'rest', state: 'awaitingApproval', waits: 'approval' });
  it.each([
    [
      'approve',
      { state: 'awaitingApproval', planned: 1185 },
      'Plan 7f3a of production-20260302-1 waits for approval: 1185 collectors to 19.536-4. Approve it?',
      'approve production --plan 7f3a',
      { verb: 'approve', planHash: '7f3a' },
    ],
    [
      'approve',
      { state: 'paused', waves: [rest] },
      'Wave rest of production-20260302-1 waits for approval: 2 collectors to 19.536-4. Approve it?',
      'approve production --wave rest',
      { verb: 'approve', wave: 'rest' },
    ],
    [
      'resume',
      { state: 'held', hold: 17, reason: 'wave canary: failures 3, allowed 2' },
      'production-20260302-1 is held: wave canary: failures 3, allowed 2. The failures so far will no longer count, and the limit stays. Resume it?',
      'resume production --hold 17',
      { verb: 'resume', hold: 17 },
    ],
    [
      'skip-soak',
      { waves: [soaking], rollbackOf: 'a' },
      'Wave canary of production-20260302-1 soaks. End its soak now?',
      'skip-soak production-20260302-1 --wave canary',
      { verb: 'skipSoak', wave: 'canary' },
    ],
    [
      'retry',
      { counts: countsOf({ failed: 2, unconfirmed: 1 }) },
      '3 collectors of production-20260302-1 failed. Retry them?',
      'retry production --failed 3',
      { verb: 'retry', failed: 3 },
    ],
  ] as const)(
    '%s, not told for what, shows %j and asks (P15)',
    async (name, changes, question, command, asked) => {
      const { operations, upwave, url } = await setUp(aRolloutStatus(changes));
      const { failure } = await upwave(name);
      expect(failure).toMatchObject({
        exitCode: exitCodes.usageOrConfig,
        message: `${question}\n  To confirm it, run: upwave ${command}`,
      });
      expect(operations.requests).toEqual([]);
      for (const answer of ['n', 'y']) {
        const [out, err] = [new PassThrough(), new PassThrough()];
        const input = Object.assign(new PassThrough(), { isTTY: true });
        const output = { out, err, isLive: true, paint: (_format: unknown, text: string) => text };
        const options = { config: '/no/such/upwave.yaml', url, json: true };
        const code = verbCommand(asked.verb, undefined, options, output, input);
        input.end(`${answer}\n`);
        expect(await code).toBe(answer === 'y' ? exitCodes.done : exitCodes.finishedWithFailures);
        expect(String(err.read())).toContain(`${question} [y/N] `);
      }
      expect(operations.requests).toMatchObject([asked]);
    },
  );

  it.each([
    ['approve', {}, `nothing of ${running} waits for approval (running)`],
    ['resume', {}, `${running} is running: it is neither held nor paused`],
    ['skip-soak', {}, `no wave of ${running} soaks now`],
    ['retry', {}, `no collector of ${running} has failed`],
  ] as const)('%s says so where there is nothing that it could be for', async (name, changes, message) => {
    const { operations, upwave } = await setUp(aRolloutStatus(changes));
    expect((await upwave(name)).failure).toMatchObject({ exitCode: exitCodes.heldOrNeedsAPerson, message });
    expect(operations.requests).toEqual([]);
  });

  it('says what was approved, also when it was already; and nothing where it is refused', async () => {
    const wave = await setUp(aRolloutStatus({ state: 'paused', waves: [rest] }));
    expect((await wave.upwave('approve', '--wave', 'rest', '--json')).err).toBe(
      `approved wave rest of ${running}\n`,
    );
    const again = await setUp(aRolloutStatus());
    expect((await again.upwave('approve', '--wave', 'rest', '--json')).err).toBe(
      `wave rest of ${running} was approved already\n`,
    );
    const ended = await setUp(aRolloutStatus({ state: 'aborted', endedAt: startedAt }));
    const { err, failure } = await ended.upwave('approve', running, '--wave', 'rest');
    expect(err).toBe('');
    expect(failure).toMatchObject({ exitCode: exitCodes.heldOrNeedsAPerson });
  });

  it('approves the plan that is named, of the rollout that is named', async () => {
    const { operations, upwave } = await setUp(
      aRolloutStatus(),
      aRolloutStatus({ id: 'b', policy: 'test', state: 'awaitingApproval', planHash: 'abcd' }),
    );
    const { err } = await upwave('approve', 'test', '--plan', 'abcd');
    expect(operations.requests).toMatchObject([{ rolloutId: 'b', planHash: 'abcd' }]);
    expect(err).toBe('approved plan abcd of b\n');
    const both = await upwave('approve', 'test', '--plan', 'abcd', '--wave', 'rest');
    expect(both.failure).toMatchObject({ exitCode: exitCodes.usageOrConfig });
  });

  it('retries one class of failures, or all', async () => {
    const { operations, upwave } = await setUp();
    await upwave('retry', '--class', 'timedOut', '--failed', '2');
    await upwave('retry', 'production', '--failed', '2');
    expect(operations.requests).toMatchObject([{ failureClass: 'timedOut' }, { verb: 'retry' }]);
    expect(operations.requests[1]).not.toHaveProperty('failureClass');
  });

  it.each([
    [['pause', '--plan', 'x'], /unknown option '--plan'/],
    [['approve', '--class', 'retry'], /unknown option '--class'/],
    [['hold'], /missing required argument 'what'/],
    [['release'], /missing required argument 'what'/],
    [['explain'], /missing required argument 'collector'/],
    [['skipSoak'], /unknown command 'skipSoak'/],
  ])('%j is a usage error', async (args, words) => {
    const { operations, upwave } = await setUp();
    const { code, failure, err } = await upwave(...args);
    expect(err).toMatch(words);
    expect(failure).toMatchObject({ name: 'CommanderError' });
    expect(code).toBeUndefined();
    expect(operations.requests).toEqual([]);
  });

  it('ends with 3 where the daemon refuses a verb', async () => {
    const { upwave } = await setUp(aRolloutStatus({ state: 'succeeded', endedAt: startedAt }));
    const { failure } = await upwave('pause', running);
    expect(failure).toMatchObject({ exitCode: exitCodes.heldOrNeedsAPerson, message: /it has ended/ });
  });

  it('holds several things at once, and those that it can where it can not hold all', async () => {
    const { operations, upwave } = await setUp();
    const both = await upwave('hold', 'web-7', build);
    expect(operations.holdRequests.map(({ subject }) => subject)).toEqual(['web-7', build]);
    expect(both).toMatchObject({ code: 0, out: `collector 7 web-7: held\nbuild ${build}: held\n` });
    const some = await upwave('hold', 'nothing', 'web-7', 'at-all', '--json');
    expect(JSON.parse(some.out)).toMatchObject({ results: [{ subject: { collectorId: 7 } }] });
    expect(some.failure).toMatchObject({
      exitCode: exitCodes.usageOrConfig,
      message: 'nothing is called nothing\n  nothing is called at-all',
    });
  });

  it('warns of a likely slip on stderr, and the hold is done', async () => {
    const { upwave } = await setUp();
    const { code, out, err } = await upwave('hold', '19.455-22');
    expect(out).toBe('build 19.455-22: held\n');
    expect(err).toMatch(/^warning: the service did not offer this build .*; did you mean "19\.455-2"\?\n$/);
    expect(code).toBe(0);
    const json = await upwave('hold', '19.455-22', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ note: { kind: 'buildNotOffered', nearest: [build] } });
    expect(json.err).toBe('');
  });

  it('takes the parts of a label around a slash for one stratum', async () => {
    const { operations, upwave } = await setUp();
    const held = await upwave('hold', 'Linux', '/', 'amd64', '/', '19.441-2', '--reason', 'smoke');
    const released = await upwave('release', build);
    const collector = await upwave('release', 'web-7', '--json');
    expect(operations.holdRequests).toMatchObject([
      { did: 'hold', subject: label, reason: 'smoke' },
      { did: 'release', subject: build },
      { did: 'release', subject: 'web-7' },
    ]);
    expect(held.out).toBe(`stratum ${label} of ${running}: was held already\n`);
    expect(released.out).toBe(
      `build ${build}: released; \`upwave status\` shows how to resume a rollout that was held for it\n`,
    );
    expect(JSON.parse(collector.out)).toMatchObject({ kind: 'done', subject: { collectorId: 7 } });
    expect([held.code, released.code]).toEqual([0, 0]);
  });

  it('ends with 2 for what is nothing that can be held, and with 4 where the service has no answer', async () => {
    const { upwave } = await setUp();
    const nothing = await upwave('hold', 'nothing');
    expect(nothing.failure).toMatchObject({ exitCode: exitCodes.usageOrConfig });
    const away = await upwave('hold', 'web-8');
    expect(away.failure).toMatchObject({ exitCode: exitCodes.unreachable });
  });

  it('lists what is held', async () => {
    const { upwave } = await setUp();
    expect((await upwave('holds')).out).toMatch(/^build 19\.455-2 {3}by alice, since .*: broken disk\n$/);
    expect(JSON.parse((await upwave('holds', '--json')).out)).toMatchObject({
      builds: [{ build, by: 'alice' }],
    });
  });

  it('lists what happened, newest first', async () => {
    const { upwave } = await setUp();
    const { out, code } = await upwave('events');
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^\S+( \S+)? {2}upgrade\.failed {2}7 web-7, wave canary: disk full$/),
      expect.stringMatching(/ {2}rollout\.paused {2}by alice: lunch$/),
      '',
    ]);
    expect(code).toBe(exitCodes.done);
    const json = await upwave('events', running, '--limit', '1', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ rollout: running, events: [{ event: 'upgrade.failed' }] });
    expect((await upwave('events', '--limit', '1001')).failure).toMatchObject({ exitCode: 1 });
  });

  it('explains a collector, and ends with 2 for an unknown one', async () => {
    const { upwave } = await setUp();
    const { out, code } = await upwave('explain', 'web-7');
    expect(out.split('\n')).toEqual([
      'collector 7 web-7   build 19.441-2',
      `  production  ${running}, wave rest, pending: all 50 slots are taken`,
      '              to 19.536-4, stratum Linux / amd64',
      '',
    ]);
    expect(code).toBe(exitCodes.done);
    const json = await upwave('explain', 'web-7', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ collectorId: 7, explanations: [{ policy: 'production' }] });
    expect((await upwave('explain', 'web')).failure).toMatchObject({
      exitCode: exitCodes.usageOrConfig,
      message: 'no installed collector web; did you mean "web-7", "web-8"?',
    });
  });

  it('list shows past rollouts page by page, and of one policy', async () => {
    const past = (id: string, policy: string) =>
      aRolloutStatus({ id, policy, state: 'succeeded', endedAt: startedAt, eta: null });
    const { upwave } = await setUp(
      aRolloutStatus(),
      past('test-20260301-1', 'test'),
      past('production-20260301-1', 'production'),
    );
    const all = await upwave('list', '--limit', '2');
    expect(all.out).toMatch(/^production-20260302-1 {2}→ .* RUNNING .*\ntest-20260301-1 .* SUCCEEDED .*\n$/);
    expect(all.err).toBe('older ones: upwave list --before test-20260301-1\n');
    const { rollouts, next } = JSON.parse((await upwave('list', 'production', '--json')).out);
    expect(rollouts.map(({ id }: RolloutStatus) => id)).toEqual([running, 'production-20260301-1']);
    expect(next).toBeNull();
  });

  it('upgrades shows the collectors that match, and says which states and waves there are', async () => {
    const { upwave } = await setUp();
    const shown = await upwave('upgrades', '--state', 'failed', '--reason', 'disk');
    expect(shown.out).toMatch(/^web-7 +7 {2}canary {2}failed .* disk full\n$/);
    expect((await upwave('upgrades', '--match', 'nobody')).out).toBe('no collector matches\n');
    expect(await upwave('upgrades', '--wave', 'x')).toMatchObject({
      failure: { message: `${running} has no wave x; it has canary, rest` },
    });
    expect(String((await upwave('upgrades', '--state', 'faild')).err)).toContain('did you mean failed?');
  });

  it('audit shows who did what over all rollouts', async () => {
    const { upwave } = await setUp();
    expect((await upwave('audit', '--by', 'alice')).out).toMatch(
      / alice {2}rollout\.paused {2}production-20260302-1: lunch\n$/,
    );
    expect((await upwave('audit', '--by', 'bob')).out).toBe('nobody has changed anything\n');
  });

  it('status ends with 3 while a person is needed', async () => {
    const waves = [aWaveStatus({ state: 'awaitingApproval', waits: 'approval' })];
    for (const changes of [
      { state: 'held' },
      { state: 'awaitingApproval' },
      { state: 'paused' },
      { waves },
    ] as const) {
      const { upwave } = await setUp(aRolloutStatus(changes));
      expect((await upwave('status')).code).toBe(exitCodes.heldOrNeedsAPerson);
    }
    const { upwave } = await setUp();
    expect((await upwave('status')).code).toBe(exitCodes.done);
  });

  describe('status, of looks for work,', () => {
    // A minute ago may be yesterday, which is shown with its date.
    const instant = String.raw`(?:\d{4}-\d{2}-\d{2} )?[\d:]+`;
    const night = {
      policy: 'night',
      lastGoodAt: null,
      nextScanAt: null,
      config: { kind: 'agreed', others: 0 } as const,
    };
    const failed = { at: Date.now() - 60_000, outcome: 'failed', reason: 'the key is\u202e wrong' } as const;
    const nothing = { at: Date.now() - 60_000, outcome: 'nothing', reason: 'no collector needs it' } as const;

    it('tells a failed one, also where there is no rollout yet, and ends with 4', async () => {
      const { upwave, operations } = await setUp(aRolloutStatus({ state: 'succeeded', endedAt: startedAt }));
      operations.standAt({ policies: [{ ...night, lastScan: failed }], orphans: [] });
      const named = await upwave('status', 'night');
      expect(named.out).toMatch(
        new RegExp(
          String.raw`^no rollout yet\n\nlast scan night ${instant}: failed: the key is\\u202e wrong\n$`,
        ),
      );
      expect(named.code).toBe(exitCodes.unreachable);
      expect(JSON.parse((await upwave('status', '--json')).out)).toMatchObject({
        rollouts: [{ id: running }],
        policies: [{ policy: 'night', lastScan: { outcome: 'failed' } }],
      });
    });

    it('tells a rollout whose policy is gone, asked for or not, and ends with 3', async () => {
      const { upwave, operations } = await setUp();
      const orphans = [{ id: 'first-20260302-1', policy: 'first', state: 'running' }] as const;
      operations.standAt({ policies: [{ ...night, lastScan: nothing }], orphans });
      const all = await upwave('status');
      expect(all.out).toMatch(
        /^orphaned {2}first-20260302-1 is running, and stands still: no policy .* called first;/,
      );
      expect(all.code).toBe(exitCodes.heldOrNeedsAPerson);
      const one = await upwave('status', 'first');
      expect(one.out).toMatch(/^orphaned {2}first-20260302-1 is running.*\n$/);
      expect(one.code).toBe(exitCodes.heldOrNeedsAPerson);
      expect((await upwave('status', 'production')).code).toBe(exitCodes.done);
    });

    it('tells of what came of a good one, and ends with 0', async () => {
      const { upwave, operations } = await setUp();
      operations.standAt({
        policies: [
          {
            ...night,
            lastScan: nothing,
            nextScanAt: Date.now(),
            config: { kind: 'agreed', others: 0 } as const,
          },
        ],
        orphans: [],
      });
      const { out, code } = await upwave('status', 'night');
      expect(out).toMatch(
        new RegExp(
          String.raw`^no rollout yet\n\nlast scan night ${instant}: no collector needs it; next ${instant}\n$`,
        ),
      );
      expect(code).toBe(exitCodes.done);
    });
  });

  it('status ends with 1 for what did not come to what was asked for', async () => {
    for (const state of ['finishedWithFailures', 'rolledBack', 'aborted'] as const) {
      const { upwave } = await setUp(aRolloutStatus({ state, endedAt: startedAt }));
      expect((await upwave('status')).code).toBe(exitCodes.finishedWithFailures);
    }
    const { upwave } = await setUp(aRolloutStatus({ state: 'succeeded', endedAt: startedAt }));
    expect((await upwave('status')).code).toBe(exitCodes.done);
  });

  it('status --json is one document, in which nothing moves a terminal', async () => {
    const { upwave } = await setUp(aRolloutStatus({ reason: 'x\u202ey', counts: countsOf({ failed: 1 }) }));
    const { out } = await upwave('status', '--json');
    expect(out).not.toContain('\u202e');
    expect(JSON.parse(out)).toMatchObject({ rollouts: [{ id: running, reason: 'x\u202ey' }] });
  });
});
