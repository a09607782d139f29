import { toPrintable } from '../../base/safe-text.ts';
import type { ShownLeftOut } from '../../contract/admin/status-parts.ts';
import { type GroupedFailures, groupToHold } from '../decision/group-to-hold.ts';
import type { LeftOutKind } from '../model/left-out.ts';
import type { AskedVerb, RolloutVerb } from '../verbs/judge-verb.ts';
import { askedNow, type ShownRollout } from './legal-verbs.ts';

/** The subcommand for a verb: `skip-soak` for `skipSoak`. */
export function commandName(verb: RolloutVerb): string {
  return verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The part of a status that its commands need. */
interface CommandedRollout extends ShownRollout {
  readonly id: string;
  readonly policy: string;
  readonly rollbackOf: string | null;
  readonly rollbackId: string | null;
}

/** The complete command for a verb that fits this status, such as `upwave approve production --wave rest`. */
export function commandFor(status: CommandedRollout, verb: RolloutVerb): string {
  const { id, policy, rollbackOf, rollbackId } = status;
  // A rollout and its rollback have the same policy, so its name would be ambiguous.
  const name = rollbackOf === null && rollbackId === null ? policy : id;
  const asked = askedNow(status, verb);
  return [
    'upwave',
    commandName(verb),
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

/** The command that holds only the group of collectors that explains the failures. */
export function holdCommandOf(failures: GroupedFailures): string | undefined {
  const group = groupToHold(failures);
  return group === undefined ? undefined : `upwave hold ${quoteArgument(group)}`;
}

/** At most as many strata are released together. A longer command would fill the screen. */
export const releasedMax = 3;

/** The command that releases these strata, or lists what is held where they are many; undefined without any. */
export function releaseCommandOf(labels: readonly string[]): string | undefined {
  if (labels.length === 0) return undefined;
  if (labels.length > releasedMax) return 'upwave holds';
  return `upwave release ${labels.map(quoteArgument).join(' ')}`;
}

// A new plan does not have the reasons of the others.
const namedKinds: ReadonlySet<LeftOutKind> = new Set([
  ...(['notSelected', 'excluded', 'notInShare', 'newer', 'held', 'notAlive', 'notOffered'] as const),
]);

/** The command that names the collectors which a plan leaves out for one reason. Undefined: no command names them. */
export function leftOutCommandOf(policy: string, { kind, reason }: ShownLeftOut): string | undefined {
  if (!namedKinds.has(kind)) return undefined;
  return `upwave plan ${quoteArgument(policy)} --members | grep -F ${quoteArgument(`: ${reason}`)}`;
}

/** Quotes a text as one shell argument, because operators copy these commands and names are untrusted input. */
export function quoteArgument(text: string): string {
  const printable = toPrintable(text);
  if (/^[\w./:@+-]+$/.test(printable)) return printable;
  return /^[\w./:@+ ,()=-]+$/.test(printable) ? `"${printable}"` : `'${printable.replaceAll("'", "'\\''")}'`;
}
