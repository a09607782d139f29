import type { EpochMs } from '../../../src/base/time.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import { aRedisRegister, aRedisStore } from '../../support/redis/redis-adapters.ts';
import { withSettableTime } from '../../support/redis/settable-time.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { Verdicts } from '../judge/verdicts.ts';
import type { InjectedFault } from '../night.ts';
import type { FaultKind } from '../setup.ts';
import type { ProcessModel } from '../world/process-model.ts';
import { hasApplied } from './applying-scripts.ts';
import { type CallerFate, type Comparison, makeComparedPort } from './compared-port.ts';
import { differenceOf } from './differences.ts';
import { copyKeys, deleteKeys, deleteRollouts } from './key-copies.ts';
import type { NightStores, Reach } from './night-stores.ts';
import { readEverything } from './read-everything.ts';
import { type CallFaults, makeRedisCall, type RedisCall } from './redis-call.ts';
import { makeTurnstile, type Turnstile } from './turnstile.ts';

/** A Redis for nights, and what the keys of this night begin with. */
export interface RedisForNight {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
}

/** The parts of a night that its stores need. */
export interface NightOfStores {
  readonly seed: number;
  readonly policies: readonly string[];
  readonly verdicts: Verdicts;
  now(): EpochMs;
  strikes(kind: FaultKind, chances: Chances): boolean;
  /** Counts the connections that were lost at once for all daemons. */
  connections(): number;
  /** What a planted bug changes in the source of each script. */
  readonly changeScript?: ((lua: string) => string) | undefined;
}

// Each takes a dozen calls: of all writes only a share is followed by one.
const readsEverything = 0.05;

// Longer than most calls of other daemons take, shorter than a lease.
const givesWayMaxMs = 500;

/**
 * The adapters of Redis, on the scripts of a real one, whose clock is the night's. Each call goes to the models in memory as
 * well, and the answers must be the same.
 */
export function makeRedisStores({ commands, keyPrefix }: RedisForNight, night: NightOfStores): NightStores {
  const { verdicts } = night;
  const turnstile = makeTurnstile<RedisCall>();
  const timed = withSettableTime(commands, night, night.changeScript);
  const model = { store: makeMemoryRolloutStore(night.now), register: makeMemoryFleetRegister() };
  const inTurn = inTurnThrough(timed, turnstile);
  const plain = aRedisStore({ commands: timed, keyPrefix });
  const chances = makeChances(night.seed, 'comparisons of stores');
  const written = { times: 0 };
  const compare: Comparison['compare'] = (what, real, expected) => {
    const difference = differenceOf(real, expected);
    const words = difference === undefined ? '' : `${what()}: ${difference}`;
    verdicts.check('store', difference === undefined, words);
  };
  const compareEverything = async (ids: readonly string[]): Promise<void> => {
    const read = (store: RolloutStore) => readEverything(store, ids, night.now());
    compare(() => 'everything', await read(plain), await read(model.store));
  };
  const afterWrite = async (): Promise<void> => {
    if (chances.hit(readsEverything))
      await compareEverything(await model.store.activeRolloutIds(night.policies));
  };
  const comparison = { turnstile, chances, written, compare, afterWrite };
  /** Works while no call is out. */
  const alone = async (work: () => Promise<void>): Promise<void> => {
    await turnstile.enter(makeRedisCall({ turnstile }));
    await work();
    turnstile.leave();
  };
  let copies = 0;
  let copy = { start: '', times: -1 };

  const reach = (process?: ProcessModel): Reach => {
    let fault: InjectedFault | undefined;
    const onFault = (struck: InjectedFault): void => {
      fault = struck;
    };
    const fate: CallerFate = { faults: process && faultsOf(night, process), onFault };
    const store = aRedisStore({ commands: inTurn, keyPrefix });
    const register = aRedisRegister({ commands: inTurn, keyPrefix: `${keyPrefix}-register` });
    return {
      store: makeComparedPort({ real: store, model: model.store }, comparison, fate),
      register: makeComparedPort({ real: register, model: model.register }, comparison, fate),
      takeFault: () => {
        const taken = fault;
        fault = undefined;
        return taken;
      },
    };
  };

  return {
    reach,
    forget: () =>
      void alone(async () => {
        await deleteRollouts(commands, `${keyPrefix}:`);
        model.store.forget();
        written.times += 1;
      }),
    keep: () => {
      let kept = { start: '', restore: () => {} };
      void alone(async () => {
        if (copy.times !== written.times) {
          copies += 1;
          copy = { start: `${keyPrefix}-copy${copies}:`, times: written.times };
          await copyKeys(commands, `${keyPrefix}:`, copy.start);
        }
        kept = { start: copy.start, restore: model.store.keep() };
      });
      return () =>
        void alone(async () => {
          await deleteKeys(commands, `${keyPrefix}:`);
          await copyKeys(commands, kept.start, `${keyPrefix}:`);
          kept.restore();
          written.times += 1;
        });
    },
    restart: () => void alone(async () => void (await commands.script('FLUSH'))),
    answered: turnstile.empty,
    close: async () => {
      await compareEverything((await model.store.listRollouts(night.policies)).map(({ id }) => id));
      await deleteKeys(commands, keyPrefix);
    },
  };
}

/** Commands that are sent when the call before has left, and as a part of the call that is inside. */
function inTurnThrough(commands: RedisCommands, turnstile: Turnstile<RedisCall>): RedisCommands {
  return new Proxy(commands, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const call = turnstile.inside();
        if (call === undefined) throw new Error(`${String(name)} is sent by no call`);
        return call.send(async () => {
          const reply: unknown = await Reflect.apply(value, target, args);
          if (hasApplied(args[0], reply)) call.applied();
          return reply;
        });
      };
    },
  });
}

function faultsOf({ seed, strikes, connections }: NightOfStores, process: ProcessModel): CallFaults {
  const chances = makeChances(seed, `redis/${process.name}`);
  return {
    isCut: () => strikes('storeCut', chances),
    isSentTwice: () => strikes('storeSendsTwice', chances),
    givesWay: () => strikes('storeGivesWay', chances),
    wait: () => process.wait(chances.int(1, givesWayMaxMs)),
    connections,
  };
}
