import type { RolloutOperations } from '../../../src/orchestrator/operations/operations.ts';
import { formatAttributes } from '../../../src/rollout/model/attributes.ts';
import { countLeft } from '../../../src/rollout/model/left-behind.ts';
import { isRolloutEnd, type Rollout } from '../../../src/rollout/model/rollout.ts';
import { isFailed } from '../../../src/rollout/model/upgrade.ts';
import type { AskedVerb, RolloutVerb } from '../../../src/rollout/verbs/judge-verb.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { SeenRollout } from '../judge/seen-rollouts.ts';
import type { Night } from '../night.ts';
import { type WordKind, wordKinds } from '../pairs/kinds.ts';
import type { DaemonModel } from './daemon-model.ts';
import { accessIdHash, type Host } from './process-model.ts';

/** Someone who speaks to the daemons at random moments. @returns when everything was said, or its daemon died */
export async function speakAtRandom(
  night: Night,
  name: string,
  words: number,
  daemons: () => readonly DaemonModel[],
): Promise<void> {
  const { setup, scheduler } = night;
  const chances = makeChances(setup.seed, `person/${name}`);
  for (let word = 0; word < words; word += 1) {
    const pauseMs = (-Math.log(1 - chances.next()) * setup.troubleMs) / (words + 2);
    await later(night, pauseMs);
    if (!night.isTroubled()) return;
    const daemon = chances.some(daemons());
    const rollout = choose(night, chances);
    if (daemon === undefined || rollout === undefined) continue;
    const said = speak(night, daemon, chances, rollout, name);
    // Whoever speaks to a daemon that dies gives up after a while.
    await Promise.race([said, later(night, 600_000)]);
  }
  night.trace(name, () => `has said everything at ${scheduler.now()}`);
}

/** What is said because a night wants it to meet something: of a rollout that has the wanted state, or of any. */
export function speakWhenWanted(night: Night, daemons: () => readonly DaemonModel[]): void {
  const chances = makeChances(night.setup.seed, 'wanted words');
  for (const kind of wordKinds.filter((each) => each !== 'start'))
    night.steering.able(kind, (subject) => {
      const daemon = chances.some(daemons());
      const of = night.seen.all.get(subject?.rolloutId ?? '') ?? choose(night, chances);
      if (daemon === undefined || of === undefined) return;
      void sayWanted(night, daemon, chances, { kind, of, collectorId: subject?.collectorId });
    });
}

async function sayWanted(
  night: Night,
  { operations }: DaemonModel,
  chances: Chances,
  {
    kind,
    of,
    collectorId,
  }: {
    readonly kind: Exclude<WordKind, 'start'>;
    readonly of: SeenRollout;
    readonly collectorId?: number | undefined;
  },
): Promise<void> {
  switch (kind) {
    case 'release':
      return release(night, operations, chances, of);
    case 'holdBuild':
    case 'holdStratum':
    case 'holdGroup':
    case 'holdCollector':
      return hold(night, operations, chances, of, { kind, collectorId });
    case 'rollback':
      return ask(night, operations, of, await lookAtRollback(night, operations, chances, of), 'steering');
    default:
      return ask(night, operations, of, shownFor(of, kind), 'steering');
  }
}

/** Lets go of what is held and says that everything may go on, once. @returns whether there was anything to say */
export async function helpOut(
  night: Night,
  { operations, process }: Pick<DaemonModel, 'operations' | 'process'>,
): Promise<boolean> {
  let spoke = false;
  const { builds, collectors, groups } = await night.register.holds();
  for (const { build } of builds) {
    spoke = true;
    await letGo(night, operations, build, [`build/${build}`]);
  }
  for (const { collectorId } of collectors) {
    spoke = true;
    await letGo(night, operations, String(collectorId), [`collector/${collectorId}`]);
  }
  for (const { label } of groups) {
    spoke = true;
    await letGo(night, operations, label, stratumKeys(night, label));
  }
  for (const of of night.seen.all.values()) {
    const { rollout } = of;
    if (rollout.endedAt !== null) continue;
    const isAlone =
      isLeftAlone(night, of, process.host) || night.missingSince(rollout.policy.name) !== undefined;
    const verb = isAlone ? abortOf(of) : helpingVerb(of);
    if (verb === undefined) continue;
    spoke = true;
    await ask(night, operations, of, shownFor(of, verb), 'helper');
    for (const { label } of rollout.strata.held) {
      await letGo(night, operations, label, stratumKeys(night, label));
    }
  }
  return spoke;
}

