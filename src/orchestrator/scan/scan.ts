import type { EpochMs } from '../../base/time.ts';
import { makeTurnBudget, runInSlices } from '../../base/turn-budget.ts';
import type { PolicyNeed } from '../../contract/admin/policies.ts';
import { lostText } from '../../rollout/messages/data-loss-texts.ts';
import { plannedText } from '../../rollout/messages/event-texts.ts';
import { type NothingToDo, type ScanResult, scanText, type Unread } from '../../rollout/messages/scans.ts';
import { countSteady } from '../../rollout/model/assess-inventory.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { freezeInSteps } from '../../rollout/planning/freeze-plan.ts';
import type { Plan } from '../../rollout/planning/plan.ts';
import { isStopped } from '../../rollout/status/explain-unplanned.ts';
import type { BuildHistory } from '../ports/build-history.ts';
import {
  type FleetMemory,
  latestScan,
  type ScanBook,
  type ScanEntry,
  type ScanForecast,
  type ScanOutcome,
} from '../ports/scan-book.ts';
import type { PolicyClaims } from '../records/policy-claims.ts';
import { nextRolloutId } from '../records/read-records.ts';
import type { StoreMemory } from '../recovery/data-loss.ts';
import { type CheckActiveParts, checkActive } from './check-active.ts';
import { judgeFleetSize, recallFleet } from './fleet-size.ts';
import { makePlanMemory, type PlanMemory, readPlan } from './read-plan.ts';
import { scanAgain } from './scan-again.ts';

export interface ScanParts extends CheckActiveParts {
  readonly scans: ScanBook;
  readonly forecast: ScanForecast;
  readonly claims: PolicyClaims;
  readonly memory: StoreMemory;
  readonly buildHistory: Pick<BuildHistory, 'read'>;
  /** Compares this host's clock with Redis's. @returns whether they agree */
  readonly compareClocks: () => Promise<boolean>;
}

/** `operator`: an operator requested it, so earlier failures and aborts do not block it. */
export type ScanOrigin = 'schedule' | 'start' | 'operator';

/** `againAt`: when a failed scan is repeated before the schedule's next tick. */
export type Scanned = ScanResult & { readonly againAt?: EpochMs | undefined };

/** Discovers work for one policy: reads builds, upgradable collectors and inventory, and freezes a rollout. */
export async function scan(
  parts: ScanParts,
  policy: Policy,
  origin: ScanOrigin,
  signal?: AbortSignal,
): Promise<Scanned> {
  const entries = await parts.scans.read();
  const before = recallFleet(entries, policy.name);
  const { fleet = before, ...result } = await discoverWork(parts, policy, { origin, before }, signal);
  // Reported once, when it started. The daemon with the newest config stores the result of the policy's scans.
  if (result.kind === 'outdated') return result;
  parts.sink.note(
    outcomeOf(result) === 'failed'
      ? { event: 'scan.failed', policy: policy.name, reason: scanText(result) }
      : { event: 'scan.finished', policy: policy.name, result: scanText(result) },
  );
  // A cancelled scan has no result.
  if (signal?.aborted === true) return result;
  const at = parts.clock.now();
  // An operator sees the failure and can repeat the request.
  const isRepeated = outcomeOf(result) === 'failed' && origin !== 'operator';
  const again = isRepeated ? scanAgain(entries, parts.forecast, { policy: policy.name, at }) : {};
  const needs = needsOf(result, latestScan(entries.filter((entry) => entry.policy === policy.name)));
  await writeDown(parts, policy.name, result, {
    ...again,
    ...(fleet === undefined ? {} : { fleet }),
    ...(needs === undefined ? {} : { needs }),
  });
  return { ...result, ...(again.againAt === undefined ? {} : { againAt: again.againAt }) };
}

// A schedule may tick each second, and an outage may last for a while.
const overdueAfterMs = 3_600_000;
const overdueAfterTicks = 3;

async function writeDown(
  parts: ScanParts,
  policy: string,
  result: Exclude<ScanResult, { kind: 'outdated' }>,
  rest: Pick<ScanEntry, 'failedSince' | 'againAt' | 'fleet' | 'needs'>,
): Promise<void> {
  const at = parts.clock.now();
  const tick = parts.forecast(policy, overdueAfterTicks)[overdueAfterTicks - 1] ?? at;
  await parts.scans.note({
    policy,
    outcome: outcomeOf(result),
    at,
    reason: scanText(result),
    overdueAt: Math.max(tick, at + overdueAfterMs),
    ...rest,
  });
}

