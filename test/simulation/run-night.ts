import type { ScanBook } from '../../src/orchestrator/ports/scan-book.ts';
import { wasStopped } from '../../src/rollout/decision/after-data-loss.ts';
import { rolloutReasonText } from '../../src/rollout/messages/rollout-reasons.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';
import { isRolloutEnd, type Rollout } from '../../src/rollout/model/rollout.ts';
import { isEnd } from '../../src/rollout/model/upgrade.ts';
import { makeMemoryScanBook } from '../support/store/memory-scan-book.ts';
import { type Chances, makeChances } from './chances.ts';
import { makeBrakes } from './judge/brakes.ts';
import { inspect, noteEstimate } from './judge/inspect.ts';
import { makeCreateJudge } from './judge/judge-creates.ts';
import { judgeEvidence } from './judge/judge-evidence.ts';
import { makeNoticeJudge } from './judge/judge-notices.ts';
import { makeProgressJudge } from './judge/judge-progress.ts';
import { makeStartJudge } from './judge/judge-starts.ts';
import { watchStatus } from './judge/judge-status.ts';
import { seeToEnd } from './judge/see-to-end.ts';
import { makeSeenRollouts, type SeenRollout } from './judge/seen-rollouts.ts';
import { makeShownCollectors } from './judge/shown-collectors.ts';
import { makeVerdicts, type Violation } from './judge/verdicts.ts';
import type { Night } from './night.ts';
import { cannotMeet } from './pairs/cannot-meet.ts';
import { type Meetings, makeMeetings } from './pairs/meetings.ts';
import { makeSteering } from './pairs/steering.ts';
import { isOfWords, wantedOf, withWanted } from './pairs/wanted.ts';
import { type PlantedBug, scriptChangeOf } from './planted-bugs.ts';
import { drawOlder, drawPolicy } from './random-policy.ts';
import { doubtsClocks, type FaultKind, highestOf, readsAnew, type Setup } from './setup.ts';
import { makeMemoryStores } from './store/night-stores.ts';
import { makeRedisStores, type RedisForNight } from './store/redis-stores.ts';
import { withTheme } from './themes.ts';
import { planClockFaults } from './world/clock-faults.ts';
import { makeConfigModel } from './world/config-model.ts';
import { type DaemonModel, makeDaemonModel, mayWork } from './world/daemon-model.ts';
import { rowsPerPage } from './world/fleet-port.ts';
import { makeGateModel } from './world/gate-model.ts';
import { makeGatewayModel } from './world/gateway-model.ts';
import { type HostModel, planHostChanges } from './world/host-changes.ts';
import { makeJobModel } from './world/job-model.ts';
import { planMishaps } from './world/mishaps.ts';
import { makeNoticeModel, type NoticeModel } from './world/notice-model.ts';
import { makeOrders } from './world/orders.ts';
import { makePastBuilds } from './world/past-builds.ts';
import { isLeftAlone, speakAtRandom, speakWhenWanted } from './world/people.ts';
import { type Host, makeProcess, type ProcessModel } from './world/process-model.ts';
import { planReloads } from './world/reloads.ts';
import { makeScheduler } from './world/scheduler.ts';
import { makeServiceModel } from './world/service-model.ts';
import { startPolicies } from './world/starters.ts';
import { takeOverStrata } from './world/takeovers.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** What one night came to. */
export interface NightReport {
  readonly seed: number;
  readonly rollouts: number;
  readonly ended: number;
  readonly events: number;
  readonly tasks: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly checks: ReadonlyMap<string, number>;
  readonly violations: readonly Violation[];
  /** The names of the pairs that met. */
  readonly met: readonly string[];
  /** What was done at most, as shares of the limits of it. */
  readonly most: ReadonlyMap<string, number>;
  /** |estimated - actual| / actual of each rollout that ended undisturbed. */
  readonly estimateErrors: readonly number[];
}

export interface NightOptions {
  readonly plant?: PlantedBug | null;
  readonly trace?: (at: number, who: string, words: string) => void;
  /** Ends the night at the first violation. */
  readonly stopsEarly?: boolean;
  /** Plays on the scripts of this Redis. Default: on the model of the store in memory. */
  readonly redis?: RedisForNight | undefined;
}

