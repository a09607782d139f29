import type { DurationMs } from '../../base/time.ts';
import type { ServiceStatus } from '../../orchestrator/ports/api-budget.ts';

export interface StatusWatchParts {
  /** As `learn` takes it. */
  readonly readDown: () => Promise<string>;
  readonly onStatus: ((status: ServiceStatus) => void) | undefined;
  /** Reported when it could not be read; the next poll repeats it. */
  readonly onFailed: (error: unknown) => void;
  readonly everyMs?: DurationMs;
}

// A daemon that asks for nothing learns by this that another one found the service up again.
const checkEveryMs: DurationMs = 5_000;

/** Keeps one daemon's word about the service true, whichever daemon found out. */
export function makeStatusWatch(parts: StatusWatchParts) {
  const { readDown, onStatus, onFailed, everyMs = checkEveryMs } = parts;
  let isUp = true;
  let timer: NodeJS.Timeout | undefined;

  /** Asks now, for a daemon that has not heard of it yet. Never throws. */
  async function poll(): Promise<void> {
    try {
      learn(await readDown());
    } catch (error) {
      onFailed(error);
    }
  }

  /** Reports only what is new. @param down why the service is down; empty when it is not */
  function learn(down: string): void {
    if ((down === '') === isUp) return;
    isUp = down === '';
    clearInterval(timer);
    timer = isUp ? undefined : setInterval(() => void poll(), everyMs).unref();
    onStatus?.(isUp ? { isUp } : { isUp: false, reason: down });
  }

  return { learn, poll, close: (): void => clearInterval(timer) };
}

/** In a person's words. */
export function serviceIsDown(reason: string): string {
  return `The service is down, and one request at a time tries it. ${reason}`;
}
