import { compareBuildVersions, isSameBuild } from '../../../src/base/build-version.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { openWaveOf } from '../../../src/rollout/model/rollout.ts';
import { freshForMs } from '../../../src/rollout/upgrade/step.ts';
import type { CollectorModel, TaskModel } from '../world/collector-model.ts';
import type { Orders } from '../world/orders.ts';
import type { Account } from '../world/process-model.ts';
import type { ServiceModel } from '../world/service-model.ts';
import type { Brakes } from './brakes.ts';
import { isOpenByLuxon } from './calendar-oracle.ts';
import { isSelected } from './judge-plans.ts';
import { failuresOf } from './judge-waves.ts';
import { heldGroupOf, isOfGroup, type SeenRollouts } from './seen-rollouts.ts';
import type { Verdicts } from './verdicts.ts';

export interface CreateOf {
  readonly rolloutId: string;
  readonly collectorId: number;
  readonly toBuild: string;
  readonly daemon: string;
  /** Of the access key that it is sent with. */
  readonly account: Account;
}

/** Judges each create when it leaves its daemon, and when it arrives at the service. */
export interface CreateJudge {
  leaves(create: CreateOf): void;
  arrives(create: CreateOf): void;
  /** The service refuses it, and not because of the task that runs. */
  misleads(create: CreateOf): void;
  /** A list leaves it out, however it is. */
  hides(account: Account, collectorId: number): void;
  /** After the service has acted on it. */
  started(create: CreateOf): void;
  answered(create: CreateOf): void;
  polled(collectorId: number): void;
  /** A plan was read. One of the same name is lost, and its creates in doubt are as they are read now. */
  planned(rolloutId: string): void;
  createsLeft(): number;
  /** The store went back: upgrades that run may be unknown to it. */
  forgotten(): void;
}

const hourMs = 3_600_000;

// A create leaves within a second of its intent (src/README.md), or not at all.
const leavesWithinMs = 1_500;

// Daemons know of each other's configs after two beats, and of one that died after ten seconds.
const beatsMs = 60_000;

// Ten durations of a stratum take the place of the policy's own word.
const learnedMin = 10;

