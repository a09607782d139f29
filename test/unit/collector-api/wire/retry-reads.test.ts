import { describe, expect, it } from 'vitest';
import { makeRetryWindow } from '../../../../src/base/retry-window.ts';
import { withRetriedReads } from '../../../../src/collector-api/wire/retry-reads.ts';
import type { ServedAnswer } from '../../../../src/collector-api/wire/service-call.ts';
import type { ServiceClient } from '../../../../src/collector-api/wire/service-client.ts';
import {
  createUpgradeTask,
  listUpgradeTargets,
} from '../../../../src/contract/collector-management/upgrades.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';

const cutOff: ServiceFailure = { kind: 'unavailable', sent: true, detail: 'connection reset.' };
const cutOffs = (count: number) => Array.from({ length: count }, () => cutOff);
const call = { budgetClass: 'operator' } as const;

/** A client in virtual time whose requests fail as given, and otherwise succeed. */
function aClient(
  failures: readonly ServiceFailure[],
  { eachTakesMs = 0, signal = undefined as AbortSignal | undefined } = {},
) {
  let now = 0;
  const sentAt: number[] = [];
  const reports: string[] = [];
  const answer = (): Promise<ServedAnswer<never>> => {
    const failure = failures[sentAt.length];
    sentAt.push(now);
    now += eachTakesMs;
    const value = { body: { targets: [] } as never, serviceAt: null, etag: null };
    return Promise.resolve(failure === undefined ? { ok: true, value } : { ok: false, failure });
  };
  const reserve = async () => ({ ok: true as const, value: { send: answer, giveUp: () => {} } });
  const client: ServiceClient = {
    call: answer,
    reserve,
    redactor: () => (text) => text,
    close: async () => {},
  };
  const window = makeRetryWindow({
    withinMs: 30_000,
    now: () => now,
    onOpen: (reason) => reports.push(reason),
  });
  const retried = withRetriedReads(client, window, async (forMs) => {
    now += forMs;
  });
  return {
    sentAt,
    reports,
    sleep: retried.sleep,
    now: () => now,
    read: () => retried.client.call(listUpgradeTargets, {}, { ...call, signal }),
    write: () =>
      retried.client.call(createUpgradeTask, { body: { collectorId: 1, toVersion: '1.2-3' } }, call),
  };
}

describe('a read for a person who waits', () => {
  it('is retried while the service does not answer, which is reported once', async () => {
    const { read, sentAt, reports } = aClient([cutOff, cutOff, cutOff]);
    expect(await read()).toMatchObject({ ok: true });
    expect(await read()).toMatchObject({ ok: true });
    expect(sentAt).toEqual([0, 500, 1_500, 3_500, 3_500]);
    expect(reports).toEqual(['connection reset.']);
  });

  it('fails after 30 s, and everything after it at once', async () => {
    const { read, sentAt, sleep, now } = aClient(cutOffs(99));
    expect(await read()).toEqual({ ok: false, failure: cutOff });
    expect(now()).toBe(30_000);
    const sent = sentAt.length;
    await sleep(8_000);
    expect(await read()).toEqual({ ok: false, failure: cutOff });
    expect(sentAt.length).toBe(sent);
    expect(now()).toBe(30_000);
  });

  it('includes the duration of the requests', async () => {
    const { read, sentAt } = aClient(cutOffs(99), { eachTakesMs: 20_000 });
    await read();
    expect(sentAt.length).toBe(3);
  });

  it('gets the full time again after an answer', async () => {
    const { read, now } = aClient(cutOffs(6));
    await read();
    const first = now();
    expect(first).toBeGreaterThan(15_000);
    await read();
    expect(now()).toBe(first);
  });

  it('is sent again after a 429, without a wait of its own, and five times in a row at most', async () => {
    const throttled: ServiceFailure = { kind: 'throttled', detail: '429' };
    const once = aClient([throttled]);
    expect(await once.read()).toMatchObject({ ok: true });
    expect(once.sentAt).toEqual([0, 0]);
    const always = aClient(Array.from({ length: 99 }, () => throttled));
    expect(await always.read()).toEqual({ ok: false, failure: throttled });
    expect(always.sentAt.length).toBe(5);
    expect(always.reports).toEqual([]);
  });

  it.each<ServiceFailure>([
    { kind: 'misconfigured', detail: '401' },
    { kind: 'refused', code: 'x', detail: '400' },
    { kind: 'notFound', detail: '404' },
    { kind: 'cancelled', sent: false },
  ])('is not sent again for $kind', async (failure) => {
    const { read, sentAt, reports } = aClient([failure]);
    expect(await read()).toEqual({ ok: false, failure });
    expect(sentAt.length).toBe(1);
    expect(reports).toEqual([]);
  });

  it('ends at once when the person gives up', async () => {
    const stop = new AbortController();
    const { read, sentAt } = aClient([cutOff, cutOff], { signal: stop.signal });
    stop.abort();
    expect(await read()).toEqual({ ok: false, failure: { kind: 'cancelled', sent: false } });
    expect(sentAt.length).toBe(1);
  });
});

describe('a write for a person who waits', () => {
  it('is sent once, also before and after the time for reads is over', async () => {
    const { read, write, sentAt } = aClient(cutOffs(99));
    await write();
    expect(sentAt.length).toBe(1);
    await read();
    const sent = sentAt.length;
    await write();
    expect(sentAt.length).toBe(sent + 1);
  });
});
