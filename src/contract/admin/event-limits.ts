// Separate from the schemas, because the help of the command line needs these limits, but not zod.

/** The number of events in a response when the request names no limit. */
export const eventsDefault = 50;

/** The maximum number of events in a response. */
export const eventsMax = 1_000;
