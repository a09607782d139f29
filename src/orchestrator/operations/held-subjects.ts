import { parseBuildVersion } from '../../base/build-version.ts';
import { sumOf } from '../../base/grouping.ts';
import { nearestTexts, parseCollectorId } from '../../base/names.ts';
import type { HeldSubject, HoldNote } from '../../contract/admin/holds.ts';
import {
  type Attribute,
  type AttributeTable,
  attributesNear,
  formatAttributes,
  membersWith,
  parseAttributes,
  respellKeys,
} from '../../rollout/model/attributes.ts';
import { findStratum, type Stratum } from '../../rollout/model/plan-groups.ts';
import type { Rollout, UnreadableRecord } from '../../rollout/model/rollout.ts';
import { isOffered } from '../../rollout/planning/target.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import {
  type AskForCollectorParts,
  askForCollector,
  type FindPlannedParts,
  findHeld,
  findPlannedCollector,
  namesNear,
} from './find-planned-collector.ts';
import type { HoldResult } from './operations.ts';

export interface FindSubjectsParts extends FindPlannedParts, AskForCollectorParts {
  readonly store: RolloutStore;
  readonly register: Pick<FleetRegister, 'holds'>;
}

type Found =
  | {
      readonly kind: 'found';
      readonly subjects: readonly HeldSubject[];
      /** Of a stratum or a group: its collectors in running rollouts. Absent: unknown. */
      readonly collectors?: number;
      readonly note?: HoldNote;
    }
  | Extract<HoldResult, { kind: 'unknown' | 'unavailable' }>;

/** The subject that a request names: a build by its form, a stratum by its label, else a collector. */
export async function findSubjects(
  parts: FindSubjectsParts,
  text: string,
  did: 'hold' | 'release',
): Promise<Found> {
  if (/-/.test(text) && parseBuildVersion(text) !== undefined)
    return { kind: 'found', subjects: [{ kind: 'build', build: text.trim() }] };
  const rollouts = await parts.store.currentRollouts(await parts.claims.names());
  const active = rollouts.filter(({ endedAt }) => endedAt === null);
  const attributes = parseAttributes(text);
  if (did === 'hold' && attributes !== undefined) return findGroup(parts, active, attributes);
  const group = await findHeldGroup(parts, attributes);
  const strata: HeldSubject[] = [];
  const known: string[] = [];
  let collectors = 0;
  for (const rollout of did === 'hold' ? active : rollouts) {
    // A held stratum may have lost its last member. In an ended rollout, only held strata matter.
    const planned = rollout.endedAt === null ? await parts.store.loadGroups(rollout.id) : undefined;
    const labels = [...(planned?.strata ?? []), ...rollout.strata.held];
    known.push(...labels.map(({ label }) => label));
    const found = findStratum(labels, text);
    if (found.kind === 'found' && rollout.unreadable !== undefined)
      return unreadableRollout(found.label, rollout.id, rollout.unreadable);
    if (found.kind === 'found') {
      strata.push({ kind: 'stratum', label: found.label, rolloutId: rollout.id });
      collectors += sizeOf(planned?.strata, found.label);
    }
  }
  // First the group: a rollout holds what is held over all of them again.
  if (group.length > 0) return { kind: 'found', subjects: [...group, ...strata] };
  if (strata.length > 0) {
    const isOver = strata.every(
      (each) => each.kind === 'stratum' && !active.some(({ id }) => id === each.rolloutId),
    );
    return {
      ...{ kind: 'found', subjects: strata },
      ...(isOver ? { note: { kind: 'rolloutEnded' } } : { collectors }),
    };
  }
  const respelled = text.includes('=') ? await respellAttributes(parts, active, text) : undefined;
  return findCollector(parts, text, { known, respelled });
}

function sizeOf(strata: readonly Stratum[] | undefined, label: string): number {
  return sumOf(strata?.find((each) => each.label === label)?.sizes ?? [], (size) => size);
}

/** The group of these attributes, if it is held beyond one rollout. */
async function findHeldGroup(
  { register }: Pick<FindSubjectsParts, 'register'>,
  attributes: readonly Attribute[] | undefined,
): Promise<readonly HeldSubject[]> {
  if (attributes === undefined) return [];
  const label = formatAttributes(attributes);
  const { groups } = await register.holds();
  return groups.some((each) => each.label === label) ? [{ kind: 'group', label, attributes }] : [];
}

/** Collectors that share an attribute: over all later plans, and in each running rollout that has some. */
async function findGroup(
  { store }: Pick<FindSubjectsParts, 'store'>,
  rollouts: readonly Rollout[],
  attributes: readonly Attribute[],
): Promise<Found> {
  const label = formatAttributes(attributes);
  const subjects: HeldSubject[] = [];
  const near: string[] = [];
  let isKnown = true;
  let collectors = 0;
  for (const { id, unreadable, strata } of rollouts) {
    isKnown &&= unreadable === undefined;
    if (unreadable !== undefined) continue;
    // A group that was held before is a stratum like any other.
    const planned = await store.loadGroups(id);
    if (findStratum([...(planned?.strata ?? []), ...strata.held], label).kind === 'found') {
      subjects.push({ kind: 'stratum', label, rolloutId: id });
      collectors += sizeOf(planned?.strata, label);
      continue;
    }
    const table = await store.loadAttributes(id);
    isKnown &&= table !== undefined;
    if (table === undefined) continue;
    const members = membersWith(table, attributes).length;
    collectors += members;
    if (members > 0) subjects.push({ kind: 'stratum', label, rolloutId: id, attributes });
    else near.push(...nearestGroups(table, attributes));
  }
  const group: HeldSubject = { kind: 'group', label, attributes };
  if (subjects.length > 0)
    return { kind: 'found', subjects: [group, ...subjects], ...(isKnown && { collectors }) };
  // Without a rollout, nobody knows yet who shares it.
  if (rollouts.length === 0) return { kind: 'found', subjects: [group], note: { kind: 'noRollout' } };
  // The leader holds it where it can read who belongs to it.
  if (!isKnown) return { kind: 'found', subjects: [group] };
  const nearest = nearestTexts(label, near, nearestMax);
  return { kind: 'found', subjects: [group], note: { kind: 'groupEmpty', nearest } };
}

