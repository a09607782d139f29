import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/contract/admin/holds.ts';
import { auditActs } from '../../../../src/rollout/status/audit-acts.ts';

const entry = (event: AuditEntry['event'], subject: string, at: number, by = 'ann'): AuditEntry => ({
  ...{ at, event, subject, by },
  reason: 'CHG-9',
});
const label = 'osName=Windows*';

describe('the acts of the audit', () => {
  it('show the hold of a group, and of a stratum in several rollouts, as one', () => {
    const entries = [
      entry('stratum.held', `${label} of edge-20261123-1`, 1_020),
      entry('stratum.held', `${label} of web-20261123-1`, 1_010),
      entry('group.held', label, 1_000),
      entry('stratum.released', 'Linux / amd64 of edge-20261123-1', 510),
      entry('stratum.released', 'Linux / amd64 of web-20261123-1', 500),
    ];
    expect(auditActs(entries)).toEqual([
      { ...entries[0], event: 'group.held', subject: `${label} of edge-20261123-1, web-20261123-1` },
      { ...entries[3], subject: 'Linux / amd64 of edge-20261123-1, web-20261123-1' },
    ]);
  });

  it('keep apart what another person did, or the same person later, and all other entries', () => {
    const entries = [
      entry('stratum.held', `${label} of edge-20261123-1`, 200_000),
      entry('group.held', label, 100_000),
      entry('stratum.held', `${label} of edge-20261123-1`, 100_000, 'bob'),
      entry('group.released', label, 100_000),
      entry('build.held', '19.536-4', 90_000),
      entry('build.held', '19.536-4', 90_000),
    ];
    expect(auditActs(entries)).toEqual(entries);
  });
});
