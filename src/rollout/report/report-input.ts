import type { EpochMs } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import type { LeftBehind } from '../model/left-behind.ts';
import type { PlanGroups } from '../model/plan-groups.ts';
import type { GateCourse } from '../status/describe-gates.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportedActs } from './report-people.ts';

/** The data of a report. */
export interface ReportInput extends ReportedActs {
  readonly groups: Pick<PlanGroups, 'strata'>;
  readonly figures: ReportFigures;
  readonly gates: readonly GateCourse[];
  /** Collectors that a rollback left on the build. */
  readonly left: readonly LeftBehind[];
  readonly night: RolloutNight;
  readonly madeAt: EpochMs;
  readonly installation: string | undefined;
}
