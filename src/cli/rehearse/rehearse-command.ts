import { sumOf } from '../../base/grouping.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { accountConfigOf } from '../../config/account-configs.ts';
import type { Config } from '../../config/config.ts';
import { ourRequestsPerSecond } from '../../daemon/service-settings.ts';
import { heldIn } from '../../orchestrator/scan/read-plan.ts';
import type { Scene } from '../../rehearsal/play/play-seed.ts';
import { tooQuickText } from '../../rehearsal/result/assumed-text.ts';
import { heldPercent, isMet, type Limit, LimitError, parseLimit } from '../../rehearsal/result/limit.ts';
import { rehearsalDocument } from '../../rehearsal/result/rehearsal-document.ts';
import type { ShownHolds, ShownOther, ShownRehearsal } from '../../rehearsal/result/rehearsal-text.ts';
import { comparedText, type ShownReplay } from '../../rehearsal/result/replay-text.ts';
import { type BreakPlaces, placeBreaks, type WhatIf } from '../../rehearsal/world/what-if.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { makePlan } from '../../rollout/planning/plan.ts';
import { writeReport } from '../../rollout/report/write-report.ts';
import { type HoldsReading, readHolds } from '../plan/read-holds.ts';
import { UsageFailure } from '../shell/command.ts';
import { type ConsoleOutput, printJson } from '../shell/console-output.ts';
import { type DaemonTarget, withDaemon } from '../shell/daemon-target.ts';
import { type ExitCode, exitCodes } from '../shell/exit-codes.ts';
import { openConfig, orUsageFailure, policyOf } from '../shell/open-config.ts';
import { writeLinesToFile } from '../shell/write-lines.ts';
import { type LearnedCourse, learnCourse, learnDurations } from './learn-course.ts';
import { makeProgress, playSeeds } from './play-seeds.ts';
import { readFleet } from './read-fleet.ts';
import { type KeptPast, placePast, readPast } from './read-past.ts';
import { renderRehearsal } from './render-rehearsal.ts';
import { makeSeedPool } from './seed-pool.ts';
import { withStrataDurations } from './strata-durations.ts';
import { placeOthers, scansFor } from './surroundings.ts';
import { type Occasion, readWhatIf, usualWhatIf } from './what-if-file.ts';

export interface RehearseOptions extends DaemonTarget {
  readonly fleet?: string;
  readonly build?: string;
  readonly whatIf?: string;
  /** The past rollout that is played again. */
  readonly replay?: string;
  /** Ask the daemon how upgrades went before. */
  readonly learn: boolean;
  readonly seeds: number;
  readonly at?: EpochMs;
  readonly html?: string;
  readonly failIf: readonly string[];
  readonly variants: boolean;
  readonly others: boolean;
}

/** `upwave rehearse [policy]`: what a rollout would do, played in virtual time. It writes nothing to the service. */
export async function rehearseCommand(
  named: string | undefined,
  options: RehearseOptions,
  output: ConsoleOutput,
): Promise<ExitCode> {
  // With a file for the fleet, it calls nobody.
  const config = openConfig(options.config, process.env, options.fleet === undefined);
  const limits = options.failIf.map(readLimit);
  const { replay } = options;
  const kept =
    replay === undefined ? undefined : await withDaemon(options, (client) => readPast(client, replay));
  const policy = choosePolicy(config, named ?? kept?.status.policy);
  const tooQuick = tooQuickText(policy);
  if (tooQuick !== undefined)
    output.err.write(`warning: ${tooQuick}. Rehearse a policy with the times of the real service.\n`);
  const { scene, planned, shown, holds, breakPlaces, others } = await readScene(
    config,
    { policy, kept },
    options,
    output,
  );
  // The other policies' rollouts are played for each seed, too.
  const upgrades = planned + sumOf(scene.others ?? [], ({ upgradableIds }) => upgradableIds.size);
  const pool = makeSeedPool({ scene, upgrades: options.seeds * upgrades });
  const played = await playSeeds(pool, { ...options, scene, policy }, makeProgress(output)).finally(
    pool.close,
  );
  const { name, timeZone } = policy;
  const verdicts = limits.map((limit) => ({
    condition: limit.text,
    isMet: isMet(limit, played.rehearsal, timeZone),
  }));
  const { targetBuild, whatIf } = scene;
  const result: ShownRehearsal = {
    ...{ policy: name, timeZone, targetBuild, whatIf, seedsAsked: options.seeds },
    ...played,
    ...(shown && { replay: shown }),
    ...(holds && { holds }),
    ...(breakPlaces && { breakPlaces }),
    others,
    verdicts,
  };
  if (options.html !== undefined) await writeHtml(options.html, result, output.err);
  const met = verdicts.flatMap((each) => (each.isMet ? [each.condition] : []));
  if (options.json) printJson(output, jsonOf(result, met));
  else output.out.write(`${renderRehearsal(result)}\n`);
  if (!options.json) for (const condition of met) output.err.write(`failed: ${condition}\n`);
  return met.length > 0 ? exitCodes.finishedWithFailures : exitCodes.done;
}