/** What the policy waits for after this scan. A scan that failed has not seen whether it still does. */
function needsOf(
  result: Exclude<ScanResult, { kind: 'outdated' }>,
  before: ScanEntry | undefined,
): PolicyNeed | undefined {
  if (result.kind === 'failed') return before?.needs;
  if (result.kind !== 'nothing' || result.why.kind !== 'lost') return undefined;
  return { kind: 'start', reason: lostText(result.why.lost) };
}

/** A scan that cannot check the running rollout counts as failed: late joiners or a newer build would wait unnoticed. */
function outcomeOf(result: Exclude<ScanResult, { kind: 'outdated' }>): ScanOutcome {
  return result.kind === 'busy' && result.unread !== undefined ? 'failed' : result.kind;
}

/** A plan that could start now. */
interface ReadyPlan {
  readonly kind: 'ready';
  readonly id: string;
  readonly plan: Plan;
  readonly fleet: FleetSnapshot;
  readonly history: readonly Rollout[];
  /** The instance id of the store from which the plan was made. */
  readonly madeFrom: string;
  /** What the next scan remembers of the fleet. */
  readonly remembered: FleetMemory | undefined;
}

/** The result, with the fleet's size if this scan has read it. */
type FoundWork = ScanResult & { readonly fleet?: FleetMemory };

async function discoverWork(
  parts: ScanParts,
  policy: Policy,
  context: { readonly origin: ScanOrigin; readonly before: FleetMemory | undefined },
  signal?: AbortSignal,
): Promise<FoundWork> {
  const { origin } = context;
  const ready = await prepare(
    parts,
    policy,
    { ...context, whileBusy: (active, memory) => checkActive(parts, policy, active, memory, signal) },
    signal,
  );
  if (ready.kind !== 'ready') return ready;
  const { remembered } = ready;
  const result = await begin(parts, policy, { ...ready, origin, by: origin, reason: '' });
  return { ...result, ...(remembered === undefined ? {} : { fleet: remembered }) };
}

/** The plan that `startRollout` would start now, or why there is none. Writes only when new builds were first seen. */
export async function previewRollout(
  parts: ScanParts,
  policy: Policy,
  signal?: AbortSignal,
): Promise<{ readonly kind: 'ready'; readonly plan: Plan } | ScanResult> {
  const before = recallFleet(await parts.scans.read(), policy.name);
  const ready = await prepare(parts, policy, { origin: 'operator', before }, signal);
  if (ready.kind !== 'ready') return ready;
  const { plan } = ready;
  return plan.waves.every(({ members }) => members.length === 0) ? nothing(nobodyIn(plan)) : ready;
}

/** `drifted`: the plan differs from the one that the operator saw (P15), and nothing has started. */
export type StartedRollout = ScanResult | { readonly kind: 'drifted'; readonly plan: Plan };

/** Starts a rollout that an operator requested, even after an abort or a rollback of this build. */
export async function startRollout(
  parts: ScanParts,
  policy: Policy,
  request: { readonly planHash: string; readonly by: string; readonly reason: string },
  signal?: AbortSignal,
): Promise<StartedRollout> {
  const { planHash, by, reason } = request;
  const before = recallFleet(await parts.scans.read(), policy.name);
  const ready = await prepare(parts, policy, { origin: 'operator', before }, signal);
  if (ready.kind !== 'ready') return ready;
  const { plan, remembered = before } = ready;
  if (plan.hash !== planHash) return { kind: 'drifted', plan };
  const result = await begin(parts, policy, { ...ready, origin: 'operator', by, reason });
  if (result.kind !== 'started') return result;
  parts.sink.note({ event: 'scan.finished', policy: policy.name, result: scanText(result) });
  await writeDown(parts, policy.name, result, remembered === undefined ? {} : { fleet: remembered });
  return result;
}

