import { type MetricsParts, makeMetrics } from '../../src/observability/metrics.ts';
import { endStates } from '../../src/rollout/model/upgrade.ts';
import { aScanEntry } from './builders.ts';
import { aRolloutEvent, aRolloutStatus, aWaveStatus } from './fake-operations.ts';
import { aGateStatus } from './status-parts.ts';

/** The metrics of a daemon with one policy, whose shared state another daemon shows. */
export function someMetrics(parts: Partial<MetricsParts> = {}) {
  return makeMetrics({
    version: '1.2.3',
    installation: undefined,
    account: undefined,
    showsProcess: true,
    policies: ['production'],
    foreignRollouts: () => 0,
    isConfigUnread: () => false,
    sharedState: async () => null,
    onStateRead: () => undefined,
    ...parts,
  });
}

/** What a scrape shows once the metrics of a daemon have observed one of everything. */
export async function exposeEverything(): Promise<string> {
  const policy = 'production';
  const metrics = someMetrics({
    publicUrl: 'https://upwave.example.com',
    installation: 'one',
    account: 'eu',
    sharedState: async () => ({
      statuses: [
        aRolloutStatus({
          policy,
          waves: [aWaveStatus({ gates: [aGateStatus()] })],
          window: { isOpen: true, until: 0, reason: '', timeZone: 'UTC', ownZones: false },
          blockers: [{ kind: 'soak', reason: 'wave canary soaks', until: null }],
        }),
      ],
      queueJobs: { waiting: 1, delayed: 2 },
      rateShare: 1,
      outageMs: 0,
      scans: (['started', 'busy', 'nothing', 'failed'] as const).map((outcome) =>
        aScanEntry({ policy, outcome }),
      ),
      fleet: [
        { version: '19.441-2', alive: true, collectors: 9 },
        { version: '19.441-2', alive: false, collectors: 1 },
      ],
      builds: [{ build: '19.441-2', tried: 9, failed: 1 }],
    }),
  });
  for (const state of endStates) {
    const ended = { event: `upgrade.${state}`, durationMs: 300_000, seenDelayMs: 1_000 } as const;
    metrics.countEvent(aRolloutEvent({ policy, ...ended }));
  }
  metrics.countNote({ event: 'redis.forbidden', rights: ['+eval'], reason: '' });
  metrics.apiAnswered({ operation: 'getCollector', status: 200, durationMs: 80 });
  metrics.apiAnswered({ operation: 'getCollector', status: null, durationMs: 80 });
  for (const each of ['operator', 'verify', 'create', 'poll', 'page'] as const) {
    metrics.budgetTaken({ class: each, waitedMs: 10 });
  }
  return (await metrics.expose()).body;
}
