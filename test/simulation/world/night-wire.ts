import {
  lastHeartbeatAt,
  type SimulatedCollector,
} from '../../../src/reference-service/fleet/simulated-collector.ts';
import type { Wire } from '../../support/virtual/service-answers.ts';
import { makeChances } from '../chances.ts';
import type { Night } from '../night.ts';
import type { Setup } from '../setup.ts';
import type { Account, ProcessModel } from './process-model.ts';

/** How a night's service differs from the reference service all night, where the specification says nothing. */
export interface ServiceHabits {
  /** No page has more rows. */
  readonly pageRowsMax: number;
  /** Upgradable lists also show collectors with a running task. */
  readonly listsRunning: boolean;
  /** It refuses a task for the build that the collector runs. */
  readonly refusesSameBuild: boolean;
}

export function drawHabits({ seed, faults }: Setup, account: Account): ServiceHabits {
  const draw = (concern: string) => makeChances(seed, `${concern}/${account}`);
  const pages = draw('pagesCapped');
  return {
    pageRowsMax: pages.hit(faults.pagesCapped) ? pages.pick([3, 8, 20]) : Number.POSITIVE_INFINITY,
    listsRunning: draw('listsRunning').hit(faults.listsRunning),
    refusesSameBuild: draw('same build').hit(0.5),
  };
}

/** The service's way to answer a daemon: its habits, what a gateway hides, and the order of each list. */
export function drawWire(night: Night, { name, host: { account } }: ProcessModel): Wire {
  const { setup, gateway, scheduler, struck } = night;
  const { faults, seed } = setup;
  const { listsRunning, pageRowsMax } = night.services[account].habits;
  const isMoving = makeChances(seed, `listsMoving/${account}`).hit(faults.listsMoving);
  const shuffles = makeChances(seed, `shuffles/${name}`);
  const listed = (collectors: readonly SimulatedCollector[]): readonly SimulatedCollector[] => {
    const shown = gateway.listed(collectors);
    if (pageRowsMax < shown.length) struck('pagesCapped');
    if (listsRunning) struck('listsRunning');
    if (listsRunning && shown.length < collectors.length) {
      const there = new Set(shown);
      for (const each of collectors) if (!there.has(each)) night.judge.hides(account, each.facts.id);
    }
    if (night.strikes('listsShuffled', shuffles)) return shown.toSorted(by(() => shuffles.next()));
    if (!isMoving || !night.isTroubled()) return shown;
    struck('listsMoving');
    // The one that was heard from last comes first.
    return shown.toSorted(by(({ life }) => -lastHeartbeatAt(life, scheduler.now())));
  };
  return {
    ...{ listed, listsRunning, pageRowsMax },
    endStatusOf: ({ id }) => {
      const chances = makeChances(seed, `end status/${account}/${id}`);
      if (!chances.hit(faults.endsUnknown)) return 2;
      struck('endsUnknown');
      return chances.pick([4, 5, 7, 9]);
    },
  };
}

/** Compares by a rank, which is drawn once for each. */
function by(rankOf: (collector: SimulatedCollector) => number) {
  const ranks = new Map<SimulatedCollector, number>();
  const rank = (of: SimulatedCollector): number => {
    const known = ranks.get(of) ?? rankOf(of);
    ranks.set(of, known);
    return known;
  };
  return (a: SimulatedCollector, b: SimulatedCollector): number => rank(a) - rank(b);
}
