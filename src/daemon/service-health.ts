import type { DurationMs } from '../base/time.ts';
import type { Sleep } from '../base/waiting.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import type { FleetService } from '../orchestrator/ports/fleet-service.ts';
import { healthText } from '../rollout/messages/daemon-health.ts';

export type ServiceHealth = ReturnType<typeof makeServiceHealth>;

// A single failure is normal: a gateway restarts, a sign-in is throttled. A daemon without any success may have a wrong
// key or no route to the service, which a deployment must notice at once.
const faultsInRowMax = 1;

/** Derives from responses whether this daemon can work with the service. It is ready before the first one. */
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
    /** @param status the HTTP status, or why there was none */
    answered: (status: number | string): void => {
      last = status;
      if (isGood(status)) good();
      else faultsInRow += 1;
    },
    /** Sets why all daemons wait for the service; undefined once it answers again. */
    setDown: (reason: string | undefined): void => {
      down = reason;
      // This daemon's own last response may be older.
      if (reason === undefined) good();
    },
    readiness: (): { readonly ok: boolean; readonly reason: string } => {
      if (down !== undefined) return { ok: false, reason: healthText.serviceSaidDown(down) };
      if (last === undefined) return { ok: true, reason: healthText.serviceUnasked };
      if (faultsInRow === 0) return { ok: true, reason: healthText.serviceWell };
      const ok = wasGood && faultsInRow <= faultsInRowMax;
      return { ok, reason: healthText.serviceFault(last, faultsInRow) };
    },
    /** True when the last response was a fault, so that a request would show whether the service has recovered. */
    isFailing: (): boolean => down !== undefined || faultsInRow > 0,
  };
}

/** True for any response of the service except one that refuses the key or shows a failure. */
function isGood(status: number | string): boolean {
  return typeof status === 'number' && status < 500 && status !== 401 && status !== 403;
}

const firstWaitMs: DurationMs = 30_000;

// Retries do not correct a wrong key, and a service may lock out a client that tries it too often.
const waitMaxMs: DurationMs = 300_000;

/**
 * Lists the builds, the cheapest request, while the last response was a fault. Otherwise an idle daemon would send
 * nothing until its next scan, and stay unready until then.
 */
export async function keepChecking(
  {
    access,
    fleet,
    sink,
    sleep,
  }: {
    readonly access: Pick<ServiceHealth, 'isFailing'>;
    readonly fleet: Pick<FleetService, 'listBuilds'>;
    readonly sink: EventSink;
    readonly sleep: Sleep;
  },
  signal: AbortSignal,
): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    await sleep(waitMs, signal);
    if (!access.isFailing()) waitMs = firstWaitMs;
    else if (!signal.aborted) {
      waitMs = Math.min(waitMaxMs, waitMs * 2);
      try {
        await fleet.listBuilds(signal);
      } catch (error) {
        // Redis is unreachable, and with it the API budget.
        if (!signal.aborted) sink.note({ event: 'backgroundTask.failed', backgroundTask: 'service', error });
      }
    }
  }
}
