import type { Chances } from '../chances.ts';
import { InjectedFault } from '../night.ts';
import { differenceOf } from './differences.ts';
import { type CallFaults, makeRedisCall, type RedisCall } from './redis-call.ts';
import type { Turnstile } from './turnstile.ts';

/** What all compared ports of a night share. */
export interface Comparison {
  readonly turnstile: Turnstile<RedisCall>;
  readonly chances: Chances;
  /** Counts what was written, through whichever port. */
  readonly written: { times: number };
  compare(what: () => string, real: unknown, model: unknown): void;
  /** Called while a call that has written is still inside. */
  afterWrite(): Promise<void>;
}

/** What befalls the calls of one caller. */
export interface CallerFate {
  /** Absent for a caller whom nothing befalls. */
  readonly faults: CallFaults | undefined;
  /** The change of a call was applied, but the caller has lost the connection. */
  onFault(fault: InjectedFault): void;
}

/** Reads of loops that look again and again. Their answers follow from their arguments and from what was written. */
const repeatedReads: ReadonlySet<string> = new Set([
  'activeRolloutIds',
  'holds',
  'lastOffered',
  'listDue',
  'loadRollout',
  'loadUpgrades',
  'loadView',
]);

// Most calls of a night are such reads. When the model's answer is the same as before, these shares of them are sent: when
// nothing was written since, and otherwise.
const sentUnwritten = 0.05;
const sentWritten = 0.15;

interface Answered {
  readonly times: number;
  readonly model: unknown;
  readonly real: unknown;
}

/** A port whose calls go to an adapter and to its model, and have the adapter's answers. */
export function makeComparedPort<Port extends object>(
  ports: { readonly real: Port; readonly model: Port },
  { turnstile, chances, written, compare, afterWrite }: Comparison,
  { faults, onFault }: CallerFate,
): Port {
  const answered = new Map<string, Answered>();
  const run = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const askModel = () => methodOf(ports.model, name)(...args);
    const key = repeatedReads.has(name) ? keyOf(name, args) : undefined;
    const findAnswered = async (): Promise<Answered | undefined> => {
      const last = answered.get(key ?? '');
      if (last === undefined) return undefined;
      if (chances.hit(last.times === written.times ? sentUnwritten : sentWritten)) return undefined;
      return differenceOf(await askModel(), last.model) === undefined ? last : undefined;
    };
    let model: Promise<unknown> | undefined;
    const onApplied = (): void => {
      written.times += 1;
      model ??= askModel();
    };
    // Its parts for several policies run side by side. One that gave way would send for the others.
    const hasParts = name === 'currentRollouts' && faults !== undefined;
    const ownFaults = hasParts ? { ...faults, givesWay: () => false } : faults;
    const call = makeRedisCall({ turnstile, faults: ownFaults, onApplied });
    await turnstile.enter(call);
    try {
      const last = await findAnswered();
      if (last !== undefined) return last.real;
      const real = await methodOf(ports.real, name)(...args);
      const hasWritten = model !== undefined;
      // Of what others have written between the commands of a read, its answer may have anything.
      if (call.isWhole()) model ??= askModel();
      if (model !== undefined) {
        const expected = await model;
        compare(() => `${name} ${shown(args)}`, inAnyOrder(name, real), inAnyOrder(name, expected));
        if (key !== undefined) answered.set(key, { times: written.times, model: expected, real });
      }
      if (hasWritten) await afterWrite();
      return real;
    } catch (error) {
      if (!(error instanceof InjectedFault) || model === undefined) throw error;
      // The judges must know of the change, although the caller does not.
      onFault(error);
      return await model;
    } finally {
      turnstile.leave();
    }
  };
  const calls = Object.keys(ports.real).map((name) => [
    name,
    (...args: readonly unknown[]) => run(name, args),
  ]);
  return Object.fromEntries(calls) as Port;
}

function methodOf(port: object, name: string): (...args: readonly unknown[]) => Promise<unknown> {
  return Reflect.get(port, name) as (...args: readonly unknown[]) => Promise<unknown>;
}

/** The same for reads of a view at other instants. */
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
