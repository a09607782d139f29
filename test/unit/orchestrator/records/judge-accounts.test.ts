import { describe, expect, it } from 'vitest';
import { makeAccounts } from '../../../../src/orchestrator/records/judge-accounts.ts';
import type { AccountMark } from '../../../../src/rollout/model/account.ts';
import {
  aCollector,
  anUpgrade,
  aRollout,
  type RolloutChanges,
  startedAt,
} from '../../../support/builders.ts';
import { aHouse, freeze, save } from '../../../support/house.ts';
import { range } from '../../../support/store/store-changes.ts';

const mark: AccountMark = { origin: 'https://api.example.com', accessIdHash: 'ours' };
const otherMark: AccountMark = { ...mark, accessIdHash: 'theirs' };

/** What the service shows under an id; undefined: gone, null: no answer. */
type Shows = (id: number) => string | undefined | null;
const ours: Shows = (id) => `collector-${id}`;

/** A rollout of four collectors, and a service that shows something of them. */
async function setUp(changes: RolloutChanges, nameOf: Shows = ours) {
  const service = { shows: nameOf, asked: 0 };
  const upgrades = range(4).map((collectorId) =>
    anUpgrade(
      { state: 'pending' },
      { collectorId, collectorName: ours(collectorId) ?? '', order: collectorId },
    ),
  );
  const house = await aHouse({
    rollout: aRollout(changes),
    upgrades,
    fleet: {
      findCollector: async (id) => {
        service.asked += 1;
        const name = service.shows(Number(id));
        if (name === null) return { ok: false, failure: { kind: 'throttled', detail: 'slow down' } };
        return { ok: true, value: name === undefined ? undefined : aCollector({ id: Number(id), name }) };
      },
    },
  });
  const background: Array<Promise<unknown>> = [];
  const accounts = makeAccounts({
    ...house.parts,
    readMark: async () => mark,
    backgroundTasks: {
      run: async (_key, work) => void background.push(work(new AbortController().signal)),
    },
  });
  /** As it is known once the service has been asked. */
  const standing = async () => {
    await accounts.statusOf(await house.now());
    await Promise.all(background);
    return accounts.statusOf(await house.now());
  };
  return { ...house, accounts, service, standing };
}

describe('the account of a rollout (P5)', () => {
  it('is, for a rollback, that of the original rollout', async () => {
    const { accounts, store } = await setUp({ accountMarks: [otherMark, mark] });
    const id = 'production-20260302-9';
    const of = { rollback: { original: aRollout().id }, accountMarks: [otherMark] };
    const rollback = aRollout({ id, kind: 'rollback', ...of });
    await freeze(store, rollback, [anUpgrade({ state: 'pending' }, { rolloutId: id, collectorId: 1 })]);
    expect(await accounts.statusOf(rollback)).toEqual({ kind: 'own' });
    expect(await accounts.settle(rollback)).toEqual({ kind: 'own' });
  });

  it('is unknown before the service has answered (P14)', async () => {
    const { accounts, now } = await setUp({ accountMarks: [otherMark] });
    expect(await accounts.statusOf(await now())).toEqual({ kind: 'unknown', reason: '' });
  });

  it('is ours when the service shows its collectors under another key, and both keys are kept', async () => {
    const { standing, now, notes } = await setUp({ accountMarks: [otherMark] });
    expect(await standing()).toEqual({ kind: 'own' });
    expect((await now()).accountMarks).toEqual([otherMark, mark]);
    expect(notes).toEqual([]);
  });

  it('needs an operator at another address with another key, whatever the service shows there', async () => {
    const elsewhere: AccountMark = { origin: 'https://copy.example.com', accessIdHash: 'theirs' };
    const { standing, now, notes } = await setUp({ accountMarks: [elsewhere] });
    expect(await standing()).toMatchObject({ kind: 'unclear', matched: 4, beganAt: elsewhere.origin });
    expect((await now()).accountMarks).toEqual([elsewhere]);
    expect(notes.map(({ event }) => event)).toEqual(['rollout.foreign']);
  });

  it('is ours at another address with the same key, and with a new key there afterwards', async () => {
    const moved: AccountMark = { origin: 'https://old.example.com', accessIdHash: mark.accessIdHash };
    const first = await setUp({ accountMarks: [moved] });
    expect(await first.standing()).toEqual({ kind: 'own' });
    const then = await setUp({ accountMarks: [moved, { ...mark, accessIdHash: 'before' }] });
    expect(await then.standing()).toEqual({ kind: 'own' });
  });

  it.each<[string, Shows]>([
    ['other names', () => 'somebody-else'],
    ['none of them', () => undefined],
  ])(
    'is another one when the service shows %s; it is reported once, and checked again after a minute',
    async (_title, shows) => {
      const { standing, accounts, notes, service, clock, now } = await setUp(
        { accountMarks: [otherMark] },
        shows,
      );
      expect((await standing()).kind).toBe('another');
      await standing();
      expect(service.asked).toBe(4);
      expect(accounts.foreign()).toMatchObject([{ rolloutId: aRollout().id, policy: 'production' }]);
      clock.at += 60_000;
      await standing();
      expect(service.asked).toBe(8);
      expect(notes.map(({ event }) => event)).toEqual(['rollout.foreign']);
      expect((await now()).accountMarks).toEqual([otherMark]);
    },
  );

  it('stays unknown while the service gives no answer, and is checked again soon', async () => {
    const { standing, clock, service } = await setUp({ accountMarks: [otherMark] }, () => null);
    expect(await standing()).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('slow down') });
    service.shows = ours;
    clock.at += 5_000;
    expect(await standing()).toEqual({ kind: 'own' });
  });

  it('is not checked for a rollout that has ended, unless an operator reopens it', async () => {
    const ended = { state: 'finishedWithFailures', endedAt: startedAt } as const;
    const { standing, accounts, service, now } = await setUp(
      { accountMarks: [otherMark], ...ended },
      () => 'somebody-else',
    );
    expect((await standing()).kind).toBe('unknown');
    expect(service.asked).toBe(0);
    expect((await accounts.settle(await now())).kind).toBe('another');
  });

  it('is no longer reported as another one once the rollout has ended', async () => {
    const { standing, accounts, now, store } = await setUp({ accountMarks: [otherMark] }, () => undefined);
    await standing();
    await accounts.forgetEnded();
    expect(accounts.foreign()).toHaveLength(1);
    await save(store, await now(), { state: 'aborted', endedAt: startedAt });
    await accounts.forgetEnded();
    expect(accounts.foreign()).toEqual([]);
  });
});
