import type { DurationMs } from '../../base/time.ts';
import type { ServiceStatus } from '../../orchestrator/ports/api-budget.ts';

/** Keeps one daemon's word about the service true, whichever daemon found out. */
export interface StatusWatch {
  /** `down`: why the service is down; empty when it is not. Reports only what is new. */
  learn(down: string): void;
  /** Asks now, for a daemon that has not heard of it yet. Never throws. */
  poll(): Promise<void>;
  close(): void;
}

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

export function makeStatusWatch(parts: StatusWatchParts): StatusWatch {
  const { readDown, onStatus, onFailed, everyMs = checkEveryMs } = parts;
  let isUp = true;
  let timer: NodeJS.Timeout | undefined;

  async function poll(): Promise<void> {
    try {
      learn(await readDown());
    } catch (error) {
      onFailed(error);
    }
  }

  function learn(down: string): void {
    if ((down === '') === isUp) return;
    isUp = down === '';
    clearInterval(timer);
    timer = isUp ? undefined : setInterval(() => void poll(), everyMs).unref();
    onStatus?.(isUp ? { isUp } : { isUp: false, reason: down });
  }

  return { learn, poll, close: () => clearInterval(timer) };
}

/** In a person's words. */
export function serviceIsDown(reason: string): string {
  return `The service is down, and one request at a time tries it. ${reason}`;
}