export function makeCreateJudge(parts: {
  readonly now: () => number;
  readonly verdicts: Verdicts;
  readonly seen: SeenRollouts;
  readonly services: Readonly<Record<Account, ServiceModel>>;
  readonly orders: Orders;
  readonly brakes: Brakes;
  /** For how long nobody's config has had a policy of this name, what daemons can't know yet left out; negative: not long. */
  readonly missingForMs: (policy: string) => number;
  /** Daemons' clocks are at most so far from the true one. */
  readonly skewMs: number;
}): CreateJudge {
  const { now, verdicts, seen, services, orders, brakes, missingForMs, skewMs } = parts;
  const inDoubt = new Map<string, { polled: boolean }>();
  let createsLeft = 0;
  /** The policy by which a create left. */
  const leftBy = new Map<string, Policy>();
  const unknownTasks = new Set<TaskModel>();
  /** The creates of the last hour, by rollout, with the pace in force. */
  const paced = new Map<string, ReadonlyArray<{ readonly at: number; readonly perHour: number }>>();
  /**
   * Where lists show collectors in upgrade, nothing tells of these: their creates got no answer, and then a list left them
   * out by mistake, or the next create got a wrong answer.
   */
  const hiddenTasks = new Set<TaskModel>();
  const keyOf = ({ rolloutId, collectorId }: CreateOf) => `${rolloutId}/${collectorId}`;

  /** No hour has more creates than the largest pace that was in force in it. */
  const judgePace = (rolloutId: string, perHour = Number.POSITIVE_INFINITY): void => {
    const earlier = paced.get(rolloutId) ?? [];
    const ofHour = earlier.filter(({ at }) => now() - at < hourMs - leavesWithinMs);
    ofHour.push({ at: now(), perHour });
    paced.set(rolloutId, ofHour);
    const most = Math.max(...ofHour.map((each) => each.perHour));
    verdicts.check(
      'P7',
      ofHour.length <= most,
      `${ofHour.length} creates of ${rolloutId} in an hour of ${most}`,
    );
  };

  const isKnown = ({ id, rolloutId, collectorId }: TaskModel): boolean => {
    const progress = seen.all.get(rolloutId ?? '')?.upgrades.get(collectorId)?.progress;
    if (progress?.state === 'starting') return true;
    // The record may know only the task before. An adopted task has no id.
    const isRunning = progress?.state === 'upgrading' || progress?.state === 'verifying';
    return isRunning && (progress.taskId ?? id) === id;
  };

  const hideTask = (account: Account, collectorId: number): void => {
    const { collectors, habits } = services[account];
    const task = collectors.get(collectorId)?.task ?? null;
    if (habits.listsRunning && task !== null) hiddenTasks.add(task);
  };

  return {
    leaves: (create) => {
      const { rolloutId, collectorId, toBuild, daemon, account } = create;
      const service = services[account];
      createsLeft += 1;
      // One that was just leaving when the store was emptied.
      const lostIntentAt = seen.lost.get(rolloutId)?.lastIntents.get(collectorId)?.at;
      if (lostIntentAt !== undefined && now() - lostIntentAt <= leavesWithinMs) return;
      const of = seen.all.get(rolloutId);
      const upgrade = of?.upgrades.get(collectorId);
      const collector = service.collectors.get(collectorId);
      const who = `${daemon}: create of ${collectorId} for ${rolloutId}`;
      verdicts.check('P5', of !== undefined && upgrade !== undefined, `${who}, which is not planned`);
      if (of === undefined || upgrade === undefined || collector === undefined) return;
      const { rollout } = of;
      const policy = brakes.policyOf(of, of.lastIntents.get(collectorId)?.policy);
      leftBy.set(keyOf(create), policy);
      verdicts.check('P5', of.account === account, `${who}, which is of another account`);

      const missingMs = missingForMs(rollout.policy.name);
      verdicts.check('P5', missingMs < beatsMs, `${who}, whose policy is in no config for ${missingMs} ms`);

      const doubt = inDoubt.get(keyOf(create));
      verdicts.check(
        'P1',
        doubt === undefined || doubt.polled,
        `${who} before a poll settled its create in doubt`,
      );
      inDoubt.set(keyOf(create), { polled: false });

      // Whoever got the job as well may have polled meanwhile.
      const intentAt = of.lastIntents.get(collectorId)?.at ?? Number.NEGATIVE_INFINITY;
      verdicts.check(
        'P1',
        now() - intentAt <= leavesWithinMs,
        `${who} without an intent: it is ${upgrade.progress.state}`,
      );
      const stratum = of.groups.strata[upgrade.identity.stratum]?.label ?? '';
      const order = orders.forbidding({
        rolloutId,
        kind: rollout.kind,
        collectorId,
        build: toBuild,
        stratum,
        isOfGroup: (label) => isOfGroup(of, collectorId, label),
      });
      verdicts.check('P4', order === undefined, `${who} after ${order} was answered`);
      const isStopped = rollout.state !== 'running' && now() - of.stateSince > leavesWithinMs;
      verdicts.check('P4', !isStopped, `${who}, which is ${rollout.state} for ${now() - of.stateSince} ms`);
      const heldSince = of.strataHeldSince.get(upgrade.identity.stratum);
      const isHeld = heldSince !== undefined && now() - heldSince > leavesWithinMs;
      verdicts.check('P4', !isHeld, `${who}, whose stratum ${stratum} is held`);
      const group = heldGroupOf(of, collectorId, now() - leavesWithinMs);
      verdicts.check('P4', group === undefined, `${who}, whose group ${group} is held`);

      const waves = rollout.waves.slice(0, upgrade.identity.wave);
      const unpassed = waves.find(({ state }) => state !== 'passed');
      verdicts.check(
        'P3',
        unpassed === undefined,
        `${who} in wave ${upgrade.identity.wave} before ${unpassed?.name} passed`,
      );
      const own = rollout.waves[upgrade.identity.wave];
      const isOpen = own !== undefined && own.state !== 'waiting' && own.state !== 'awaitingApproval';
      verdicts.check('P3', isOpen, `${who} in a wave that is ${own?.state}`);
      const breached = rollout.waves.findIndex((_wave, index) => {
        const { failures, allowed } = failuresOf(of, index, policy);
        return failures > allowed && now() - (of.lastFailureAt.get(index) ?? now()) > leavesWithinMs;
      });
      verdicts.check(
        'P3',
        of.isLimitUnknown || breached < 0,
        `${who} although wave ${breached} has too many failures`,
      );

      verdicts.check('P5', isSelected(policy, collector.about), `${who}, which the policy excludes`);
      const pinned =
        rollout.kind === 'upgrade'
          ? rollout.plan.targetBuild
          : buildBefore(seen, rollout.rollback.original, collectorId);
      verdicts.check('P6', isSameBuild(toBuild, pinned ?? ''), `${who} to ${toBuild}, not ${pinned}`);
      const isAnyTime = rollout.rollback.anyTime && orders.mayStartAnyTime(rollout);
      const rule = policy.waves[openWaveOf(rollout)];
      if (!isAnyTime) judgePace(rolloutId, (rule?.pace ?? policy.pace)?.perHour);
      const { windows = policy.windows, notBefore } = rule ?? {};
      const rules = { ...policy, windows, ...(notBefore !== undefined && { notBefore }) };
      if ((windows.length + policy.freezes.length > 0 || notBefore !== undefined) && !isAnyTime) {
        const needsMs =
          (of.successes.get(upgrade.identity.stratum) ?? 0) < learnedMin ? policy.upgrade.expectMs : 0;
        for (const share of needsMs > 0 ? [0, 0.5, 1] : [0]) {
          const slackMs = skewMs + leavesWithinMs;
          const at = now() + Math.max(0, share * needsMs - slackMs);
          const edges = [at - slackMs, at, at + slackMs].map((edge) =>
            isOpenByLuxon(rules, collector.about.timeZone, edge),
          );
          const opens = share === 0 ? edges.some((open) => open !== false) : edges[1] !== false;
          verdicts.check('P7', opens, `${who} outside its window (${share} of the expected time later)`);
        }
      }
    },
    arrives: ({ rolloutId, collectorId, toBuild, daemon, account }) => {
      const { collectors, habits } = services[account];
      const collector = collectors.get(collectorId);
      const who = `${daemon}: create of ${collectorId} for ${rolloutId}`;
      const running = collector?.task ?? null;
      // Upgradable lists leave out collectors in an upgrade (field-facts.md, The wire). Where they do not, nothing tells
      // whether a create in doubt was taken.
      const isUnsettled = habits.listsRunning;
      // One that the store forgot is polled for on the list of its build, which says nothing of collectors above that; and
      // a daemon whose clock is behind may take a look for one of after the loss. The service refuses both.
      const isUnknown = running !== null && unknownTasks.has(running);
      const isAbove = (compareBuildVersions(collector?.build ?? '', toBuild) ?? 0) > 0;
      verdicts.check(
        'P1',
        running?.rolloutId !== rolloutId || (isUnknown && (isAbove || skewMs > 0)) || isUnsettled,
        `${who} while task ${running?.id} of ours runs`,
      );
      // A person's upgrade that ended between our look and the create can't be known of.
      // Nor can one of ours whose create is in doubt, where lists do not tell.
      const isUnknowable =
        (collector?.isBuildSomeoneElses === true || isUnsettled) &&
        now() - (collector?.buildSince ?? 0) <= freshForMs + leavesWithinMs;
      const isThere = collector !== undefined && isSameBuild(collector.build, toBuild) && !isUnknowable;
      verdicts.check(
        'P1',
        !isThere,
        `${who}, which runs ${toBuild} since ${now() - (collector?.buildSince ?? 0)} ms`,
      );
      const isNearlyThere =
        collector?.task === null && isSameBuild(collector.restartsInto ?? '', toBuild) && !isUnsettled;
      verdicts.check('P1', !isNearlyThere, `${who}, which restarts into ${toBuild}`);
    },
    misleads: ({ collectorId, account }) => hideTask(account, collectorId),
    hides: (account, collectorId) => hideTask(account, collectorId),
    started: (create) => {
      const { rolloutId, collectorId, account } = create;
      const service = services[account];
      const of = seen.all.get(rolloutId);
      const collector = service.collectors.get(collectorId);
      if (collector === undefined) return;
      // It was on its way when the store went back, which may have lost its whole rollout.
      if (collector.task !== null && !isKnown(collector.task)) unknownTasks.add(collector.task);
      if (of === undefined) return;
      const { policy: present } = of.rollout;
      const policy = leftBy.get(keyOf(create)) ?? present;
      // While it was on its way, a reload may have raised the limits, and others left by those.
      const slots = Math.max(policy.concurrency, present.concurrency);
      // One that shows the build already has no more to do.
      const running = [...service.running()].filter(
        (task) =>
          task.rolloutId === rolloutId &&
          !unknownTasks.has(task) &&
          !hiddenTasks.has(task) &&
          service.collectors.get(task.collectorId)?.build !== task.toBuild &&
          // On one that is gone nothing runs, whatever the service still says of its task.
          service.collectors.get(task.collectorId)?.deletedAt === null,
      );
      verdicts.check('P2', running.length <= slots, `${running.length} of ${slots} run in ${rolloutId}`);
      for (const { key, cap: capAsItLeft } of policy.maxInFlightPer) {
        const value = sharedValue(collector, key);
        if (value === '') continue;
        const cap = Math.max(
          capAsItLeft,
          present.maxInFlightPer.find((rule) => rule.key === key)?.cap ?? Number.POSITIVE_INFINITY,
        );
        const beside = running.filter((task) => {
          const other = service.collectors.get(task.collectorId);
          return other !== undefined && sharedValue(other, key) === value;
        });
        verdicts.check(
          'P2',
          beside.length <= cap,
          `${beside.length} of ${cap} run with ${key} ${value} in ${rolloutId}: ${beside.map((task) => task.collectorId).join(', ')}`,
        );
      }
    },
    answered: (create) => {
      inDoubt.delete(keyOf(create));
    },
    createsLeft: () => createsLeft,
    forgotten: () => {
      // The store no longer knows what has used up the pace.
      paced.clear();
      // Where clocks differ, a poll of before the loss may seem to be one of after it.
      if (skewMs > 0) for (const doubt of inDoubt.values()) doubt.polled = true;
      for (const { running } of Object.values(services))
        for (const task of running()) if (!isKnown(task)) unknownTasks.add(task);
    },
    planned: (rolloutId) => {
      for (const key of [...inDoubt.keys()]) if (key.startsWith(`${rolloutId}/`)) inDoubt.delete(key);
    },
    polled: (collectorId) => {
      for (const [key, doubt] of inDoubt) if (key.endsWith(`/${collectorId}`)) doubt.polled = true;
    },
  };
}

function buildBefore(seen: SeenRollouts, rolloutId: string | null, collectorId: number): string | undefined {
  return rolloutId === null
    ? undefined
    : seen.all.get(rolloutId)?.upgrades.get(collectorId)?.identity.fromBuild;
}

/** What a collector has under a key of a cap, as far as worlds have caps. */
function sharedValue({ about }: CollectorModel, key: string): string {
  if (key === 'osName') return about.osName;
  if (key === 'category') return about.category;
  return about.fields[key.replace('fields.', '')] ?? '';
}
