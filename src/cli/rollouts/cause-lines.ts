import type { Cause, CauseGroup, RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { type GroupedFailures, isExplainedByHold } from '../../rollout/decision/group-to-hold.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import { sharedAttributeText, unweighedText } from '../../rollout/messages/stop-causes.ts';
import { holdCommandOf, quoteArgument } from '../../rollout/status/command-for.ts';
import { type Fit, fitLines } from './fit-lines.ts';

/** How much of the causes is shown. */
export interface CausesCut {
  /** Causes of the worst group. Each other group has one or two. 0: only what the failures share, else one line of the first cause. */
  readonly causesMax: number;
  readonly groupsMax: number;
  /** Which commands list the upgrades: of each group and of the first cause, of each group, or of the worst one. */
  readonly lists: 'groupsAndCause' | 'groups' | 'worst';
}

const causesShownMax = 3;
const noLimit = Number.POSITIVE_INFINITY;

/** Where lines are short, causes are cut in this order, about a line in each step. `upgrades` shows all. */
export const causesCuts: readonly [CausesCut, ...CausesCut[]] = [
  { causesMax: causesShownMax, groupsMax: noLimit, lists: 'groupsAndCause' },
  { causesMax: causesShownMax, groupsMax: noLimit, lists: 'groups' },
  { causesMax: causesShownMax, groupsMax: noLimit, lists: 'worst' },
  { causesMax: 2, groupsMax: noLimit, lists: 'worst' },
  { causesMax: 1, groupsMax: noLimit, lists: 'worst' },
  { causesMax: 1, groupsMax: 1, lists: 'worst' },
];

// The service does not limit the length of a message.
const linesOfCauseMax = { worst: 2, other: 1 } as const;

type CausedRollout = GroupedFailures & Pick<RolloutStatus, 'id' | 'causes' | 'strata' | 'unweighedFields'>;

/**
 * Why upgrades failed, are retried, are deferred or were withdrawn, most frequent first, and how to see each of them
 * where a daemon can be asked.
 */
export function causeLines(
  status: CausedRollout,
  fit: Fit,
  {
    canBeAsked,
    hintsHold,
    cut,
  }: {
    readonly canBeAsked: boolean;
    /** False where another line has the command that holds the group. */
    readonly hintsHold: boolean;
    readonly cut: CausesCut;
  },
): readonly string[] {
  const { id, causes, strata, sharedAttribute: shared } = status;
  const { causesMax, groupsMax, lists } = cut;
  const isCut = lists === 'worst';
  const shown = causes.slice(0, groupsMax);
  const lines = shown.flatMap((group, index) => {
    const hasStrata = strata.total > 1 && shared === null;
    const linesMax = index === 0 ? linesOfCauseMax.worst : linesOfCauseMax.other;
    return groupLines(group, { isFirst: index === 0, hasStrata, linesMax, causesMax, isCut }, fit);
  });
  if (causes.length === 0) return [];
  const common = commonLines(status, fit);
  const last = causesMax === 0 && common.length === 0 ? lastCauseLines(status, fit) : [];
  if (last.length > 0) return last;
  const listOf = (label: string, group: CauseGroup['of']) =>
    `${label}: upwave upgrades ${quoteArgument(id)} --state ${group}`;
  const list = isCut
    ? causes.slice(0, 1).map((group) => listOf(moreText(shown, causesMax), group.of))
    : causes.flatMap(({ of: group }, index) => [
        listOf(causes.length === 1 ? 'list them' : `list ${group}`, group),
        ...(index === 0 && lists === 'groupsAndCause' ? reasonHint(causes) : []),
      ]);
  return [
    ...common,
    ...(hintsHold ? holdHint(status) : []).flatMap((hint) => fitLines('', [hint], fit)),
    ...lines,
    ...(isCut ? [] : unweighedLines(status, fit)),
    ...(canBeAsked ? fitLines('', list, fit) : []),
  ];
}

/** What stays of the causes where everything else is cut: what the failures share, else one line of the first cause. */
export function lastCauseLines(status: CausedRollout, fit: Fit): readonly string[] {
  const group = status.causes.find(({ of }) => of === 'failed');
  if (group === undefined) return [];
  const common = commonLines(status, fit, linesOfCauseMax.worst);
  if (common.length > 0) return common;
  const hasStrata = status.strata.total > 1 && status.sharedAttribute === null;
  const style = { isFirst: true, hasStrata, linesMax: 1, causesMax: 1, isCut: false };
  return groupLines(group, style, fit).slice(0, 1);
}

/** What the failures share. A held group has a line of its own, and what fails now is something else. */
function commonLines(status: CausedRollout, fit: Fit, linesMax?: number): readonly string[] {
  const { sharedAttribute: shared, causes } = status;
  if (shared === null || causes.length === 0 || isExplainedByHold(status)) return [];
  return fitLines('common', [{ text: sharedAttributeText(shared), color: 'red' }], fit, linesMax);
}

/** Fields by which failures are not weighed, where some have failed and nothing is known that they share. */
function unweighedLines(
  {
    causes,
    sharedAttribute,
    unweighedFields,
  }: Pick<RolloutStatus, 'causes' | 'sharedAttribute' | 'unweighedFields'>,
  fit: Fit,
): readonly string[] {
  const isOpen = sharedAttribute === null && causes.some(({ of: group }) => group === 'failed');
  return isOpen && unweighedFields.length > 0 ? fitLines('', [unweighedText(unweighedFields)], fit) : [];
}

/** The command that holds the collectors with the shared attribute; none where they are held, or nothing starts any more. */
function holdHint(status: GroupedFailures): readonly string[] {
  const command = holdCommandOf(status);
  return command === undefined ? [] : [`hold them alone: ${command}`];
}

// A longer reason would take lines from the rollout. Its beginning selects as well.
const reasonShownMax = 48;

/** How to list only the upgrades of the first cause, where its group has other causes. */
function reasonHint([first]: RolloutStatus['causes']): readonly string[] {
  const cause = first?.causes[0];
  if (first === undefined || cause === undefined || cause.count === first.total) return [];
  const text = cause.text.length <= reasonShownMax ? cause.text : beginningOf(cause.text);
  return text === '' ? [] : [`for one cause: add --cause ${quoteArgument(text)}`];
}

function beginningOf(text: string): string {
  const cut = text.slice(0, reasonShownMax);
  return cut.includes(' ') ? cut.slice(0, cut.lastIndexOf(' ')) : cut;
}

/** How many upgrades of the first group have causes that are not shown. Its name follows where another group is shown too. */
function moreText([first, ...others]: RolloutStatus['causes'], causesMax: number): string {
  if (first === undefined) return '';
  const shown = first.causes.slice(0, causesMax).reduce((sum, { count }) => sum + count, 0);
  if (first.total <= shown) return others.length === 0 ? 'list them' : `list ${first.of}`;
  const more = shown === 0 ? [] : ['more'];
  const name = shown === 0 || others.length > 0 ? [stateText(first.of)] : [];
  return `… ${[first.total - shown, ...more, ...name].join(' ')}`;
}

interface GroupStyle {
  readonly isFirst: boolean;
  readonly hasStrata: boolean;
  readonly linesMax: number;
  readonly causesMax: number;
  /** The line that lists the upgrades says how many are not shown. */
  readonly isCut: boolean;
}

function groupLines(
  shownGroup: CauseGroup,
  { isFirst, hasStrata, linesMax, causesMax, isCut }: GroupStyle,
  fit: Fit,
): readonly string[] {
  const { of: group, total, causes, others } = shownGroup;
  const { unread } = others;
  const named = causes.slice(0, isFirst ? causesMax : laterCausesMax(shownGroup));
  const rest = total - unread - named.reduce((sum, { count }) => sum + count, 0);
  const atLeast = unread > 0 ? 'at least ' : '';
  const texts = named.map((cause) => causeText(cause, hasStrata).map((text) => `${atLeast}${text}`));
  const more = [
    ...(rest > 0 ? [`${rest} for other reasons`] : []),
    ...(unread > 0 ? [`${unread} not read yet`] : []),
  ];
  // The line of the rollout shows the total of each later group, so what was not read is clear there.
  const isDue = isFirst ? !isCut : rest > 0 || named.length === 0;
  if (isDue && more.length > 0) texts.push([more.join(', ')]);
  return texts.flatMap((choices, index) => {
    const partOf = (text: string) => ({ text, color: group === 'failed' ? 'red' : 'dim' }) as const;
    const label = index === 0 ? labels[group] : '';
    const whole = choices.find((text) => fitLines(label, [partOf(text)], fit).length <= linesMax);
    return fitLines(label, [partOf(whole ?? choices.at(-1) ?? '')], fit, linesMax);
  });
}

/** A later group has one cause, and a second one instead of a line that only counts it. */
function laterCausesMax({ causes, others }: CauseGroup): number {
  return causes.length === 2 && others.count === others.unread ? 2 : 1;
}

const labels: Readonly<Record<CauseGroup['of'], string>> = {
  failed: 'failed',
  retrying: 'retry',
  deferred: 'defer',
  withdrawn: '',
};

/** Kinds that the label of the line does not name. */
const saysHow: ReadonlySet<Cause['kind']> = new Set(['timedOut', 'unconfirmed', 'withdrawn']);

/**
 * `9 permission denied (6 strata, most Linux / amd64)   dev-web-224 and 8 more`.
 * @returns the parts, and a shorter form for narrow lines
 */
function causeText(
  { kind, text, count, strata, otherStrata, names }: Cause,
  hasStrata: boolean,
): readonly string[] {
  const how = saysHow.has(kind) ? ` ${stateText(kind)}:` : '';
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
  const what = `${count}${how} ${text || 'no reason given'}`;
  return [`${what}${where}${who}`, `${what}${where}`, what];
}
