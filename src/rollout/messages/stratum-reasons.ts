import { showCount } from '../../base/singular-or-plural.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import { parseAttributes } from '../model/attributes.ts';
import type { StratumReason } from '../model/upgrade-reason.ts';
import { counted, makeText } from './sentences.ts';

/** Why a stratum is held alone: `3 of 4 failed, 1 of 80 elsewhere, 7 failures not counted`. */
export const stratumReasonText = makeText<StratumReason>({
  outlier: ({ failed, tried, elsewhere, uncounted = 0 }) => {
    const more = uncounted === 0 ? '' : `, ${counted(uncounted, 'failure')} not counted`;
    return `${showCount(failed)} of ${showCount(tried)} failed, ${showCount(elsewhere.failed)} of ${showCount(elsewhere.tried)} elsewhere${more}`;
  },
  asked: byText,
});

/** `build 19.536-4 in account eu`; without its account where all accounts hold it. */
export function heldBuildName({ build, accountName }: Pick<BuildHold, 'build' | 'accountName'>): string {
  return `build ${build}${accountName === undefined ? '' : ` in account ${accountName}`}`;
}

/** What is held, by its label: `stratum Linux / amd64`, or `group fields.rack=r7`. */
export function heldName(label: string): string {
  return `${parseAttributes(label) === undefined ? 'stratum' : 'group'} ${label}`;
}

/** `stratum Linux is held: 3 of 4 failed, 1 of 80 elsewhere`, or `group fields.rack=r7 is held by ann: an incident`. */
export function stratumHeldText({
  label,
  reason,
}: {
  readonly label: string;
  readonly reason: StratumReason;
}) {
  return `${heldName(label)} is held${reason.kind === 'asked' ? ' ' : ': '}${stratumReasonText(reason)}`;
}

/** Why a stratum is held, without the operator's name: `an incident`. */
export function stratumWhyText(reason: StratumReason): string {
  return reason.kind === 'asked' ? reason.words : stratumReasonText(reason);
}

/** The same with its current failures, if they have changed: `3 of 4 failed, 1 of 80 elsewhere when it was held; 9 of 11 now`. */
export function stratumWhyNowText(
  reason: StratumReason,
  now: { readonly failed: number; readonly tried: number },
): string {
  const then = stratumWhyText(reason);
  if (reason.kind !== 'outlier' || now.tried === 0) return then;
  if (now.failed === reason.failed && now.tried === reason.tried) return then;
  return `${then} when it was held; ${showCount(now.failed)} of ${showCount(now.tried)} now`;
}

/** `by ann: an incident`. */
export function byText({ by, words }: { readonly by: string; readonly words: string }): string {
  return words === '' ? `by ${by}` : `by ${by}: ${words}`;
}

/** Which strata are held, and why, without the operator's name. */
export function heldText(
  strata: ReadonlyArray<{ readonly label: string; readonly reason: StratumReason }>,
): string {
  return strata
    .map(({ label, reason }) => [label, stratumWhyText(reason)].filter((part) => part !== '').join(': '))
    .join('; ');
}
