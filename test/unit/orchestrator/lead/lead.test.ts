import { describe, expect, it } from 'vitest';
import { type LeadParts, lead } from '../../../../src/orchestrator/lead/lead.ts';
import type { RolloutState } from '../../../../src/rollout/model/rollout.ts';
import { aPolicy, aRollout } from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';

const secondMs = 1_000;
const beganAt = 1_000_000_000;

interface Leading {
  readonly passes: number;
  /** Moves the clock between two passes. */
  readonly tick?: (now: number, pass: number) => number;
  readonly isWaitedFor?: boolean;
  /** The state of a rollout whose policy is not in the config. */
  readonly orphan?: RolloutState;
}

/** Leads for so many passes. @returns which of them delivered what is overdue, and when the lead was given away */
async function leadFor({ passes, tick = (now) => now + secondMs, isWaitedFor, orphan }: Leading) {
  const stop = new AbortController();
  const delivered: boolean[] = [];
  const reconciled = new Set<string>();
  const gaveWayAt: number[] = [];
  let now = beganAt;
  let pass = 0;
  const parts = {
    ...quietParts,
    store: {
      activeRolloutIds: async (policies: readonly string[]) => policies.map((name) => `${name}-20260302-1`),
      loadRollout: async (id: string) =>
        aRollout({ id, policy: aPolicy({ name: 'gone' }), state: orphan ?? 'running' }),
      loadView: async (id: string, { overdueBefore }: { readonly overdueBefore: number }) => {
        reconciled.add(id);
        if (id.startsWith('production')) delivered.push(Number.isFinite(overdueBefore));
        return undefined;
      },
    },
    claims: {
      names: async () => (orphan === undefined ? ['production'] : ['production', 'gone']),
      isMissing: (policy: string) => policy === 'gone',
    },
    lease: {
      hold: async () => 1,
      giveWay: async () => void gaveWayAt.push(now - beganAt),
      release: async () => undefined,
    },
    clock: { now: () => now },
    backgroundTasks: { run: async () => undefined },
    sleep: async () => {
      pass += 1;
      now = tick(now, pass);
      if (pass === passes) stop.abort();
    },
    nextWakeUp: () => new AbortController().signal,
    ...(isWaitedFor === undefined ? {} : { isWaitedFor: async () => isWaitedFor }),
  };
  // Nothing else of them is asked here.
  await lead(parts as unknown as LeadParts, stop.signal);
  return { delivered, gaveWayAt, reconciled: [...reconciled] };
}

describe('a daemon that does not lead', () => {
  it('takes the lease at a wake-up, without waiting for its next check', async () => {
    const [stop, woken] = [new AbortController(), new AbortController()];
    const events: string[] = [];
    const parts = {
      ...quietParts,
      store: { activeRolloutIds: async () => [] },
      scans: { read: async () => [] },
      lease: {
        hold: async () => (woken.signal.aborted ? 1 : undefined),
        release: async () => undefined,
      },
      clock: { now: () => beganAt },
      backgroundTasks: { run: async () => undefined },
      sink: { ...quietParts.sink, note: ({ event }: { readonly event: string }) => void events.push(event) },
      // Never ends by itself.
      sleep: (_forMs: number, signal: AbortSignal) => {
        const ended = new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        if (events.length > 0) stop.abort();
        else woken.abort();
        return ended;
      },
      nextWakeUp: () => (events.length > 0 ? new AbortController().signal : woken.signal),
    };
    await lead(parts as unknown as LeadParts, stop.signal);
    expect(events).toEqual(['leader.acquired']);
  });
});

describe('the leader', () => {
  it('delivers overdue upgrades at once, and every two seconds', async () => {
    const { delivered } = await leadFor({ passes: 5 });
    expect(delivered).toEqual([true, false, true, false, true]);
  });

  it.each(['aborted', 'running'] as const)(
    'reconciles a rollout that is %s without its policy, so that no lost step waits for ever (P11)',
    async (orphan) => {
      const { reconciled } = await leadFor({ passes: 1, orphan });
      expect(reconciled).toEqual(['production-20260302-1', 'gone-20260302-1']);
    },
  );

  it('keeps delivering when the clock is set back', async () => {
    const tick = (now: number, pass: number) => now + (pass === 2 ? -3_600 * secondMs : secondMs);
    const { delivered } = await leadFor({ passes: 6, tick });
    expect(delivered.slice(2)).toEqual([true, false, true, false]);
  });

  it.each([
    [true, [10 * secondMs, 20 * secondMs]],
    [false, []],
  ])(
    'gives up the lease every ten seconds while another daemon is needed: %s',
    async (isWaitedFor, expected) => {
      expect((await leadFor({ passes: 25, isWaitedFor })).gaveWayAt).toEqual(expected);
    },
  );
});
