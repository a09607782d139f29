import { toPrintable } from '../../base/safe-text.ts';
import { stateWords } from '../../rollout/model/upgrade.ts';
import type { Cause, CauseGroup } from '../../rollout/status/causes.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';
import { type Fit, fitLines } from './fit-lines.ts';

// A glance has room for the most frequent; `upgrades` shows all.
const causesShownMax = 3;

// A message may be as long as the service likes.
const linesOfCauseMax = 2;

/** Why upgrades failed, are retried, are deferred or were withdrawn, most frequent first, and how to see each of them. */
export function causeLines(
  { id, causes, strata }: Pick<RolloutStatus, 'id' | 'causes' | 'strata'>,
  fit: Fit,
): readonly string[] {
  const lines = causes.flatMap((group) => groupLines(group, strata.total > 1, fit));
  if (lines.length === 0) return [];
  return [
    ...lines,
    ...fitLines('', [`each of them: upwave upgrades ${quoteArgument(id)}${stateOption(causes)}`], fit),
  ];
}

/** Of the first group, which is the worst. */
function stateOption([first]: RolloutStatus['causes']): string {
  return first === undefined ? '' : ` --state ${first.of}`;
}

function groupLines({ of, total, causes }: CauseGroup, hasStrata: boolean, fit: Fit): readonly string[] {
  const shown = causes.slice(0, causesShownMax);
  const rest = total - shown.reduce((sum, { count }) => sum + count, 0);
  const texts = shown.map((cause) => causeWords(cause, hasStrata));
  if (rest > 0) texts.push(shown.length === 0 ? `${rest}, not read` : `${rest} for other reasons`);
  return texts.flatMap((text, index) => {
    const part = { text: toPrintable(text), color: of === 'failed' ? ('red' as const) : ('dim' as const) };
    return fitLines(index === 0 ? labels[of] : '', [part], fit, linesOfCauseMax);
  });
}

const labels: Readonly<Record<CauseGroup['of'], string>> = {
  failed: 'failed',
  retrying: 'retry',
  deferred: 'defer',
  withdrawn: '',
};

/** Kinds that the label of the line does not tell. */
const saysHow: ReadonlySet<Cause['kind']> = new Set(['timedOut', 'unconfirmed', 'withdrawn']);

/** `9 permission denied (6 strata, most Linux / amd64)   dev-web-224 and 8 more`. */
function causeWords({ kind, text, count, strata, otherStrata, names }: Cause, hasStrata: boolean): string {
  const how = saysHow.has(kind) ? ` ${stateWords(kind)}:` : '';
  const [first] = strata;
  const kinds = strata.length + otherStrata.strata;
  const where =
    !hasStrata || first === undefined
      ? ''
      : kinds === 1
        ? ` (${first.label})`
        : ` (${kinds} strata, most ${first.label})`;
  const more = count - 1;
  const who = names[0] === undefined ? '' : `   ${names[0]}${more > 0 ? ` and ${more} more` : ''}`;
  return `${count}${how} ${text || 'no reason given'}${where}${who}`;
}
