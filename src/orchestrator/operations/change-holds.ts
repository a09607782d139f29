import { invariant } from '../../base/assert.ts';
import type { HeldSubject, HeldThings } from '../../contract/admin/holds.ts';
import { heldGroup } from '../../rollout/decision/outlier-group.ts';
import type { RolloutFact } from '../../rollout/decision/rollout-facts.ts';
import { stratumWhyText } from '../../rollout/messages/stratum-reasons.ts';
import { findStratum, indexOfStratum } from '../../rollout/model/plan-groups.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import { wavesWithout } from '../../rollout/status/not-judged.ts';
import type { UpgradeFact } from '../../rollout/upgrade/facts.ts';
import type { FleetRegister, HoldEntry } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import {
  changeRollout,
  type StopRolloutParts,
  stopRollout,
  waitForLeavingCreates,
} from '../records/change-rollout.ts';
import { type RecordParts, recordFact } from '../records/change-upgrade.ts';
import {
  type FindSubjectsParts,
  findSubjects,
  noteOfBuild,
  noteOfCollector,
  noteOfRollback,
} from './held-subjects.ts';
import type { HoldRequest, HoldResult } from './operations.ts';

export interface HoldsParts extends FindSubjectsParts, StopRolloutParts, RecordParts {
  readonly store: RolloutStore;
  readonly register: FleetRegister;
}

/** Holds a build over all policies, a collector over all rollouts, or a stratum or a group in the rollouts that have it. */
export async function holdSubjects(parts: HoldsParts, request: HoldRequest): Promise<HoldResult> {
  const found = await findSubjects(parts, request.subject, 'hold');
  if (found.kind !== 'found') return found;
  const changed = await changeEach(parts, request, found, holdOne);
  const { collectors } = found;
  const result = collectors === undefined ? changed : { ...changed, collectors };
  // Only after the hold: notes for the operator must not delay the brake.
  const note =
    found.note ??
    (await noteOfBuild(parts, found.subjects)) ??
    (await noteOfRollback(parts, found.subjects)) ??
    (await noteOfCollector(parts, found.subjects));
  return note === undefined ? result : { ...result, note };
}

/** The reverse of `holdSubjects`. Earlier failures of a released stratum no longer block it. */
export async function releaseSubjects(parts: HoldsParts, request: HoldRequest): Promise<HoldResult> {
  const found = await findSubjects(parts, request.subject, 'release');
  if (found.kind !== 'found') return found;
  const waves: Array<ReturnType<typeof wavesWithout>[number]> = [];
  const result = await changeEach(parts, request, found, async (...released) => {
    const { did, notJudged } = await releaseOne(...released);
    waves.push(...notJudged);
    return did;
  });
  const note =
    found.note ??
    (waves.length > 0 ? ({ kind: 'notJudged', waves } as const) : undefined) ??
    (await noteOfCollector(parts, found.subjects));
  return note === undefined ? result : { ...result, note };
}

/** @param ofAccount the name of the account, where the config has several */
export async function listHolds(
  { store, register, claims }: Pick<HoldsParts, 'store' | 'register' | 'claims'>,
  ofAccount: { readonly accountName?: string } = {},
): Promise<HeldThings> {
  const { builds: held, collectors, groups } = await register.holds();
  const builds = held.map((hold) => ({ ...hold, ...ofAccount }));
  const strata: Array<HeldThings['strata'][number]> = [];
  const rollouts = await store.currentRollouts(await claims.names());
  for (const rollout of rollouts) {
    const { id, policy, endedAt } = rollout;
    const of = { policy: policy.name, rolloutId: id, isEnded: endedAt !== null };
    for (const { label, reason, by, at } of rollout.strata.held)
      strata.push({ ...of, label, reason: stratumWhyText(reason), by, at });
  }
  return { builds, collectors, groups, strata };
}

