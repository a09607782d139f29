import type { Clock } from '../../base/time.ts';
import { countUpgradesIn } from '../../rollout/decision/assess.ts';
import { isFailed, isRunning, type Upgrade } from '../../rollout/model/upgrade.ts';
import { reportDocument } from '../../rollout/report/report-document.ts';
import { makeReportTally } from '../../rollout/report/report-figures.ts';
import { type ReportFormat, writeReport } from '../../rollout/report/write-report.ts';
import type { CauseGroupName } from '../../rollout/status/causes.ts';
import { describeGates } from '../../rollout/status/describe-gates.ts';
import { describeNight } from '../../rollout/status/describe-night.ts';
import { describeRollout } from '../../rollout/status/status.ts';
import type { ReadApiBudgetStatus } from '../ports/api-budget.ts';
import { auditKeptMax } from '../ports/fleet-register.ts';
import { eventsReadMax, type RolloutStore } from '../ports/rollout-store.ts';
import {
  loadRolloutSummary,
  type SharedAttributeParts,
  type ViewParts,
  withShownAttribute,
} from '../records/read-records.ts';

export interface ReportParts extends ViewParts, SharedAttributeParts {
  readonly store: RolloutStore;
  readonly clock: Clock;
  readonly readApiBudgetStatus: ReadApiBudgetStatus;
  /** The name of this installation; undefined: no name. */
  readonly installation: string | undefined;
}

/** Records in one read, which takes 20 ms of this process. */
const recordsPerRead = 1_000;
/** How many upgrades of each group are used to find causes. */
const upgradesPerGroup = 10_000;

/** Writes the reports of a rollout, from all its records; undefined: there is no such rollout. */
export async function writeReports<Format extends ReportFormat>(
  parts: ReportParts,
  rolloutId: string,
  formats: readonly Format[],
): Promise<Readonly<Record<Format, string>> | undefined> {
  const { store, clock, readApiBudgetStatus, installation } = parts;
  const now = clock.now();
  const view = await loadRolloutSummary(parts, rolloutId, now);
  if (view === undefined) return undefined;
  const tally = makeReportTally();
  const groups: Record<CauseGroupName, Upgrade[]> = { failed: [], retrying: [], deferred: [], withdrawn: [] };
  const inFlight: Upgrade[] = [];
  const planned = countUpgradesIn(view, () => true);
  for (let offset = 0; offset < planned; offset += recordsPerRead) {
    for (const upgrade of await store.listUpgrades(rolloutId, { offset, limit: recordsPerRead })) {
      tally.add(upgrade);
      const { state } = upgrade.progress;
      const group = isFailed(state) ? groups.failed : state in groups ? groups[state as CauseGroupName] : [];
      if (group.length < upgradesPerGroup) group.push(upgrade);
      if (isRunning(state)) inFlight.push(upgrade);
    }
  }
  const newestFirst = await store.readEvents(rolloutId, { limit: eventsReadMax });
  const audit = await parts.register.readAudit(auditKeptMax);
  const events = newestFirst.toReversed();
  const status = describeRollout(
    await withShownAttribute(parts, view, groups),
    now,
    await readApiBudgetStatus(),
    { ...groups, inFlight },
  );
  const figures = tally.figures();
  const report = reportDocument({
    ...{ status, groups: view.groups, figures, events, holdings: audit, gates: describeGates(view.rollout) },
    left: view.rollout.rollback.leftBehind,
    ...{ night: describeNight(view.rollout, newestFirst, now, audit), madeAt: now, installation },
  });
  return Object.fromEntries(formats.map((format) => [format, writeReport(report, format)])) as Record<
    Format,
    string
  >;
}
