/** How many events one answer holds at most, and where nothing is said. The command line's help needs no schemas for it. */
export const eventsDefault = 50;
export const eventsMax = 1_000;
