import { toPrintable } from '../../base/safe-text.ts';
import { formatAttributes, type SharedAttribute } from '../model/attributes.ts';
import type { Rollout } from '../model/rollout.ts';
import type { AskedVerb, RolloutVerb } from '../verbs/verbs.ts';
import { askedNow, type ShownRollout } from './legal-verbs.ts';

/** What an operator types for each verb. */
export const commandNames: Readonly<Record<RolloutVerb, string>> = {
  pause: 'pause',
  resume: 'resume',
  approve: 'approve',
  skipSoak: 'skip-soak',
  abort: 'abort',
  rollback: 'rollback',
  retry: 'retry',
};

/** Of a status, what its commands name. */
interface CommandedRollout extends ShownRollout, Pick<Rollout, 'id' | 'rollbackOf' | 'rollbackId'> {
  readonly policy: string;
}

/**
 * The whole command for a verb as this status would mean it: `upwave approve production --wave rest`. A verb that has
 * nothing to name is shown without.
 */
export function commandFor(status: CommandedRollout, verb: RolloutVerb): string {
  const { id, policy, rollbackOf, rollbackId } = status;
  // A rollout and its rollback are of one policy.
  const name = rollbackOf === null && rollbackId === null ? policy : id;
  const asked = askedNow(status, verb);
  return [
    'upwave',
    commandNames[verb],
    quoteArgument(name),
    ...(asked === undefined ? [] : optionsOf(asked)),
  ].join(' ');
}

function optionsOf(asked: AskedVerb): readonly string[] {
  if ('wave' in asked) return ['--wave', quoteArgument(asked.wave)];
  if ('planHash' in asked) return ['--plan', quoteArgument(asked.planHash)];
  if ('hold' in asked) return ['--hold', String(asked.hold)];
  if ('failed' in asked) return ['--failed', String(asked.failed)];
  return 'now' in asked && asked.now ? ['--now'] : [];
}

/**
 * Holds the collectors alone that share what explains the failures; undefined where they are held, where nothing is left
 * to hold, or where their attributes are not known.
 */
export function holdCommandOf({
  sharedAttribute: shared,
  strata,
  endedAt,
}: {
  readonly sharedAttribute: SharedAttribute | null;
  readonly strata: { readonly held: ReadonlyArray<{ readonly label: string }> };
  readonly endedAt: number | null;
}): string | undefined {
  if (shared?.share === undefined || endedAt !== null) return undefined;
  const name = formatAttributes(shared.attributes);
  return strata.held.some(({ label }) => label === name) ? undefined : `upwave hold ${quoteArgument(name)}`;
}

/** A text as one argument of a command that is meant to be copied: names come from machines, and a shell obeys some. */
export function quoteArgument(text: string): string {
  const printable = toPrintable(text);
  if (/^[\w./:@+-]+$/.test(printable)) return printable;
  return /^[\w./:@+ ,()=-]+$/.test(printable) ? `"${printable}"` : `'${printable.replaceAll("'", "'\\''")}'`;
}
