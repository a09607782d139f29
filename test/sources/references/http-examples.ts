/** Query strings of the examples, by the operation. Others have none. */
export const exampleQueries: Readonly<Record<string, string>> = {
  listRollouts: 'limit=50',
  listRolloutCollectors: 'state=failed,timedOut&limit=20',
  listRolloutEvents: 'limit=20',
  readAudit: 'limit=20',
};

/** Bodies of the examples, by the operation. */
export const exampleBodies = {
  startPolicy: { planHash: '7f3a91c2', reason: 'CHG-4711' },
  reloadConfig: { reason: 'shorter soak' },
  pauseRollout: { reason: 'network maintenance' },
  resumeRollout: { hold: 17, reason: 'disk was full, now fixed' },
  approveRollout: { wave: 'rest', reason: 'CHG-4711' },
  skipRolloutSoak: { wave: 'canary', reason: 'security update' },
  abortRollout: { reason: 'wrong build' },
  rollBackRollout: { shown: { collectors: 40, leftBehind: 2 }, reason: 'build drops messages' },
  retryRollout: { failed: 3, cause: 'timedOut' },
  holdSubject: { subject: 'fields.rack=r7', reason: 'power work' },
  releaseSubject: { subject: 'fields.rack=r7', reason: 'power work done' },
} as const;
