/** Who may set which field of a collector (collector-api.md §2.1, Access). Fields of neither list may be changed. */
export const collectorAccess = {
  /** An update must state them as they are. */
  notModifiable: ['id', 'collectorType', 'cutoffRelativeTime', 'osName', 'osVersion', 'osArch'],
  /**
   * Set by the service, from minute to minute: a stale one in an update is no error (field-facts.md, The wire). `osTime`
   * is "not modifiable" in the table, but being a running time nobody could state it as it is.
   */
  transient: ['alive', 'lastSeenAlive', 'collectorVersion', 'links', 'osTime'],
} as const satisfies FieldAccess;

/** The same of a source (collector-api.md §2.2); the rest of its fields is described elsewhere. */
export const sourceAccess = {
  notModifiable: ['id'],
  transient: ['alive'],
} as const satisfies FieldAccess;

export interface FieldAccess {
  readonly notModifiable: readonly string[];
  readonly transient: readonly string[];
}
