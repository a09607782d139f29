import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { announceDue, keepAnnouncing } from '../../../src/orchestrator/notify/announce.ts';
import type { Receiver } from '../../../src/rollout/model/receiver.ts';
import { makeOutboxModel } from '../../simulation/world/outbox-model.ts';
import { aRollout, askedFor } from '../../support/builders.ts';
import { aHouse, freeze, save } from '../../support/house.ts';
import { countingStore } from '../../support/store/counting-store.ts';

const pager: Receiver = {
  ...{ name: 'pager', events: ['held'], policies: ['*'], quiet: null },
  place: { kind: 'webhook', url: new Secret('https://pager.example.com'), secret: new Secret('s') },
};

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

  it('names what the failures of one cause share, as status does', async () => {
    const { parts, store, now } = await aHouse();
    await save(store, await now(), { state: 'held', reason: askedFor('a look') });
    const shared = {
      ...{ attributes: [{ key: 'osName', value: 'Windows*' }], failed: 11, tried: 40, share: 0.2 },
      elsewhere: { failed: 2, tried: 90 },
      cause: { of: 'failed', text: 'disk is full', ended: 3 },
    } as const;
    const outbox = makeOutboxModel();
    await announceDue({
      ...parts,
      sharedAttributes: { ...parts.sharedAttributes, ofCauses: async () => shared },
      ...{ outbox, queue: { wake: async () => undefined }, reportsOf: () => [] },
      receivers: () => [pager],
    });
    expect(JSON.stringify(await outbox.read(pager.name))).toContain(`upwave hold 'osName=Windows*'`);
  });

  it('hears of the second end of an older rollout that was open for less than a pass', async () => {
    const { parts, store, clock, now } = await aHouse();
    const outbox = makeOutboxModel();
    const first = await now();
    const announce = () =>
      announceDue({
        ...parts,
        ...{
          store,
          outbox,
          receivers: () => [],
          queue: { wake: async () => undefined },
          reportsOf: () => [],
        },
      });
    await save(store, first, { state: 'succeeded', endedAt: clock.at });
    await announce();
    const second = aRollout({ id: 'production-20260302-2', createdAt: clock.at + 1 });
    await freeze(store, second);
    await save(store, second, { state: 'succeeded', endedAt: clock.at + 2 });
    await announce();
    clock.at += 12 * 3_600_000;
    const ended = await store.loadRollout(first.id);
    if (ended === undefined) throw new Error('it is kept');
    await save(store, ended, { state: 'rolledBack', endedAt: clock.at });
    await announce();
    const { rollouts } = await outbox.readAnnounced(clock.at);
    expect(rollouts.get(first.id)?.announced.endedAt).toBe(clock.at);
  });
});
