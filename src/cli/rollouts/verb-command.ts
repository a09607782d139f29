import { toPrintable } from '../../base/safe-text.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { retriedText, staysHeldText } from '../../rollout/messages/consequences.ts';
import type { AskedVerb, RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printAnswer } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import type { ExitCode } from '../shell/exit-codes.ts';
import { type AnswerInput, operatorName } from '../shell/operator.ts';
import { findRollout } from './choose-rollout.ts';
import { confirmRollback } from './confirm-rollback.ts';
import { confirmRetryOf, confirmVerb } from './confirm-verb.ts';
import { renderStatus } from './render-status.ts';

export interface VerbOptions extends DaemonTarget {
  readonly reason?: string;
  /** The target that was shown: with `approve` a plan's hash or a wave, with `skip-soak` a wave. */
  readonly plan?: string;
  readonly wave?: string;
  /** With `resume`: the number of the hold. */
  readonly hold?: number;
  /** With `retry`: how many had failed. */
  readonly failed?: number;
  /** With `retry`: only failures of this class, or with these words in their reason. */
  readonly cause?: string;
  /** With each verb that asks: show the target, and do not ask. */
  readonly yes?: boolean;
  /** With `rollback`: how many collectors were shown. */
  readonly collectors?: number;
  /** With `rollback`: start also outside windows and inside freezes. */
  readonly now?: boolean;
}

/**
 * `upwave pause | resume | approve | … [rollout]`: when it returns, the verb is in force (P4). A verb that starts or
 * widens something names its target. Without a target the command shows it and asks (P15).
 */
export async function verbCommand(
  verb: RolloutVerb,
  named: string | undefined,
  options: VerbOptions,
  output: ConsoleOutput,
  input: AnswerInput = process.stdin,
): Promise<ExitCode> {
  const status = await withDaemon(options, async (client) => {
    const chosen = await findRollout(client, named, verb);
    const cause = verb === 'retry' ? options.cause : undefined;
    const { yes = false, reason } = options;
    const consent = { yes, reason, input, output: output.err, columns: output.columns };
    const asked =
      verb === 'rollback'
        ? await confirmRollback(client, chosen, options, { input, output })
        : (namedIn[verb](options) ??
          (cause === undefined
            ? await confirmVerb(chosen, verb, consent)
            : await confirmRetryOf(client, chosen, cause, consent)));
    const request = { rolloutId: chosen.id, by: operatorName(), reason: options.reason ?? '', ...asked };
    const withCause = request.verb === 'retry' && cause !== undefined;
    const after = await client.apply(withCause ? { ...request, cause } : request);
    if (request.verb === 'approve')
      output.err.write(
        `${toPrintable(approvedText(chosen, 'wave' in request ? request.wave : undefined))}\n`,
      );
    const held = [
      verb === 'retry' ? retriedText(chosen, after) : '',
      verb === 'retry' || verb === 'resume' ? staysHeldText(verb, chosen, after) : '',
    ];
    for (const text of held.filter((each) => each !== '')) output.err.write(`${toPrintable(text)}\n`);
    return after;
  });
  return printAnswer(output, options, status, () => renderStatus(status, Date.now(), output));
}

/** The target that the command line names; undefined without one. @throws CommandFailure when it names two */
const namedIn: Readonly<Record<RolloutVerb, (options: VerbOptions) => AskedVerb | undefined>> = {
  approve: ({ plan, wave }) => {
    if (plan === undefined) return wave === undefined ? undefined : { verb: 'approve', wave };
    if (wave === undefined) return { verb: 'approve', planHash: plan };
    throw new UsageFailure('name a plan or a wave, not both');
  },
  skipSoak: ({ wave }) => (wave === undefined ? undefined : { verb: 'skipSoak', wave }),
  resume: ({ hold }) => (hold === undefined ? undefined : { verb: 'resume', hold }),
  retry: ({ failed }) => (failed === undefined ? undefined : { verb: 'retry', failed }),
  pause: () => undefined,
  abort: () => undefined,
  rollback: () => undefined,
};

/** What a successful `approve` has done, computed from the rollout before it. */
function approvedText({ id, state, waves, planHash }: RolloutStatus, wave: string | undefined): string {
  const what = wave === undefined ? `plan ${planHash} of ${id}` : `wave ${wave} of ${id}`;
  const waited =
    wave === undefined
      ? state === 'awaitingApproval'
      : waves.some((each) => each.name === wave && each.state === 'awaitingApproval' && each.waits !== null);
  return waited ? `approved ${what}` : `${what} was approved already`;
}
