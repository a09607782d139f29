import type { DurationMs } from '../base/time.ts';
import type { Sleep } from '../base/waiting.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import type { FleetService } from '../orchestrator/ports/fleet-service.ts';
import { healthWords } from '../rollout/messages/daemon-health.ts';

export type ServiceHealth = ReturnType<typeof makeServiceHealth>;

// One odd answer is everyday: a gateway restarts, a sign-in is throttled. A daemon that never had a good answer may have
// the wrong key or no way to the service, which a deployment has to notice at once.
const faultsInRowMax = 1;

/** Judges from answers whether this daemon can work with the service; it can before the first one. */
export function makeServiceHealth() {
  let last: number | string | undefined;
  let faultsInRow = 0;
  let wasGood = false;
  let down: string | undefined;
  const good = (): void => {
    faultsInRow = 0;
    wasGood = true;
  };
  return {
    /** @param status of HTTP, or why there was none */
    answered: (status: number | string): void => {
      last = status;
      if (isGood(status)) good();
      else faultsInRow += 1;
    },
    /** All daemons wait for the service: why; undefined once it answers again. */
    setDown: (reason: string | undefined): void => {
      down = reason;
      // Our own last answer may be from before.
      if (reason === undefined) good();
    },
    readiness: (): { readonly ok: boolean; readonly reason: string } => {
      if (down !== undefined)
        return { ok: false, reason: healthWords({ kind: 'serviceSaidDown', why: down }) };
      if (last === undefined) return { ok: true, reason: healthWords({ kind: 'serviceUnasked' }) };
      if (faultsInRow === 0) return { ok: true, reason: healthWords({ kind: 'serviceWell' }) };
      const ok = wasGood && faultsInRow <= faultsInRowMax;
      return { ok, reason: healthWords({ kind: 'serviceFault', status: last, inRow: faultsInRow }) };
    },
    /** Whether the last answer was a fault, so that it is worth a request to learn whether it still is. */
    isDoubted: (): boolean => down !== undefined || faultsInRow > 0,
  };
}

/** Whatever the service itself says of a request, except that it refuses us or cannot work. */
function isGood(status: number | string): boolean {
  return typeof status === 'number' && status < 500 && status !== 401 && status !== 403;
}

const firstWaitMs: DurationMs = 30_000;

// A wrong key is not corrected by asking: a service may lock out who tries it too often.
const waitMaxMs: DurationMs = 300_000;

/**
 * Asks the service for its builds, which is the cheapest request, while its last answer was a fault. An idle daemon asks
 * for nothing until its next scan, and would be taken for not ready as long.
 */
export async function keepAsking(
  {
    access,
    fleet,
    sink,
    sleep,
  }: {
    readonly access: Pick<ServiceHealth, 'isDoubted'>;
    readonly fleet: Pick<FleetService, 'listBuilds'>;
    readonly sink: EventSink;
    readonly sleep: Sleep;
  },
  signal: AbortSignal,
): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    await sleep(waitMs, signal);
    if (!access.isDoubted()) waitMs = firstWaitMs;
    else if (!signal.aborted) {
      waitMs = Math.min(waitMaxMs, waitMs * 2);
      try {
        await fleet.listBuilds(signal);
      } catch (error) {
        // Redis is away, and with it the places in the API budget.
        if (!signal.aborted) sink.note({ event: 'backgroundTask.failed', backgroundTask: 'service', error });
      }
    }
  }
}
