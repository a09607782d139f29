import {
  collectorColumn,
  countColumn,
} from '../../../src/contract/collector-management/search-job-bodies.ts';
import type { LogAnswer, LogQuestion, LogSearch } from '../../../src/orchestrator/ports/log-search.ts';
import { type Chances, makeChances } from '../chances.ts';
import type { Steering } from '../pairs/steering.ts';
import type { FaultKind, Setup } from '../setup.ts';
import type { CollectorModel } from './collector-model.ts';
import { countMessages } from './delivery-model.ts';
import { gatherFor } from './gather.ts';
import type { ProcessModel } from './process-model.ts';
import type { ServiceModel } from './service-model.ts';

/** What a gate with a search of its own asks; how many errors there are depends on the day. */
export const errorQuery = 'error | count';
const [fewErrors, manyErrors] = ['3', '300'];

interface SearchModelParts {
  readonly setup: Setup;
  readonly process: ProcessModel;
  readonly service: ServiceModel;
  readonly chances: Chances;
  readonly lateChances: Chances;
  readonly struck: (kind: FaultKind) => void;
  readonly steering: Pick<Steering, 'wants' | 'underWay'>;
  readonly isTroubled: () => boolean;
  readonly isBad: () => boolean;
}

/** Search jobs over what the collectors really deliver. @returns also whether one of them gave no whole answer */
export function makeSearchModel(parts: SearchModelParts): LogSearch & { readonly hasFailed: () => boolean } {
  const { setup, process, service, chances, lateChances, struck, steering, isTroubled, isBad } = parts;
  let hasFailed = false;
  const gather = (kind: FaultKind) => gatherFor(kind, { process, steering, struck, forMs: awaitsForMs });
  return {
    hasFailed: () => hasFailed,
    run: async ({ query, from, to }: LogQuestion): Promise<LogAnswer> => {
      await process.wait(chances.int(5_000, 20_000));
      const isLate = isTroubled() && (await gather('searchLate'));
      const turnsLate =
        isTroubled() && (lateChances.hit(setup.faults.searchLate) || steering.wants('searchLate'));
      if (turnsLate && !isLate) struck('searchLate');
      if (isLate || turnsLate) {
        // Meanwhile the wave may be over, and its rollout held, ended or led by another daemon.
        await process.wait(lateChances.int(20_000, gathersForMs));
      }
      // An account without search jobs has none all night.
      const isForbidden = makeChances(setup.seed, 'account type').hit(setup.faults.searchFails / 4);
      const hasCome = isTroubled() && (await gather('searchFails'));
      const isWanted = steering.wants('searchFails');
      const fails = isTroubled() && (isForbidden || chances.hit(setup.faults.searchFails) || isWanted);
      if (fails && !hasCome) struck('searchFails');
      if (fails || hasCome) {
        hasFailed = true;
        const answer = isForbidden ? ({ kind: 'forbidden' } as const) : chances.pick(failures);
        if (answer.kind === 'unfinished') await process.wait(gathersForMs);
        return answer;
      }
      if (query === errorQuery)
        return { kind: 'records', records: [{ [countColumn]: isBad() ? manyErrors : fewErrors }] };
      const records = [...service.collectors.values()].flatMap((collector) =>
        namesOf(collector).flatMap(({ name, since, until }) => {
          const range = { from: Math.max(from, since), to: Math.min(to, until) };
          const count = range.from < range.to ? countMessages(collector.delivery, range) : 0;
          const isAsked = query.startsWith('* ') || query.includes(`"${name}"`);
          return isAsked && count > 0 ? [{ [collectorColumn]: name, [countColumn]: String(count) }] : [];
        }),
      );
      return { kind: 'records', records };
    },
  };
}

/** A message has the name that its collector had when it came. */
function namesOf({ about: { name }, formerNames }: CollectorModel) {
  const ends = [...formerNames, { name, until: Number.POSITIVE_INFINITY }];
  return ends.map((each, index) => ({ ...each, since: ends[index - 1]?.until ?? Number.NEGATIVE_INFINITY }));
}

const gathersForMs = 5 * 60_000;
const awaitsForMs = 4 * 60_000;

const failures: readonly [LogAnswer, ...LogAnswer[]] = [
  // Its cookie was lost.
  { kind: 'lost' },
  { kind: 'unfinished' },
  { kind: 'ended', state: 'CANCELLED' },
  { kind: 'partial', errors: ['a partition is not available'] },
  { kind: 'failed', failure: { kind: 'unavailable', sent: true, detail: 'HTTP 503' } },
  { kind: 'unreadable' },
];
