import type { BuildHistory } from '../../../src/orchestrator/ports/build-history.ts';
import type { Attribute } from '../../../src/rollout/model/attributes.ts';
import type { BuildRecord } from '../../../src/rollout/report/build-record.ts';
import { makeMemoryBuildHistory } from '../../support/store/memory-build-history.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { Setup } from '../setup.ts';
import { themeOf } from '../themes.ts';
import { oldBuilds } from './night-fleet.ts';

/** What builds did in ended rollouts of a night, and in some nights in one before it. */
export interface PastBuilds extends BuildHistory {
  /** The records that the store has had for so long. */
  knownFor(ms: number): readonly BuildRecord[];
  /** The store loses all of them. */
  forget(): void;
}

const dayMs = 86_400_000;

export function makePastBuilds(setup: Setup, policy: string, now: () => number): PastBuilds {
  let kept = makeMemoryBuildHistory();
  const known = new Map<string, { readonly record: BuildRecord; readonly since: number }>();
  const record = (one: BuildRecord, since: number): Promise<void> => {
    known.set(one.rolloutId, { record: one, since });
    return kept.record(one);
  };
  const before = drawRecord(setup, policy, now());
  if (before !== undefined) void record(before, before.endedAt);
  return {
    recorded: () => kept.recorded(),
    record: (one) => record(one, now()),
    read: (limit) => kept.read(limit),
    knownFor: (ms) =>
      [...known.values()].flatMap(({ record: one, since }) => (now() - since >= ms ? [one] : [])),
    forget: () => {
      kept = makeMemoryBuildHistory();
      known.clear();
    },
  };
}

const groupsMax = 3;
// So many that no groups of a record together fail as often as each of them.
const othersTried = 1_000;

/** The record of an older rollout to an older build, to which some groups of collectors failed. */
function drawRecord(setup: Setup, policy: string, now: number): BuildRecord | undefined {
  if (themeOf(setup) !== 'recordedHistory') return undefined;
  const chances = makeChances(setup.seed, 'past builds');
  const groups = Array.from({ length: chances.int(1, groupsMax) }, () => {
    const tried = chances.int(4, 20);
    return { attributes: drawGroup(chances), tried, failed: chances.int(Math.ceil(tried / 2), tried) };
  });
  const failed = groups.reduce((sum, group) => sum + group.failed, 0);
  const figures = { tried: othersTried, failed: { permanent: failed }, returned: othersTried - failed };
  return {
    rolloutId: `${policy}-20251101-1`,
    policy,
    build: oldBuilds[1],
    endedAt: now - chances.int(1, 50) * dayMs,
    strata: [{ label: 'all', ...figures, medianMs: 300_000 }],
    others: null,
    groups,
  };
}

function drawGroup(chances: Chances): readonly Attribute[] {
  return chances.pick<readonly Attribute[]>([
    [{ key: 'fields.cluster', value: `c${chances.int(1, 3)}` }],
    [{ key: 'osName', value: 'Windows' }],
    [{ key: 'osArch', value: 'arm64' }],
    [{ key: 'category', value: 'db' }],
    [
      { key: 'osArch', value: 'arm64' },
      { key: 'category', value: 'web' },
    ],
  ]);
}
