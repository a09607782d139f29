import type { EndedProgress, EndState, ProgressIn } from '../../src/rollout/model/upgrade.ts';
import { isFailed, type Upgrade, type UpgradeIn } from '../../src/rollout/model/upgrade.ts';
import { evolve } from '../../src/rollout/upgrade/evolve.ts';
import type { CollectorObservation, UpgradeFact } from '../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../src/rollout/upgrade/failure-classes.ts';
import { aContext, anUpgrade, because, oldBuild, startedAt, type UpgradeFigures } from './builders.ts';

type Figures = Partial<UpgradeFigures>;

export function aQueuedOne(changes: Partial<ProgressIn<'queued'>> = {}, figures: Figures = {}): Upgrade {
  const due = { dueAt: startedAt, freshAt: startedAt, startBy: null };
  return anUpgrade({ state: 'queued', ...due, ...changes }, figures);
}

export function aStartingOne(changes: Partial<ProgressIn<'starting'>> = {}, figures: Figures = {}): Upgrade {
  const sent = { sentAt: startedAt, dueAt: startedAt, startBy: null };
  return anUpgrade({ state: 'starting', ...sent, ...changes }, figures);
}

/** Its task has just ended, and it has ten minutes to come back. */
export function aVerifyingOne(changes: Partial<ProgressIn<'verifying'>> = {}): Upgrade {
  const ended = { startedAt, dueAt: startedAt, endedServiceAt: startedAt, verifyBy: startedAt + 600_000 };
  return anUpgrade({
    ...{ state: 'verifying', taskId: '77', ...ended, baselineHeartbeatAt: null, late: false },
    ...changes,
  });
}

export function aRetryingOne(dueAt: number = startedAt, reason = '', figures: Figures = {}): Upgrade {
  return anUpgrade({ state: 'retrying', dueAt, reason: because(reason) }, figures);
}

export function aDeferredOne(
  changes: Partial<ProgressIn<'deferred'>> = {},
  figures: Figures = {},
): UpgradeIn<'deferred'> {
  const since = { since: startedAt, dueAt: startedAt, reason: { kind: 'notAlive' } } as const;
  const progress = { state: 'deferred', condition: 'notAlive', ...since, ...changes } as const;
  return { ...anUpgrade(progress, figures), progress };
}

/** A failed one counts once, unless its weight is given. */
export function anEndedOne(
  state: EndState,
  changes: Partial<Omit<EndedProgress<EndState>, 'state'>> = {},
  figures: Figures = {},
): Upgrade {
  const end = { endedAt: startedAt, reason: because(''), weight: isFailed(state) ? 1 : 0, lost: false };
  return anUpgrade({ state, ...end, ...changes }, figures);
}

/** The record after these facts, one after the other. */
export function afterFacts(upgrade: Upgrade, ...facts: readonly UpgradeFact[]): Upgrade {
  return facts.reduce((current, fact) => evolve(current, fact, aContext()), upgrade);
}

/** An observation of a collector alive on its old build, heard from at the beginning. */
export function collectorSeen(changes: Partial<CollectorObservation> = {}, at = startedAt): UpgradeFact {
  const sighting = {
    build: oldBuild,
    alive: true,
    lastSeenAlive: startedAt,
    serviceAt: at,
    upgradable: null,
  };
  return { kind: 'collectorSeen', at, ...sighting, ...changes };
}

export function createFailed(failure: ServiceFailure, at = startedAt): UpgradeFact {
  return { kind: 'createFailed', at, failure };
}

/** The service refuses the create with this code. */
export function createRefused(code: string, at = startedAt): UpgradeFact {
  return createFailed({ kind: 'refused', code, detail: 'no' }, at);
}