interface RehearsedScene {
  readonly scene: Scene;
  readonly planned: number;
  /** Of a replay. */
  readonly shown?: ShownReplay;
  readonly holds?: ShownHolds;
  readonly breakPlaces?: BreakPlaces;
  readonly others: readonly ShownOther[] | null;
}

/** Reads what is rehearsed: the fleet, and what is assumed of upgrades, build, service and people. @throws CommandFailure */
async function readScene(
  config: Config,
  { policy, kept }: { readonly policy: Policy; readonly kept: KeptPast | undefined },
  options: RehearseOptions,
  output: ConsoleOutput,
): Promise<RehearsedScene> {
  const beganAt = options.at ?? kept?.status.createdAt ?? Date.now();
  const isReplay = kept !== undefined;
  const learned = isReplay ? undefined : await learn(options, policy);
  const whatIf = openWhatIf(options.whatIf, { policy, at: beganAt, learned, isReplay });
  const file = options.fleet;
  // The service may no longer offer the build of a past rollout.
  const build = options.build ?? (file === undefined ? undefined : kept?.status.targetBuild);
  const own = accountConfigOf(config, policy.name);
  const playsOthers = !isReplay && options.others;
  const others = playsOthers ? own.rollouts.filter(({ name }) => name !== policy.name) : [];
  const fleetOptions = { ...(file && { file }), ...(build && { build }), at: beganAt, others };
  const holds = isReplay ? undefined : await holdsFor(options);
  const fleet = await readFleet(config, policy, fleetOptions, output);
  const targetBuild = kept?.status.targetBuild ?? fleet.targetBuild;
  const replayed = kept && placePast(kept, fleet.snapshot.collectors, beganAt);
  const heldCollectors = heldBy(holds, fleet.snapshot);
  const snapshot = replayed?.snapshot ?? without(heldCollectors, fleet.snapshot);
  const planId = `${policy.name}-20000101-1`;
  const plan = makePlan(policy, targetBuild, snapshot, planId);
  const planned = sumOf(plan.waves, ({ members }) => members.length);
  if (planned === 0)
    throw new UsageFailure(
      `${policy.name} plans no collector for build ${targetBuild}; \`upwave plan\` shows why`,
    );
  const requestsPerSecond = ourRequestsPerSecond(own.service);
  const placed = await placeOthers(fleet.others, snapshot, beganAt);
  const passPauseMs = passPauseFor(planned);
  const scene = {
    ...{ targetBuild, snapshot, beganAt, requestsPerSecond, passPauseMs },
    ...(fleet.builds && { builds: fleet.builds }),
    others: placed.map(({ other }) => other),
    scansAt: await scansFor(policy, whatIf, beganAt),
    whatIf: learned === undefined ? whatIf : withStrataDurations(whatIf, plan, learned),
  };
  if (replayed === undefined) {
    const whole = makePlan(policy, targetBuild, fleet.snapshot, planId, { heldCollectors });
    const held = whole.leftOut.filter(({ kind }) => kind === 'held').length;
    return {
      scene,
      planned,
      ...(holds && { holds: holds.kind === 'known' ? { kind: 'known', held } : holds }),
      breakPlaces: placeBreaks(whatIf, whole),
      others: playsOthers ? placed.map(({ shown }) => shown) : null,
    };
  }
  return { scene: { ...scene, past: replayed.past }, planned, shown: replayed.shown, others: null };
}

