import { askSearch } from '../../../src/gates/ask-search.ts';
import type { GateProbe, GateQuestion } from '../../../src/orchestrator/ports/gate-probe.ts';
import type { GateAnswer } from '../../../src/rollout/decision/assess-gate.ts';
import { evaluateExpectation } from '../../../src/rollout/model/expectation.ts';
import type { HttpGateRule, SearchGateRule } from '../../../src/rollout/model/policy.ts';
import { isSearchGate } from '../../../src/rollout/model/policy.ts';
import { makeChances } from '../chances.ts';
import type { FaultKind, Setup } from '../setup.ts';
import type { Account, ProcessModel } from './process-model.ts';
import { makeSearchModel } from './search-model.ts';
import type { ServiceModel } from './service-model.ts';

export interface GivenAnswer {
  readonly at: number;
  /** `counted`: what is in it for a wave is judged by itself. */
  readonly kind: 'met' | 'missed' | 'hold' | 'error' | 'counted';
  /** Who asked was killed right after it, and may not have stored it. */
  isLost(): boolean;
}

const storedWithinMs = 1_000;

/** Gates that answer as the world wants, and remember what they said. */
export interface GateModel {
  probeOf(process: ProcessModel, isTroubled: () => boolean): GateProbe;
  answersOf(rolloutId: string, wave: string, gate: string): readonly GivenAnswer[];
}

// A metric that is bad stays so for a while.
const moodMs = 15 * 60_000;

export function makeGateModel(
  setup: Setup,
  now: () => number,
  {
    services,
    struck,
    wants,
  }: {
    readonly services: Readonly<Record<Account, ServiceModel>>;
    readonly struck: (kind: FaultKind) => void;
    readonly wants: (kind: FaultKind) => boolean;
  },
): GateModel {
  const given = new Map<string, GivenAnswer[]>();
  const chances = makeChances(setup.seed, 'gates');
  const searches = makeChances(setup.seed, 'searches');
  const lateChances = makeChances(setup.seed, 'late searches');
  const isBadNow = (name: string, isTroubled: () => boolean): boolean => {
    const mood = makeChances(setup.seed, `mood/${name}/${Math.floor(now() / moodMs)}`);
    const isBad = isTroubled() && (mood.hit(setup.faults.gateMisses) || wants('gateMisses'));
    if (isBad) struck('gateMisses');
    return isBad;
  };
  const answerHttp = (gate: HttpGateRule, isTroubled: () => boolean): GateAnswer => {
    const isSilent = isTroubled() && (chances.hit(setup.faults.gateErrors) || wants('gateErrors'));
    if (isSilent) struck('gateErrors');
    return answerOf(gate.kind, !isSilent && isBadNow(gate.name, isTroubled), isSilent);
  };
  const answerSearch = async (
    gate: SearchGateRule,
    { flow }: Pick<GateQuestion, 'flow'>,
    { process, isTroubled }: { readonly process: ProcessModel; readonly isTroubled: () => boolean },
  ) => {
    const search = makeSearchModel({
      ...{ setup, process, service: services[process.host.account], chances: searches, struck, isTroubled },
      ...{ lateChances, wants },
      isBad: () => isBadNow(gate.name, isTroubled),
    });
    const parts = { search, clock: process.clock, signal: new AbortController().signal };
    const answer = await askSearch(gate, flow, parts);
    return { answer, hasFailed: search.hasFailed() };
  };
  return {
    answersOf: (rolloutId, wave, gate) => given.get(`${rolloutId}/${wave}/${gate}`) ?? [],
    probeOf: (process, isTroubled) => ({
      ask: async (question) => {
        const { gate, summary } = question;
        await process.wait(chances.int(20, 900));
        const { answer, hasFailed } = isSearchGate(gate)
          ? await answerSearch(gate, question, { process, isTroubled })
          : { answer: answerHttp(gate, isTroubled), hasFailed: false };
        const key = `${summary.rollout}/${summary.wave}/${gate.name}`;
        const kind = hasFailed ? 'error' : kindOf(question, answer);
        let isKept = false;
        given.set(key, [...(given.get(key) ?? []), { at: now(), kind, isLost: () => !isKept }]);
        void process.wait(storedWithinMs).then(() => {
          isKept = true;
        });
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
