/** What upwave is measured against; a goal that is not met fails nothing. */
export const goals = {
  /** Last end known, over the greedy schedule. */
  overGreedy: 1.02,
  overGreedyLarge: 1.03,
  /** Last end known, over work divided by slots, where a fifth takes three times as long. */
  overWorkMixed: 1.12,
  /** Last end known, over the schedule that rate and durations allow. */
  overBound: 1.02,
  requestsPerUpgrade: { slots: 2.5, rate: 2.1 },
  throttled: 0,
  /** The delay from an end to its detection, as a share of the median duration. */
  seenDelayShare: { median: 0.01, p95: 0.03 },
  /** For 100,000 collectors. */
  planMs: 5_000,
  planMebibytes: 512,
  /** A lease is renewed each second, and half a second late is too late. */
  turnMs: 50,
  /** Status, explain and scrape. */
  readMs: 50,
  /** From a kill to the next create. */
  backAtWorkMs: { follower: 2_000, leader: 4_000 },
  idle: { cpuShare: 0.01, mebibytes: 120 },
} as const;
