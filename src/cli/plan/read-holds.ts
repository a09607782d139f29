import { AdminClientFault } from '../../admin-api/client/admin-client-fault.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import type { HeldThings } from '../../contract/admin/holds.ts';
import { CommandFailure } from '../shell/command.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';

/** The holds of operators and what builds did in ended rollouts, or why a daemon did not show them. */
export type HoldsReading =
  | { readonly kind: 'known'; readonly held: HeldThings; readonly history: readonly BuildOutcome[] }
  | { readonly kind: 'unknown'; readonly why: string };

/** Asks the daemon for its holds and its history. @throws CommandFailure when `--url` names the daemon, and it does not answer */
export async function readHolds(target: DaemonTarget): Promise<HoldsReading> {
  try {
    const [held, history] = await withDaemon(target, (client) =>
      Promise.all([client.listHolds(), client.listBuildHistory()]),
    );
    return { kind: 'known', held, history };
  } catch (error) {
    if (!(error instanceof CommandFailure) || target.url !== undefined) throw error;
    const { cause, message } = error;
    return { kind: 'unknown', why: cause instanceof AdminClientFault ? cause.message : message };
  }
}