/** With a file for the fleet, a daemon is asked only where one is named. */
async function holdsFor(options: RehearseOptions): Promise<HoldsReading> {
  if (options.fleet === undefined || options.url !== undefined) return readHolds(options);
  return { kind: 'unknown', why: 'with --fleet, a daemon is asked only with --url' };
}

/** @param holds undefined for a replay, which plays the collectors of its rollout */
function heldBy(holds: HoldsReading | undefined, fleet: FleetSnapshot): ReadonlySet<number> {
  return holds?.kind === 'known' ? heldIn(fleet, holds.held) : new Set();
}

function without(held: ReadonlySet<number>, fleet: FleetSnapshot): FleetSnapshot {
  return { ...fleet, collectors: fleet.collectors.filter(({ id }) => !held.has(id)) };
}

/** The leader of a real daemon pauses for less than a second. At this fleet size, such pauses are 1 % of an upgrade. */
const passPausePerCollectorMs: DurationMs = 6;

function passPauseFor(planned: number): DurationMs {
  return Math.max(1_000, planned * passPausePerCollectorMs);
}

/** With `--url` alone, a daemon that knows no durations is no failure. */
async function learn(options: RehearseOptions, { name }: Policy): Promise<LearnedCourse | undefined> {
  if (options.learn) return withDaemon(options, (client) => learnCourse(client, name));
  if (options.url === undefined) return undefined;
  return withDaemon(options, (client) => learnDurations(client, name));
}

/** @param named not needed where the config has one policy */
function choosePolicy(config: Config, named: string | undefined): Policy {
  if (named !== undefined) return policyOf(config, named);
  const [only, ...others] = config.rollouts;
  if (only !== undefined && others.length === 0) return only;
  const names = config.rollouts.map(({ name }) => name).join(', ');
  throw new UsageFailure(`name one policy; the config has ${names}`);
}

function openWhatIf(path: string | undefined, occasion: Occasion): WhatIf {
  return path === undefined ? usualWhatIf(occasion) : orUsageFailure(() => readWhatIf(path, occasion));
}

function readLimit(text: string): Limit {
  try {
    return parseLimit(text);
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    throw new UsageFailure(`--fail-if ${error.message}`, { cause: error });
  }
}

async function writeHtml(path: string, result: ShownRehearsal, err: ConsoleOutput['err']): Promise<void> {
  const text = writeReport(rehearsalDocument(result), 'html');
  await writeLinesToFile(path, text.trimEnd().split('\n'), { reader: 'all', err });
}

function jsonOf({ rehearsal, variants, ...heading }: ShownRehearsal, met: readonly string[]) {
  const { policy, targetBuild, seedsAsked, replay, holds, others } = heading;
  const { ofCollectors: _many, ...whatIf } = heading.whatIf;
  const { typical: _picture, ...figures } = rehearsal;
  return {
    ...{ policy, targetBuild, whatIf, seedsAsked },
    ...figures,
    ...(replay && { replay: { ...replay, text: comparedText(replay, rehearsal) } }),
    others,
    ...(holds && { holdsKnown: holds.kind === 'known' }),
    heldPercent: heldPercent(rehearsal),
    variants: variants.map(({ name, rehearsal: { harmed, othersDone, tookMs } }) => ({
      ...{ name, harmed, othersDone, tookMs },
    })),
    failed: met,
  };
}
