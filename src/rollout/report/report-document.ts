import { showCount } from '../../base/singular-or-plural.ts';
import { formatDuration } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { fromText } from '../messages/plans.ts';
import { endText, starterText, stateText } from '../messages/sentences.ts';
import { sharedAttributeText } from '../messages/stop-causes.ts';
import { countLeft } from '../model/left-behind.ts';
import { durationText, failedIn, rolledBackCells, rolledBackColumns } from './figure-texts.ts';
import {
  type Block,
  headingBlock,
  instantText,
  type ReportDocument,
  tableBlock,
  textBlock,
} from './report-blocks.ts';
import type { GroupFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';
import { leftBehindBlocks } from './report-left-behind.ts';
import { peopleBlocks, rollbackOrder } from './report-people.ts';
import { waveBlocks } from './report-waves.ts';

/** Makes a report for a change ticket: what was upgraded when, failures with causes, actions, and what was not upgraded. */
export function reportDocument(input: ReportInput): ReportDocument {
  const { status } = input;
  const what = status.kind === 'rollback' ? 'Rollback' : 'Rollout';
  return {
    title: `${what} ${status.id}: ${outcomeText(status)}`,
    blocks: [
      ...summary(input),
      ...peopleBlocks(input),
      ...waveBlocks(input),
      ...failures(input),
      ...strata(input),
      ...actions(input),
      ...leftBehindBlocks(input),
    ],
  };
}

function outcomeText({ kind, state, endedAt, leftBehind }: RolloutStatus): string {
  return endedAt === null ? stateText(state) : endText(kind, state, { leavesSome: leftBehind.length > 0 });
}

function summary(input: ReportInput): readonly Block[] {
  const { status, figures, madeAt, installation } = input;
  const { all } = figures;
  const { planned, endedAt, createdAt, sharedAttribute: shared } = status;
  const [cause] = status.causes.find(({ of }) => of === 'failed')?.causes ?? [];
  const running = endedAt === null ? 'still running' : instantText(endedAt);
  const facts: ReadonlyArray<readonly [string, string]> = [
    ...(installation === undefined ? [] : [['installation', installation] as const]),
    ['policy', status.policy],
    ['builds', `${fromText(status) || 'unknown'} → ${status.backTo.join(', ') || status.targetBuild}`],
    ['plan', status.planHash],
    ['started', `${instantText(createdAt)}, by ${starterText(starterOf(input))}`],
    ['ended', running],
    ['took', formatDuration((endedAt ?? madeAt) - createdAt)],
    // While it runs, the reason is that of its state: who approved or resumed it.
    [
      endedAt === null ? 'state' : 'outcome',
      `${outcomeText(status)}${status.reason === '' ? '' : `: ${status.reason}`}`,
    ],
    ['collectors', [`${showCount(planned)} planned`, ...endTexts(status, all)].join(', ')],
    ...(cause === undefined
      ? []
      : [['main cause', `${showCount(cause.count)} failed: ${cause.text}`] as const]),
    ...(shared === null ? [] : [['in common', sharedAttributeText(shared)] as const]),
    ['one upgrade', durationText(all)],
    ['report made', instantText(madeAt)],
  ];
  return [tableBlock(['', ''], facts)];
}

/** An event or the audit has the name of the operator. It may be gone from a long history. */
function starterOf({ status, events, holdings }: ReportInput): string {
  const order = rollbackOrder(holdings, status);
  return order?.by ?? events.find(({ event }) => event === 'rollout.planned')?.by ?? status.startedBy;
}

function endTexts({ leftBehind }: RolloutStatus, all: GroupFigures): readonly string[] {
  const { succeeded, withdrawn, rolledBack } = all.ends;
  const left = countLeft(leftBehind);
  return [
    `${showCount(succeeded)} succeeded`,
    `${showCount(failedIn(all))} failed`,
    ...(withdrawn === 0 ? [] : [`${showCount(withdrawn)} withdrawn`]),
    ...(rolledBack === 0 ? [] : [`${showCount(rolledBack)} rolled back later`]),
    ...(left === 0 ? [] : [`${showCount(left)} not rolled back`]),
  ];
}

/** Failed attempts by cause, and then the upgrades that did not start: those are no failures. */
function failures({ status }: ReportInput): readonly Block[] {
  const { causes, sharedAttribute: shared } = status;
  const failed = causeRows(causes.filter(({ of }) => of === 'failed' || of === 'retrying'));
  const others = causeRows(causes.filter(({ of }) => of === 'deferred' || of === 'withdrawn'));
  const columns = ['outcome', 'collectors', 'cause', 'strata', 'such as'];
  return [
    ...(failed.length === 0
      ? [
          headingBlock('Failures'),
          textBlock(status.kind === 'rollback' ? 'No collector failed to go back.' : 'No upgrade failed.'),
        ]
      : [
          headingBlock('Failures by cause'),
          ...(shared === null ? [] : [textBlock(`In common: ${sharedAttributeText(shared)}.`)]),
          tableBlock(columns, failed),
        ]),
    ...(others.length === 0 ? [] : [headingBlock('Deferred and withdrawn'), tableBlock(columns, others)]),
  ];
}

function causeRows(groups: RolloutStatus['causes']): ReadonlyArray<readonly string[]> {
  return groups.flatMap((group) => [
    ...group.causes.map(({ text, count, strata, otherStrata, names }) => {
      const more = otherStrata.strata > 0 ? [`${otherStrata.strata} more`] : [];
      const where = [...strata.map(({ label }) => label), ...more].join('; ');
      return [group.of, showCount(count), text, where, names.join(', ')];
    }),
    ...(group.others.count === 0 ? [] : [[group.of, showCount(group.others.count), 'other causes', '', '']]),
  ]);
}

function strata({ figures, groups, status }: ReportInput): readonly Block[] {
  const rows = [...figures.strata].map(([index, group]) => [
    groups.strata[index]?.label ?? '',
    showCount(group.planned),
    showCount(group.ends.succeeded),
    ...rolledBackCells(figures, group),
    showCount(failedIn(group)),
    showCount(group.ends.withdrawn),
    durationText(group),
  ]);
  const held = status.strata.held.map(({ label, reason, by, at }) => [label, instantText(at), by, reason]);
  return [
    headingBlock('Strata'),
    tableBlock(
      [
        ...['stratum', 'planned', 'succeeded'],
        ...rolledBackColumns(figures),
        ...['failed', 'withdrawn', 'one upgrade'],
      ],
      rows,
      'strata',
    ),
    ...(held.length === 0
      ? []
      : [
          headingBlock('Held strata'),
          tableBlock(['stratum', 'since', 'by', 'reason, as it was then'], held),
        ]),
  ];
}

/** The events of the rollout itself and all actions of operators. */
function actions({ events }: ReportInput): readonly Block[] {
  const rows = events
    .filter(({ event, by }) => !event.startsWith('upgrade.') || by !== 'daemon')
    .map(({ at, event, by, wave, collectorName, reason }) => {
      const subject = collectorName ?? (wave === undefined ? '' : `wave ${wave}`);
      return [instantText(at), by, event, subject, reason];
    });
  return [headingBlock('Events'), tableBlock(['when', 'by', 'event', 'about', 'reason'], rows, 'events')];
}
