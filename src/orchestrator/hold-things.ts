import { parseBuildVersion } from '../base/build-version.ts';
import { parseCollectorId } from '../base/collector-id.ts';
import { nearestText } from '../base/nearest-text.ts';
import type { RolloutFact } from '../rollout/evolve-rollout.ts';
import type { UpgradeFact } from '../rollout/facts.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import { findStratum } from '../rollout/verbs.ts';
import { changeRollout, stopRollout, waitForLeavingCreates } from './change-rollout.ts';
import { recordFact } from './change-upgrade.ts';
import { askForCollector, findPlannedCollector } from './find-collector.ts';
import type { OperationsParts } from './make-operations.ts';
import type { HeldSubject, HeldThings, HoldRequest, HoldResult } from './operations.ts';
import type { HoldEntry } from './ports/fleet-register.ts';

type Found =
  | { readonly kind: 'found'; readonly subjects: readonly HeldSubject[] }
  | Extract<HoldResult, { kind: 'unknown' | 'unavailable' }>;

/** Holds a build over all policies, a collector over all rollouts, or a stratum in the rollouts that have it. */
export async function hold(parts: OperationsParts, request: HoldRequest): Promise<HoldResult> {
  const found = await findSubjects(parts, request.subject);
  if (found.kind !== 'found') return found;
  const results: HoldResult[] = [];
  for (const subject of found.subjects) results.push(await holdOne(parts, subject, request));
  return together(results, request);
}

/** The other way round; failures of a released stratum that were seen until now speak against it no more. */
export async function release(parts: OperationsParts, request: HoldRequest): Promise<HoldResult> {
  const found = await findSubjects(parts, request.subject);
  if (found.kind !== 'found') return found;
  const results: HoldResult[] = [];
  for (const subject of found.subjects) results.push(await releaseOne(parts, subject, request));
  return together(results, request);
}

export async function listHolds(parts: OperationsParts): Promise<HeldThings> {
  const { builds, collectors } = await parts.register.holds();
  const strata: Array<HeldThings['strata'][number]> = [];
  for (const rolloutId of await parts.store.activeRolloutIds(parts.policies)) {
    const rollout = await parts.store.loadRollout(rolloutId);
    for (const { label, reason, by, at } of rollout?.heldStrata ?? [])
      strata.push({ rolloutId, label, reason, by, at });
  }
  return { builds, collectors, strata };
}

/** What an operator's word names: a build by its form, a stratum by its label, anything else a collector. */
async function findSubjects(parts: OperationsParts, text: string): Promise<Found> {
  if (/-/.test(text) && parseBuildVersion(text) !== undefined)
    return { kind: 'found', subjects: [{ kind: 'build', build: text.trim() }] };
  const strata: HeldSubject[] = [];
  const known: string[] = [];
  for (const rolloutId of await parts.store.activeRolloutIds(parts.policies)) {
    const groups = await parts.store.loadGroups(rolloutId);
    const rollout = await parts.store.loadRollout(rolloutId);
    // A held one may have lost its last member.
    const labels = [...(groups?.strata ?? []), ...(rollout?.heldStrata ?? [])];
    known.push(...labels.map(({ label }) => label));
    const found = findStratum(labels, text);
    if (found.kind === 'found' && rollout?.brokenText !== undefined)
      return unreadableRollout(found.label, rolloutId);
    if (found.kind === 'found') strata.push({ kind: 'stratum', label: found.label, rolloutId });
  }
  if (strata.length > 0) return { kind: 'found', subjects: strata };
  return findCollector(parts, text, known);
}

/** Nothing of it starts, and what is said of it could not be kept. */
function unreadableRollout(label: string, rolloutId: string): Found {
  const reason = `stratum ${label} is of ${rolloutId}, whose record in Redis can't be read: nothing of it starts; abort it, or restore a backup`;
  return { kind: 'unknown', reason };
}

/** In our own records first: a service that stands still must not be in the way of who holds something back. */
async function findCollector(
  parts: OperationsParts,
  text: string,
  strata: readonly string[],
): Promise<Found> {
  const found = (collectorId: number, name: string): Found => ({
    kind: 'found',
    subjects: [{ kind: 'collector', collectorId, name }],
  });
  const planned = await findPlannedCollector(parts, text);
  if (planned !== undefined) return found(planned.collectorId, planned.collectorName);
  const id = parseCollectorId(text);
  const byId = id === undefined ? undefined : found(id, String(id));
  const held = id === undefined ? [] : await parts.register.holdsOf([id]);
  if (byId !== undefined && held.length > 0) return byId;
  const asked = await askForCollector(parts, text);
  if (asked.kind === 'found') return found(asked.collector.id, asked.collector.name);
  // One that can't be asked for now can still be named by its id.
  if (asked.kind === 'unavailable') return byId ?? asked;
  const nearest = nearestText(text, strata);
  const offer = nearest === undefined ? '' : `; did you mean the stratum ${JSON.stringify(nearest)}?`;
  const reason = `${text} is no build, no stratum of a rollout that is on its way, and no installed collector${offer}`;
  return { kind: 'unknown', reason };
}

