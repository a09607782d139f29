import type { DurationMs } from '../../base/time.ts';
import { assess } from '../../rollout/decision/assess.ts';
import { afterAnswer, type GateAnswer, isCounted } from '../../rollout/decision/assess-gate.ts';
import {
  askDataFlow,
  type CurrentNames,
  type DataFlowVerdict,
  verdictOnDataFlow,
} from '../../rollout/decision/data-flow.ts';
import type { DataFlowRule } from '../../rollout/model/policy.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import type { GateProbe, GateQuestion } from '../ports/gate-probe.ts';
import { type ChangeRolloutParts, changeRollout } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts, type UpgradeFinding } from '../records/change-upgrade.ts';
import { listSoaking } from '../records/read-records.ts';

export interface AskGateParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly gates: GateProbe;
  readonly fleet: FleetService;
}

/** Asks a gate of a soaking wave, and saves the result. */
export async function askGate(
  parts: AskGateParts,
  view: RolloutView,
  place: { readonly wave: number; readonly gate: number },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { rollout } = view;
  const gate = rollout.policy.waves[place.wave]?.gates[place.gate];
  const known = rollout.waves[place.wave]?.gates[place.gate];
  const summary = summaryOf(view, place.wave);
  if (gate === undefined || known === undefined || summary === undefined) return 'done';
  const answer =
    gate.kind === 'dataFlow'
      ? await measureDataFlow(parts, view, { gate, summary, wave: place.wave }, signal)
      : await parts.gates.ask({ gate, summary }, signal);
  if (signal.aborted) return 'again';
  const at = parts.clock.now();
  await changeRollout(parts, rollout.id, 'daemon', (current) => {
    const wave = current.rollout.waves[place.wave];
    const answers = wave?.gates[place.gate];
    if (current.rollout.state !== 'running' || wave?.state !== 'soaking' || answers === undefined)
      return undefined;
    if (!isCounted(answers, gate, answer, { knownAskedAt: known.askedAt, at })) return undefined;
    return { kind: 'gateAnswered', at, ...place, answers: afterAnswer(answers, gate, answer, at) };
  });
  return 'done';
}

/** Counts the messages of the wave's collectors. Collectors that went silent become failures of the wave, like dead ones. */
async function measureDataFlow(
  parts: AskGateParts,
  view: RolloutView,
  { gate, summary, wave }: { gate: DataFlowRule; summary: GateQuestion['summary']; wave: number },
  signal: AbortSignal,
): Promise<GateAnswer> {
  const upgrades = await listSoaking(parts.store, view, wave);
  const count = async (
    names?: CurrentNames,
  ): Promise<DataFlowVerdict & { readonly windowMs: DurationMs }> => {
    const flow = askDataFlow(gate, upgrades, parts.clock.now(), names);
    const nothing = { silent: [], quiet: 0 };
    if ('detail' in flow) return { answer: { kind: 'error', detail: flow.detail }, ...nothing, windowMs: 0 };
    const windowMs = flow.after.to - flow.after.from;
    const counted = await parts.gates.ask({ gate, summary, flow }, signal);
    if (counted.kind !== 'counts') return { answer: counted, ...nothing, windowMs };
    return { ...verdictOnDataFlow(upgrades, counted, names), windowMs };
  };
  const first = await count();
  let { answer, silent, windowMs } = first;
  const isLow = silent.length > 0 || (answer.kind === 'value' && answer.value < gate.atLeast);
  if (isLow || first.quiet > 0) {
    // One that was quiet before and is gone now would show nothing by another name either.
    const names = await readNames(parts, isLow ? upgrades : [], signal);
    if (typeof names === 'string') return { kind: 'error', detail: names };
    if (upgrades.some((upgrade) => isRenamed(upgrade, names)))
      ({ answer, silent, windowMs } = await count(names));
  }
  if (signal.aborted) return answer;
  if (gate.dryRun) return answer;
  const at = parts.clock.now();
  const findings = silent.map(({ upgrade, before }): UpgradeFinding => {
    const reason = { kind: 'wentSilent', before, windowMs } as const;
    return { upgrade, fact: { kind: 'regressed', at, lost: true, reason } };
  });
  await recordFacts(parts, view.rollout, findings, {});
  return answer;
}

function isRenamed({ identity: { collectorId, collectorName } }: Upgrade, names: CurrentNames): boolean {
  return (names.get(collectorId) ?? collectorName) !== collectorName;
}

/**
 * Reads the current names. Messages are counted by name, so a renamed collector only seems to deliver less, or to have
 * delivered nothing before (P14).
 * @param upgrades those whose names are needed
 * @returns the names, or a text that tells why they are unknown
 */
async function readNames(
  { fleet }: AskGateParts,
  upgrades: readonly Upgrade[],
  signal: AbortSignal,
): Promise<CurrentNames | string> {
  const inventory = await fleet.readInventory(null, signal);
  if (!inventory.ok)
    return `the collectors' current names are unknown: ${describeFailure(inventory.failure)}`;
  const names = new Map(inventory.value.collectors.map(({ id, name }) => [id, name]));
  const missing = upgrades.find(({ identity }) => !names.has(identity.collectorId));
  return missing === undefined
    ? names
    : `the inventory lacks ${missing.identity.collectorName}, whose current name is unknown`;
}

function summaryOf(view: RolloutView, index: number): GateQuestion['summary'] | undefined {
  const { rollout } = view;
  const current = assess(view).assessed[index];
  if (current === undefined) return undefined;
  const { wave, summary, assessment } = current;
  const { succeeded, failed, timedOut, unconfirmed, deferred } = summary.counts;
  return {
    rollout: rollout.id,
    policy: rollout.policy.name,
    targetBuild: rollout.plan.targetBuild,
    wave: wave.name,
    size: wave.size + wave.joined,
    succeeded,
    failed: failed + timedOut + unconfirmed,
    lost: summary.lost,
    deferred,
    failures: assessment.failures,
    failuresAllowed: assessment.failuresAllowed,
  };
}
