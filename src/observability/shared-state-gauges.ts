import type { Registry } from 'prom-client';
import { sumOf } from '../base/grouping.ts';
import { toPrintable } from '../base/safe-text.ts';
import type { DurationMs } from '../base/time.ts';
import type { BuildOutcome } from '../contract/admin/builds.ts';
import type { RolloutStatus } from '../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../contract/admin/status-parts.ts';
import { lastGoodScan, latestScan, type ScanEntry } from '../orchestrator/ports/scan-book.ts';
import { rolloutStates, waveStates } from '../rollout/model/rollout.ts';
import { isEnd, upgradeStates } from '../rollout/model/upgrade.ts';
import { expectedEndOf } from '../rollout/status/eta.ts';
import { makeSeries, type Series } from './series.ts';

/** State that all daemons share. Only the leader exposes it, so that sums over daemons count it once. */
export interface SharedState {
  /** Rollouts in any order, including ended ones. */
  readonly statuses: readonly RolloutStatus[];
  /** Jobs by the queue's own states. */
  readonly queueJobs: Readonly<Record<string, number>>;
  /** The share of the request rate that may be used now, from 0 to 1. It is lower after 429s. */
  readonly rateShare: number;
  /** The remaining pause of the API budget, or the time until the next attempt during an outage. 0: no wait. */
  readonly outageMs: DurationMs;
  /** The last scans of the configured policies. */
  readonly scans: readonly ScanEntry[];
  /** Collectors of the last inventory, by build and liveness. */
  readonly fleet: readonly FleetCount[];
  /** What builds did in ended rollouts, the newest build first. */
  readonly builds: ReadonlyArray<Pick<BuildOutcome, 'build' | 'tried' | 'failed'>>;
}

export interface FleetCount {
  readonly version: string;
  readonly alive: boolean;
  readonly collectors: number;
}

/** Limits the values of the label. Rare builds are shown as `other`. */
const versionLabelsMax = 20;

/** Limits the values of the label. Older builds are not shown. */
const buildLabelsMax = 10;

/** Makes the series of shared state, and returns a function that sets them. */
export function makeGauges(registry: Registry): (state: SharedState) => void {
  const { gauge } = makeSeries(registry);
  const { showRollout, showNeeds } = makeRolloutGauges(gauge);
  const showActive = makeActiveGauges(gauge);
  const showWave = makeWaveGauges(gauge);
  const outage = gauge(
    'api_pause_seconds',
    'Remaining time for which all requests wait, because of a 429 or an outage. 0: no wait.',
  );
  const rateShare = gauge(
    'api_rate_ratio',
    'Share of the allowed request rate that is used at most now. Below 1 for some minutes after each 429.',
  );
  const fleet = gauge('fleet_collectors', 'Installed collectors by build and liveness.', [
    'version',
    'alive',
  ]);
  const showBuilds = makeBuildGauges(gauge);
  const showScans = makeScanGauges(gauge);
  const jobs = gauge('queue_jobs', 'Jobs in the queue by state.', ['state']);
  return (state) => {
    for (const status of currentOfEachPolicy(state.statuses)) {
      showRollout(status, state.statuses);
      if (status.endedAt !== null) continue;
      showActive(status, originOf(status, state.statuses));
      for (const wave of status.waves) showWave(status.policy, wave);
    }
    showNeeds(state);
    rateShare.set(state.rateShare);
    outage.set(state.outageMs / 1_000);
    for (const count of boundVersions(state.fleet)) {
      // The collector itself reports its build, so it may be any text.
      fleet.inc({ version: toPrintable(count.version), alive: String(count.alive) }, count.collectors);
    }
    showBuilds(state.builds);
    showScans(state.scans);
    for (const [name, count] of Object.entries(state.queueJobs)) jobs.set({ state: name }, count);
  };
}

type MakeGauge = Series['gauge'];

interface RolloutGauges {
  readonly showRollout: (status: RolloutStatus, statuses: readonly RolloutStatus[]) => void;
  /** Policies without a running rollout that need a person. */
  readonly showNeeds: (state: Pick<SharedState, 'scans' | 'statuses'>) => void;
}

