import { describe, expect, it } from 'vitest';
import type { WriteRegister } from '../../../../src/orchestrator/ports/write-register.ts';
import { keepReportingWrites, makeKeptWrites } from '../../../../src/orchestrator/recovery/kept-writes.ts';
import { quietParts } from '../../../support/quiet-parts.ts';

const answerWithinMs = 35_000;

interface StoredReport {
  readonly number: number;
  readonly question: string;
  readonly confirms: readonly string[];
}

/** Daemons on one store, which may go back. Instants are of one clock, which stands still unless it is moved. */
function aStore() {
  let now = 1_000_000;
  let stored = new Map<string, StoredReport>();
  let joins = 1;
  let joinedAt = now;
  let questionsAsked = 0;

  const registerOf = (daemon: string): WriteRegister => ({
    report: async (report) => {
      const before = stored.get(daemon)?.number ?? 0;
      stored.set(daemon, report);
      const others = [...stored]
        .filter(([name]) => name !== daemon)
        .map(([name, { question, confirms }]) => ({ daemon: name, question, confirms }));
      return { before, others };
    },
    leave: async () => void stored.delete(daemon),
  });

  return {
    now: () => now,
    move: (byMs: number) => {
      now += byMs;
    },
    /** Keeps what is stored now. @returns a function that takes the store back to it */
    keep: () => {
      const kept = new Map(stored);
      return () => {
        stored = new Map(kept);
      };
    },
    /** All connections are made again. */
    rejoin: () => {
      joins += 1;
      joinedAt = now;
    },
    aDaemon: (name: string, { isOneStore = true } = {}) => {
      const startedWith = joins;
      return makeKeptWrites({
        register: isOneStore ? registerOf(name) : undefined,
        lastJoin: () => ({ count: joins, at: joinedAt, isRejoin: joins > startedWith }),
        newQuestion: () => {
          questionsAsked += 1;
          return `question ${questionsAsked}`;
        },
        monotonicNow: () => now,
        clock: { now: () => now },
        answerWithinMs,
      });
    },
  };
}

/** Stores an intent. @returns whether its create may leave */
async function storeIntent(daemon: ReturnType<typeof makeKeptWrites>): Promise<boolean> {
  return daemon.beginIntent()();
}

async function reportAll(...daemons: ReadonlyArray<ReturnType<typeof makeKeptWrites>>): Promise<void> {
  for (let round = 0; round < 3; round += 1) for (const daemon of daemons) await daemon.report();
}