/** The same attributes with keys that exist, where only their keys are misspelled. */
async function respellAttributes(
  { store }: Pick<FindSubjectsParts, 'store'>,
  rollouts: readonly Rollout[],
  text: string,
): Promise<string | undefined> {
  const readable = rollouts.filter(({ unreadable }) => unreadable === undefined);
  const tables = await Promise.all(readable.map(({ id }) => store.loadAttributes(id)));
  const keys = tables.flatMap((table) => table?.columns.map(({ key }) => key) ?? []);
  return respellKeys(text, keys);
}

// Each group is searched in the whole table.
const groupsTriedMax = 20;

/** Groups that have collectors, and of which one attribute is spelled otherwise: the nearest of each attribute first. */
function nearestGroups(table: AttributeTable, attributes: readonly Attribute[]): readonly string[] {
  return attributes.flatMap((wanted, place) => {
    const near = attributesNear(table, wanted);
    const labels = near.map((each) => formatAttributes([each]));
    return nearestTexts(formatAttributes([wanted]), labels, groupsTriedMax).flatMap((label) => {
      const meant = near[labels.indexOf(label)];
      const group = meant === undefined ? attributes : attributes.with(place, meant);
      return membersWith(table, group).length > 0 ? [formatAttributes(group)] : [];
    });
  });
}

/** A rollout with an unreadable record: it starts nothing, and cannot store a hold. */
function unreadableRollout(label: string, rolloutId: string, record: UnreadableRecord): Found {
  return { kind: 'unknown', why: { kind: 'unreadableRollout', label, rolloutId, record } };
}

/** Searches our own records first: an outage of the service must not delay a hold. */
async function findCollector(
  parts: FindSubjectsParts,
  text: string,
  strata: {
    readonly known: readonly string[];
    readonly respelled: string | undefined;
  },
): Promise<Found> {
  const found = (collectorId: number, name: string): Found => ({
    kind: 'found',
    subjects: [{ kind: 'collector', collectorId, name }],
  });
  const planned = await findPlannedCollector(parts, text);
  if (planned !== undefined) return found(planned.identity.collectorId, planned.identity.collectorName);
  const id = parseCollectorId(text);
  const held = await findHeld(parts, text);
  if (held !== undefined) return found(held.collectorId, held.name ?? String(held.collectorId));
  const byId = id === undefined ? undefined : found(id, String(id));
  const asked = await askForCollector(parts, text);
  if (asked.kind === 'found') return found(asked.collector.id, asked.collector.name);
  // A collector that the service does not know, or cannot show now, can still be named by its id.
  if (byId?.kind === 'found')
    return asked.kind === 'none' ? { ...byId, note: { kind: 'collectorUnknown' } } : byId;
  const respelled = strata.respelled === undefined ? [] : [strata.respelled];
  const nearest = [...respelled, ...nearestTexts(text, strata.known, nearestMax)];
  if (asked.kind === 'unavailable' && nearest.length === 0) return asked;
  const all = [...nearest, ...(await namesNear(parts, text))];
  return { kind: 'unknown', why: { kind: 'unknown', subject: text, nearest: all } };
}

// A hint fits on one line.
const nearestMax = 3;

/** A note if the service does not offer the held build, which suggests a typo. */
export async function noteOfBuild(
  { register }: { readonly register: Pick<FleetRegister, 'lastOffered'> },
  [subject]: readonly HeldSubject[],
): Promise<HoldNote | undefined> {
  if (subject?.kind !== 'build') return undefined;
  const { build } = subject;
  const offered = await register.lastOffered();
  if (
    offered === undefined ||
    isOffered(
      build,
      offered.builds.map((version) => ({ version })),
    )
  )
    return undefined;
  const nearest = nearestTexts(build, offered.builds, nearestMax);
  return { kind: 'buildNotOffered', seenAt: offered.at, nearest };
}

/** A note if a running rollback has some of what is held: what was held before it goes back. */
export async function noteOfRollback(
  { store }: Pick<FindSubjectsParts, 'store'>,
  subjects: readonly HeldSubject[],
): Promise<HoldNote | undefined> {
  for (const subject of subjects) {
    if (subject.kind !== 'stratum') continue;
    const rollout = await store.loadRollout(subject.rolloutId);
    if (rollout?.kind === 'rollback') return { kind: 'waitsInRollback', rollback: rollout.id };
  }
  return undefined;
}

/** A note if a rollback has left the held collector on the build that it takes others back from. */
export async function noteOfCollector(
  { store, claims }: Pick<FindSubjectsParts, 'store' | 'claims'>,
  [subject]: readonly HeldSubject[],
): Promise<HoldNote | undefined> {
  if (subject?.kind !== 'collector') return undefined;
  for (const { id, kind } of await store.currentRollouts(await claims.names())) {
    if (kind !== 'rollback') continue;
    const { upgrades } = await store.loadUpgrades(id, [subject.collectorId]);
    const [upgrade] = upgrades;
    if (upgrade?.progress.state !== 'withdrawn' || upgrade.progress.reason.kind !== 'collectorHeld') continue;
    return { kind: 'leftByRollback', rollback: id, build: upgrade.identity.fromBuild };
  }
  return undefined;
}
