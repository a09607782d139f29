/** What a daemon reports of its own writes. */
export interface WriteReport {
  /** Rises with each report of this daemon. */
  readonly number: number;
  /** What the other daemons are asked to confirm; empty without a question. */
  readonly question: string;
  /** The questions of other daemons that this one answers: none of its acknowledged writes is missing. */
  readonly confirms: readonly string[];
}

/** The last report of another daemon. */
export interface OtherReport extends Omit<WriteReport, 'number'> {
  readonly daemon: string;
}

/** Where daemons tell each other after an outage of the store whether it kept what it had acknowledged to them (P1). */
export interface WriteRegister {
  /** @returns the number of this daemon's report before this one, and the reports of the others that have not left */
  report(own: WriteReport): Promise<{ readonly before: number; readonly others: readonly OtherReport[] }>;
  /** Reports that this daemon stops. */
  leave(): Promise<void>;
}