// Windows open at least once a week, and a frozen time lasts less than two days.
const restWithinMs = 40 * dayMs;

// Several times what the longest of the nights takes: more is a loop that goes round without getting anywhere.
const eventsMax = 3_000_000;

// Upgrades that nobody remembers end one after the other, and each look for work may meet one that restarts.
const scansAfterLoss = 5;

const leaseMs = 3_000;
const checkEveryMs = 1_000;
const beatEveryMs = 2_000;
const livesMs = 10_000;
// A daemon that has seen a newer config for longer than this does not bring its own brakes back (configs.ts).
const takesUpWithinMs = 20_000;

/** Plays one world from its setup: everything that happens follows from it, so that a replay is exact. */
export async function runNight(given: Setup, options: NightOptions = {}): Promise<NightReport> {
  const wanted = wantedOf(given);
  const setup = withTheme(withWanted(given, wanted));
  const chances = makeChances(setup.seed, 'night');
  const startsAt = Date.parse('2026-01-01T00:00:00Z') + chances.int(0, 360 * 24 * 60) * minuteMs;
  const scheduler = makeScheduler(startsAt, () => stores.answered());
  const troubleEndsAt = startsAt + setup.troubleMs;
  const hasSecond = chances.hit(setup.leansTo.includes('secondPolicy') ? 1 : 0.25);
  const names = setup.features.secondPolicy && hasSecond ? ['first', 'second'] : ['first'];
  const policies = names.map((name) => drawPolicy(setup, name, startsAt));
  // A config before it, which selects others.
  const older =
    Math.round(setup.faults.otherConfig) > 0 ? [policies.map((each) => drawOlder(setup, each))] : [];
  const configs: Array<readonly Policy[]> = [...older, policies];
  const expectMs = policies[0]?.upgrade.expectMs ?? 5 * minuteMs;
  const faults = new Map<FaultKind, number>();
  const struck: Night['struck'] = (kind, subject) => {
    faults.set(kind, (faults.get(kind) ?? 0) + 1);
    if (highestOf(kind) >= 1) progress.fact();
    meetings.note(kind, subject);
  };
  const wants = (kind: FaultKind) => steering.wants(kind);
  const service = makeServiceModel(setup, scheduler, expectMs, struck, 'ours', wants);
  const services = { ours: service, other: makeServiceModel(setup, scheduler, expectMs, struck, 'other') };
  const isTroubled = () => scheduler.now() < troubleEndsAt;
  const trace: Night['trace'] = (who, words) => options.trace?.(scheduler.now(), who, words());
  let isOver = false;
  const verdicts = makeVerdicts(scheduler.now, ({ promise, words }) => {
    trace('judge', () => `VIOLATION ${promise}: ${words}`);
    if (options.stopsEarly === true) isOver = true;
  });
  const seen = makeSeenRollouts(scheduler.now);
  const steering = makeSteering(setup, wanted, { scheduler, isTroubled, meetings: () => meetings });
  const meetings: Meetings = makeMeetings(seen, scheduler.now, steering.look);
  const stores =
    options.redis === undefined
      ? makeMemoryStores(scheduler.now)
      : makeRedisStores(options.redis, {
          ...{ seed: setup.seed, policies: names, verdicts, now: scheduler.now },
          strikes: (kind, by) => night.strikes(kind, by),
          connections: () => storeInstances,
          changeScript: scriptChangeOf(options.plant ?? null),
        });
  const { store, register } = stores.reach();
  const gateway = makeGatewayModel(setup, scheduler, { seen, isTroubled, troubleEndsAt, struck });
  const shown = makeShownCollectors();
  const orders = makeOrders();
  const gates = makeGateModel(setup, scheduler.now, { services, struck, steering });
  const skewMs = setup.faults.clockJump > 0 ? 5_000 : 0;
  const staleMs =
    setup.faults.stall > 0 || setup.faults.slowAnswer > 0 || setup.faults.crash > 0 || doubtsClocks(setup)
      ? 300_000
      : 60_000;
  const brakes = makeBrakes((config) => configs[config] ?? []);
  const beatChances = makeChances(setup.seed, 'beats');
  const awaitAdmission: Array<() => void> = [];
  const progress = makeProgressJudge({
    ...{ now: scheduler.now, verdicts, seen },
    pages: () =>
      Math.max(
        ...Object.values(services).map(
          ({ collectors, habits }) => collectors.size / Math.min(rowsPerPage, habits.pageRowsMax),
        ),
      ),
  });
  const judge = makeCreateJudge({
    brakes,
    missingForMs: (policy) => scheduler.now() - (night.missingSince(policy) ?? scheduler.now()) - staleMs,
    now: scheduler.now,
    verdicts,
    seen,
    services,
    orders,
    skewMs,
  });
  const pointChances = makeChances(setup.seed, 'points');
  const inspectChances = makeChances(setup.seed, 'inspections');
  const emptied = makeChances(setup.seed, 'emptied stores');
  /** By policy: what kept its rollout from going on when it was lost. */
  const stoppedAndLost = new Map<string, Rollout>();
  let storeInstances = 0;
  let timesEmptied = 0;
  let rejoinedAt = startsAt;
  let emptiedAt = startsAt;
  let isChanged = true;

  /** Daemons that died are taken for living for some seconds. */
  const diedAt = new Map<ProcessModel, number>();
  const seemsAlive = ({ process }: DaemonModel): boolean =>
    process.isAlive() || (readsAnew(setup) && scheduler.now() - (diedAt.get(process) ?? startsAt) < livesMs);
  const namesIn = (config: number) => (configs[config] ?? []).map(({ name }) => name);
  const configModel = makeConfigModel(
    namesIn,
    () => daemons.filter(seemsAlive).map(({ process }) => process),
    (process) => (process.isAlive() ? scheduler.now() : (diedAt.get(process) ?? startsAt)),
  );

  const buildHistory = makePastBuilds(setup, names[0] ?? '', scheduler.now);
  let scanBook = makeMemoryScanBook();
  const scans: ScanBook = { note: (entry) => scanBook.note(entry), read: () => scanBook.read() };
  const missing = new Map<string, number>();
  const noteMissing = (): void => {
    const there = new Set(alive().flatMap(({ process }) => namesIn(process.host.config)));
    for (const name of configs.flatMap((_, config) => namesIn(config)))
      if (there.has(name)) missing.delete(name);
      else if (!missing.has(name)) missing.set(name, scheduler.now());
  };

  const night: Night = {
    setup,
    plant: options.plant ?? null,
    configs,
    configModel,
    addConfig: (added) => configs.push(added) - 1,
    selectsAnew: (config) => config >= older.length,
    brakes,
    beatSoon: () => {
      noteMissing();
      if (!readsAnew(setup)) return;
      for (const daemon of alive())
        for (const afterMs of [0, takesUpWithinMs])
          scheduler.at(
            scheduler.now() + afterMs + beatChances.int(50, beatEveryMs),
            () => void daemon.beat(),
          );
    },
    newestSince: (policy) => {
      const newest = configModel.newest();
      if (newest !== undefined && !night.selectsAnew(newest)) return Number.POSITIVE_INFINITY;
      const starts = alive()
        .filter(
          ({ process: { host } }) => night.selectsAnew(host.config) && namesIn(host.config).includes(policy),
        )
        .map(({ configSince }) => configSince());
      return Math.max(Math.min(Number.POSITIVE_INFINITY, ...starts), rejoinedAt, emptiedAt);
    },
    scheduler,
    service,
    services,
    serviceOf: (rolloutId) => services[seen.all.get(rolloutId)?.account ?? 'ours'],
    gateway,
    shown,
    stores,
    store,
    register,
    scans,
    buildHistory,
    notices: undefined,
    missingSince: (policy) => {
      noteMissing();
      return missing.get(policy);
    },
    gates,
    seen,
    verdicts,
    orders,
    judge,
    progress,
    starts: makeStartJudge(verdicts),
    skewMs,
    staleMs,
    isTroubled,
    strikes: (kind, by) => {
      const hits = isTroubled() && (by.hit(setup.faults[kind]) || steering.wants(kind));
      if (hits) struck(kind);
      return hits;
    },
    struck,
    spoken: (kind, subject) => {
      progress.fact();
      meetings.note(kind, subject);
    },
    steering,
    trace,
    point: (process) => {
      if (night.strikes('crash', pointChances)) crash(process.name);
      else if (night.strikes('stall', pointChances))
        stall(process.name, pointChances.pick([500, 1_500, 5_000, 60_000, 150_000]));
      const giveWay = () => {
        const isStopped = !process.isAlive() || process.stalledUntil() > scheduler.now();
        return isStopped || pointChances.hit(setup.givesWay)
          ? process.wait(pointChances.int(0, 8))
          : undefined;
      };
      return night.strikes('storeSlow', pointChances)
        ? process.wait(pointChances.int(50, 1_500)).then(giveWay)
        : giveWay();
    },
    emptyStore: () => {
      const outages = [...seen.all.values()].map(({ rollout }) => rollout);
      for (const rollout of outages.filter(({ kind }) => kind === 'upgrade')) {
        if (wasStopped(rollout, rollout.plan.targetBuild)) stoppedAndLost.set(rollout.policy.name, rollout);
        else stoppedAndLost.delete(rollout.policy.name);
      }
      night.starts.lost(seen);
      storeInstances += 1;
      timesEmptied += 1;
      emptiedAt = scheduler.now();
      stores.forget();
      jobs.forget();
      seen.forget();
      orders.forgetRollouts();
      configModel.forget();
      scanBook = makeMemoryScanBook();
      buildHistory.forget();
      night.notices?.forget();
      brakes.forget();
      isChanged = true;
      for (const policy of policies) {
        for (let count = 0; count < scansAfterLoss; count += 1)
          scheduler.at(scheduler.now() + emptied.int(0, 120) * 1_000, () => {
            void emptied.some(alive())?.scanNow(policy.name, 'schedule');
          });
      }
    },
    takeStoreBack: (afterMs, isAnyTime = false) => {
      const keptAt = scheduler.now();
      const spokenAt = orders.moment();
      const left = judge.createsLeft();
      const putBack = [stores.keep(), seen.keep(), night.notices?.keep()];
      const births = storeInstances;
      scheduler.at(keptAt + afterMs, () => {
        // What a person was answered meanwhile would be undone, and nobody could know of it.
        if (orders.moment() !== spokenAt || storeInstances !== births) return;
        // What is worth losing is a create.
        if (judge.createsLeft() === left && !isAnyTime) {
          if (isTroubled()) night.takeStoreBack(afterMs);
          return;
        }
        trace('world', () => `the store goes back by ${afterMs} ms`);
        struck('storeGoesBack');
        for (const each of putBack) each?.();
        jobs.loseSince(keptAt);
        judge.forgotten();
        storeInstances += 1;
        rejoinedAt = scheduler.now();
        isChanged = true;
        wakeUps.wake();
      });
    },
    restartStore: () => {
      trace('world', () => 'the store starts again');
      stores.restart?.();
      storeInstances += 1;
      rejoinedAt = scheduler.now();
    },
    storeInstances: () => storeInstances,
    rejoinedAt: () => rejoinedAt,
    memory: {
      check: async () => `store ${timesEmptied}`,
      stoppedRollout: (policy, targetBuild) => {
        // Only a person starts it again. From then on the newer rollout counts.
        const isStarted = [...seen.all.values()].some(
          ({ rollout }) => rollout.kind === 'upgrade' && rollout.policy.name === policy,
        );
        const lost = isStarted ? undefined : stoppedAndLost.get(policy);
        return lost !== undefined && wasStopped(lost, targetBuild) ? lost : undefined;
      },
    },
    admitted: () => {
      for (const happen of awaitAdmission.splice(0)) happen();
    },
    afterNextAdmission: (happen) => awaitAdmission.push(happen),
    wrote: (of) => {
      isChanged = true;
      night.notices?.changed();
      steering.look();
      if (of !== undefined) look(of);
      if (of !== undefined) takeOver(of);
      if (of !== undefined && inspectChances.hit(0.01))
        scheduler.at(scheduler.now(), () => void inspect(night, of));
      if (of !== undefined && of.estimatedEnd === null && of.frozenAt === scheduler.now())
        void noteEstimate(night, of);
    },
  };

  const noticeJudge = makeNoticeJudge({ verdicts, seen });
  if (setup.features.notices) night.notices = makeNoticeModel(night, noticeJudge, () => alive());
  const isServed = (of: SeenRollout): boolean => {
    const there = alive();
    const serves = ({ process: { host } }: DaemonModel) =>
      host.account === of.account && !isLeftAlone(night, of, host);
    return there.length > 0 && there.every(serves);
  };
  const look = watchStatus(night, (of) => !isServed(of));
  const takeOver = takeOverStrata(night, () => alive());
  const daemons: DaemonModel[] = [];
  const alive = () => daemons.filter(({ process }) => process.isAlive());
  const jobs = makeJobModel(night, alive);
  const wakeUps = {
    wake: () => {
      for (const daemon of alive()) {
        // One that did not hear it finds the same at its next look.
        const afterMs = night.strikes('bellLost', pointChances) ? pointChances.int(1, checkEveryMs) : 1;
        scheduler.at(scheduler.now() + afterMs, daemon.hear);
      }
    },
  };
  let leader: DaemonModel | undefined;
  let fence = 0;
  const elect = (before?: DaemonModel): void => {
    const able = alive().filter(
      ({ process }) => process.stalledUntil() <= scheduler.now() && mayWork(night, process),
    );
    const others = able.filter((daemon) => daemon !== before);
    const next = chances.some(others.length > 0 ? others : able);
    if (next === undefined) {
      scheduler.at(scheduler.now() + 1_000, () => elect());
      return;
    }
    leader = next;
    fence += 1;
    const term = fence;
    trace(next.process.name, () => `leads with fence ${term}`);
    const isLeading = () => leader === next && fence === term && mayWork(night, next.process);
    const giveWay = () => {
      if (isLeading()) elect(next);
    };
    void next.lead(term, isLeading, giveWay).then(() => {
      // It has stepped back because its clock was wrong. Where the clock is right again, it takes the lease as any other may.
      scheduler.at(scheduler.now() + leaseMs + 500, () => {
        if (leader === next && fence === term) elect();
      });
    });
  };
  const deposeLater = (name: string): void => {
    if (leader?.process.name !== name) return;
    const deposed = leader;
    scheduler.at(scheduler.now() + leaseMs + 500, () => {
      const { process } = deposed;
      const isAble =
        process.isAlive() && process.stalledUntil() <= scheduler.now() && mayWork(night, process);
      if (leader === deposed && !isAble) elect();
    });
  };
  let lives = 0;
  const hosts: HostModel[] = [];
  const running = new Map<HostModel, ProcessModel>();
  /** Where nobody has the config that was acknowledged, a daemon that was just started with another one brings its own. */
  const forgetBrakes = (): void => {
    const config = brakes.acknowledged();
    const living = alive();
    if (config === undefined) return;
    const isKept = living.some(({ process }) => process.host.config === config);
    const youngestMs = takesUpWithinMs + staleMs;
    const isAnyYoung = living.some(({ configSince }) => scheduler.now() - configSince() < youngestMs);
    // Whoever is started with one that nobody has seen yet brings that.
    if (configModel.newest() !== config || (isAnyYoung && !isKept)) brakes.forget();
  };
  const startDaemon = (host: HostModel): void => {
    if (!hosts.includes(host) || running.get(host)?.isAlive() === true) return;
    lives += 1;
    const offset = chances.int(-1, 1) * (skewMs / 5);
    const { account, accessKey, config } = host;
    const of = { account, accessKey, config };
    const followsJumps = night.plant === 'clocksTrusted';
    const process = makeProcess(`daemon-${lives}`, of, scheduler, Math.round(offset), followsJumps);
    trace(process.name, () => `starts on ${host.name} with config ${config} of ${account}`);
    running.set(host, process);
    configModel.appears(config);
    daemons.push(makeDaemonModel(night, process, { wakeUps, jobs }));
    forgetBrakes();
    night.beatSoon();
    if (leader === undefined || !leader.process.isAlive()) elect();
  };
  const stop = (host: HostModel): void => {
    const process = running.get(host);
    if (process?.isAlive() !== true) return;
    trace(process.name, () => 'crashes');
    process.crash();
    diedAt.set(process, scheduler.now());
    forgetBrakes();
    night.beatSoon();
    deposeLater(process.name);
  };
  const restart = (host: HostModel, most = 60_000): void => {
    stop(host);
    scheduler.at(scheduler.now() + chances.int(1_000, most), () => startDaemon(host));
  };
  const crash = (name: string): void => {
    const host = hosts.find((each) => running.get(each)?.name === name);
    if (host !== undefined) restart(host);
  };
  const addHost = (of: Host): HostModel => {
    const host = { ...of, name: `host-${hosts.length + 1}` };
    hosts.push(host);
    startDaemon(host);
    return host;
  };
  const removeHost = (host: HostModel): void => {
    stop(host);
    hosts.splice(hosts.indexOf(host), 1);
  };
  const stall = (name: string, forMs: number): void => {
    trace(name, () => `stalls for ${forMs} ms`);
    daemons.find(({ process }) => process.name === name)?.process.stall(forMs);
    if (forMs > leaseMs) deposeLater(name);
  };
  for (let count = 0; count < setup.daemons; count += 1)
    addHost({ account: 'ours', accessKey: 1, config: 0 });

  planMishaps(night);
  planHostChanges(night, {
    hosts: [...hosts],
    newest: () => configs.length - 1,
    restart,
    add: addHost,
    remove: removeHost,
    struck,
  });
  planReloads(night, {
    hosts,
    daemonOn: (host) => alive().find(({ process }) => process === running.get(host)),
    restart,
  });
  const jumps = makeChances(setup.seed, 'clock jumps');
  const jumpClock = (by: Chances) => (): void => {
    struck('clockJump');
    by.some(alive())?.process.setClock(by.int(-skewMs, skewMs));
  };
  steering.able('clockJump', jumpClock(jumps));
  for (let jump = 0; jump < Math.round(setup.faults.clockJump); jump += 1)
    scheduler.at(startsAt + chances.between(0, setup.troubleMs), jumpClock(chances));
  planClockFaults(night, { alive, deposeLater });
  for (const policy of policies) {
    const everyMs = chances.pick([30, 60, 240]) * minuteMs;
    const tick = (): void => {
      const daemon = chances.some(alive());
      if (daemon !== undefined) void daemon.scanNow(policy.name, 'schedule');
      if (isTroubled()) scheduler.at(scheduler.now() + everyMs, tick);
    };
    scheduler.at(startsAt + chances.int(0, 30_000), tick);
  }
  for (let person = 1; person <= (setup.words === 0 ? 0 : setup.operators); person += 1)
    void speakAtRandom(night, `person-${person}`, Math.ceil(setup.words / setup.operators), alive);
  speakWhenWanted(night, alive);
  startPolicies(night, alive);

  /** Nobody has its policy any more: it waits for a person. */
  const isOrphaned = (of: SeenRollout): boolean =>
    night.missingSince(of.rollout.policy.name) !== undefined && isQuiet(of);
  const isAtRest = (): boolean => {
    if (scheduler.events() > eventsMax) return true;
    const [host] = hosts;
    // Nobody works on it until it is aborted, and its jobs come back for ever.
    const isWaitedFor = (of: SeenRollout | undefined) =>
      of !== undefined &&
      host !== undefined &&
      isLeftAlone(night, of, host) &&
      !isRolloutEnd(of.rollout.state);
    const isAlone = (rolloutId: string) => isWaitedFor(seen.all.get(rolloutId));
    if (isTroubled() || !isChanged || jobs.open(isAlone) > 0) return false;
    if (alive().some((daemon) => daemon.backgroundTasksOut() > 0)) return false;
    isChanged = false;
    return [...seen.all.values()].every((of) => isWaitedFor(of) || isResting(of, seen.all) || isOrphaned(of));
  };
  const rest = async (): Promise<boolean> => {
    isChanged = true;
    const end = await scheduler.run(
      scheduler.now() + setup.troubleMs + restWithinMs,
      () => isOver || isAtRest(),
    );
    const isSpinning = scheduler.events() > eventsMax;
    verdicts.check(
      'P11',
      end === 'over' && !isSpinning,
      `no rest ${isSpinning ? `after ${eventsMax} events` : 'in time'}: ${unrest(seen.all)}`,
    );
    return end === 'over' && !isSpinning;
  };
  /** A leader that has a policy, and serves its account, tells of its rollouts. */
  const judgeNotices = async (notices: NoticeModel): Promise<void> => {
    await scheduler.run(scheduler.now() + 2 * dayMs, () => notices.isSettled());
    const since = await notices.since();
    noticeJudge.atRest((of) => {
      const hasIt = ({ process }: DaemonModel) =>
        namesIn(process.host.config).includes(of.rollout.policy.name);
      return of.rollout.createdAt > since && alive().every(hasIt);
    });
  };
  const rests = await rest();
  judgeEvidence(night);
  const isSpokenTo = setup.words > 0 || wanted.some(isOfWords);
  if (rests && !isOver && isSpokenTo) await seeToEnd(night, () => alive()[0], rest);
  for (const of of seen.all.values()) await inspect(night, of);
  if (night.notices !== undefined && !isOver) await judgeNotices(night.notices);
  for (const [name, pair] of meetings.met) {
    const why = cannotMeet(pair);
    verdicts.check('pairs', why === undefined, `${name} met, and cannot: ${why}`);
  }
  await stores.close();
  return {
    seed: setup.seed,
    rollouts: seen.all.size + seen.lost.size,
    ended: [...seen.all.values()].filter(({ rollout }) => rollout.endedAt !== null).length,
    events: scheduler.events(),
    tasks: service.tasks.size,
    faults,
    checks: verdicts.checks,
    violations: verdicts.violations,
    met: [...meetings.met.keys()],
    most: progress.most,
    estimateErrors: [...seen.all.values()].flatMap(estimateError),
  };
}