/** What a build that is gone leaves held: only an abort ends it. */
export async function endWhatCannot(night: Night, daemon: DaemonModel): Promise<boolean> {
  const { operations } = daemon;
  let spoke = false;
  for (const of of night.seen.all.values()) {
    const { rollout } = of;
    // The build, or the last collector of the fleet; or there is nothing to measure a wave's data flow by.
    const isGone =
      rollout.state === 'awaitingApproval' ||
      (rollout.reason.kind === 'gateInconclusive' && hasDataFlow(rollout)) ||
      rollout.reason.kind === 'buildNotOffered' ||
      (rollout.reason.kind === 'inventoryUnresolved' && rollout.reason.why.kind === 'empty');
    if (rollout.endedAt !== null || !isGone) continue;
    spoke = true;
    await ask(night, operations, of, { verb: 'abort' }, 'helper');
  }
  return spoke || helpOut(night, daemon);
}

function hasDataFlow({ policy, waves }: Rollout): boolean {
  const index = waves.findIndex(({ state }) => state !== 'passed');
  return policy.waves[index]?.gates.some(({ kind }) => kind === 'dataFlow') === true;
}

function helpingVerb({ rollout }: SeenRollout): RolloutVerb | undefined {
  if (rollout.state === 'awaitingApproval') return 'approve';
  if (rollout.state === 'held' || rollout.state === 'paused') return 'resume';
  if (
    rollout.state === 'rollingBack' &&
    rollout.inventory.implausible !== null &&
    rollout.rollback.startedAs === null
  )
    return 'abort';
  return rollout.waves.some(({ state }) => state === 'awaitingApproval') ? 'approve' : undefined;
}

// Fewer collectors can't tell an account from another (account.ts).
const comparedMin = 3;

/** What this host's daemon leaves alone for good: of another account, or not to be distinguished from one by a new access key. */
export function isLeftAlone(
  { serviceOf }: Pick<Night, 'serviceOf'>,
  { rollout, upgrades, account }: SeenRollout,
  { accessKey }: Host,
): boolean {
  if (account === 'other') return true;
  if (rollout.accountMarks.some((mark) => mark.accessIdHash === accessIdHash('ours', accessKey)))
    return false;
  const { collectors } = serviceOf(rollout.id);
  const members = [...upgrades.values()].filter(({ progress: { state } }) => state !== 'withdrawn');
  const there = members.filter(({ identity: { collectorId } }) => {
    const collector = collectors.get(collectorId);
    return collector?.deletedAt === null && collector.formerNames.length === 0;
  });
  return there.length < comparedMin || there.length < members.length;
}

function abortOf({ rollout }: SeenRollout): RolloutVerb | undefined {
  return isRolloutEnd(rollout.state) ? undefined : 'abort';
}

function choose(night: Night, chances: Chances): SeenRollout | undefined {
  const all = [...night.seen.all.values()];
  const active = all.filter(({ rollout }) => rollout.endedAt === null);
  return chances.hit(0.9) && active.length > 0 ? chances.some(active) : chances.some(all);
}

async function speak(
  night: Night,
  { operations }: DaemonModel,
  chances: Chances,
  of: SeenRollout,
  by: string,
): Promise<void> {
  const { rollout } = of;
  const draw = chances.next();
  const say = async (verb: RolloutVerb) => {
    const meant =
      verb === 'rollback' ? await lookAtRollback(night, operations, chances, of) : shownFor(of, verb);
    // A name that is wrong, or was right a moment ago.
    const asked = verb === 'approve' && chances.hit(0.35) ? misnamed(of, chances) : meant;
    if (chances.hit(0.3)) await later(night, chances.int(1, 540_000));
    if (!night.isTroubled()) return;
    return ask(night, operations, of, asked, by);
  };
  const waits =
    rollout.state === 'awaitingApproval' || rollout.waves.some(({ state }) => state === 'awaitingApproval');
  if (waits && draw < 0.7) return say('approve');
  if (rollout.waves.some(({ state }) => state === 'soaking') && draw < 0.2) return say('skipSoak');
  if (rollout.state === 'held' || rollout.state === 'paused') {
    if (draw < 0.55) return say('resume');
    if (draw < 0.6) return say('abort');
    if (draw < 0.67) return say('rollback');
    if (draw < 0.75) return say('retry');
    return release(night, operations, chances, of);
  }
  if (isRolloutEnd(rollout.state)) {
    if (draw < 0.4) return say('retry');
    if (draw < 0.6) return say('rollback');
    return release(night, operations, chances, of);
  }
  if (draw < 0.3) return say('pause');
  if (draw < 0.35) return say('abort');
  if (draw < 0.42) return say('rollback');
  if (draw < 0.5) return say('retry');
  if (draw < 0.55) return say('resume');
  if (draw < 0.85) return hold(night, operations, chances, of);
  return release(night, operations, chances, of);
}

