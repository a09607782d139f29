import { describe, expect, it } from 'vitest';
import { keepAnnouncing } from '../../../src/orchestrator/notify/announce.ts';
import { makeOutboxModel } from '../../simulation/world/outbox-model.ts';
import { askedFor } from '../../support/builders.ts';
import { aHouse, save } from '../../support/house.ts';
import { countingStore } from '../../support/store/counting-store.ts';

describe('announcing', () => {
  it('reads a rollout whole when it has changed, and otherwise every ten seconds', async () => {
    const { parts, store, clock, now } = await aHouse();
    const { store: counted, calls } = countingStore(store);
    const outbox = makeOutboxModel();
    const stopping = new AbortController();
    const readAfterMs: number[] = [];
    const begunAt = clock.at;
    const sleep = async (forMs: number) => {
      if (calls.get('loadView') !== readAfterMs.length) readAfterMs.push(clock.at - begunAt);
      clock.at += forMs;
      if (clock.at - begunAt === 6_000)
        await save(store, await now(), { state: 'held', reason: askedFor('a look') });
      if (clock.at - begunAt > 16_000) stopping.abort();
    };
    await keepAnnouncing(
      {
        ...parts,
        store: counted,
        outbox,
        receivers: () => [],
        queue: { wake: async () => undefined },
        reportsOf: () => [],
        isLeading: () => true,
        sleep,
      },
      stopping.signal,
    );
    expect(readAfterMs).toEqual([0, 6_000, 16_000]);
  });
});
