import { expect, it } from 'vitest';
import { type AuditEvent, auditEvents } from '../../../../src/base/vocabulary.ts';
import {
  isOfType,
  makeAuditMatcher,
  makeEventMatcher,
} from '../../../../src/orchestrator/operations/event-filters.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';

it.each([
  [true, [{}, { since: startedAt }, { type: 'upgrade' }, { type: 'upgrade.failed' }, { type: 'failed' }]],
  [true, [{ collector: '7' }, { collector: 'web' }, { by: 'daemon' }]],
  [
    false,
    [{ since: startedAt + 1 }, { type: 'upgrade.f' }, { type: 'ed' }, { collector: '77' }, { by: 'ann' }],
  ],
])(
  'events are filtered by time, by part of their name, by collector and by operator: %s',
  (isChosen, filters) => {
    const failed = aRolloutEvent({ event: 'upgrade.failed', collectorId: 7, collectorName: 'Web-7' });
    for (const filter of filters) expect(makeEventMatcher(filter)(failed)).toBe(isChosen);
  },
);

it('events are filtered by the verb as an operator types it', () => {
  const matches = makeEventMatcher({ type: 'abort' });
  const events = [aRolloutEvent({ event: 'rollout.aborted' }), aRolloutEvent({ event: 'wave.passed' })];
  expect(events.map(matches)).toEqual([true, false]);
});

it.each([
  ['hold', ['build.held', 'collector.held', 'group.held', 'rollout.held', 'stratum.held']],
  ['release', ['build.released', 'collector.released', 'group.released', 'stratum.released']],
  ['reload', ['config.reloaded']],
  ['start', ['rollout.started']],
  ['pause', ['rollout.paused']],
  ['resume', ['rollout.resumed']],
  ['approve', ['rollout.approved']],
  ['skip-soak', ['wave.soakSkipped']],
  ['abort', ['rollout.aborted']],
  ['rollback', ['rollout.rollingBack']],
  ['retry', ['rollout.retried']],
  ['stratum', ['stratum.held', 'stratum.released']],
  ['rollout.aborted', ['rollout.aborted']],
  ['rollbak', []],
] satisfies ReadonlyArray<readonly [string, readonly AuditEvent[]]>)(
  'the type %s finds its events of the audit',
  (type, events) => {
    expect(auditEvents.filter((event) => isOfType(event, type))).toEqual(events);
  },
);

it.each([
  ['rollout.approved', 'web-eu-20261123-1 wave rest', 'web-eu'],
  ['rollout.paused', 'web-20261123-12', 'web'],
  ['stratum.held', 'Linux / amd64 / 19.441-2 of web-20261123-1', 'web'],
] as const)('an entry %s of %s belongs to policy %s', (event, subject, policy) => {
  const entry = { at: startedAt, event, subject, by: 'ann', reason: 'lunch' };
  expect(['web', 'web-eu'].filter((name) => makeAuditMatcher({ policy: name }, [entry])(entry))).toEqual([
    policy,
  ]);
});

it.each([
  ['build.held', '19.455-2'],
  ['collector.held', '7'],
  ['group.held', 'fields.rack=r7'],
  ['config.reloaded', 'config'],
] as const)('an entry %s of %s belongs to no policy', (event, subject) => {
  const entry = { at: startedAt, event, subject, by: 'ann', reason: 'lunch' };
  expect(makeAuditMatcher({ policy: 'web' }, [entry])(entry)).toBe(false);
});

it('the hold of a group belongs to the policies in whose rollouts it took effect', () => {
  const words = { at: startedAt, by: 'ann', reason: 'lunch' };
  const group = { ...words, event: 'group.held', subject: 'fields.rack=r7' } as const;
  const stratum = { ...words, event: 'stratum.held', subject: 'fields.rack=r7 of web-20261123-1' } as const;
  const all = [stratum, group];
  expect(all.filter(makeAuditMatcher({ policy: 'web' }, all))).toEqual(all);
  expect(all.filter(makeAuditMatcher({ policy: 'edge' }, all))).toEqual([]);
  const later = [{ ...stratum, at: startedAt + 3_600_000 }, group];
  expect(later.filter(makeAuditMatcher({ policy: 'web' }, later))).toEqual(later.slice(0, 1));
});

it.each([
  [true, [{}, { since: startedAt }, { type: 'pause', policy: 'web', by: 'ann', match: 'LUNCH' }]],
  [true, [{ match: '1123' }]],
  [false, [{ since: startedAt + 1 }, { type: 'resume' }, { policy: 'we' }, { by: 'an' }, { match: 'ann' }]],
])('the audit is filtered by time, type, policy, operator and words: %s', (isChosen, filters) => {
  const subject = 'web-20261123-1';
  const entry = { at: startedAt, event: 'rollout.paused', subject, by: 'ann', reason: 'lunch' } as const;
  for (const filter of filters) expect(makeAuditMatcher(filter, [entry])(entry)).toBe(isChosen);
});
