import { createHash } from 'node:crypto';
import type { FrozenPlan } from '../../../src/orchestrator/ports/rollout-store.ts';
import type { FleetCollector } from '../../../src/rollout/model/collector.ts';
import type { Policy, WaveRule } from '../../../src/rollout/model/policy.ts';
import { isUnderWay } from '../../../src/rollout/model/upgrade.ts';
import type { Night } from '../night.ts';
import type { ProcessModel } from '../world/process-model.ts';

// A scan that began before there was a newer config may be on its way for so long, faults not counted.
const scanMs = 60_000;

/** Judges a new plan: where daemons disagree about a policy, those with the newest config make it (P5). */
export function judgePlan(night: Night, process: ProcessModel, plan: FrozenPlan): void {
  const { rollout } = plan;
  if (rollout.kind === 'rollback') {
    judgeRollback(night, plan);
    return;
  }
  // While a daemon still has the former name of a renamed policy, it plans that, too. No other config judges that plan.
  const isKept = night.configs.at(-1)?.some(({ name }) => name === rollout.policy.name) === true;
  if (isKept) judgeConfig(night, process, rollout.policy.name, () => `${process.name} planned ${rollout.id}`);
  judgeOrphans(night, plan);
}

/** A policy is planned after the running upgrades of its collectors have ended, which one of another name began (P2). */
function judgeOrphans(night: Night, { rollout, upgrades }: FrozenPlan): void {
  const now = night.scheduler.now();
  const planned = new Set(upgrades.map(({ identity }) => identity.collectorId));
  for (const other of night.seen.all.values()) {
    const { id, policy } = other.rollout;
    if (policy.name === rollout.policy.name || night.missingSince(policy.name) === undefined) continue;
    const both = [...other.upgrades.values()].find(
      ({ identity, progress, tally }) =>
        planned.has(identity.collectorId) &&
        isUnderWay(progress.state) &&
        now - (tally.firstStartedAt ?? now) > scanMs + night.staleMs,
    );
    const who = both?.identity.collectorId;
    night.verdicts.check(
      'P2',
      both === undefined,
      `${rollout.id} plans ${who}, which ${id} of a removed policy is upgrading`,
    );
  }
}

/** Judges the plan of a rollback: a canary goes before the rest (P3), and whoever asked saw so many (P15). */
function judgeRollback({ verdicts, seen, orders }: Night, { rollout, upgrades, groups }: FrozenPlan): void {
  const original = seen.all.get(rollout.rollback.original ?? '')?.rollout;
  if (original === undefined || upgrades.length === 0) return;
  const canary = upgrades.filter(({ identity: { wave } }) => wave === 0).length;
  const { waves, concurrency } = original.policy;
  const half = Math.max(1, Math.floor(upgrades.length / 2));
  const allowed = Math.min(half, canaryOf(waves, upgrades.length, groups.strata.length));
  verdicts.check(
    'P3',
    canary > 0 && canary <= allowed,
    `${canary} of ${upgrades.length} collectors are the canary of ${rollout.id}, allowed ${allowed}`,
  );
  // Nobody is asked where a breach leads to it.
  const shown = original.reason.kind === 'asked' ? orders.shownOf(original.id) : undefined;
  if (shown === undefined) return;
  // So many may have been upgraded between the look and the word, and until the word was in force.
  verdicts.check(
    'P15',
    upgrades.length <= shown + 2 * concurrency,
    `${rollout.id} takes ${upgrades.length} collectors back, and ${shown} were shown`,
  );
}

/** The most collectors that go first, by the rule of a policy's first wave. */
function canaryOf([first, ...others]: readonly WaveRule[], planned: number, strata: number): number {
  if (first === undefined || others.length === 0) return strata;
  // Where nobody matches, one of each stratum goes first.
  const least = first.match === undefined ? 0 : strata;
  if (first.size.kind === 'perStratum') return Math.max(least, first.size.count * strata);
  if (first.size.kind === 'count') return Math.max(least, first.size.count);
  return Math.max(least, 1, Math.ceil((planned * first.size.percent) / 100 - 1e-9));
}

/** Judges late joiners: the plan's own policy and the newest config select each of them (P5). */
export function judgeJoiners(night: Night, process: ProcessModel, { rollout, upgrades }: FrozenPlan): void {
  const { verdicts, configs } = night;
  const of = night.seen.all.get(rollout.id);
  const newest = configs.at(-1)?.find(({ name }) => name === rollout.policy.name);
  const { account } = process.host;
  verdicts.check(
    'P5',
    of === undefined || of.account === account,
    `${process.name} added collectors of account ${account} to ${rollout.id}, which is of another`,
  );
  // A held group gets a stratum in the same way, and nobody joins by that.
  if (upgrades.length === 0) return;
  if (newest !== undefined)
    judgeConfig(
      night,
      process,
      rollout.policy.name,
      () => `${process.name} added ${upgrades.length} collectors to ${rollout.id}`,
    );
  const isKnown = isNewestKnown(night, rollout.policy.name);
  const last = rollout.waves.length - 1;
  // A held stratum starts nothing.
  const held = rollout.strata.held.map(({ stratum }) => stratum);
  const earlier = [
    ...(of?.upgrades.values() ?? []),
    ...upgrades.filter(({ identity }) => identity.wave !== last),
  ];
  const tried = new Set([...held, ...earlier.map(({ identity }) => identity.stratum)]);
  for (const {
    identity: { collectorId, stratum, wave },
  } of upgrades) {
    const isTried = last === 0 || wave < last || tried.has(stratum);
    verdicts.check(
      'P3',
      isTried,
      `${process.name} added ${collectorId} of a new stratum to the last wave of ${rollout.id}`,
    );
    const about = night.serviceOf(rollout.id).collectors.get(collectorId)?.about;
    if (about === undefined || of?.upgrades.has(collectorId) === true) continue;
    const who = () => `${process.name} added ${collectorId} to ${rollout.id}`;
    verdicts.check('P5', isSelected(rollout.policy, about), `${who()}, whose policy leaves it out`);
    if (newest !== undefined && isKnown)
      verdicts.check('P5', isSelected(newest, about), `${who()}, which the newest config leaves out`);
  }
}

function judgeConfig(night: Night, { host }: ProcessModel, policy: string, who: () => string): void {
  night.verdicts.check(
    'P5',
    night.selectsAnew(host.config) || !isNewestKnown(night, policy),
    `${who()} with config ${host.config}, and a newer one is there since ${night.newestSince(policy)}`,
  );
}

function isNewestKnown(night: Night, policy: string): boolean {
  return night.scheduler.now() - night.newestSince(policy) > scanMs + night.staleMs;
}

/** Whether a policy selects a collector, as far as worlds have selectors. */
export function isSelected(
  { select }: Pick<Policy, 'select'>,
  about: Pick<FleetCollector, 'id' | 'osName' | 'fields'>,
): boolean {
  const { share = 100 } = select;
  // One of ten thousand steps of a hash, by arithmetic of its own.
  const hash = BigInt(`0x${createHash('sha256').update(`share/${about.id}`).digest('hex').slice(0, 12)}`);
  if (Number(hash % 1_000_000n) >= share * 10_000) return false;
  return !select.exclude.some(
    ({ osName, id, fields }) =>
      (osName !== undefined && about.osName.startsWith('Mac')) ||
      id?.includes(about.id) === true ||
      fields?.['cluster']?.includes(about.fields['cluster'] ?? '') === true,
  );
}
