import { findTimeZone, utc } from '../../base/time-zone.ts';
import { nightChart } from '../../rollout/charts/night-chart.ts';
import { capitalized } from '../../rollout/messages/sentences.ts';
import {
  type Block,
  chartBlocks,
  headingBlock,
  type ReportDocument,
  tableBlock,
  textBlock,
  utcText,
} from '../../rollout/report/report-blocks.ts';
import { assumedText, notPlayedText } from './assumed-text.ts';
import {
  endText,
  figureRows,
  noVariantText,
  type ShownRehearsal,
  seedsText,
  variantColumns,
  variantRows,
  variantsHeading,
  waveRow,
} from './rehearsal-text.ts';

/** A rehearsal as a document, for an HTML page. */
export function rehearsalDocument(result: ShownRehearsal): ReportDocument {
  const { policy, targetBuild, rehearsal, holds } = result;
  const facts = [
    ['policy', policy],
    ['build', targetBuild],
    ['begins', utcText(rehearsal.beganAt)],
    ['collectors', `${rehearsal.planned} planned`],
    ['played', seedsText(result)],
    ['assumed', assumedText(result)],
    ['not played', notPlayedText(result)],
    // Others read the page, too: it does not name the address of the daemon.
    ...figureRows(holds?.kind === 'unknown' ? { ...result, holds: { kind: 'unknown' } } : result),
  ];
  return {
    title: `Rehearsal of ${policy}`,
    blocks: [
      tableBlock(['', ''], facts),
      ...verdictBlocks(result),
      headingBlock('Waves'),
      ...typicalBlocks(result),
      tableBlock(
        ['wave', 'collectors', 'opened', 'passed'],
        rehearsal.waves.map((wave) => waveRow(wave, result)),
      ),
      headingBlock('How it ends'),
      ...rehearsal.ends.map((end) => textBlock(endText(end, result))),
      ...heldBlocks(result),
      ...variantBlocks(result),
    ],
  };
}

function verdictBlocks({ verdicts }: ShownRehearsal): readonly Block[] {
  if (verdicts.length === 0) return [];
  const rows = verdicts.map(({ condition, isMet }) => [condition, isMet ? 'met: failed' : 'not met: passed']);
  return [headingBlock('Verdict'), tableBlock(['fails if', ''], rows)];
}

function variantBlocks(result: ShownRehearsal): readonly Block[] {
  if (result.variants.length === 0) return [];
  const rows = variantRows(result);
  return [
    headingBlock(capitalized(variantsHeading(result))),
    rows.length === 0 ? textBlock(noVariantText) : tableBlock(variantColumns, rows),
  ];
}

function heldBlocks({ rehearsal: { heldStrata, seeds } }: ShownRehearsal): readonly Block[] {
  if (heldStrata.length === 0) return [];
  const rows = heldStrata
    .slice(0, heldMax)
    .map(({ label, seeds: count }) => [label, `${Math.round((count / seeds) * 100)}%`]);
  return [headingBlock('Held strata'), tableBlock(['stratum', 'seeds'], rows)];
}

const heldMax = 20;

/** One seed in a picture, up to its end or its hold. */
function typicalBlocks(result: ShownRehearsal): readonly Block[] {
  const { rehearsal, timeZone } = result;
  const { seed, night, tookMs } = rehearsal.typical;
  const zone = findTimeZone(timeZone) ?? utc;
  const picture = nightChart(night, {
    zone: zone.name,
    localOf: zone.localOf,
    now: rehearsal.beganAt + tookMs,
    nowText: 'end of the rehearsal',
    eta: null,
    list: 'open',
  });
  if (picture === undefined) return [];
  return [
    textBlock(`The picture shows seed ${seed}. More seeds end like it than in any other way.`),
    ...chartBlocks(picture),
  ];
}
