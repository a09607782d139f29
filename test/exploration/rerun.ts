import type { EpochMs } from '../../src/base/time.ts';

/** A call of an actor to the outside: to the store, the register, the service, the queue, or a clock. */
export interface Call {
  readonly port: 'store' | 'register' | 'fleet' | 'create' | 'queue' | 'sleep';
  readonly name: string;
  readonly args: readonly unknown[];
}

/** What a call came to. `lost`: it fails, as when a connection breaks. */
export type Reply = { readonly at: EpochMs } & ({ readonly value: unknown } | { readonly lost: true });

/** A fault that the exploration put in. Anything else that is thrown is a bug. */
export class InjectedFault extends Error {}

const settled = Promise.resolve();

/**
 * Runs an actor again up to where it stands: the code is deterministic, so that the same replies lead to the same calls. A
 * function that waits cannot be copied, and the list of its replies can.
 */
export class Rerun {
  readonly #log: readonly Reply[];
  readonly #added: Reply[] = [];
  readonly #open: Array<{ readonly call: Call; readonly settle: (reply: Reply) => void }> = [];
  #asked = 0;
  #now: EpochMs;
  #isLive: boolean;
  #wakes = false;

  constructor(log: readonly Reply[], startedAt: EpochMs) {
    this.#log = log;
    this.#now = startedAt;
    this.#isLive = log.length === 0;
  }

  /** The actor's clock: the instant of the reply that it continues from. */
  readonly now = (): EpochMs => this.#now;

  /** Notes a wake-up. One from before the actor's last reply has been noted already. */
  readonly wake = (): void => {
    if (this.#isLive) this.#wakes = true;
  };

  get isWoken(): boolean {
    return this.#wakes;
  }

  readonly ask = (call: Call): Promise<unknown> => {
    const known = this.#log[this.#asked];
    this.#asked += 1;
    if (known !== undefined) return settled.then(() => this.#continueFrom(known));
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply) => {
        this.#isLive = true;
        this.#added.push(reply);
        settled.then(() => this.#continueFrom(reply)).then(resolve, reject);
      };
      this.#open.push({ call, settle });
    });
  };

  /** The calls that wait for a reply: several where the code asks in parallel. */
  get open(): readonly Call[] {
    return this.#open.map(({ call }) => call);
  }

  /** Answers all open calls, in their order. */
  reply(replies: readonly Reply[]): void {
    const open = this.#open.splice(0);
    for (const [index, { settle }] of open.entries()) {
      const reply = replies[index];
      if (reply !== undefined) settle(reply);
    }
  }

  /** All replies so far, from which it can be run again. */
  get log(): readonly Reply[] {
    return [...this.#log, ...this.#added];
  }

  #continueFrom(reply: Reply): unknown {
    this.#now = reply.at;
    if ('lost' in reply) throw new InjectedFault('the reply was lost');
    return reply.value;
  }
}

/** Resolves when every promise that can continue has done so. */
export function allPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