/** Series that ended rollouts have as well. */
function makeRolloutGauges(gauge: MakeGauge): RolloutGauges {
  const rolloutState = gauge(
    'rollout_state',
    '1 for the state of the rollout, 0 for the other states. A running rollback shows its state as well.',
    ['policy', 'state'],
  );
  const waitsForPerson = gauge(
    'waits_for_person',
    '1 while a rollout of the policy needs a person: held, paused, awaiting approval, of another account, or without its policy in the config. Also 1 while only an operator starts the policy again, because Redis lost its rollout.',
    ['policy'],
  );
  const showNeeds: RolloutGauges['showNeeds'] = ({ scans, statuses }) => {
    for (const policy of new Set(scans.map((scan) => scan.policy))) {
      const last = latestScan(scans.filter((scan) => scan.policy === policy));
      const runs = statuses.some((status) => status.policy === policy && status.endedAt === null);
      if (last?.needs !== undefined && !runs) waitsForPerson.set({ policy }, 1);
    }
  };
  const showRollout: RolloutGauges['showRollout'] = (status, statuses) => {
    const { policy } = status;
    const origin = originOf(status, statuses);
    const states = status.endedAt === null ? [status.state, origin.state] : [origin.state];
    for (const name of rolloutStates) {
      rolloutState.set({ policy, state: name }, states.includes(name) ? 1 : 0);
    }
    const own = statuses.filter((each) => each.policy === policy);
    waitsForPerson.set({ policy }, own.some(({ headline }) => headline.needsPerson) ? 1 : 0);
  };
  return { showRollout, showNeeds };
}

function makeActiveGauges(gauge: MakeGauge): (status: RolloutStatus, origin: RolloutStatus) => void {
  const inFlight = gauge('in_flight', 'Upgrades that may be running at the service.', ['policy']);
  const concurrency = gauge('concurrency_limit', 'Upgrades that may run at the service at the same time.', [
    'policy',
  ]);
  const blocked = gauge(
    'rollout_blocked',
    '1 for each kind of blocker for which the rollout starts nothing more now, also `serviceDown`, `rateLimited` or `signInThrottled` while no requests are sent. A kind that blocks nothing is absent.',
    ['policy', 'kind'],
  );
  const eta = gauge(
    'rollout_eta_timestamp_seconds',
    'When the rollout is expected to end, in seconds since the epoch. Deferred collectors count only where no others remain. Absent while it is unknown or depends on an approval.',
    ['policy'],
  );
  const strataHeld = gauge('strata_held', 'Strata which are held until an operator releases them.', [
    'policy',
  ]);
  const heldCollectors = gauge('held_collectors', 'Collectors of held strata, which wait for a release.', [
    'policy',
  ]);
  const buildHeld = gauge('build_held', '1 while the target build is held, else 0.', ['policy']);
  const windowOpen = gauge(
    'window_open',
    '1 while windows and freezes allow starts, in the time zone of the policy, else 0.',
    ['policy'],
  );
  const windowChanges = gauge(
    'window_changes_timestamp_seconds',
    'When the window closes or opens next, in seconds since the epoch. Absent without windows and freezes.',
    ['policy'],
  );
  return (status, origin) => {
    const { policy } = status;
    inFlight.set({ policy }, status.inFlight);
    concurrency.set({ policy }, status.concurrency);
    const outage = status.api?.outage ?? null;
    for (const { kind } of [...status.blockers, ...(outage === null ? [] : [outage])])
      blocked.set({ policy, kind }, 1);
    strataHeld.set({ policy }, status.strata.held.length);
    heldCollectors.set(
      { policy },
      sumOf(status.strata.held, ({ waiting }) => waiting),
    );
    buildHeld.set({ policy }, origin.buildHold === null ? 0 : 1);
    windowOpen.set({ policy }, (status.window?.isOpen ?? true) ? 1 : 0);
    const changesAt = status.window?.until ?? null;
    if (changesAt !== null) windowChanges.set({ policy }, changesAt / 1_000);
    const endsAt = expectedEndOf(status.eta);
    if (endsAt !== null) eta.set({ policy }, endsAt / 1_000);
  };
}

