import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  endStates,
  type TaskEnding,
  type UpgradeProgress,
  type UpgradeTally,
} from '../../../../src/rollout/model/upgrade.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import {
  aContext,
  anUpgrade,
  because,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';

const days = 24 * 60 * 60_000;
const reason = because('so');

it('the drawing has every transition between two states, and no other', () => {
  expect([...possibleArrows()].toSorted()).toEqual([...drawnArrows()].toSorted());
});

/** What the drawing in the model says: a state or several, then each arrow with where it leads. */
function drawnArrows(): ReadonlySet<string> {
  const text = readFileSync(new URL('../../../../src/rollout/model/upgrade.ts', import.meta.url), 'utf8');
  const drawing = text.slice(text.indexOf('Every transition'), text.indexOf('`queued`, `starting`'));
  const arrows = new Set<string>();
  let from: readonly string[] = [];
  for (const line of drawing.split('\n')) {
    const [, named] = /^ \* {3}(\w+(?:, \w+)*) +→/.exec(line) ?? [];
    from = named?.split(', ') ?? from;
    const targets = [...line.matchAll(/→ (\w+(?:, \w+)*)/g)].flatMap(([, list = '']) => list.split(', '));
    for (const state of from) for (const target of targets) arrows.add(`${state} → ${target}`);
  }
  return arrows;
}

/** Every state with every fact, each in all the variants that the rules tell apart. */
function possibleArrows(): ReadonlySet<string> {
  const arrows = new Set<string>();
  for (const progress of progresses) {
    for (const figures of tallies) {
      const upgrade = anUpgrade(progress, figures);
      for (const fact of facts) {
        const { state } = evolve(upgrade, fact, aContext()).progress;
        if (state !== progress.state) arrows.add(`${progress.state} → ${state}`);
      }
    }
  }
  return arrows;
}

const running = { state: 'upgrading', startedAt: t, polledAt: t, deadlineAt: t + days, dueAt: t } as const;
const endings: readonly (TaskEnding | null)[] = [
  null,
  { kind: 'failed', message: 'download failed', seenDelayMs: 0 },
  { kind: 'deadline' },
];
const waiting = { state: 'queued', dueAt: t, freshAt: t, startBy: null } as const;
const verifying = { state: 'verifying', taskId: '7', startedAt: t, dueAt: t, late: false } as const;

const progresses: readonly UpgradeProgress[] = [
  { state: 'pending' },
  waiting,
  { ...waiting, refused: { of: 'collector', detail: '' } },
  { ...waiting, refused: { of: 'version', detail: '', isObserved: true } },
  { state: 'starting', sentAt: t, dueAt: t, startBy: null },
  ...['7', null].flatMap((taskId) => endings.map((ending) => ({ ...running, taskId, ending }))),
  { ...verifying, verifyBy: t + days, endedServiceAt: t, baselineHeartbeatAt: null },
  { state: 'retrying', dueAt: t, reason },
  { state: 'deferred', condition: 'notAlive', since: t, dueAt: t, reason },
  ...endStates.map((state) => ({ state, endedAt: t, reason, weight: 0, lost: false })),
];

const tallies: ReadonlyArray<Partial<UpgradeTally>> = [
  {},
  { attempts: 1, failedPolls: 9, unansweredSince: t - 2 * days },
  { attempts: 3, createsInDoubt: 9, unexplained: 1, deferredMs: days },
];

const failures: readonly ServiceFailure[] = [
  { kind: 'unavailable', sent: true, detail: '' },
  { kind: 'unavailable', sent: false, detail: '' },
  { kind: 'misconfigured', detail: '' },
  { kind: 'notFound', detail: '' },
  ...[
    'collector.not.alive',
    'collector.in.upgrading',
    'collector.version.invalid',
    'InvalidCollectorType',
    'who.knows',
  ].map((code) => ({ kind: 'refused', code, detail: '' }) as const),
];

const facts: readonly UpgradeFact[] = [t + 120_000, t + 3 * days].flatMap((at): readonly UpgradeFact[] => [
  { kind: 'admitted', at, startBy: null, changes: 0 },
  ...(['putBack', 'claimed', 'withdrawn', 'abandoned', 'departed', 'retryAsked', 'rejoined'] as const).map(
    (kind) => ({ kind, at, reason }),
  ),
  { kind: 'rolledBack', at, reason },
  ...[true, false].map((lost) => ({ kind: 'regressed', at, reason, lost }) as const),
  { kind: 'createSent', at },
  { kind: 'createNotSent', at },
  { kind: 'created', at, taskId: '7' },
  ...failures.map((failure) => ({ kind: 'createFailed', at, failure }) as const),
  ...[true, false].map((stillOffered) => ({ kind: 'buildsSeen', at, stillOffered }) as const),
  ...[1, 2, 3].map((status) => ({ kind: 'taskSeen', at, status, message: '', serviceAt: at }) as const),
  ...[oldBuild, targetBuild].flatMap((build) =>
    [true, false].flatMap((alive) =>
      [true, false].map((upgradable) => ({
        ...({ kind: 'collectorSeen', at, build, alive, upgradable } as const),
        ...{ lastSeenAlive: at, serviceAt: at },
      })),
    ),
  ),
  { kind: 'changeHinted', at },
  { kind: 'unchanged', at, until: at },
  ...failures.flatMap((failure) =>
    (['task', 'collector', 'builds'] as const).map(
      (of) => ({ kind: 'pollFailed', at, of, failure, othersAnswered: true, isGone: true }) as const,
    ),
  ),
]);
