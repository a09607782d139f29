import { expect, it } from 'vitest';
import { eventLines } from '../../../../src/cli/history/events-command.ts';
import { renderList } from '../../../../src/cli/history/list-command.ts';
import { showZoned } from '../../../../src/cli/shell/show-instant.ts';
import { startedAt } from '../../../support/builders.ts';
import { aRolloutEvent, aRolloutStatus, countsOf } from '../../../support/fake-operations.ts';

const plain = { paint: (_color: unknown, text: string) => text };

it('a list shows the builds of a rollback, and how many collectors are back', () => {
  const back = aRolloutStatus({
    kind: 'rollback',
    planned: 22,
    counts: countsOf({ succeeded: 10, pending: 12 }),
    backTo: ['19.525-63', '19.500-1', '19.499-2', '19.441-2'],
    leftBehind: [{ kind: 'held', reason: 'an operator holds them', count: 3, names: [] }],
  });
  const [rollback, upgrade] = renderList([back, aRolloutStatus()], startedAt, plain).split('\n');
  expect(rollback).toContain('→ 19.525-63, 19.500-1, 19.499-2, … (4 builds) ');
  expect(rollback).toContain('  10/22 back  3 stay  ');
  expect(upgrade).toMatch(/→ 19\.536-4 .* \d+\/\d+ ok {2}/);
});

it('a list shows how many were withdrawn from a rollout that has ended', () => {
  const lineOf = (changes: Parameters<typeof aRolloutStatus>[0]) =>
    renderList([aRolloutStatus({ planned: 77, ...changes })], startedAt, plain);
  const counts = countsOf({ succeeded: 58, failed: 15, withdrawn: 4 });
  const endedAt = startedAt + 60_000;
  expect(lineOf({ endedAt, counts })).toContain('  58/77 ok  15 failed  4 withdrawn  ');
  expect(lineOf({ endedAt: null, counts })).not.toContain('withdrawn');
  expect(lineOf({ endedAt, counts: countsOf({ succeeded: 77 }) })).not.toContain('withdrawn');
});

it('a list shows how many were withdrawn from a rollback, also beside the rollout that it took back', () => {
  const left = { kind: 'withdrawn', reason: 'the rollback was aborted', count: 3, names: [] } as const;
  const rolledBack = aRolloutStatus({
    ...{ state: 'rolledBack', planned: 77, endedAt: startedAt + 60_000, leftBehind: [left] },
    counts: countsOf({ rolledBack: 39, succeeded: 3, withdrawn: 35 }),
  });
  const rollback = aRolloutStatus({
    ...{ kind: 'rollback', state: 'aborted', planned: 42, endedAt: startedAt + 60_000 },
    counts: countsOf({ succeeded: 39, withdrawn: 3 }),
  });
  for (const line of renderList([rolledBack, rollback], startedAt, plain).split('\n'))
    expect(line).toContain('  39/42 back  3 withdrawn  ');
});

it('a list shows the zone of its times', () => {
  const [line] = renderList([aRolloutStatus({ endedAt: startedAt + 60_000 })], startedAt, plain).split('\n');
  expect(line).toContain(`  ${showZoned(startedAt, startedAt, startedAt + 60_000)}`);
});

it('events have the same name for the start of the daemon as the status', () => {
  const [[line] = []] = eventLines(
    [aRolloutEvent({ event: 'rollout.planned', by: 'start' })],
    startedAt,
    undefined,
  );
  expect(line).toContain('by daemon start');
});