function makeWaveGauges(gauge: MakeGauge): (policy: string, wave: WaveStatus) => void {
  const labels = ['policy', 'wave'];
  const upgrades = gauge('upgrades', 'Planned collectors by wave and state of their upgrade.', [
    ...labels,
    'state',
  ]);
  const waveState = gauge('wave_state', '1 for the state of the wave, 0 for the other states.', [
    ...labels,
    'state',
  ]);
  const failures = gauge('gate_failures', 'Weighted failures of a wave since its last resume.', labels);
  const allowed = gauge('gate_failures_allowed', 'Weighted failures that a wave may have.', labels);
  const gateValue = gauge('gate_value', 'Last value of a probe of a wave. Absent while it is unknown.', [
    ...labels,
    'gate',
  ]);
  const unanswered = gauge(
    'gate_unanswered',
    'Failed requests in a row of a probe of a wave. 0: the last request was answered.',
    [...labels, 'gate'],
  );
  return (policy, wave) => {
    const labels = { policy, wave: wave.name };
    for (const name of upgradeStates) upgrades.set({ ...labels, state: name }, wave.counts[name]);
    for (const name of waveStates) waveState.set({ ...labels, state: name }, wave.state === name ? 1 : 0);
    if (isWaveOver(wave)) return;
    failures.set(labels, wave.failures);
    allowed.set(labels, wave.failuresAllowed);
    for (const gate of wave.gates) {
      if (gate.value !== null) gateValue.set({ ...labels, gate: gate.name }, gate.value);
      unanswered.set({ ...labels, gate: gate.name }, gate.unanswered);
    }
  };
}

/** True when its gate has passed and none of its upgrades can still fail. A late joiner of a passed wave still can. */
function isWaveOver({ state, counts }: WaveStatus): boolean {
  return state === 'passed' && upgradeStates.every((name) => isEnd(name) || counts[name] === 0);
}

function makeBuildGauges(gauge: MakeGauge): (builds: SharedState['builds']) => void {
  const tried = gauge(
    'build_tried',
    'Upgrades to the build in ended rollouts that succeeded or failed. Only the 10 newest builds.',
    ['build'],
  );
  const failed = gauge(
    'build_failed',
    'Upgrades to the build in ended rollouts that failed. Only the 10 newest builds.',
    ['build'],
  );
  return (builds) => {
    for (const each of builds.slice(0, buildLabelsMax)) {
      const build = toPrintable(each.build);
      tried.set({ build }, each.tried);
      failed.set({ build }, each.failed);
    }
  };
}

function makeScanGauges(gauge: MakeGauge): (scans: readonly ScanEntry[]) => void {
  const last = gauge(
    'last_scan_timestamp_seconds',
    'When the last scan of a policy with this result was, in seconds since the epoch.',
    ['policy', 'result'],
  );
  const overdue = gauge(
    'scan_overdue_timestamp_seconds',
    'When the next good scan is overdue, in seconds since the epoch: three periods of the schedule after the last, at least an hour.',
    ['policy'],
  );
  return (scans) => {
    for (const { policy, outcome, at } of scans) last.set({ policy, result: outcome }, at / 1_000);
    for (const policy of new Set(scans.map((scan) => scan.policy))) {
      const good = lastGoodScan(scans.filter((scan) => scan.policy === policy));
      if (good !== undefined) overdue.set({ policy }, good.overdueAt / 1_000);
    }
  };
}

function currentOfEachPolicy(statuses: readonly RolloutStatus[]): RolloutStatus[] {
  const current = new Map<string, RolloutStatus>();
  for (const status of statuses) {
    const best = current.get(status.policy);
    if (best === undefined || isMoreCurrent(status, best)) current.set(status.policy, status);
  }
  return [...current.values()];
}

function isMoreCurrent(status: RolloutStatus, best: RolloutStatus): boolean {
  if ((status.endedAt === null) !== (best.endedAt === null)) return status.endedAt === null;
  return status.createdAt > best.createdAt;
}

/** A rollback is a rollout of its own. The original rollout shows its build and its result. */
function originOf(status: RolloutStatus, statuses: readonly RolloutStatus[]): RolloutStatus {
  return statuses.find(({ id }) => id === status.rollbackOf) ?? status;
}

/** Keeps the names of the most frequent versions. */
function boundVersions(fleet: readonly FleetCount[]): FleetCount[] {
  const totals = new Map<string, number>();
  for (const { version, collectors } of fleet) {
    totals.set(version, (totals.get(version) ?? 0) + collectors);
  }
  const named = new Set(
    [...totals]
      .sort(([a, left], [b, right]) => right - left || a.localeCompare(b))
      .slice(0, versionLabelsMax)
      .map(([version]) => version),
  );
  return fleet.map((count) => (named.has(count.version) ? count : { ...count, version: 'other' }));
}