/** One result for all subjects: done when at least one changed. */
async function changeEach(
  parts: HoldsParts,
  request: HoldRequest,
  { subjects }: { readonly subjects: readonly HeldSubject[] },
  changeOne: (parts: HoldsParts, subject: HeldSubject, request: HoldRequest) => Promise<boolean>,
) {
  const changed: HeldSubject[] = [];
  for (const subject of subjects) if (await changeOne(parts, subject, request)) changed.push(subject);
  const subject = changed[0] ?? subjects[0];
  invariant(subject !== undefined, 'a subject that was found');
  return { kind: changed.length > 0 ? 'done' : 'unchanged', subject } as const;
}

/** @returns whether anything changed */
async function holdOne(
  parts: HoldsParts,
  subject: HeldSubject,
  { by, reason }: HoldRequest,
): Promise<boolean> {
  const at = parts.clock.now();
  switch (subject.kind) {
    case 'build': {
      const did = await parts.register.holdBuild({ build: subject.build, by, reason, at });
      if (did === 'held') await audit(parts, { at, event: 'build.held', subject: subject.build, by, reason });
      // Also if it was held before: the daemon that held it may have crashed right after storing the hold.
      let stopped = false;
      for (const rolloutId of await parts.store.activeRolloutIds(await parts.claims.names())) {
        const view = await stopRollout(parts, rolloutId, by, (current) => holdForBuild(current, at));
        stopped ||= view !== undefined && holdForBuild(view, at) !== undefined;
      }
      return did === 'held' || stopped;
    }
    case 'collector': {
      const { collectorId } = subject;
      const name = subject.name === String(collectorId) ? {} : { name: subject.name };
      const did = await parts.register.holdCollector({ collectorId, ...name, by, reason, at });
      if (did === 'held') await auditCollector(parts, 'collector.held', subject, { at, by, reason });
      // Also if it was held before: the daemon that held it may have crashed right after storing the hold.
      await withdraw(parts, collectorId, { kind: 'collectorHeld', by, words: reason });
      return did === 'held';
    }
    case 'group': {
      const { label, attributes } = subject;
      const did = await parts.register.holdGroup({ label, attributes, by, reason, at });
      if (did === 'held') await audit(parts, { at, event: 'group.held', subject: label, by, reason });
      return did === 'held';
    }
    case 'stratum': {
      const factOf = ({ rollout, groups }: RolloutView): RolloutFact | undefined => {
        if (rollout.unreadable !== undefined || rollout.endedAt !== null) return undefined;
        const known = findStratum(rollout.strata.held, subject.label);
        const before = known.kind === 'found' ? rollout.strata.held[known.stratum] : undefined;
        const { label } = before ?? subject;
        // The daemon may end its own hold. A person's hold lasts until a release (P4).
        const isDaemons = before?.reason.kind === 'outlier' && before.attributes === undefined;
        if (before !== undefined && !isDaemons) return undefined;
        const asked = { kind: 'asked', by, words: reason } as const;
        if (subject.attributes !== undefined) {
          const { attributes } = subject;
          return { kind: 'groupHeld', at, held: heldGroup({ label, attributes, by, at }, asked) };
        }
        const held = { stratum: indexOfStratum(groups.strata, label), label, reason: asked, by, at };
        return { kind: 'strataHeld', at, strata: [held] };
      };
      const view = await stopRollout(parts, subject.rolloutId, by, factOf);
      const did = view !== undefined && factOf(view) !== undefined;
      if (did) await auditStratum(parts, 'stratum.held', subject, { by, reason, at });
      return did;
    }
    default:
      return subject satisfies never;
  }
}

