import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import { isEnd, isFailed, isOnBuild, weightOf } from '../../../src/rollout/model/upgrade.ts';
import type { GateModel, GivenAnswer } from '../world/gate-model.ts';
import type { ServiceModel } from '../world/service-model.ts';
import { judgeDelivery } from './judge-delivery.ts';
import type { SeenRollout } from './seen-rollouts.ts';
import type { ShownCollectors } from './shown-collectors.ts';
import type { Verdicts } from './verdicts.ts';

/** Weighted failures of a wave without held strata, and how many it may have: counted anew from the records. */
export function failuresOf(
  of: SeenRollout,
  index: number,
  policy = of.rollout.policy,
): { readonly failures: number; readonly allowed: number } {
  const held = new Set(of.rollout.strata.held.map(({ stratum }) => stratum));
  let failures = 0;
  for (const upgrade of of.upgrades.values())
    if (upgrade.identity.wave === index && !held.has(upgrade.identity.stratum)) failures += weightOf(upgrade);
  const rule = policy.waves[index]?.maxFailures;
  const size = of.rollout.waves[index]?.size ?? 0;
  const allowed =
    rule?.kind === 'percent' ? Math.floor((size * rule.percent) / 100 + 1e-9) : (rule?.count ?? 0);
  return { failures, allowed: allowed + (of.acknowledged[index] ?? 0) };
}

interface WaveJudgeParts {
  readonly now: () => number;
  readonly verdicts: Verdicts;
  serviceOf(rolloutId: string): ServiceModel;
  readonly shown: ShownCollectors;
  readonly gates: GateModel;
  readonly skewMs: number;
  /** What a stalled daemon may be late by, with what it saw before. */
  readonly staleMs: number;
}

/** Judges what a saved rollout says of its waves: P3 and P14. */
export function judgeWaves(parts: WaveJudgeParts, of: SeenRollout, before: Rollout): void {
  for (const [index, wave] of of.rollout.waves.entries()) {
    const was = before.waves[index]?.state;
    if (was === wave.state) continue;
    if (wave.state === 'open') judgeOpening(parts, of, index);
    if (wave.state === 'passed') judgePassing(parts, of, index);
  }
}

function judgeOpening({ verdicts }: WaveJudgeParts, of: SeenRollout, index: number): void {
  const { rollout } = of;
  const earlier = rollout.waves.slice(0, index).every(({ state }) => state === 'passed');
  verdicts.check('P3', earlier, `wave ${index} of ${rollout.id} opened before an earlier one passed`);
  const needsApproval =
    rollout.policy.waves[index]?.approval === true && (rollout.waves[index]?.size ?? 0) > 0;
  const wave = `wave ${rollout.waves[index]?.name}`;
  verdicts.check(
    'P15',
    !needsApproval || of.asked.has(wave),
    `${wave} of ${rollout.id} opened, and nobody approved it`,
  );
}