/** Looks at what a rollback would do: what is asked for later names that. */
async function lookAtRollback(
  night: Night,
  operations: RolloutOperations,
  chances: Chances,
  { rollout }: SeenRollout,
): Promise<AskedVerb> {
  const result = await expectFaults(night, 'preview', () => operations.previewRollback(rollout.id));
  const preview = result?.kind === 'shown' ? result.preview : undefined;
  const collectors = preview?.collectors ?? 0;
  const now = chances.hit(0.3);
  night.orders.rollbackAsked(rollout.id, { collectors, now });
  return { verb: 'rollback', now, shown: { collectors, leftBehind: countLeft(preview?.leftBehind ?? []) } };
}

const stopping: ReadonlySet<RolloutVerb> = new Set(['pause', 'abort', 'rollback']);
const lifting: ReadonlySet<RolloutVerb> = new Set(['resume', 'approve', 'retry']);

/** A verb as a person means it who sees this rollout. */
function shownFor({ rollout, upgrades }: SeenRollout, verb: RolloutVerb): AskedVerb {
  switch (verb) {
    case 'approve': {
      if (rollout.state === 'awaitingApproval') return { verb, planHash: rollout.plan.hash };
      const waits = rollout.waves.find((wave) => wave.state === 'awaitingApproval');
      return { verb, wave: waits?.name ?? '' };
    }
    case 'skipSoak':
      return { verb, wave: rollout.waves.find((wave) => wave.state === 'soaking')?.name ?? '' };
    case 'resume':
      return { verb, hold: rollout.hold?.number ?? rollout.rev };
    case 'retry':
      return {
        verb,
        failed: [...upgrades.values()].filter(({ progress: { state } }) => isFailed(state)).length,
      };
    default:
      return { verb };
  }
}

function misnamed({ rollout }: SeenRollout, chances: Chances): AskedVerb {
  const wave = chances.some(rollout.waves)?.name;
  return wave === undefined || chances.hit(0.3)
    ? { verb: 'approve', planHash: 'deadbeef' }
    : { verb: 'approve', wave };
}

async function ask(
  night: Night,
  operations: RolloutOperations,
  of: SeenRollout,
  asked: AskedVerb,
  by: string,
): Promise<void> {
  const { rollout } = of;
  const { verb } = asked;
  const keys = [`rollout/${rollout.id}`];
  of.isDisturbed = true;
  const named = nameIn(asked);
  const isNew = !of.asked.has(named);
  of.asked.add(named);
  of.asksOpen += 1;
  if (verb === 'resume' || verb === 'retry') of.isForgiven = true;
  if (verb === 'retry') of.isLimitUnknown = true;
  if (verb === 'skipSoak') of.soaksSkipped.add(rollout.waves.findIndex(({ state }) => state === 'soaking'));
  const lifted = lifting.has(verb) ? night.orders.asks(keys) : undefined;
  // Said to a rollback, it only lifts its windows.
  const isStopping = stopping.has(verb) && !(verb === 'rollback' && rollout.kind === 'rollback');
  const forbidden = isStopping ? night.orders.forbids(keys) : undefined;
  night.spoken(verb, { rolloutId: rollout.id });
  night.trace(by, () => `${verb} ${rollout.id}`);
  const result = await expectFaults(night, verb, () =>
    operations.apply({ rolloutId: rollout.id, by, reason: '', ...asked }),
  );
  night.trace(
    by,
    () =>
      `${verb} ${rollout.id}: ${result?.kind ?? 'no answer'} ${result?.kind === 'refused' ? result.reason : ''}`,
  );
  of.asksOpen -= 1;
  // What was refused was not asked for: nothing that waits later begins by it.
  if (isNew && result?.kind === 'refused' && of.asksOpen === 0) of.asked.delete(named);
  lifted?.();
  if (result?.kind === 'done' || result?.kind === 'unchanged') forbidden?.();
}

function nameIn(asked: AskedVerb): string {
  if (asked.verb === 'approve') return 'wave' in asked ? `wave ${asked.wave}` : `plan ${asked.planHash}`;
  return asked.verb === 'resume' ? `hold ${asked.hold}` : asked.verb;
}

const drawnHolds = [
  'holdBuild',
  'holdCollector',
  'holdCollector',
  'holdStratum',
  'holdStratum',
  'holdGroup',
] as const;
type HoldKind = (typeof drawnHolds)[number];

