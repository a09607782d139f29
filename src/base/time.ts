/** An instant: milliseconds since the UNIX epoch. */
export type EpochMs = number;

/** A length of time in milliseconds. */
export type DurationMs = number;

/** Where time comes from. Production passes the machine's clock, tests a settable one. */
export interface Clock {
  now(): EpochMs;
}
