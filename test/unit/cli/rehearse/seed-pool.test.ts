import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { makeSeedPool, type SeedOrder, type SeedProcess } from '../../../../src/cli/rehearse/seed-pool.ts';
import { playSeed, type Scene, type SeedResult } from '../../../../src/rehearsal/play/play-seed.ts';
import { fleetAsOf } from '../../../../src/rehearsal/world/virtual-service.ts';
import { aWhatIf } from '../../../support/builders/rehearsal-builders.ts';
import { aFleet, aPolicy, startedAt, targetBuild } from '../../../support/builders.ts';

const scene: Scene = {
  targetBuild,
  snapshot: fleetAsOf(aFleet(8).collectors, startedAt),
  beganAt: startedAt,
  whatIf: aWhatIf({ failures: { once: 0.3, always: 0 } }),
  requestsPerSecond: 4,
  passPauseMs: 1_000,
};
const policy = aPolicy();
const seeds = [1, 2, 3, 4, 5];

/** A process that plays as many seeds as it is said to, and then does this with the next one. */
function aProcess(playsMax: number, then: (events: EventEmitter) => void = () => undefined): SeedProcess {
  const events = new EventEmitter();
  let orders = -1;
  return Object.assign(events, {
    kill: () => true,
    send: (message: unknown) => {
      orders += 1;
      const { seed } = message as SeedOrder;
      if (orders > playsMax) then(events);
      else if (orders > 0)
        void playSeed(scene, policy, seed).then((played) =>
          events.emit('message', { ...played, requests: -1 }),
        );
      return true;
    },
  }) as unknown as SeedProcess;
}

const failingSend = (): SeedProcess =>
  Object.assign(new EventEmitter(), {
    kill: () => true,
    send: (_message: unknown, onSent: (error: Error | null) => void) => {
      setImmediate(() => onSent(new Error('write EPIPE')));
      return false;
    },
  }) as unknown as SeedProcess;

/** The seeds' results, and how many of them a process played. */
async function play(startProcess: () => SeedProcess) {
  const pool = makeSeedPool({ scene, upgrades: 1_000_000, processes: 2, startProcess });
  let played = 0;
  const results = await pool.play(policy, seeds, () => {
    played += 1;
  });
  pool.close();
  expect(played).toBe(seeds.length);
  return { seeds: results.map(({ seed }) => seed), elsewhere: results.filter(isElsewhere).length };
}

const isElsewhere = ({ requests }: SeedResult): boolean => requests === -1;

describe('the processes of a rehearsal', () => {
  it('play all seeds', async () => {
    expect(await play(() => aProcess(seeds.length))).toEqual({ seeds, elsewhere: 5 });
  });

  it.each<[string, () => SeedProcess]>([
    ['cannot be forked', () => fork('/nowhere.js', [], { execPath: '/nowhere/node' })],
    [
      'cannot be forked for lack of memory',
      () => {
        throw new Error('spawn ENOMEM');
      },
    ],
    [
      'cannot be reached, because there is no descriptor left',
      () => Object.assign(aProcess(9), { send: undefined }),
    ],
    ['get no message', failingSend],
    ['are killed at once', () => aProcess(0, (events) => events.emit('exit', null, 'SIGKILL'))],
  ])('are not needed when they %s: the seeds are played here', async (_what, startProcess) => {
    expect(await play(startProcess)).toEqual({ seeds, elsewhere: 0 });
  });

  it('may be killed in between: their seed is played here', async () => {
    const started = await play(() => aProcess(1, (events) => events.emit('exit', null, 'SIGKILL')));
    expect(started).toEqual({ seeds, elsewhere: 2 });
  });
});
