/** The service's limits (collector-api.md §8). */
export const serviceLimits = {
  requestsPerSecond: 4,
  concurrentRequests: 10,
  collectorNameLengthMax: 128,
  hostNameLengthMax: 128,
  descriptionLengthMax: 1024,
  collectorPageSizeDefault: 1000,
  upgradablePageSizeDefault: 50,
  aliveBeforeDaysDefault: 100,
  /** Per account (field-facts.md, Upgrades). */
  collectorsMax: 10_000,
  heartbeatMs: 15_000,
  deadAfterMs: 30 * 60_000,
  ephemeralDeletedAfterMs: 12 * 3_600_000,
} as const;
