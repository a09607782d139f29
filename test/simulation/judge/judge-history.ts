import { isSameBuild } from '../../../src/base/build-version.ts';
import type { FrozenPlan } from '../../../src/orchestrator/ports/rollout-store.ts';
import { type Attribute, formatAttributes, membersWith } from '../../../src/rollout/model/attributes.ts';
import type { WaveRule } from '../../../src/rollout/model/policy.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import type { BuildFigures, BuildRecord } from '../../../src/rollout/report/build-record.ts';
import type { Night } from '../night.ts';

interface Trials {
  readonly tried: number;
  readonly failed: number;
}

// A plan reads what builds did some time before it is frozen.
const readWithinMs = 120_000;

// One failure of two is no finding.
const triedMin = 3;
// Of more groups, only the riskiest are tried first.
const groupsMax = 10;

/**
 * Judges what a plan made of the groups that failed in ended rollouts: the first wave with a seat for a group takes one of it
 * (DESIGN §4, Waves), and the figures that the plan names are those of the records.
 */
export function judgeHistory(night: Night, plan: FrozenPlan): void {
  const { rollout, groups, attributes: table } = plan;
  const all = night.buildHistory.knownFor(0);
  const records = night.buildHistory.knownFor(readWithinMs + night.staleMs);
  if (rollout.kind === 'rollback' || table === undefined || records.length === 0) return;
  const { targetBuild } = rollout.plan;
  const known = new Set(
    all.flatMap((record) => record.groups.map(({ attributes }) => formatAttributes(attributes))),
  );
  if (records.length === all.length)
    for (const { label, tried, failed } of groups.risks ?? []) {
      const own = trialsOf(records, label);
      night.verdicts.check(
        'P16',
        own.tried === tried && own.failed === failed,
        `${rollout.id} counts ${failed} failures of ${tried} for ${label}, and there were ${own.failed} of ${own.tried}`,
      );
    }
  if (known.size > groupsMax) return;
  const risky = riskyIn(records, targetBuild);
  const stillRisky = new Set(riskyIn(all, targetBuild).map(({ label }) => label));
  const mayBeRisky = new Set(
    all.flatMap((record) => record.groups.flatMap((group) => membersWith(table, group.attributes))),
  );
  for (const { label, attributes } of risky) {
    if (!stillRisky.has(label)) continue;
    const members = new Set(membersWith(table, attributes));
    const missed = missedIn(night, plan, { members, mayBeRisky });
    night.verdicts.check(
      'P3',
      missed === undefined,
      `${rollout.id} tries nobody of ${label} in ${missed?.wave}, which has a seat for ${missed?.collectorId}`,
    );
  }
}

/** The first wave that has a seat for a group, and no member of it; and a member that could have it. */
function missedIn(
  night: Night,
  { rollout, upgrades }: FrozenPlan,
  {
    members,
    mayBeRisky,
  }: { readonly members: ReadonlySet<number>; readonly mayBeRisky: ReadonlySet<number> },
): { readonly wave: string; readonly collectorId: number } | undefined {
  const isMember = ({ identity }: Upgrade) => members.has(identity.collectorId);
  for (const [wave, rule] of rollout.policy.waves.slice(0, -1).entries()) {
    const inWave = upgrades.filter(({ identity }) => identity.wave === wave);
    if (inWave.some(isMember)) return undefined;
    const later = upgrades.filter(({ identity }) => identity.wave > wave);
    const matches = matchOf(night, rollout.id, rule, inWave);
    const free = later.filter(isMember).find((member) => {
      // The last of a domain stays for the last wave.
      const isKept = member.identity.domains.some(
        (domain) => later.filter(({ identity }) => identity.domains.includes(domain)).length < 2,
      );
      const isSeatFree = inWave.some(
        ({ identity }) =>
          identity.stratum === member.identity.stratum && !mayBeRisky.has(identity.collectorId),
      );
      return !isKept && isSeatFree && matches(member);
    });
    if (free !== undefined) return { wave: rule.name, collectorId: free.identity.collectorId };
  }
  return undefined;
}

/** Whom a wave may take, as far as worlds have a `match`; anybody, where the first wave found nobody. */
function matchOf(
  night: Night,
  rolloutId: string,
  { match }: WaveRule,
  inWave: readonly Upgrade[],
): (upgrade: Upgrade) => boolean {
  const { collectors } = night.serviceOf(rolloutId);
  const isMatch = ({ identity: { collectorId } }: Upgrade) =>
    match?.osName?.includes(collectors.get(collectorId)?.about.osName ?? '') !== false;
  return inWave.some(isMatch) ? isMatch : () => true;
}

/** Groups that fail more often than all, on the target and on the other builds, wherever they were tried. */
function riskyIn(
  records: readonly BuildRecord[],
  targetBuild: string,
): ReadonlyArray<{ readonly label: string; readonly attributes: readonly Attribute[] }> {
  const all = sumOf(
    records.flatMap(({ strata, others }) => [...strata, ...(others === null ? [] : [others])]),
  );
  const isTarget = ({ build }: BuildRecord) => isSameBuild(build, targetBuild);
  const groups = new Map(
    records.flatMap((record) =>
      record.groups.map(({ attributes }) => [formatAttributes(attributes), attributes] as const),
    ),
  );
  return [...groups].flatMap(([label, attributes]) => {
    const own = trialsOf(records, label);
    const parts = [records.filter(isTarget), records.filter((record) => !isTarget(record))];
    const isAbove = parts
      .map((some) => trialsOf(some, label))
      .filter(({ tried }) => tried > 0)
      .every(({ tried, failed }) => failed * all.tried > all.failed * tried);
    return isAbove && own.tried >= triedMin ? [{ label, attributes }] : [];
  });
}

function trialsOf(records: readonly BuildRecord[], label: string): Trials {
  const own = records.flatMap(({ groups }) =>
    groups.filter(({ attributes }) => formatAttributes(attributes) === label),
  );
  return own.reduce((sum, { tried, failed }) => ({ tried: sum.tried + tried, failed: sum.failed + failed }), {
    tried: 0,
    failed: 0,
  });
}

function sumOf(figures: readonly BuildFigures[]): Trials {
  let [tried, failed] = [0, 0];
  for (const each of figures) {
    tried += each.tried;
    failed += Object.values(each.failed).reduce((sum, count) => sum + count, 0);
  }
  return { tried, failed };
}
