import type { DurationMs } from '../../base/time.ts';
import type { ServiceStatus } from '../../orchestrator/ports/api-budget.ts';

export interface StatusWatchParts {
  /** Reads why the service is down; empty when it is up. */
  readonly readDown: () => Promise<string>;
  readonly onStatus: (status: ServiceStatus) => void;
  /** Called when the status is unreadable. The next poll retries. */
  readonly onFailed: (error: unknown) => void;
  readonly everyMs?: DurationMs;
}

// A daemon that sends no requests learns by this that another one saw the service recover.
const checkEveryMs: DurationMs = 5_000;

/** Tracks the shared status of the service, whichever daemon found it. */
export function makeStatusWatch(parts: StatusWatchParts) {
  const { readDown, onStatus, onFailed, everyMs = checkEveryMs } = parts;
  let isUp = true;
  let timer: NodeJS.Timeout | undefined;

  /** Reads the status now. Never throws. */
  async function poll(): Promise<void> {
    try {
      learn(await readDown());
    } catch (error) {
      onFailed(error);
    }
  }

  /** Reports changes only. @param down why the service is down; empty when it is up */
  function learn(down: string): void {
    if ((down === '') === isUp) return;
    isUp = down === '';
    clearInterval(timer);
    timer = isUp ? undefined : setInterval(() => void poll(), everyMs).unref();
    onStatus(isUp ? { isUp } : { isUp: false, reason: down });
  }

  return { learn, poll, close: (): void => clearInterval(timer) };
}

/** For people. */
export function serviceIsDown(reason: string): string {
  return `The service is down. One request at a time tests it. ${reason}`;
}
