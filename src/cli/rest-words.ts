import type { EpochMs } from '../base/time.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { commandFor } from './command-for.ts';
import type { Rest } from './rest.ts';
import { showInstant } from './show-instant.ts';

/**
 * What has to happen until a rollout goes on, for who ran it once; undefined where its status says enough. An approval
 * is heard by a daemon alone, and this one ends.
 */
export function restWords(status: RolloutStatus, rest: Rest | undefined, now: EpochMs): string | undefined {
  const { id, state, holds } = status;
  if (rest?.kind === 'foreign') return `${id}: ${holds[0]?.reason ?? 'it belongs to another account'}`;
  if (state === 'rollingBack') return undefined;
  switch (rest?.kind) {
    case 'awaitsApproval': {
      return `${id} waits for approval: ${commandFor(status, 'approve')}, while \`upwave run\` is running`;
    }
    case 'windowClosed':
      return rest.until === null
        ? `${id}: no window opens in a year`
        : `${id}: the window is closed until ${showInstant(rest.until, now)}; run it again then, or with --wait`;
    default:
      return undefined;
  }
}
