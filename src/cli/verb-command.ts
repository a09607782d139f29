import { toPrintable } from '../base/printable.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import type { UpgradeFailureClass } from '../rollout/upgrade.ts';
import type { RolloutVerb } from '../rollout/verbs.ts';
import { chooseRollout } from './choose-rollout.ts';
import type { ConsoleOutput } from './console-output.ts';
import { type DaemonTarget, makeRuleBook, withDaemon } from './daemon-target.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { listRollouts } from './list-rollouts.ts';
import { operatorName } from './operator-name.ts';
import { printJson } from './print-json.ts';
import { renderStatus } from './render-status.ts';

export interface VerbOptions extends DaemonTarget {
  readonly reason?: string;
  /** With `approve`: the hash of the plan that is meant. */
  readonly plan?: string;
  /** With `retry`: only failures of this kind. */
  readonly class?: UpgradeFailureClass;
  readonly json: boolean;
}

/** `upwave pause | resume | approve | … [rollout]`: when it returns, the verb holds (P4). */
export async function verbCommand(
  verb: RolloutVerb,
  named: string | undefined,
  options: VerbOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  const rules = makeRuleBook(options);
  const status = await withDaemon(options, async (client) => {
    const chosen = chooseRollout(await listRollouts(client, named), named, verb);
    const words = { rolloutId: chosen.id, verb, by: operatorName(), reason: options.reason ?? '' };
    if (verb === 'retry') {
      return client.apply({ ...words, ...(options.class && { failureClass: options.class }) });
    }
    if (verb !== 'approve') return client.apply(words);
    // Without a hash, the plan as it was just read is meant: one that changed since is refused.
    const planHash = options.plan ?? chosen.planHash;
    const approved = await client.apply({ ...words, planHash });
    output.err.write(`${toPrintable(approvedWords(chosen, planHash))}\n`);
    return approved;
  });
  if (options.json) printJson(output, status);
  else output.out.write(`${renderStatus(status, Date.now(), output, rules(status))}\n`);
  return exitCodes.done;
}

/** What an `approve` that was not refused has done, from the rollout as it was before. */
function approvedWords({ id, state, waves }: RolloutStatus, planHash: string): string {
  if (state === 'awaitingApproval') return `approved plan ${planHash} of ${id}`;
  const wave = waves.find((each) => each.state === 'awaitingApproval' && each.waits !== null);
  return wave === undefined
    ? `nothing of ${id} waited for approval: it has it already`
    : `approved wave ${wave.name} of ${id}`;
}
