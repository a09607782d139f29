import { notInConfig } from '../../base/names.ts';
import { toPrintable } from '../../base/safe-text.ts';
import type { ManagementClient } from '../../collector-api/management/management-client.ts';
import { isConflict } from '../../collector-api/wire/client-refusals.ts';
import { accountConfigsOf } from '../../config/account-configs.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { makeManagementAccess } from '../../daemon/management-access.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { describeFailure, type ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { echoedSecretsOf } from '../shell/choose-redis.ts';
import { CommandFailure, type GlobalOptions, UsageFailure } from '../shell/command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { openConfig } from '../shell/open-config.ts';
import { openReadWindow } from '../shell/read-window.ts';
import { makeServiceReporter, noAnswer } from '../shell/service-notes.ts';
import { stopSignal } from '../shell/stop-signal.ts';

export interface InventoryOptions extends GlobalOptions {
  /** The account, where the config has several. */
  readonly account?: string;
}

/** What a command needs to call the service. */
export interface ServiceDesk {
  readonly management: ManagementClient;
  /** Fires when the operator presses Ctrl-C. */
  readonly stop: AbortSignal;
  /** The value of an answer. @throws CommandFailure in words for a person, when there is none */
  orFail<T>(answer: Answer<T>): T;
}

/** Opens the configured service for one command, and leaves nothing open. @throws CommandFailure */
export async function withManagement<T>(
  at: Pick<InventoryOptions, 'config' | 'account'>,
  output: ConsoleOutput,
  work: (desk: ServiceDesk) => Promise<T>,
): Promise<T> {
  const config = openConfig(at.config);
  const own = chooseAccount(config, at.account);
  output.addSecrets?.(echoedSecretsOf(config));
  const access = makeManagementAccess(own.service, {
    ...makeServiceReporter(output),
    readWindow: openReadWindow(output),
  });
  const orFail = <V>(answer: Answer<V>): V => {
    if (answer.ok) return answer.value;
    throw commandFailure(answer.failure, own);
  };
  try {
    return await work({ management: access.management, stop: stopSignal(), orFail });
  } finally {
    await access.close();
  }
}

/** @throws CommandFailure when the name is unknown, or is missing where there are several accounts */
function chooseAccount(config: Config, named: string | undefined): AccountConfig {
  const accounts = accountConfigsOf(config);
  const [first] = accounts;
  if (named === undefined && first !== undefined && accounts.length === 1) return first;
  const names = accounts.flatMap(({ account }) => account ?? []);
  if (named === undefined)
    throw new UsageFailure(`name the account with --account; the config has ${names.join(', ')}`);
  const found = accounts.find(({ account }) => account === named);
  if (found === undefined) throw unknownAccount(named, names);
  return found;
}

/** @param known the accounts of the config; none where it has only service */
export function unknownAccount(named: string, known: readonly string[]): UsageFailure {
  const hasAccounts = known.length > 0;
  return new UsageFailure(
    hasAccounts ? notInConfig('account', named, known) : 'the config has no accounts, only service',
  );
}

function commandFailure(failure: ServiceFailure, config: AccountConfig): CommandFailure {
  const words = toPrintable(failureText(failure));
  switch (failure.kind) {
    case 'unavailable':
    case 'throttled':
    case 'signInThrottled':
      return noAnswer(config, failure, words);
    case 'cancelled':
      return new CommandFailure(exitCodes.unreachable, words);
    case 'refused':
      return isConflict(failure)
        ? new CommandFailure(
            exitCodes.heldOrNeedsAPerson,
            `someone else changes it at the same time: ${words}`,
          )
        : new UsageFailure(words);
    case 'notFound':
    case 'misconfigured':
      return new UsageFailure(words);
  }
}

function failureText(failure: ServiceFailure): string {
  // The service's own message contains the code already.
  if (failure.kind === 'refused') return failure.detail;
  const words = describeFailure(failure);
  const isInDoubt = (failure.kind === 'unavailable' || failure.kind === 'cancelled') && failure.sent;
  return isInDoubt
    ? `${words} The change may have been made nevertheless: check before you repeat it.`
    : words;
}