async function releaseOne(
  parts: HoldsParts,
  subject: HeldSubject,
  { by, reason }: HoldRequest,
): Promise<{ readonly did: boolean; readonly notJudged: ReturnType<typeof wavesWithout> }> {
  const at = parts.clock.now();
  switch (subject.kind) {
    case 'build': {
      if ((await parts.register.releaseBuild(subject.build)) === 'unchanged')
        return { did: false, notJudged: [] };
      await audit(parts, { at, event: 'build.released', subject: subject.build, by, reason });
      return { did: true, notJudged: [] };
    }
    case 'collector': {
      const { collectorId } = subject;
      if ((await parts.register.releaseCollector(collectorId)) === 'unchanged')
        return { did: false, notJudged: [] };
      await auditCollector(parts, 'collector.released', subject, { at, by, reason });
      return { did: true, notJudged: [] };
    }
    case 'group': {
      const { label } = subject;
      if ((await parts.register.releaseGroup(label)) === 'unchanged') return { did: false, notJudged: [] };
      await audit(parts, { at, event: 'group.released', subject: label, by, reason });
      return { did: true, notJudged: [] };
    }
    case 'stratum': {
      let did = false;
      let notJudged: ReturnType<typeof wavesWithout> = [];
      await changeRollout(parts, subject.rolloutId, by, (view) => {
        const held = view.rollout.strata.held.find(({ label }) => label === subject.label);
        did = held !== undefined;
        if (held === undefined) return undefined;
        const asked = { kind: 'asked', by, words: reason } as const;
        const { stratum, label } = held;
        notJudged = wavesWithout(view, stratum);
        return { kind: 'stratumReleased', at, stratum, label, reason: asked, view };
      });
      if (did) await auditStratum(parts, 'stratum.released', subject, { by, reason, at });
      return { did, notJudged: did ? notJudged : [] };
    }
    default:
      return subject satisfies never;
  }
}

async function auditStratum(
  { register }: Pick<HoldsParts, 'register'>,
  event: 'stratum.held' | 'stratum.released',
  { label, rolloutId }: Extract<HeldSubject, { kind: 'stratum' }>,
  words: Pick<HoldRequest, 'by' | 'reason'> & { readonly at: number },
): Promise<void> {
  await register.audit({ event, subject: `${label} of ${rolloutId}`, ...words });
}

/** People read the audit, so it has the name, too. */
async function auditCollector(
  parts: Parameters<typeof audit>[0],
  event: 'collector.held' | 'collector.released',
  { collectorId, name }: Extract<HeldSubject, { kind: 'collector' }>,
  words: Pick<HoldRequest, 'by' | 'reason'> & { readonly at: number },
): Promise<void> {
  const id = String(collectorId);
  const entry = { event, subject: id, ...words };
  await audit(parts, entry, name === id ? entry : { ...entry, subject: `${id} ${name}` });
}

function holdForBuild({ rollout, buildHold }: RolloutView, at: number) {
  const isStoppable = rollout.state === 'running' || rollout.hold?.heldFor !== undefined;
  if (!isStoppable || buildHold === null) return undefined;
  const { build, reason } = buildHold;
  return { kind: 'held', at, reason: { kind: 'buildHeld', build, reason } } as const;
}

/** Withdraws the collector from every rollout in which it has not started. Running upgrades are watched to their end (P5). */
async function withdraw(parts: HoldsParts, collectorId: number, reason: UpgradeReason): Promise<void> {
  for (const rolloutId of await parts.store.activeRolloutIds(await parts.claims.names())) {
    const rollout = await parts.store.loadRollout(rolloutId);
    const { upgrades, unreadable } = await parts.store.loadUpgrades(rolloutId, [collectorId]);
    // An upgrade with an unreadable record starts nothing, and its state is unknown.
    if (unreadable.length > 0) await waitForLeavingCreates(parts, rolloutId);
    const [upgrade] = upgrades;
    if (rollout === undefined || upgrade === undefined) continue;
    const fact: UpgradeFact = { kind: 'withdrawn', at: parts.clock.now(), reason };
    await recordFact(parts, rollout, upgrade, fact);
    if (upgrade.progress.state === 'starting' || upgrade.progress.state === 'queued')
      await waitForLeavingCreates(parts, rolloutId);
  }
}

async function audit(
  parts: Pick<HoldsParts, 'register' | 'sink' | 'wakeUps'>,
  entry: HoldEntry,
  written = entry,
): Promise<void> {
  await parts.register.audit(written);
  parts.sink.note(entry);
  parts.wakeUps.wake();
}
