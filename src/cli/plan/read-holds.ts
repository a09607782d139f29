import { AdminClientFault } from '../../admin-api/client/admin-client-fault.ts';
import type { HeldThings } from '../../contract/admin/holds.ts';
import { CommandFailure } from '../shell/command.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';

/** The holds of operators, or why they are not known. */
export type HoldsReading =
  | { readonly kind: 'known'; readonly held: HeldThings }
  | { readonly kind: 'unknown'; readonly why: string };

/** Asks the daemon for its holds. @throws CommandFailure when `--url` names the daemon, and it does not answer */
export async function readHolds(target: DaemonTarget): Promise<HoldsReading> {
  try {
    return { kind: 'known', held: await withDaemon(target, (client) => client.listHolds()) };
  } catch (error) {
    if (!(error instanceof CommandFailure) || target.url !== undefined) throw error;
    const { cause, message } = error;
    return { kind: 'unknown', why: cause instanceof AdminClientFault ? cause.message : message };
  }
}