function judgePassing(parts: WaveJudgeParts, of: SeenRollout, index: number): void {
  const { now, verdicts, serviceOf, shown, skewMs, staleMs } = parts;
  const { rollout } = of;
  const rule = rollout.policy.waves[index];
  const wave = rollout.waves[index];
  if (rule === undefined || wave === undefined) return;
  const name = `wave ${wave.name} of ${rollout.id} passed`;
  const held = new Set(rollout.strata.held.map(({ stratum }) => stratum));
  const members = [...of.upgrades.values()].filter((upgrade) => upgrade.identity.wave === index);
  // Somebody may come back between the leader's look and its word.
  const hasReturned = now() - (of.lastReturnAt.get(index) ?? 0) <= staleMs;
  const open = members.find(
    ({ progress: { state }, identity: { stratum } }) =>
      !isEnd(state) &&
      state !== 'deferred' &&
      !((state === 'pending' || state === 'retrying') && held.has(stratum)),
  );
  verdicts.check(
    'P3',
    open === undefined || hasReturned,
    `${name} while ${open?.identity.collectorId} is ${open?.progress.state}`,
  );
  const { failures, allowed } = failuresOf(of, index);
  verdicts.check(
    'P3',
    failures <= allowed || of.isLimitUnknown,
    `${name} with ${failures} failures of ${allowed}`,
  );
  // One that a person upgraded shows the build as well, where it soaks.
  const soaked = members.filter(
    (upgrade) => upgrade.progress.state === 'succeeded' || (rule.soakMs > 0 && isOnBuild(upgrade)),
  );
  const isAside = members.every(
    ({ identity: { stratum }, progress: { state } }) =>
      held.has(stratum) && (isFailed(state) || !isEnd(state)),
  );
  verdicts.check('P14', soaked.length > 0 || isAside || of.isForgiven, `${name} without evidence`);
  const isSkipped = of.soaksSkipped.has(index);
  const lastAt = of.lastSuccessAt.get(index);
  if (rule.soakMs > 0 && lastAt !== undefined && !isSkipped) {
    const soakedMs = now() - lastAt;
    verdicts.check(
      'P3',
      soakedMs >= rule.soakMs - 2 * skewMs,
      `${name} after a soak of ${soakedMs} of ${rule.soakMs} ms`,
    );
    const soakedAt = lastAt + rule.soakMs;
    for (const {
      identity: { collectorId, toBuild },
    } of soaked) {
      const collector = serviceOf(rollout.id).collectors.get(collectorId);
      if (collector === undefined || collector.deletedAt !== null) continue;
      const isDown = collector.downSince !== null && collector.downSince < soakedAt - 61_000 - 2 * skewMs;
      verdicts.check('P14', !isDown, `${name} although ${collectorId} died while it soaked`);
      const shownAt = shown.lastOn(of.account, collectorId, toBuild);
      verdicts.check(
        'P14',
        shownAt !== undefined && shownAt >= soakedAt - 2 * skewMs,
        `${name}, and ${collectorId} was last shown on the build ${soakedAt - (shownAt ?? 0)} ms before`,
      );
    }
  }
  if (members.length > 0) judgeGates(parts, of, index, name);
}

function isMetBy(kind: GivenAnswer['kind'] | undefined): boolean {
  return kind === 'met' || kind === 'counted';
}

function judgeGates(parts: WaveJudgeParts, of: SeenRollout, index: number, name: string): void {
  const { now, verdicts, gates, skewMs, staleMs } = parts;
  const { rollout } = of;
  const rule = rollout.policy.waves[index];
  for (const gate of rule?.gates ?? []) {
    if (gate.dryRun) continue;
    if (gate.kind === 'dataFlow') judgeDelivery(parts, of, index, name);
    const answers = gates.answersOf(rollout.id, rule?.name ?? '', gate.name);
    const last = answers.at(-1);
    const isFresh = last !== undefined && now() - last.at <= 2 * gate.everyMs + 30_000 + staleMs + 2 * skewMs;
    // An answer that came after the leader's look is not in it.
    const met = answers.findLast(({ kind }) => isMetBy(kind));
    const known = answers.findLast(({ at }) => now() - at > staleMs);
    const isMet =
      isMetBy(last?.kind) || isMetBy(known?.kind) || (met !== undefined && now() - met.at <= staleMs);
    verdicts.check(
      'P14',
      isMet && isFresh,
      `${name} although ${gate.name} said ${last?.kind} ${now() - (last?.at ?? 0)} ms ago`,
    );
    if (gate.kind !== 'prometheus' || met === undefined) continue;
    const broken = answers.findLast(
      ({ kind, at, isLost }) => kind !== 'met' && kind !== 'error' && at < met.at && !isLost(),
    );
    const first = answers.find(({ kind, at }) => kind === 'met' && at > (broken?.at ?? 0));
    const metMs = met.at - (first?.at ?? met.at);
    verdicts.check(
      'P14',
      metMs >= gate.forMs - 2 * skewMs - 2_000,
      `${name} although ${gate.name} was met for ${metMs} ms only`,
    );
  }
}
