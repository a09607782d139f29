// Apart from the schemas: the help of the command line needs these, and not zod.

/** How many events one answer holds where the request names no limit. */
export const eventsDefault = 50;

/** How many events one answer holds at most. */
export const eventsMax = 1_000;