async function hold(
  night: Night,
  operations: RolloutOperations,
  chances: Chances,
  of: SeenRollout,
  wanted?: { readonly kind: HoldKind; readonly collectorId: number | undefined },
): Promise<void> {
  const { rollout } = of;
  const kind = wanted?.kind ?? chances.pick(drawnHolds);
  of.isDisturbed = true;
  const collector = wanted?.collectorId ?? chances.some([...of.upgrades.keys()]);
  const stratum = chances.some(of.groups.strata)?.label ?? '';
  const group = someGroup(of, chances);
  const subjects = {
    holdBuild: () => [rollout.plan.targetBuild, [`build/${rollout.plan.targetBuild}`]] as const,
    holdCollector: () => [String(collector ?? ''), [`collector/${collector}`]] as const,
    holdGroup: () => [group, [`group/${group}`]] as const,
    holdStratum: () => [stratum, stratumKeys(night, stratum)] as const,
  };
  const [subject, keys] = subjects[kind]();
  if (subject === '') return;
  const collectorId = kind === 'holdCollector' ? collector : undefined;
  await holdSubject(night, operations, { kind, of, subject, keys, collectorId });
}

/** Holds one thing. @param keys what is forbidden by it */
export async function holdSubject(
  night: Night,
  operations: RolloutOperations,
  {
    kind,
    of: { rollout },
    subject,
    keys,
    collectorId,
  }: {
    readonly kind: HoldKind;
    readonly of: SeenRollout;
    readonly subject: string;
    readonly keys: readonly string[];
    readonly collectorId?: number | undefined;
  },
): Promise<void> {
  const about = collectorId === undefined ? {} : { collectorId };
  night.spoken(kind, kind === 'holdBuild' ? {} : { rolloutId: rollout.id, ...about });
  const forbidden = night.orders.forbids(keys);
  night.trace('person', () => `hold ${subject}`);
  const result = await expectFaults(night, 'hold', () =>
    operations.hold({ subject, by: 'person', reason: 'careful' }),
  );
  night.trace('person', () => `hold ${subject}: ${result?.kind ?? 'no answer'}`);
  if (result?.kind === 'done' || result?.kind === 'unchanged') forbidden();
}

/** Collectors by what they share. */
function someGroup({ attributes }: SeenRollout, chances: Chances): string {
  const of = () => {
    const column = chances.some(attributes?.columns ?? []);
    const value = chances.some(column?.values ?? []);
    return column === undefined || value === undefined ? [] : [{ key: column.key, value }];
  };
  return formatAttributes(chances.hit(0.3) ? [...of(), ...of()] : of());
}

async function release(
  night: Night,
  operations: RolloutOperations,
  chances: Chances,
  of: SeenRollout,
): Promise<void> {
  const { builds, collectors, groups } = await night.register.holds();
  const things = [
    ...builds.map(({ build }) => [build, [`build/${build}`]] as const),
    ...collectors.map(({ collectorId }) => [String(collectorId), [`collector/${collectorId}`]] as const),
    ...groups.map(({ label }) => [label, stratumKeys(night, label)] as const),
    ...of.rollout.strata.held.map(({ label }) => [label, stratumKeys(night, label)] as const),
  ];
  const thing = chances.some(things);
  if (thing === undefined) return;
  await letGo(night, operations, thing[0], thing[1]);
}

export async function letGo(
  night: Night,
  operations: RolloutOperations,
  subject: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.some((key) => key.startsWith('stratum/')))
    for (const of of night.seen.all.values()) {
      of.isForgiven = true;
      of.isLimitUnknown = true;
    }
  const lifted = night.orders.asks(keys);
  night.spoken('release');
  night.trace('person', () => `release ${subject}`);
  await expectFaults(night, 'release', () => operations.release({ subject, by: 'person', reason: 'fine' }));
  lifted();
}

/** A stratum is held in every rollout on its way that has it, and released in those that are over, too. A group has its label. */
export function stratumKeys(night: Night, label: string): readonly string[] {
  const ids: string[] = [`group/${label}`];
  for (const [id, of] of night.seen.all) {
    const planned = of.rollout.endedAt === null ? of.groups.strata : [];
    const labels = [...planned, ...of.rollout.strata.held];
    if (!labels.some((stratum) => stratum.label === label)) continue;
    of.isDisturbed = true;
    ids.push(`stratum/${id}/${label}`);
  }
  return ids;
}

export async function expectFaults<T>(
  night: Night,
  verb: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    night.verdicts.thrown(verb, error);
    return undefined;
  }
}

function later({ scheduler }: Night, forMs: number): Promise<void> {
  return new Promise((resolve) => scheduler.at(scheduler.now() + forMs, resolve));
}
