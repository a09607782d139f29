import { type AdminClient, makeAdminClient } from '../admin-api/admin-client.ts';
import { AdminClientFault } from '../admin-api/admin-client-fault.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { CommandFailure } from './command-failure.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { openConfig } from './open-config.ts';

export interface DaemonTarget {
  readonly config: string;
  /** Of the daemon; with it, no config is read. */
  readonly url?: string;
}

/** Asks the daemon, in words for a person where that fails, and leaves nothing open. @throws CommandFailure */
export async function withDaemon<T>(
  target: DaemonTarget,
  ask: (client: AdminClient) => Promise<T>,
): Promise<T> {
  const client = makeAdminClient(placeOf(target));
  try {
    return await ask(client);
  } catch (error) {
    if (error instanceof AdminClientFault) {
      const hint = error.kind === 'unreachable' ? '; is `upwave run` running there?' : '';
      throw new CommandFailure(exitCodeOf(error), `${error.message}${hint}`, { cause: error });
    }
    throw error;
  } finally {
    await client.close();
  }
}

/**
 * The rollout that is meant: by its id, by its policy's name, or the only one that is on its way.
 * @throws CommandFailure when that is none, or more than one
 */
export function pickRollout(rollouts: readonly RolloutStatus[], named: string | undefined): RolloutStatus {
  const active = rollouts.filter(({ endedAt }) => endedAt === null);
  const matching =
    named === undefined ? active : rollouts.filter(({ id, policy }) => id === named || policy === named);
  const [first] = matching;
  if (first !== undefined && (named !== undefined || matching.length === 1)) return first;
  const choice = active.map(({ id }) => id).join(', ') || 'none';
  const what = named === undefined ? 'say which rollout' : `no rollout and no policy is called ${named}`;
  throw new CommandFailure(exitCodes.usageOrConfig, `${what}; on their way: ${choice}`);
}

function placeOf({ config, url }: DaemonTarget): Parameters<typeof makeAdminClient>[0] {
  if (url !== undefined) return { baseUrl: url, token: process.env['UPWAVE_TOKEN'] };
  const { http } = openConfig(config);
  // A daemon that listens on every address is reached on this machine's own.
  const host = http.host === '0.0.0.0' ? '127.0.0.1' : http.host === '::' ? '[::1]' : http.host;
  return { baseUrl: `http://${host}:${http.port}`, token: http.token?.reveal() };
}

function exitCodeOf({ kind }: AdminClientFault): ExitCode {
  if (kind === 'unreachable' || kind === 'unavailable') return exitCodes.unreachable;
  return kind === 'refused' ? exitCodes.heldOrNeedsAPerson : exitCodes.usageOrConfig;
}
