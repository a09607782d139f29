/** What upwave is measured against; a goal that is not met fails nothing. */
export const goals = {
  /** Where slots bind. */
  overGreedy: 1.02,
  /** Where the request rate binds. */
  overRequestBound: 1.1,
  requestsPerUpgrade: 2.5,
  throttled: 0,
  /** For 100,000 collectors. */
  planMs: 5_000,
  planMebibytes: 512,
  statusMs: 50,
} as const;
