import { describe, expect, it } from 'vitest';
import type { Outage } from '../../../src/contract/admin/rollout-status.ts';
import { reportAtStart } from '../../../src/daemon/report-at-start.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import { makePolicyClaims } from '../../../src/orchestrator/records/policy-claims.ts';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';
import { anApiBudgetStatus, anOutage, aPolicy, aRollout, startedAt } from '../../support/builders.ts';
import { makeMemoryScanBook } from '../../support/store/memory-scan-book.ts';

const refused = new Error("NOPERM this user has no permissions to run the 'info' command");

async function reported(of: { readonly info: () => Promise<string>; readonly outage?: Outage | null }) {
  const notes: DaemonNote[] = [];
  const errors: unknown[] = [];
  const compared: string[] = [];
  const scans = makeMemoryScanBook();
  const policies = () => ['second'];
  const clock = { now: () => startedAt };
  const configs = { beat: async () => undefined, living: () => ({ account: '', others: [] }) };
  await scans.note({ policy: 'first', outcome: 'started', at: 0, reason: '', overdueAt: 0 });
  const rollout = aRollout({ id: 'first-20260302-1', policy: aPolicy({ name: 'first' }) });
  await reportAtStart({
    // Nothing else of it is asked here.
    commands: { info: of.info } as unknown as RedisCommands,
    readApiBudgetStatus: async () => {
      if (of.outage === undefined) throw refused;
      return anApiBudgetStatus({ outage: of.outage });
    },
    store: { activeRolloutIds: async () => [rollout.id], loadRollout: async () => rollout },
    configs,
    accounts: {
      statusOf: async ({ id }) => {
        compared.push(id);
        return { kind: 'own' };
      },
    },
    claims: makePolicyClaims({ scans, clock, configs, policies }),
    policies,
    clock,
    sink: { report: () => undefined, note: (note) => notes.push(note) },
    onError: (error) => errors.push(error),
  });
  return { events: notes.map(({ event }) => event), errors, notes, compared };
}

describe('what a daemon reports when it starts', () => {
  it('is what a person has to know', async () => {
    const { events, notes, errors, compared } = await reported({
      info: async () => 'aof_enabled:0\r\n',
      outage: anOutage(),
    });
    expect(events).toEqual(['redis.risk', 'service.paused', 'policy.orphaned']);
    expect(notes[1]).toMatchObject({ reason: 'the service asked for a pause', pauseMs: 3 * 3_600_000 });
    expect(errors).toEqual([]);
    expect(compared).toEqual(['first-20260302-1']);
  });

  it('stops no work when it cannot be read, and hides no other report', async () => {
    const { events, errors } = await reported({ info: () => Promise.reject(refused) });
    expect(events).toEqual(['policy.orphaned']);
    expect(errors).toEqual([refused, refused]);
  });

  it('leaves it to the API budget to say that the service is down', async () => {
    const down = anOutage({ kind: 'serviceDown' });
    expect((await reported({ info: async () => '', outage: down })).events).toEqual(['policy.orphaned']);
    expect((await reported({ info: async () => '', outage: null })).events).toEqual(['policy.orphaned']);
  });
});
