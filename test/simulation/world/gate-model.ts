import { askSearch } from '../../../src/gates/ask-search.ts';
import type { GateProbe, GateQuestion } from '../../../src/orchestrator/ports/gate-probe.ts';
import type { GateAnswer } from '../../../src/rollout/decision/assess-gate.ts';
import { evaluateExpectation } from '../../../src/rollout/model/expectation.ts';
import type { HttpGateRule, SearchGateRule } from '../../../src/rollout/model/policy.ts';
import { isSearchGate } from '../../../src/rollout/model/policy.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import { makeChances } from '../chances.ts';
import type { Steering } from '../pairs/steering.ts';
import type { FaultKind, Setup } from '../setup.ts';
import { gatherFor } from './gather.ts';
import type { Account, ProcessModel } from './process-model.ts';
import { makeSearchModel } from './search-model.ts';
import type { ServiceModel } from './service-model.ts';

export interface GivenAnswer {
  readonly at: number;
  /** `counted`: what is in it for a wave is judged by itself. */
  readonly kind: 'met' | 'missed' | 'hold' | 'error' | 'counted';
  /** It was never stored: who asked was killed right after it, or the store failed. */
  isLost(): boolean;
}

/** Gates that answer as the world wants, and remember what they said. */
export interface GateModel {
  probeOf(process: ProcessModel, isTroubled: () => boolean): GateProbe;
  /** A rollout was stored, with the last answers of its gates. */
  stored(rollout: Rollout): void;
  answersOf(rolloutId: string, wave: string, gate: string): readonly GivenAnswer[];
}

// A metric that is bad stays so for a while.
const moodMs = 15 * 60_000;

// An answer over HTTP must be there within 10 s.
const awaitsForMs = 8_000;

interface Asker {
  readonly process: ProcessModel;
  readonly isTroubled: () => boolean;
}

export function makeGateModel(
  setup: Setup,
  now: () => number,
  {
    services,
    struck,
    steering,
  }: {
    readonly services: Readonly<Record<Account, ServiceModel>>;
    readonly struck: (kind: FaultKind) => void;
    readonly steering: Pick<Steering, 'wants' | 'underWay'>;
  },
): GateModel {
  const given = new Map<string, GivenAnswer[]>();
  const keep = new Map<
    string,
    { readonly askedAt: number | null; readonly last: (() => void) | undefined }
  >();
  const chances = makeChances(setup.seed, 'gates');
  const searches = makeChances(setup.seed, 'searches');
  const lateChances = makeChances(setup.seed, 'late searches');
  const isBadNow = (name: string, isTroubled: () => boolean): boolean => {
    const mood = makeChances(setup.seed, `mood/${name}/${Math.floor(now() / moodMs)}`);
    const isBad = isTroubled() && (mood.hit(setup.faults.gateMisses) || steering.wants('gateMisses'));
    if (isBad) struck('gateMisses');
    return isBad;
  };
  const answerHttp = async (gate: HttpGateRule, { process, isTroubled }: Asker): Promise<GateAnswer> => {
    const gather = async (kind: FaultKind) =>
      isTroubled() && (await gatherFor(kind, { process, steering, struck, forMs: awaitsForMs }));
    if (await gather('gateErrors')) return answerOf(gate.kind, false, true);
    if (await gather('gateMisses')) return answerOf(gate.kind, true, false);
    const isSilent = isTroubled() && (chances.hit(setup.faults.gateErrors) || steering.wants('gateErrors'));
    if (isSilent) struck('gateErrors');
    return answerOf(gate.kind, !isSilent && isBadNow(gate.name, isTroubled), isSilent);
  };
  const answerSearch = async (
    gate: SearchGateRule,
    { flow }: Pick<GateQuestion, 'flow'>,
    { process, isTroubled }: Asker,
  ) => {
    const search = makeSearchModel({
      ...{ setup, process, service: services[process.host.account], chances: searches, struck, isTroubled },
      ...{ lateChances, steering },
      isBad: () => isBadNow(gate.name, isTroubled),
    });
    const parts = { search, clock: process.clock, signal: new AbortController().signal };
    const answer = await askSearch(gate, flow, parts);
    return { answer, hasFailed: search.hasFailed() };
  };
  return {
    stored: ({ id, policy, waves }) => {
      for (const [index, { name, gates }] of policy.waves.entries())
        for (const [place, gate] of gates.entries()) {
          const key = `${id}/${name}/${gate.name}`;
          const askedAt = waves[index]?.gates[place]?.askedAt ?? null;
          const before = keep.get(key);
          if (before === undefined || before.askedAt === askedAt) continue;
          before.last?.();
          keep.set(key, { askedAt, last: undefined });
        }
    },
    answersOf: (rolloutId, wave, gate) => given.get(`${rolloutId}/${wave}/${gate}`) ?? [],
    probeOf: (process, isTroubled) => ({
      ask: async (question) => {
        const { gate, summary } = question;
        await process.wait(chances.int(20, 900));
        const { answer, hasFailed } = isSearchGate(gate)
          ? await answerSearch(gate, question, { process, isTroubled })
          : { answer: await answerHttp(gate, { process, isTroubled }), hasFailed: false };
        const key = `${summary.rollout}/${summary.wave}/${gate.name}`;
        const kind = hasFailed ? 'error' : kindOf(question, answer);
        let isKept = false;
        given.set(key, [...(given.get(key) ?? []), { at: now(), kind, isLost: () => !isKept }]);
        const last = () => {
          isKept = true;
        };
        keep.set(key, { askedAt: keep.get(key)?.askedAt ?? null, last });
        await process.wait(chances.int(5, 200));
        return answer;
      },
    }),
  };
}

function kindOf({ gate }: GateQuestion, answer: GateAnswer): GivenAnswer['kind'] {
  switch (answer.kind) {
    case 'error':
      return 'error';
    case 'counts':
      return 'counted';
    case 'verdict':
      return answer.verdict === 'pass' ? 'met' : 'hold';
    case 'value':
      return 'expect' in gate && evaluateExpectation(gate.expect, answer.value) ? 'met' : 'missed';
    default:
      return answer satisfies never;
  }
}

function answerOf(kind: 'prometheus' | 'webhook', isBad: boolean, isSilent: boolean): GateAnswer {
  if (isSilent) return { kind: 'error', detail: 'connection refused' };
  if (kind === 'webhook') return { kind: 'verdict', verdict: isBad ? 'hold' : 'pass', detail: '' };
  return { kind: 'value', value: isBad ? 0.9 : 0.995, detail: '' };
}
