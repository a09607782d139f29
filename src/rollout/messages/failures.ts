import type { FailureFigures, WaveFailures } from '../model/stop-cause.ts';

/** `wave canary: failures 3, allowed 2`. */
export function waveFailuresWords(failures: WaveFailures): string {
  return `wave ${failures.wave}: failures ${failureLimitWords(failures, `, allowed ${failures.failuresAllowed}`)}`;
}

/**
 * A wave's failures against its limit: `3 (1 lost x 3), allowed 2`, or `3, allowed 2, not counting 7 acknowledged`.
 * Which of the acknowledged ones were lost is not known, so the weight is explained only where there are none.
 */
function failureLimitWords(
  { failures, acknowledged, lost, lostWeight }: Omit<FailureFigures, 'failuresAllowed'>,
  allowed: string,
): string {
  if (acknowledged > 0) return `${failures}${allowed}, not counting ${acknowledged} acknowledged`;
  return lost === 0 ? `${failures}${allowed}` : `${failures} (${lost} lost x ${lostWeight})${allowed}`;
}
