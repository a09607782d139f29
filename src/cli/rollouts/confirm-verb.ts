import type { AdminClient } from '../../admin-api/client/admin-client.ts';
import { toPrintable } from '../../base/safe-text.ts';
import { showCount, singularOrPlural } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { chosenRetriesText, consequenceText } from '../../rollout/messages/consequences.ts';
import { planFacts, planWarnings } from '../../rollout/messages/plans.ts';
import { refusalText } from '../../rollout/messages/refusal-texts.ts';
import { counted, stateText } from '../../rollout/messages/sentences.ts';
import { isRolloutEnd } from '../../rollout/model/rollout.ts';
import { failedStates } from '../../rollout/model/upgrade.ts';
import { commandFor, quoteArgument } from '../../rollout/status/command-for.ts';
import { makeFailureFilter } from '../../rollout/status/failure-filter.ts';
import { askedNow } from '../../rollout/status/legal-verbs.ts';
import { type AskedVerb, type RolloutVerb, verbTraits } from '../../rollout/verbs/judge-verb.ts';
import { CommandFailure } from '../shell/command.ts';
import { exitCodes } from '../shell/exit-codes.ts';
import { type AnswerInput, confirm } from '../shell/operator.ts';
import { showZoned } from '../shell/show-instant.ts';
import { fitTexts } from './fit-lines.ts';
import { readUpgrades } from './read-upgrades.ts';

interface Consent {
  /** `--yes`: the question is shown, and not asked. */
  readonly yes: boolean;
  readonly input: AnswerInput;
  readonly output: NodeJS.WritableStream;
  readonly reason?: string | undefined;
  /** Of the terminal; absent: none. */
  readonly columns?: number | undefined;
}

/**
 * Shows the target of a verb that was given without one, and asks (P15).
 * @throws CommandFailure when there is no target, or no consent
 */
export async function confirmVerb(
  status: RolloutStatus,
  verb: RolloutVerb,
  consent: Consent,
): Promise<AskedVerb> {
  const asked = askedNow(status, verb);
  if (asked === undefined) throw new CommandFailure(exitCodes.heldOrNeedsAPerson, nothingText(status, verb));
  // An abort names nothing, and can't be undone.
  const isAbort = verb === 'abort';
  if (isAbort && refusesAbort(status))
    throw new CommandFailure(exitCodes.heldOrNeedsAPerson, nothingText(status, verb));
  const command = `${commandFor(status, verb)}${isAbort ? ' --yes' : ''}`;
  if (isAbort || verbTraits[verb].needsName)
    await showAndAsk(questionLines(status, asked, Date.now(), consent.columns).join('\n'), command, consent);
  return asked;
}

/**
 * Shows how many failures `retry --cause` means, and asks (P15). The daemon refuses a class that no failure has.
 * @throws CommandFailure when nothing has failed, or without consent
 */
export async function confirmRetryOf(
  client: Pick<AdminClient, 'searchUpgrades'>,
  status: RolloutStatus,
  cause: string,
  consent: Consent,
): Promise<AskedVerb> {
  const asked = askedNow(status, 'retry');
  if (asked === undefined || !('failed' in asked))
    throw new CommandFailure(exitCodes.heldOrNeedsAPerson, nothingText(status, 'retry'));
  const { collectors } = await readUpgrades(client, status.id, { state: [...failedStates] });
  const chosen = collectors.filter(makeFailureFilter(cause));
  const count = chosen.length;
  if (count === 0) return asked;
  const when = chosenRetriesText(
    status,
    chosen.map(({ group, stratum }) => group ?? stratum),
  );
  const which = `${showCount(count)} of the ${counted(asked.failed, 'failure')} of ${status.id}`;
  const question = `${which} ${singularOrPlural(count, 'matches', 'match')} "${cause}". Retry ${singularOrPlural(count, 'it', 'them')}?`;
  const command = `${commandFor(status, 'retry')} --cause ${quoteArgument(cause)}`;
  const lines = [when, question].filter((line) => line !== '').map((line) => toPrintable(line));
  await showAndAsk(lines.join('\n'), command, consent);
  return asked;
}

/** Asks. With `--yes` it only shows what is confirmed, for a log. */
async function showAndAsk(question: string, command: string, consent: Consent): Promise<void> {
  if (consent.yes) consent.output.write(`${question} yes\n`);
  else await confirm(question, command, consent);
}

/** What the verb would do, each fact on a line of its own, and at the end the question whether it should. */
export function questionLines(
  status: RolloutStatus,
  asked: AskedVerb,
  now: EpochMs,
  columns: number | undefined,
): readonly string[] {
  const words = consequenceText(asked.verb, status, { now, showAt: (at) => showZoned(at, now) });
  const checks = 'planHash' in asked ? [...planWarnings(status, []), ...planFacts(status)] : [];
  const facts = [...words, ...checks];
  return [...fitTexts(facts, columns), toPrintable(questionText(status.id, asked))];
}

function questionText(id: string, asked: AskedVerb): string {
  switch (asked.verb) {
    case 'approve':
      return `Approve ${'wave' in asked ? `wave ${asked.wave}` : `plan ${asked.planHash}`} of ${id}?`;
    case 'skipSoak':
      return `End the soak of wave ${asked.wave} of ${id} now?`;
    case 'resume':
      return `Resume ${id}?`;
    case 'retry':
      return `Retry the failed collectors of ${id}?`;
    case 'abort':
      return `End ${id}? This can't be undone.`;
    case 'pause':
      return `Pause ${id}?`;
    // Its preview is asked of the daemon.
    case 'rollback':
      return '';
    default:
      return asked satisfies never;
  }
}

/** Whether the daemon would refuse an abort, so that a person is not asked first. */
function refusesAbort({ state, verbs }: RolloutStatus): boolean {
  const refuses = state === 'rollingBack' || (isRolloutEnd(state) && state !== 'aborted');
  return refuses && !verbs.includes('abort');
}

/** Why there is nothing to apply a verb to. */
export function nothingText({ id, state, rollbackId: rollback }: RolloutStatus, verb: RolloutVerb): string {
  switch (verb) {
    case 'approve':
      return `${id} does not wait for approval (${stateText(state)})`;
    case 'skipSoak':
      return `no wave of ${id} is soaking`;
    case 'resume':
      return `${id} is ${stateText(state)}: it is neither held nor paused`;
    case 'retry':
      return `no collector of ${id} has failed`;
    case 'abort':
      if (state === 'rollingBack') return `${id}: ${refusalText({ kind: 'rollingBack', rollback })}`;
      return `${id} is ${stateText(state)}`;
    case 'pause':
    case 'rollback':
      return `${id} is ${stateText(state)}`;
    default:
      return verb satisfies never;
  }
}
