import type { EpochMs } from '../base/time.ts';
import type { FleetSnapshot } from '../rollout/collector.ts';
import { describeFailure, type ServiceFailure } from '../rollout/failure-classes.ts';
import { countLeftOut, freezePlan } from '../rollout/freeze-plan.ts';
import { makePlan, type Plan } from '../rollout/plan.ts';
import type { Policy } from '../rollout/policy.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { chooseTarget, isOffered } from '../rollout/target.ts';
import type { UpgradeState } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, holdRollout } from './change-rollout.ts';
import type { Answer, FleetService } from './ports.ts';

export interface ScanParts extends ChangeRolloutParts {
  readonly fleet: FleetService;
}

export type ScanResult =
  | { readonly kind: 'started'; readonly rolloutId: string; readonly planned: number }
  | { readonly kind: 'busy'; readonly rolloutId: string }
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'failed'; readonly cause: ServiceFailure['kind']; readonly reason: string };

/** `operator`: someone asked for it now, so failures and aborts of the past do not speak against it. */
export type ScanOrigin = 'schedule' | 'start' | 'operator';

/** Looks for work for one policy: builds, upgradable collectors and inventory in, a frozen rollout out. */
export async function scan(
  parts: ScanParts,
  policy: Policy,
  origin: ScanOrigin,
  signal?: AbortSignal,
): Promise<ScanResult> {
  const result = await lookForWork(parts, policy, origin, signal);
  parts.sink.note(
    result.kind === 'failed'
      ? { event: 'scan.failed', policy: policy.name, reason: result.reason }
      : { event: 'scan.finished', policy: policy.name, result: describeScan(result) },
  );
  return result;
}

/** A scan's result in words. */
export function describeScan(result: ScanResult): string {
  switch (result.kind) {
    case 'started':
      return `started ${result.rolloutId} with ${result.planned} collectors`;
    case 'busy':
      return `${result.rolloutId} is still on its way`;
    default:
      return result.reason;
  }
}

async function lookForWork(
  parts: ScanParts,
  policy: Policy,
  origin: ScanOrigin,
  signal?: AbortSignal,
): Promise<ScanResult> {
  const [active] = await parts.store.activeRolloutIds([policy.name]);
  if (active !== undefined) return checkActive(parts, active, signal);
  const history = await parts.store.listRollouts([policy.name]);
  const readAt = parts.clock.now();
  const id = await nextRolloutId(parts, policy, readAt);
  const reading = await readPlan(parts.fleet, policy, id, signal, async (targetBuild) =>
    origin === 'operator' ? new Set() : await failedBefore(parts, history, targetBuild),
  );
  if (!reading.ok) {
    return { kind: 'failed', cause: reading.failure.kind, reason: describeFailure(reading.failure) };
  }
  if (reading.value.kind === 'noTarget') return { kind: 'nothing', reason: reading.value.reason };
  const { plan, fleet } = reading.value;
  const aborted = history.find((rollout) => rollout.targetBuild === plan.targetBuild);
  if (origin !== 'operator' && aborted?.state === 'aborted') {
    return {
      kind: 'nothing',
      reason: `${aborted.id} to ${plan.targetBuild} was aborted; only an operator starts it again`,
    };
  }
  const planned = plan.waves.reduce((sum, wave) => sum + wave.members.length, 0);
  if (planned === 0) return { kind: 'nothing', reason: nobodyWords(plan) };
  const { rollout, upgrades } = freezePlan(plan, {
    id,
    policy,
    startedBy: origin,
    createdAt: parts.clock.now(),
    fleet,
  });
  const event = {
    at: rollout.createdAt,
    event: 'rollout.planned',
    policy: policy.name,
    rollout: id,
    reason: `${planned} collectors to ${plan.targetBuild}, plan ${plan.hash}`,
    by: origin,
  } as const;
  if ((await parts.store.freeze(rollout, upgrades, [event])) === 'busy')
    return { kind: 'busy', rolloutId: id };
  parts.sink.tell(event);
  parts.bell.ring();
  return { kind: 'started', rolloutId: id, planned };
}

function nobodyWords({ targetBuild, leftOut }: Plan): string {
  if (leftOut.length === 0) return 'the inventory holds no installed collector';
  const reasons = Object.entries(countLeftOut(leftOut)).map(([reason, count]) => `${reason}: ${count}`);
  return `no collector needs build ${targetBuild} (${reasons.join(' · ')})`;
}

/** A running rollout keeps its pinned build; when that is withdrawn, it holds (P6). */
async function checkActive(parts: ScanParts, rolloutId: string, signal?: AbortSignal): Promise<ScanResult> {
  const rollout = await parts.store.loadRollout(rolloutId);
  const builds = await parts.fleet.listBuilds(signal);
  if (rollout !== undefined && builds.ok && !isOffered(rollout.targetBuild, builds.value)) {
    await holdRollout(parts, rolloutId, `build ${rollout.targetBuild} is no longer offered by the service`);
  }
  return { kind: 'busy', rolloutId };
}

export type PlanReading =
  | { readonly kind: 'planned'; readonly plan: Plan; readonly fleet: FleetSnapshot }
  | { readonly kind: 'noTarget'; readonly reason: string };

/**
 * Reads the service and makes the plan of a policy; writes nothing.
 * @param skip collectors to leave out for this target, beside those the policy leaves out
 */
export async function readPlan(
  fleet: FleetService,
  policy: Policy,
  seed: string,
  signal?: AbortSignal,
  skip: (targetBuild: string) => Promise<ReadonlySet<number>> = async () => new Set(),
): Promise<Answer<PlanReading>> {
  const builds = await fleet.listBuilds(signal);
  if (!builds.ok) return builds;
  const target = chooseTarget(policy.target, builds.value);
  if (target.kind === 'none') return { ok: true, value: { kind: 'noTarget', reason: target.reason } };
  const snapshot = await fleet.readFleet(target.build, signal);
  if (!snapshot.ok) return snapshot;
  const plan = makePlan(policy, target.build, snapshot.value, seed, await skip(target.build));
  return { ok: true, value: { kind: 'planned', plan, fleet: snapshot.value } };
}

async function nextRolloutId(parts: ScanParts, policy: Policy, at: EpochMs): Promise<string> {
  const yyyymmdd = new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
  return `${policy.name}-${yyyymmdd}-${await parts.store.nextRolloutNumber(policy.name, yyyymmdd)}`;
}

const failedStates: readonly UpgradeState[] = ['failed', 'timedOut', 'unconfirmed'];
const pageSize = 1_000;

/** Collectors that an earlier rollout of this build failed on: not tried again at every tick of the schedule. */
async function failedBefore(
  parts: ScanParts,
  history: readonly Rollout[],
  targetBuild: string,
): Promise<ReadonlySet<number>> {
  const failed = new Set<number>();
  for (const rollout of history) {
    if (rollout.targetBuild !== targetBuild || rollout.state === 'succeeded') continue;
    for (const state of failedStates) {
      for (let offset = 0, full = true; full; offset += pageSize) {
        const page = await parts.store.listUpgrades(rollout.id, { offset, limit: pageSize, state });
        for (const { collectorId } of page) failed.add(collectorId);
        full = page.length === pageSize;
      }
    }
  }
  return failed;
}
