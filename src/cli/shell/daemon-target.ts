import { type AdminClient, makeAdminClient } from '../../admin-api/client/admin-client.ts';
import { AdminClientFault, type AdminClientFaultKind } from '../../admin-api/client/admin-client-fault.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { isPlainHttpUrl, writeAddress } from '../../base/url-authority.ts';
import { CommandFailure, type CommandOptions, UsageFailure } from './command.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { openDaemonConfig } from './open-config.ts';

export interface DaemonTarget extends CommandOptions {
  /** The URL of the daemon; default: `UPWAVE_URL`. With either, no config is read. */
  readonly url?: string;
}

/** Calls the daemon, and closes the connection. @throws CommandFailure with a message for the operator */
export async function withDaemon<T>(
  target: Omit<DaemonTarget, 'json'>,
  ask: (client: AdminClient) => Promise<T>,
): Promise<T> {
  const client = makeAdminClient(placeOf(target));
  try {
    return await ask(client);
  } catch (error) {
    if (error instanceof AdminClientFault) {
      const message = `${toPrintable(error.message)}${hints[error.kind] ?? ''}`;
      throw new CommandFailure(exitCodeOf(error), message, { cause: error });
    }
    throw error;
  } finally {
    await client.close();
  }
}

const hints: Partial<Record<AdminClientFaultKind, string>> = {
  unreachable: '; is `upwave run` running there?',
  otherProgram: '; check --url, UPWAVE_URL, or http.host and http.port of the config',
  unauthorized: '; set UPWAVE_TOKEN to a token of the daemon',
};

function placeOf(target: Omit<DaemonTarget, 'json'>): Parameters<typeof makeAdminClient>[0] {
  const url = target.url ?? (process.env['UPWAVE_URL'] || undefined);
  if (url !== undefined) return { baseUrl: checkedUrl(url), token: process.env['UPWAVE_TOKEN'] };
  const { http } = openDaemonConfig(target.config);
  if (http.port === 0) throw new UsageFailure(unknownPort);
  // A daemon that listens on all addresses is reached on the loopback address.
  const host = http.host === '0.0.0.0' ? '127.0.0.1' : http.host === '::' ? '::1' : http.host;
  return { baseUrl: `http://${writeAddress({ host, port: http.port })}`, token: http.token?.reveal() };
}

const unknownPort =
  'with http.port 0 the daemon takes another port at each start, and logs its address; name that with --url, or set http.port';

/** The message does not repeat the URL, which may contain a token (P12). */
function checkedUrl(text: string): string {
  if (isPlainHttpUrl(text)) return text;
  const message =
    '--url, or UPWAVE_URL, must be the address of the daemon, such as http://127.0.0.1:9464; the token is read from UPWAVE_TOKEN';
  throw new UsageFailure(message);
}

function exitCodeOf({ kind }: AdminClientFault): ExitCode {
  if (kind === 'unreachable' || kind === 'otherProgram' || kind === 'unavailable')
    return exitCodes.unreachable;
  return kind === 'refused' ? exitCodes.heldOrNeedsAPerson : exitCodes.usageOrConfig;
}
