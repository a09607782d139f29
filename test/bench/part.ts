import type { ContestantName } from './contest/contestant.ts';
import type { PartResult } from './report.ts';

/** How a part of the benchmarks is run. */
export interface PartOptions {
  /** A small form for CI, whose figures are coarse. */
  readonly isShort: boolean;
  /** How often each contest is held; the median counts. Undefined: as often as the contest wants. */
  readonly runs: number | undefined;
  /** The one size that is measured, of parts that measure several. */
  readonly collectors: number | undefined;
  /** Without the others. */
  readonly only: ContestantName | undefined;
  /** Reports what is running now. */
  readonly tell: (text: string) => void;
}

export type Part = (options: PartOptions) => Promise<PartResult>;
