import { describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import { makeAccounts } from '../../../../src/orchestrator/records/accounts.ts';
import type { AccountMark } from '../../../../src/rollout/model/account.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import {
  aCollector,
  aFleetService,
  anUpgrade,
  aRollout,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const mark: AccountMark = { origin: 'https://api.example.com', accessIdHash: 'ours' };
const otherMark: AccountMark = { ...mark, accessIdHash: 'theirs' };

/** A rollout of four collectors, and a service that shows what `nameOf` says; undefined: gone, null: no answer. */
async function setUp(
  changes: Partial<Rollout>,
  nameOf: (id: number) => string | undefined | null = (id) => `collector-${id}`,
) {
  let now = startedAt;
  let asked = 0;
  let shows = nameOf;
  let read = mark;
  const store = makeMemoryRolloutStore();
  const rollout = aRollout(changes);
  const upgrades = [1, 2, 3, 4].map((collectorId) =>
    anUpgrade(
      { state: 'pending' },
      { collectorId, collectorName: `collector-${collectorId}`, order: collectorId },
    ),
  );
  await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
  const notes: DaemonNote[] = [];
  const background: Array<Promise<unknown>> = [];
  const accounts = makeAccounts({
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    clock: { now: () => now },
    sink: { tell: () => undefined, note: (note) => notes.push(note) },
    readMark: async () => read,
    fleet: aFleetService({
      findCollector: async (id) => {
        asked += 1;
        const name = shows(Number(id));
        if (name === null) return { ok: false, failure: { kind: 'throttled', detail: 'slow down' } };
        return { ok: true, value: name === undefined ? undefined : aCollector({ id: Number(id), name }) };
      },
    }),
    backgroundTasks: {
      run: async (_key, work) => {
        background.push(work(new AbortController().signal));
      },
    },
  });
  const load = async () => (await store.loadRollout(rollout.id)) ?? rollout;
  return {
    accounts,
    store,
    notes,
    load,
    standing: async () => {
      await accounts.standingOf(await load());
      await Promise.all(background);
      return accounts.standingOf(await load());
    },
    asked: () => asked,
    later: (forMs: number) => {
      now += forMs;
    },
    show: (to: typeof nameOf) => {
      shows = to;
    },
    rekey: (to: AccountMark) => {
      read = to;
    },
  };
}

describe('whose a rollout is (P5)', () => {
  it('is that of the rollout that a rollback takes back, which has too few collectors of its own to compare', async () => {
    const { accounts, store } = await setUp({ accountMarks: [otherMark, mark] });
    const original = await store.listRollouts(['production']);
    const id = 'production-20260302-9';
    const rollback = aRollout({
      id,
      kind: 'rollback',
      rollbackOf: original[0]?.id ?? '',
      accountMarks: [otherMark],
    });
    const upgrade = anUpgrade({ state: 'pending' }, { rolloutId: id, collectorId: 1 });
    await store.freeze({ rollout: rollback, upgrades: [upgrade], groups: someGroups(), events: [] });
    expect(await accounts.standingOf(rollback)).toEqual({ kind: 'own' });
    expect(await accounts.settle(rollback)).toEqual({ kind: 'own' });
  });

  it('is not known before the service has answered (P14)', async () => {
    const { accounts, load } = await setUp({ accountMarks: [otherMark] });
    expect(await accounts.standingOf(await load())).toEqual({ kind: 'unknown', reason: '' });
  });

  it('is ours under another key when the service shows its collectors; both keys are kept', async () => {
    const { standing, load, notes } = await setUp({ accountMarks: [otherMark] });
    expect(await standing()).toEqual({ kind: 'own' });
    expect((await load()).accountMarks).toEqual([otherMark, mark]);
    expect(notes).toEqual([]);
  });

  it('is ours when an earlier version began it, and the service shows its collectors', async () => {
    const { standing, load } = await setUp({});
    expect(await standing()).toEqual({ kind: 'own' });
    expect((await load()).accountMarks).toEqual([mark]);
  });

  it.each<[string, () => string | undefined]>([
    ['other names', () => 'somebody-else'],
    ['none of them', () => undefined],
  ])(
    "is another's when the service shows %s; said once, and asked again after a minute",
    async (_title, shows) => {
      const { standing, accounts, notes, asked, later, load } = await setUp(
        { accountMarks: [otherMark] },
        shows,
      );
      expect((await standing()).kind).toBe('another');
      await standing();
      expect(asked()).toBe(4);
      expect(accounts.foreign()).toMatchObject([
        { rolloutId: 'production-20260302-1', policy: 'production' },
      ]);
      later(60_000);
      await standing();
      expect(asked()).toBe(8);
      expect(notes.map(({ event }) => event)).toEqual(['rollout.foreign']);
      expect((await load()).accountMarks).toEqual([otherMark]);
    },
  );

  it('stays open while the service gives no answer, and is asked again soon', async () => {
    const { standing, later, show } = await setUp({ accountMarks: [otherMark] }, () => null);
    expect(await standing()).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('slow down') });
    show((id) => `collector-${id}`);
    later(5_000);
    expect(await standing()).toEqual({ kind: 'own' });
  });

  it('is not asked for one that is over, unless an operator opens it again', async () => {
    const { standing, accounts, asked, load } = await setUp(
      { accountMarks: [otherMark], state: 'finishedWithFailures', endedAt: startedAt },
      () => 'somebody-else',
    );
    expect((await standing()).kind).toBe('unknown');
    expect(asked()).toBe(0);
    expect((await accounts.settle(await load())).kind).toBe('another');
  });

  it("is no longer told of as another account's once it is over, whoever ended it", async () => {
    const { standing, accounts, load, store } = await setUp({ accountMarks: [otherMark] }, () => undefined);
    await standing();
    await accounts.forgetEnded();
    expect(accounts.foreign()).toHaveLength(1);
    const rollout = await load();
    const ended = { ...rollout, rev: rollout.rev + 1, state: 'aborted', endedAt: startedAt } as const;
    await store.saveRollout({ rollout: ended, expectedRev: rollout.rev, events: [], brake: 'set' }, null);
    await accounts.forgetEnded();
    expect(accounts.foreign()).toEqual([]);
  });
});