async function holdOne(
  parts: OperationsParts,
  subject: HeldSubject,
  { by, reason }: HoldRequest,
): Promise<HoldResult> {
  const at = parts.clock.now();
  switch (subject.kind) {
    case 'build': {
      const did = await parts.register.holdBuild({ build: subject.build, by, reason, at });
      if (did === 'held') await audit(parts, { at, event: 'build.held', subject: subject.build, by, reason });
      // Also when it was held before: whoever held it may have died right after writing that down.
      let stopped = false;
      for (const rolloutId of await parts.store.activeRolloutIds(parts.policies)) {
        const view = await stopRollout(parts, rolloutId, by, (current) => holdForBuild(current, at));
        stopped ||= view !== undefined && holdForBuild(view, at) !== undefined;
      }
      return { kind: did === 'held' || stopped ? 'done' : 'unchanged', subject };
    }
    case 'collector': {
      const { collectorId } = subject;
      const did = await parts.register.holdCollector({ collectorId, by, reason, at });
      if (did === 'held')
        await audit(parts, { at, event: 'collector.held', subject: String(collectorId), by, reason });
      // Also when it was held before: whoever held it may have died right after writing that down.
      await withdraw(parts, collectorId, `held by ${by}: ${reason}`);
      return { kind: did === 'held' ? 'done' : 'unchanged', subject };
    }
    case 'stratum': {
      const judge = ({ rollout, groups }: RolloutView): RolloutFact | undefined => {
        if (rollout.brokenText !== undefined) return undefined;
        const found = findStratum(groups.strata, subject.label);
        if (found.kind === 'none') return undefined;
        if (rollout.heldStrata.some(({ stratum }) => stratum === found.stratum)) return undefined;
        const words = `by ${by}: ${reason}`;
        const held = { stratum: found.stratum, label: found.label, reason: words, by, at };
        return { kind: 'strataHeld', at, strata: [held], reason: `${found.label}: ${words}` };
      };
      const view = await stopRollout(parts, subject.rolloutId, by, judge);
      const did = view !== undefined && judge(view) !== undefined;
      return { kind: did ? 'done' : 'unchanged', subject };
    }
    default:
      return subject satisfies never;
  }
}

async function releaseOne(
  parts: OperationsParts,
  subject: HeldSubject,
  { by, reason }: HoldRequest,
): Promise<HoldResult> {
  const at = parts.clock.now();
  switch (subject.kind) {
    case 'build': {
      if ((await parts.register.releaseBuild(subject.build)) === 'unchanged')
        return { kind: 'unchanged', subject };
      await audit(parts, { at, event: 'build.released', subject: subject.build, by, reason });
      return { kind: 'done', subject };
    }
    case 'collector': {
      const { collectorId } = subject;
      if ((await parts.register.releaseCollector(collectorId)) === 'unchanged')
        return { kind: 'unchanged', subject };
      await audit(parts, { at, event: 'collector.released', subject: String(collectorId), by, reason });
      return { kind: 'done', subject };
    }
    case 'stratum': {
      let did = false;
      await changeRollout(parts, subject.rolloutId, by, (view) => {
        const held = view.rollout.heldStrata.find(({ label }) => label === subject.label);
        did = held !== undefined;
        if (held === undefined) return undefined;
        const words = `${held.label}, by ${by}: ${reason}`;
        const { stratum, label } = held;
        return { kind: 'stratumReleased', at, stratum, label, reason: words, view };
      });
      return { kind: did ? 'done' : 'unchanged', subject };
    }
    default:
      return subject satisfies never;
  }
}

function holdForBuild({ rollout, buildHold }: RolloutView, at: number) {
  const isStoppable = rollout.state === 'running' || rollout.heldFor !== undefined;
  if (!isStoppable || buildHold === null) return undefined;
  return { kind: 'held', at, reason: `build ${buildHold.build} is held: ${buildHold.reason}` } as const;
}

/** Takes it out of every rollout in which it has not started; what runs is watched to its end (P5). */
async function withdraw(parts: OperationsParts, collectorId: number, reason: string): Promise<void> {
  for (const rolloutId of await parts.store.activeRolloutIds(parts.policies)) {
    const rollout = await parts.store.loadRollout(rolloutId);
    const { upgrades, unreadable } = await parts.store.loadUpgrades(rolloutId, [collectorId]);
    // Nothing more is started of one that can't be read; what it was is not known.
    if (unreadable.length > 0) await waitForLeavingCreates(parts, rolloutId);
    const [upgrade] = upgrades;
    if (rollout === undefined || upgrade === undefined) continue;
    const fact: UpgradeFact = { kind: 'withdrawn', at: parts.clock.now(), reason };
    await recordFact(parts, rollout, upgrade, fact);
    if (upgrade.state === 'starting' || upgrade.state === 'queued')
      await waitForLeavingCreates(parts, rolloutId);
  }
}

async function audit(parts: OperationsParts, entry: HoldEntry): Promise<void> {
  await parts.register.audit(entry);
  parts.sink.note(entry);
  parts.bell.ring();
}

/** One word about all of them: done when any changed. */
function together(results: readonly HoldResult[], { subject }: HoldRequest): HoldResult {
  return (
    results.find(({ kind }) => kind === 'done') ??
    results[0] ?? { kind: 'unknown', reason: `nothing is called ${subject}` }
  );
}