/** Ended, or stopped with a reason and nothing on its way, or waiting for a person's word. */
function isResting(of: SeenRollout, all: ReadonlyMap<string, SeenRollout>): boolean {
  const { rollout } = of;
  if (rollout.endedAt !== null) return true;
  if (rollout.state === 'awaitingApproval') return true;
  // It waits for a plausible inventory, and is held when none comes.
  if (rollout.state === 'running' && rollout.inventory.implausible !== null) return false;
  if (rollout.state === 'held' || rollout.state === 'paused') return isQuiet(of);
  if (rollout.state === 'rollingBack') {
    if (rollout.inventory.implausible !== null && rollout.rollback.startedAs === null) return isQuiet(of);
    const rollback = all.get(rollout.rollback.startedAs ?? '');
    return rollback !== undefined && rollback.rollout.endedAt === null && isResting(rollback, all);
  }
  return isQuiet(of) && rollout.waves.find(({ state }) => state !== 'passed')?.state === 'awaitingApproval';
}

function isQuiet({ upgrades }: SeenRollout): boolean {
  return [...upgrades.values()].every(
    ({ progress: { state } }) => isEnd(state) || state === 'pending' || state === 'retrying',
  );
}

function unrest(all: ReadonlyMap<string, SeenRollout>): string {
  return [...all.values()]
    .filter((of) => !isResting(of, all))
    .map(({ rollout, upgrades }) => {
      const open = [...upgrades.values()].filter(({ progress: { state } }) => !isEnd(state));
      const some = open
        .slice(0, 3)
        .map(({ identity: { collectorId }, progress: { state } }) => `${collectorId} ${state}`);
      return `${rollout.id} is ${rollout.state} (${rolloutReasonText(rollout.reason)}), waves ${rollout.waves.map(({ state }) => state).join(' ')}, open ${open.length}: ${some.join(', ')}`;
    })
    .join('; ');
}

function estimateError({ rollout, isDisturbed, estimatedEnd, frozenAt }: SeenRollout): readonly number[] {
  if (isDisturbed || estimatedEnd === null || rollout.endedAt === null) return [];
  const actualMs = rollout.endedAt - frozenAt;
  return actualMs <= 0 ? [] : [Math.abs(estimatedEnd - rollout.endedAt) / actualMs];
}
