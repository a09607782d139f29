import type { Rollout } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import { nextStep } from '../../rollout/upgrade/evolve.ts';
import type { RowObservation, UpgradeFact } from '../../rollout/upgrade/facts.ts';
import { isPollReplaced } from '../../rollout/upgrade/queued.ts';
import type { Step } from '../../rollout/upgrade/step.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFact } from '../records/change-upgrade.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';
import type { Observations } from '../watch/observations.ts';

export interface StepParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
  /** Rows of the inventory of the last minute. */
  readonly observations: Observations;
  /** False while this host's clock is wrong, or has jumped: then no create is sent. */
  readonly isClockRight: () => boolean;
  readonly claims: PolicyClaims;
  /** Called before an intent is stored. @returns a function that tells, once it is stored, whether its create may leave */
  readonly beginIntent: () => () => Promise<boolean>;
}

/** One run of a step job. */
export interface Run {
  readonly parts: StepParts;
  readonly rollout: Rollout;
  readonly signal: AbortSignal;
}

export function nextStepOf({ clock, trustedSince }: StepParts, upgrade: Upgrade): Step {
  return nextStep(upgrade, clock.now(), trustedSince());
}

/** The collector's row of the last minute, if it can replace the poll before the create. */
export function rowInsteadOfPoll(
  { parts: { observations, clock } }: Run,
  upgrade: Upgrade,
  { why, askUpgradable }: Extract<Step, { do: 'pollCollector' }>,
): RowObservation | undefined {
  if (why !== 'recheck' || askUpgradable) return undefined;
  const row = observations.find(upgrade.identity.collectorId, clock.now());
  return row !== undefined && isPollReplaced(upgrade, row) ? row : undefined;
}

export function putBack(run: Run, upgrade: Upgrade, reason: UpgradeReason): Promise<Upgrade> {
  return recordStepFact(run, upgrade, { kind: 'putBack', at: run.parts.clock.now(), reason });
}

export function recordStepFact(run: Run, upgrade: Upgrade, fact: UpgradeFact): Promise<Upgrade> {
  return recordFact(run.parts, run.rollout, upgrade, fact);
}
