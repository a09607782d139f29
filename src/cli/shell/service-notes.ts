import { toPrintable } from '../../base/safe-text.ts';
import type { DurationMs } from '../../base/time.ts';
import type { AccountConfig } from '../../config/config.ts';
import type { ConsoleOutput } from './console-output.ts';

/** What a person hears of the service while a command of his goes on; on stderr, so that a report stays one. */
export interface ServiceTeller {
  /**
   * The service sent the command on to a host of `allowedHosts`: it worked, and costs a request more each time until
   * the config names the new address (P12). Reported once for each address.
   */
  readonly onMoved: (baseUrl: string) => void;
  /** Why a command says nothing for a while. */
  readonly onPauseWait: (wait: { readonly waitMs: DurationMs; readonly reason: string }) => void;
  /** What a list leaves out, so that a report that lacks it does not look whole. */
  readonly onUnusable: (rows: number) => void;
}

export function makeServiceReporter({ err }: Pick<ConsoleOutput, 'err'>): ServiceTeller {
  return {
    onMoved: (baseUrl) => {
      err.write(`note: this account is served at ${toPrintable(baseUrl)}: set service.baseUrl to it\n`);
    },
    onPauseWait: ({ waitMs, reason }) => {
      err.write(`waiting ${Math.ceil(waitMs / 1_000)} s: ${reason}\n`);
    },
    onUnusable: (rows) => {
      const what = rows === 1 ? 'entry' : 'entries';
      err.write(`warning: the service listed ${rows} ${what} that cannot be read: left out\n`);
    },
  };
}

/** Why the service did not do what was asked. The line names the place, which the operator checks first. */
export function noAnswerWords(
  { service }: Pick<AccountConfig, 'service'>,
  { isUnreached, reason }: { readonly isUnreached: boolean; readonly reason: string },
): string {
  return isUnreached
    ? `cannot reach the service at ${service.baseUrl}: ${reason}`
    : `the service at ${service.baseUrl} gave no usable answer: ${reason}`;
}
