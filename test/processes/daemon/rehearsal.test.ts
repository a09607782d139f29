import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { RolloutState } from '../../../src/base/vocabulary.ts';
import { readFleet } from '../../../src/cli/rehearse/read-fleet.ts';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import { playSeed } from '../../../src/rehearsal/play/play-seed.ts';
import { fleetAsOf } from '../../../src/rehearsal/world/virtual-service.ts';
import type { Break } from '../../../src/rehearsal/world/what-if.ts';
import { readConfig } from '../../support/config-fixtures.ts';
import { nightConfig, nightSpeed, scan, statusOf, untilState } from '../../support/night/daemon-night.ts';
import { createsOf } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';

const { aNight } = useNights();
const minute = 60_000;

/** One policy by the clock of the service, and by that of a daemon whose service runs faster. */
function policyAt(speed: number, { waves, concurrency = 1 }: Pick<Case, 'waves' | 'concurrency'>) {
  const scaled = (durationMs: number) => `${Math.round(durationMs / speed)}ms`;
  return {
    concurrency,
    isolate: 'off',
    spreadBy: ['osName'],
    waves: waves.map((wave) => ({ soak: scaled(90_000), ...wave })),
    upgrade: { deadline: scaled(75 * minute), verifyWithin: scaled(25 * minute), expect: scaled(3 * minute) },
    retry: { maxAttempts: 1, backoff: { initial: scaled(minute / 2), max: scaled(2 * minute) } },
  };
}

interface Case {
  readonly waves: readonly object[];
  /**
   * One after the other, where left out, and once each: what is started before a failure shows does not depend on the
   * machine. A loss shows late: then all are started long before.
   */
  readonly concurrency?: number;
  readonly failures: ScenarioInput['failures'];
  readonly breaks: readonly Break[];
  readonly state: RolloutState;
}

const onWindows = { match: { osName: ['Windows*'] }, share: 1, afterMs: 0 } as const;
const careful = [
  { name: 'canary', size: '1 per stratum', maxFailures: 0 },
  { name: 'rest', maxFailures: 0 },
];
const cases: Readonly<Record<string, Case>> = {
  'a build that fails on Windows, with a canary': {
    waves: careful,
    failures: [{ match: { osName: 'Windows*' }, outcome: 'failed', message: 'exited with code 17' }],
    breaks: [{ ...onWindows, how: 'fails' }],
    state: 'held',
  },
  'a build after which Windows does not return': {
    waves: careful,
    concurrency: 16,
    failures: [{ match: { osName: 'Windows*' }, outcome: 'lost' }],
    breaks: [{ ...onWindows, how: 'neverReturns' }],
    state: 'held',
  },
};

describe.concurrent('a rehearsal and the rollout that follows it', () => {
  it.for(Object.entries(cases))(
    'start the same collectors, and end in the same state: %s',
    async ([_name, { failures, breaks, state, ...policy }], test) => {
      const night = await aNight(test, {
        scenario: { fleet: { size: 16 }, failures },
        rollout: policyAt(nightSpeed, policy),
      });
      const silent = new Writable({ write: (_text, _encoding, done) => done() });
      const [fast] = night.config.rollouts;
      const [slow] = readConfig(
        JSON.stringify(nightConfig(night.baseUrl, { rollout: policyAt(1, policy) })),
      ).rollouts;
      if (fast === undefined || slow === undefined) throw new Error('no policy');
      const { snapshot, targetBuild } = await readFleet(
        night.config,
        fast,
        { at: 0, others: [] },
        { err: silent },
      );

      const daemon = await night.startDaemon();
      const rolloutId = await scan(daemon);
      await untilState(daemon, rolloutId, state);
      const { createdAt, planned } = await statusOf(daemon, rolloutId);

      // The first rollout of the day, and so is that of seed 1: the same collectors are in the same waves.
      const rehearsed = await playSeed(
        {
          ...{ targetBuild, beganAt: createdAt, requestsPerSecond: 4, passPauseMs: 1_000 },
          snapshot: { ...fleetAsOf(snapshot.collectors, createdAt), upgradableIds: snapshot.upgradableIds },
          whatIf: {
            ...{ breaks, disturbances: [], gates: {}, approval: { kind: 'atOnce' } },
            durations: { medianMs: 2 * minute, p95Ms: 3 * minute },
            failures: { once: 0, always: 0 },
          },
        },
        slow,
        1,
      );
      const started = createsOf(night.record()).size;
      expect(rehearsed).toMatchObject({ state, planned });
      expect(rehearsed.othersDone + rehearsed.harmed).toBe(started);
    },
  );
});
