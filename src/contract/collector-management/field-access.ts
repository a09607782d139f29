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
  /** An update must state them as they are. */
  notModifiable: ['id', 'collectorType', 'cutoffRelativeTime', 'osName', 'osVersion', 'osArch'],
  /**
   * Set by the service, from minute to minute: a stale one in an update is no error (field-facts.md, The wire). `osTime`
   * is "not modifiable" in the table, but being a running time nobody could state it as it is.
   */
  transient: ['alive', 'lastSeenAlive', 'collectorVersion', 'links', 'osTime'],
} as const satisfies FieldAccess;

/**
 * The same of a source (collector-api.md §2.2). The fields of most source types are described elsewhere, so a field of no
 * list may be changed, too.
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
