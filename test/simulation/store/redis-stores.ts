import type { EpochMs } from '../../../src/base/time.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';
import { makeRedisFleetRegister } from '../../../src/redis/coordination/fleet-register.ts';
import { makeRedisRolloutStore } from '../../../src/redis/rollout-store/rollout-store.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import { withSettableTime } from '../../support/redis/settable-time.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { Verdicts } from '../judge/verdicts.ts';
import { InjectedFault } from '../night.ts';
import type { FaultKind } from '../setup.ts';
import type { ProcessModel } from '../world/process-model.ts';
import { hasApplied } from './applying-scripts.ts';
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

/** Reads of loops that look again and again. Their answers follow from their arguments and from what was written. */
const repeatedReads: ReadonlySet<string> = new Set([
  'activeRolloutIds',
  'heldBuilds',
  'lastOffered',
  'listDue',
  'loadRollout',
  'loadUpgrades',
  'loadView',
]);

// Most calls of a night are such reads. When the model's answer is the same as before, these shares of them are sent: when
// nothing was written since, and otherwise.
const sentUnwritten = 0.1;
const sentWritten = 0.3;

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
  const plain = makeRedisRolloutStore({ commands: timed, keyPrefix });
  const chances = makeChances(night.seed, 'comparisons of stores');
  let writes = 0;
  const compare = (what: () => string, real: unknown, expected: unknown): void => {
    const difference = differenceOf(real, expected);
    const words = difference === undefined ? '' : `${what()}: ${difference}`;
    verdicts.check('store', difference === undefined, words);
  };
  const compareEverything = async (ids: readonly string[]): Promise<void> => {
    const read = (store: RolloutStore) => readEverything(store, ids, night.now());
    compare(() => 'everything', await read(plain), await read(model.store));
  };
  /** Works while no call is out. */
  const alone = async (work: () => Promise<void>): Promise<void> => {
    await turnstile.enter(makeRedisCall({ turnstile }));
    await work();
    turnstile.leave();
  };
  let copies = 0;
  let copy = { start: '', writes: -1 };

  /** A port on both, whose calls are compared. */
  const compared = <Port extends object>(
    port: { readonly real: Port; readonly model: Port },
    reach: { readonly faults: CallFaults | undefined; readonly onFault: (fault: InjectedFault) => void },
  ): Port => {
    const answered = new Map<string, { writes: number; expected: unknown; answer: unknown }>();
    const run = async (name: string, args: readonly unknown[]): Promise<unknown> => {
      let expected: Promise<unknown> | undefined;
      const ask = () => methodOf(port.model, name)(...args);
      const onApplied = (): void => {
        writes += 1;
        expected ??= ask();
      };
      const call = makeRedisCall({ turnstile, faults: reach.faults, onApplied });
      await turnstile.enter(call);
      try {
        const key = repeatedReads.has(name) ? keyOf(name, args) : undefined;
        if (key !== undefined) {
          const last = answered.get(key);
          const isAsBefore = async () => differenceOf(await ask(), last?.expected) === undefined;
          const sent = last?.writes === writes ? sentUnwritten : sentWritten;
          if (last !== undefined && !chances.hit(sent) && (await isAsBefore())) return last.answer;
        }
        const answer = await methodOf(port.real, name)(...args);
        const isApplied = expected !== undefined;
        // Without a change, what others wrote between its commands may be in the answer, or may not.
        if (call.isWhole()) expected ??= ask();
        if (expected !== undefined)
          compare(() => `${name} ${shown(args)}`, inAnyOrder(name, answer), inAnyOrder(name, await expected));
        if (key !== undefined && expected !== undefined)
          answered.set(key, { writes, expected: await expected, answer });
        if (isApplied && chances.hit(readsEverything))
          await compareEverything(await model.store.activeRolloutIds(night.policies));
        return answer;
      } catch (error) {
        if (!(error instanceof InjectedFault) || expected === undefined) throw error;
        // The judges must know of the change, although the caller does not.
        reach.onFault(error);
        return await expected;
      } finally {
        turnstile.leave();
      }
    };
    const names = Object.keys(port.real);
    return Object.fromEntries(
      names.map((name) => [name, (...args: readonly unknown[]) => run(name, args)]),
    ) as Port;
  };
  const reach = (process?: ProcessModel): Reach => {
    let fault: InjectedFault | undefined;
    const onFault = (struck: InjectedFault): void => {
      fault = struck;
    };
    const how = { faults: process && faultsOf(night, process), onFault };
    const register = makeRedisFleetRegister({ commands: inTurn, keyPrefix: `${keyPrefix}-register` });
    return {
      store: compared(
        { real: makeRedisRolloutStore({ commands: inTurn, keyPrefix }), model: model.store },
        how,
      ),
      register: compared({ real: register, model: model.register }, how),
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
        writes += 1;
      }),
    keep: () => {
      let kept = { start: '', restore: () => {} };
      void alone(async () => {
        if (copy.writes !== writes) {
          copies += 1;
          copy = { start: `${keyPrefix}-copy${copies}:`, writes };
          await copyKeys(commands, `${keyPrefix}:`, copy.start);
        }
        kept = { start: copy.start, restore: model.store.keep() };
      });
      return () =>
        void alone(async () => {
          await deleteKeys(commands, `${keyPrefix}:`);
          await copyKeys(commands, kept.start, `${keyPrefix}:`);
          kept.restore();
          writes += 1;
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

function methodOf(port: object, name: string): (...args: readonly unknown[]) => Promise<unknown> {
  return Reflect.get(port, name) as (...args: readonly unknown[]) => Promise<unknown>;
}

/** The same for reads at other instants. */
function keyOf(name: string, [id, at]: readonly unknown[]): string {
  return name === 'loadView' ? `${name} ${String(id)}` : JSON.stringify([name, id, at]);
}

/** An answer without the order that the port does not promise. */
function inAnyOrder(name: string, answer: unknown): unknown {
  if (name === 'listMemberIds') return new Set(answer as readonly unknown[]);
  if (name !== 'lastOffered' || answer === undefined) return answer;
  const { builds, ...offered } = answer as { readonly builds: readonly string[] };
  return { ...offered, builds: new Set(builds) };
}

function shown(args: readonly unknown[]): string {
  return JSON.stringify(args).slice(0, 200);
}
