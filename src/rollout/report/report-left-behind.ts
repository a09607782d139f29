import { showCount } from '../../base/singular-or-plural.ts';
import { leftBehindText, leftCollectorText } from '../messages/exclusions.ts';
import { counted, stateText } from '../messages/sentences.ts';
import { type Block, headingBlock, instantText, tableBlock, textBlock } from './report-blocks.ts';
import type { ReportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';

/** Collectors that a rollback left on the build come first. */
export function leftBehindBlocks(input: ReportInput): readonly Block[] {
  const { status, left, figures } = input;
  const { missed, missedTotal, returned } = figures;
  const stays = [
    ...left.map(({ why, count, some }) => {
      const more = count > some.length ? [`… ${showCount(count - some.length)} more`] : [];
      const names = [...some.map(leftCollectorText), ...more].join(', ');
      return ['not rolled back', showCount(count), leftBehindText(why), names];
    }),
    ...status.leftOut.map(({ reason, count }) => ['left out of the plan', showCount(count), reason, '']),
  ];
  const rows = missed.map(({ id, name, build, wave, state, at, reason }) => [
    String(id),
    name,
    build,
    status.waves[wave]?.name ?? '',
    stateText(state),
    instantText(at),
    reason,
  ]);
  const more = missedTotal - missed.length;
  return [
    headingBlock('Left behind'),
    ...(stays.length === 0 ? [] : [tableBlock(['why', 'collectors', 'reason', 'such as'], stays)]),
    ...(returned.size === 0 ? [] : [tableBlock(['rolled back to', 'collectors'], returnedRows(returned))]),
    ...(rows.length === 0
      ? allDone(input)
      : [
          tableBlock(
            ['id', 'collector', 'build before', 'wave', 'state', 'at', 'reason'],
            rows,
            // They are for looking one up, and the causes stand above.
            { name: 'collectors', rowsMax: 5 },
          ),
        ]),
    ...(more === 0
      ? []
      : [
          textBlock(
            `${counted(more, 'more collector was', 'more collectors were')} not upgraded: upwave export ${status.id} lists all.`,
          ),
        ]),
  ];
}

function returnedRows(returned: ReportFigures['returned']): ReadonlyArray<readonly string[]> {
  return [...returned].sort(([, a], [, b]) => b - a).map(([build, count]) => [build, showCount(count)]);
}

function allDone({ status, figures: { returned } }: ReportInput): readonly Block[] {
  if (returned.size > 0) return [];
  const done = status.kind === 'rollback' ? 'went back' : 'was upgraded';
  return [textBlock(`Every planned collector ${done}.`)];
}