describe('creates after a reconnection (P1)', () => {
  it('of a single daemon leave when its first report shows that its last write is there', async () => {
    const store = aStore();
    const daemon = store.aDaemon('a');
    await daemon.report();
    expect(await storeIntent(daemon)).toBe(true);
    const before = daemon.trustedSince();
    store.move(5_000);
    store.rejoin();
    expect(daemon.trustedSince()).toBe(store.now() + 1_000);
    expect(daemon.createsWait()).toEqual({
      isLost: false,
      unconfirmed: 0,
      until: store.now() + answerWithinMs,
    });
    await daemon.report();
    expect([daemon.trustedSince(), daemon.createsWait()]).toEqual([before, undefined]);
  });

  it('wait until earlier ones have arrived, where a write of the daemon itself is missing', async () => {
    const store = aStore();
    const daemon = store.aDaemon('a');
    await daemon.report();
    const goBack = store.keep();
    await storeIntent(daemon);
    goBack();
    store.rejoin();
    await reportAll(daemon);
    const until = store.now() + answerWithinMs;
    expect(daemon.createsWait()).toEqual({ isLost: true, unconfirmed: 0, until });
    expect(await storeIntent(daemon)).toBe(false);
    store.move(answerWithinMs);
    expect([daemon.trustedSince(), daemon.createsWait()]).toEqual([until, undefined]);
    expect(await storeIntent(daemon)).toBe(true);
  });

  it('are noticed as lost also where a report of before the outage is repeated after it', async () => {
    const store = aStore();
    const daemon = store.aDaemon('a');
    await daemon.report();
    const goBack = store.keep();
    await storeIntent(daemon);
    goBack();
    // The connection sends it again before anything else.
    const isKept = daemon.beginIntent();
    store.rejoin();
    expect(await isKept()).toBe(false);
    await reportAll(daemon);
    expect(daemon.createsWait()).toMatchObject({ isLost: true });
  });

  it('wait where the store lost a write of another daemon alone, which wrote last', async () => {
    const store = aStore();
    const [a, b] = [store.aDaemon('a'), store.aDaemon('b')];
    await reportAll(a, b);
    const goBack = store.keep();
    expect(await storeIntent(b)).toBe(true);
    goBack();
    store.rejoin();
    await reportAll(a, b);
    expect(a.createsWait()).toMatchObject({ isLost: false, unconfirmed: 1 });
    expect(b.createsWait()).toMatchObject({ isLost: true });
    store.move(answerWithinMs - 1);
    await reportAll(a, b);
    expect(a.trustedSince()).toBe(store.now() + 1);
  });

  it('leave when all other daemons have confirmed that nothing of theirs is missing', async () => {
    const store = aStore();
    const [a, b, c] = [store.aDaemon('a'), store.aDaemon('b'), store.aDaemon('c')];
    await reportAll(a, b, c);
    store.rejoin();
    await a.report();
    expect(a.createsWait()).toMatchObject({ unconfirmed: 2 });
    await b.report();
    await b.report();
    await a.report();
    expect(a.createsWait()).toMatchObject({ unconfirmed: 1 });
    await reportAll(a, b, c);
    expect([a, b, c].map((each) => each.createsWait())).toEqual([undefined, undefined, undefined]);
  });

  it('wait for a daemon that died, whose creates nobody else knows, also when the store forgot it', async () => {
    const store = aStore();
    const a = store.aDaemon('a');
    await a.report();
    const goBack = store.keep();
    const b = store.aDaemon('b');
    await reportAll(b, a);
    goBack();
    store.rejoin();
    await reportAll(a);
    expect(a.createsWait()).toMatchObject({ unconfirmed: 1 });
    // A further outage does not make it forget the first one.
    store.rejoin();
    await reportAll(a);
    expect(a.createsWait()).toMatchObject({ unconfirmed: 1 });
  });

  it('do not wait for a daemon that left', async () => {
    const store = aStore();
    const [a, b] = [store.aDaemon('a'), store.aDaemon('b')];
    await reportAll(a, b);
    await b.leave();
    await a.report();
    store.rejoin();
    await a.report();
    expect(a.createsWait()).toBeUndefined();
  });

  it('always wait where parts of the store may go back separately', async () => {
    const store = aStore();
    const daemon = store.aDaemon('a', { isOneStore: false });
    expect([await storeIntent(daemon), daemon.createsWait()]).toEqual([true, undefined]);
    store.rejoin();
    await daemon.report();
    expect(daemon.trustedSince()).toBe(store.now() + answerWithinMs);
    expect(daemon.createsWait()).toMatchObject({ isLost: false, unconfirmed: 0 });
  });

  it('are asked for again after 1, 2, 4 seconds and so on, since no answer wakes a step', async () => {
    const store = aStore();
    const [a, b] = [store.aDaemon('a'), store.aDaemon('b')];
    await reportAll(a, b);
    store.rejoin();
    await a.report();
    const at = store.now();
    const instants: number[] = [];
    for (let next = at; next < at + answerWithinMs; next = a.trustedSince()) {
      store.move(next - store.now());
      instants.push(next - at);
    }
    expect(instants).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
  });
});

describe('the creates of a daemon that starts', () => {
  it('leave when all others know it, so that none of them continues without it after an outage (P1)', async () => {
    const store = aStore();
    const a = store.aDaemon('a');
    await a.report();
    const startedAt = store.now();
    const b = store.aDaemon('b');
    await b.report();
    expect(b.trustedSince()).toBeGreaterThan(store.now());
    await a.report();
    await a.report();
    await b.report();
    expect(b.trustedSince()).toBe(startedAt);
  });

  it('wait for two seconds at most, for one that died does not answer (P11)', async () => {
    const store = aStore();
    await store.aDaemon('a').report();
    const b = store.aDaemon('b');
    await reportAll(b);
    store.move(2_000);
    expect(b.trustedSince()).toBe(store.now());
    expect(b.createsWait()).toBeUndefined();
  });
});

it('a daemon confirms a question at once, and leaves at the end', async () => {
  const asked = [true, false];
  const slept: number[] = [];
  const stopping = new AbortController();
  let hasLeft = false;
  const writes = {
    report: async () => asked.shift() ?? false,
    leave: async () => {
      hasLeft = true;
    },
  };
  const sleep = async (forMs: number) => {
    slept.push(asked.length, forMs);
    stopping.abort();
  };
  await keepReportingWrites(writes, { ...quietParts, sleep }, stopping.signal);
  expect([slept, hasLeft]).toEqual([[0, 500], true]);
});
