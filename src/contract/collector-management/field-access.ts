/** Who may set which field of a collector (collector-api.md §2.1, Access). */
export const collectorAccess = {
  modifiable: [
    'name',
    'description',
    'category',
    'hostName',
    'timeZone',
    'fields',
    'ephemeral',
    'sourceSyncMode',
    'targetCpu',
    'cutoffTimestamp',
  ],
  /** An update must send these unchanged. */
  notModifiable: ['id', 'collectorType', 'cutoffRelativeTime', 'osName', 'osVersion', 'osArch'],
  /**
   * Set by the service, and changing by the minute: a stale value in an update is no error (field-facts.md, The wire).
   * `osTime` is "not modifiable" in the table, but as a running time it can't be sent unchanged.
   */
  transient: ['alive', 'lastSeenAlive', 'collectorVersion', 'links', 'osTime'],
} as const satisfies FieldAccess;

/**
 * Who may set which field of a source (collector-api.md §2.2). Fields of most source types are documented elsewhere, so a
 * field in no list may be changed.
 */
export const sourceAccess = {
  modifiable: [
    'name',
    'sourceType',
    'category',
    'hostName',
    'automaticDateParsing',
    'multilineProcessingEnabled',
    'useAutolineMatching',
    'forceTimeZone',
    'filters',
    'cutoffTimestamp',
    'encoding',
    'contentType',
    'pathExpression',
    'denylist',
    'interval',
    'metrics',
  ],
  notModifiable: ['id'],
  transient: ['alive'],
} as const satisfies FieldAccess;

export interface FieldAccess {
  readonly modifiable: readonly string[];
  readonly notModifiable: readonly string[];
  readonly transient: readonly string[];
}
