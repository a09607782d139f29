/** Wakes the reconcilers of all daemons soon; may be lost. */
export interface Bell {
  ring(): void;
}