async function prepare(
  parts: ScanParts,
  policy: Policy,
  context: {
    readonly origin: ScanOrigin;
    readonly before: FleetMemory | undefined;
    /** Checks the running rollout, if any. @returns what could not be read of it */
    readonly whileBusy?: (active: string, memory: PlanMemory) => Promise<Unread | undefined>;
  },
  signal?: AbortSignal,
): Promise<ReadyPlan | FoundWork> {
  const outdated = await findNewerConfig(parts, policy);
  if (outdated !== undefined) return outdated;
  if (!(await parts.compareClocks())) return { kind: 'failed', why: { kind: 'wrongClock' } };
  const { origin } = context;
  const madeFrom = await parts.memory.check();
  const history = await parts.store.listRollouts([policy.name]);
  const at = parts.clock.now();
  // An operator who starts a rollout wants failed collectors to be retried.
  const memory = makePlanMemory(parts, {
    policy,
    history: origin === 'operator' ? [] : history,
    at,
  });
  const [active] = await parts.store.activeRolloutIds([policy.name]);
  if (active !== undefined) {
    const unread = await context.whileBusy?.(active, memory);
    return { kind: 'busy', rolloutId: active, ...(unread === undefined ? {} : { unread }) };
  }
  const id = await nextRolloutId(parts.store, policy.name, at);
  const reading = await readPlan(parts, policy, id, memory, signal);
  if (!reading.ok) return { kind: 'failed', why: reading.failure };
  if (reading.value.kind === 'noTarget') return nothing(reading.value);
  const { fleet, stillRunning } = reading.value;
  if (stillRunning !== undefined) return { kind: 'failed', why: { kind: 'stillRunning', ...stillRunning } };
  const judged = judgeFleetSize(context.before, countSteady(fleet.collectors), at);
  if (judged.refusal !== undefined) return { kind: 'failed', why: judged.refusal, fleet: judged.fleet };
  const { plan } = reading.value;
  return { kind: 'ready', id, plan, fleet, history, madeFrom, remembered: judged.fleet };
}

/** Starts a rollout with this plan, unless something blocks it. */
async function begin(
  parts: ScanParts,
  policy: Policy,
  ready: Omit<ReadyPlan, 'kind'> & {
    readonly origin: ScanOrigin;
    readonly by: string;
    readonly reason: string;
  },
): Promise<ScanResult> {
  const { id, origin, history, madeFrom, plan, fleet, by, reason } = ready;
  const last = history.find((each) => each.kind === 'upgrade' && each.plan.targetBuild === plan.targetBuild);
  if (origin !== 'operator') {
    if (last !== undefined && isStopped(last)) return nothing({ kind: 'stopped', policy: policy.name, last });
    const lost = parts.memory.stoppedRollout(policy.name, plan.targetBuild);
    if (lost !== undefined) return nothing({ kind: 'lost', lost });
  }
  const planned = plan.waves.reduce((sum, wave) => sum + wave.members.length, 0);
  if (planned === 0) return nothing(nobodyIn(plan));
  // The holds of the plan may have been read from a store that had just lost its data (P5).
  if ((await parts.memory.check()) !== madeFrom) return nothing({ kind: 'lostMeanwhile' });
  // Reading a fleet takes long. A daemon with a newer config may have started meanwhile.
  const outdatedNow = await findNewerConfig(parts, policy);
  if (outdatedNow !== undefined) return outdatedNow;
  const freezing = freezeInSteps(plan, {
    id,
    policy,
    startedBy: origin,
    asked: { by, words: reason },
    createdAt: parts.clock.now(),
    fleet,
    accountMarks: [await parts.accounts.mark()],
    generation: parts.configs.versionOf(policy.name)?.generation,
  });
  const frozen = await runInSlices(freezing, makeTurnBudget(parts.clock));
  const event = {
    at: frozen.rollout.createdAt,
    event: 'rollout.planned',
    policy: policy.name,
    rollout: id,
    reason: plannedText({ planned, targetBuild: plan.targetBuild, planHash: plan.hash, reason }),
    by,
  } as const;
  const started = { kind: 'started', rolloutId: id, planned } as const;
  await makeKnown(parts, policy.name, started);
  if ((await parts.store.freeze({ ...frozen, events: [event] })) === 'busy')
    return { kind: 'busy', rolloutId: id };
  parts.sink.report(event);
  parts.wakeUps.wake();
  return started;
}

/**
 * Writes the start of a policy's first rollout down before it. Scans tell which policies have rollouts: without one, nobody
 * would know of this rollout after a rename of its policy (P1).
 */
async function makeKnown(parts: ScanParts, policy: string, started: ScanResult & { kind: 'started' }) {
  const entries = await parts.scans.read();
  if (entries.every((entry) => entry.policy !== policy)) await writeDown(parts, policy, started, {});
}

/** Only the newest config plans a policy, or a collector that it excludes could be upgraded (P5). */
async function findNewerConfig(
  { configs }: ScanParts,
  { name }: Policy,
): Promise<Extract<ScanResult, { kind: 'outdated' }> | undefined> {
  const config = await configs.check(name);
  return config.kind === 'outdated' ? { kind: 'outdated', policy: name, config } : undefined;
}

function nobodyIn({ targetBuild, leftOut }: Plan): NothingToDo {
  return { kind: 'nobody', targetBuild, leftOut: leftOut.map(({ kind }) => ({ kind })) };
}

function nothing(why: NothingToDo): ScanResult {
  return { kind: 'nothing', why };
}
