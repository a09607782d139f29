import { toPrintable } from '../../base/safe-text.ts';
import { stateWords } from '../../rollout/model/upgrade.ts';
import type { Cause, CauseGroup, OtherCauses } from '../../rollout/status/causes.ts';
import { quoteArgument } from '../../rollout/status/command-for.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';

const lineWidth = 80;
const labelWidth = 10;
const continuationIndent = labelWidth + 2;

/** Why upgrades failed, are retried, are deferred or were withdrawn, with strata and some names: lines of 80 columns. */
export function causeLines({
  id,
  causes,
  strata,
}: Pick<RolloutStatus, 'id' | 'causes' | 'strata'>): readonly string[] {
  const lines = causes.flatMap((group) => groupLines(group, strata.total > 1));
  if (lines.length === 0) return [];
  return [...lines, ...wrap('', `each with its time: upwave events ${quoteArgument(id)}`)];
}

function groupLines({ of, causes, others }: CauseGroup, hasStrata: boolean): readonly string[] {
  const words = causes.map((cause) => causeWords(cause, hasStrata));
  if (others.count > 0) words.push(othersWords(others, words.length > 0));
  return words.flatMap((text, index) => wrap(index === 0 ? of : '', toPrintable(text)));
}

function causeWords({ kind, text, count, strata, otherStrata, names }: Cause, hasStrata: boolean): string {
  const how = kind === 'timedOut' || kind === 'unconfirmed' ? ` ${stateWords(kind)}` : '';
  const who = `${names.join(', ')}${count > names.length ? ', …' : ''}`;
  const more =
    otherStrata.strata === 0
      ? ''
      : `, ${plural(otherStrata.strata, 'more strata', 'more stratum')} ×${otherStrata.count}`;
  const where = hasStrata ? `${strataWords(strata)}${more}; ` : '';
  return `${count}${how}: ${text || 'no reason given'} (${where}${who})`;
}

/** The first by its whole label, the next ones by the parts in which they differ from it: `Linux / amd64 ×3, arm64 ×1`. */
function strataWords(strata: Cause['strata']): string {
  const first = strata[0]?.label.split(' / ') ?? [];
  return strata
    .map(({ label, count }, index) => {
      const parts = label.split(' / ');
      const differ = parts.filter((part, at) => index === 0 || part !== first[at]);
      return `${differ.length === 0 ? label : differ.join(' / ')} ×${count}`;
    })
    .join(', ');
}

function othersWords({ count, causes, unread }: OtherCauses, isMore: boolean): string {
  const others = `${isMore ? 'and ' : ''}${plural(count, 'others', 'other')}`;
  if (causes === 0) return `${others}, not read`;
  return `${others} (${unread > 0 ? 'at least ' : ''}${plural(causes, 'causes', 'cause')})`;
}

function plural(count: number, many: string, one: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function wrap(label: string, words: string): readonly string[] {
  const lines: string[] = [];
  let current = label.padEnd(labelWidth);
  let isEmpty = true;
  for (const word of words.split(' ').flatMap(pieces)) {
    if (!isEmpty && current.length + 1 + word.length > lineWidth) {
      lines.push(current);
      current = ' '.repeat(continuationIndent);
      isEmpty = true;
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current];
}

/** A word that no line has room for, in pieces. */
function pieces(word: string): readonly string[] {
  const room = lineWidth - continuationIndent;
  const found: string[] = [];
  for (let at = 0; at < word.length; at += room) found.push(word.slice(at, at + room));
  return found;
}
