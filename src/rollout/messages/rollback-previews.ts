import { formatDuration } from '../../base/time.ts';
import type { ShownLeftBehind } from '../../contract/admin/status-parts.ts';
import type { RollbackPreview } from '../../contract/admin/verbs.ts';
import { durationText } from './plans.ts';
import { counted } from './sentences.ts';

/** A fact of a preview, with what it is about. */
type Fact = readonly [about: string, words: string];

/**
 * What a rollback would do, fact by fact; without its window, whose instants the reader's clock shows.
 * @param isNow whether it ignores windows, freezes and pace
 */
export function rollbackFacts(preview: RollbackPreview, isNow: boolean): readonly Fact[] {
  const { running, uncertain, builds, leftBehind, waves, concurrency, caps, perHour } = preview;
  const capText = caps.map(({ key, cap }) => `; ${cap} at a time for each ${key}`).join('');
  const facts: readonly Fact[] = [
    ['to', builds.map(({ build, count }) => `${build} (${count})`).join(', ')],
    [
      'running',
      running > 0
        ? `${counted(running, 'of them is', 'of them are')} still being upgraded; each ends first`
        : '',
    ],
    [
      'uncertain',
      uncertain > 0
        ? counted(
            uncertain,
            'of them never showed the build; it goes back only if it does',
            'of them never showed the build; they go back only if they do',
          )
        : '',
    ],
    ...leftBehind.map((left): Fact => ['stays', leftBehindLine(left)]),
    ...waves.map(({ name, size, soakMs, maxFailures }, index): Fact => {
      const members = size === null ? 'those that match' : `${index === 0 ? 'at most ' : ''}${size}`;
      const soak = soakMs > 0 ? `, soak ${formatDuration(soakMs)}` : '';
      return [name, `${members}, ${maxFailures} may fail${soak}`];
    }),
    ['limits', `${concurrency} at a time${capText}${perHour === null ? '' : `; ${perHour} an hour`}`],
    ['takes', durationText(isNow ? preview.estimateNow : preview.estimate)],
  ];
  return facts.filter(([, words]) => words !== '');
}

/** What a rollback skips that starts now, and what it keeps. */
export function startNowText({ window, perHour }: Pick<RollbackPreview, 'window' | 'perHour'>): string {
  const skipped = [
    ...(window === null ? [] : ['windows and freezes']),
    ...(perHour === null ? [] : [`the pace of ${perHour} an hour`]),
  ];
  const what =
    skipped.length === 0
      ? 'changes nothing, because the policy has no windows, freezes or pace'
      : `ignores ${skipped.join(', and ')}`;
  return `${what}; running upgrades still end first, and the canary still soaks`;
}

/** Collectors that a rollback leaves for one reason: `3: not listed: web-1 (had 19.402-1), …`. */
export function leftBehindLine(left: ShownLeftBehind): string {
  return `${left.count}: ${leftBehindWords(left)}`;
}

/** The same without their number. */
export function leftBehindWords({ reason, count, names }: ShownLeftBehind): string {
  return `${reason}: ${names.join(', ')}${count > names.length ? ', …' : ''}`;
}
