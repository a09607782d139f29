import type { GateProbe } from '../../../src/orchestrator/ports/gate-probe.ts';
import type { GateAnswer } from '../../../src/rollout/decision/assess-gate.ts';
import { evaluateExpectation } from '../../../src/rollout/decision/assess-gate.ts';
import { makeChances } from '../chances.ts';
import type { FaultKind, Setup } from '../setup.ts';
import type { ProcessModel } from './process-model.ts';

export interface GivenAnswer {
  readonly at: number;
  readonly kind: 'met' | 'missed' | 'hold' | 'error';
}

/** Gates that answer as the world wants, and remember what they said. */
export interface GateModel {
  probeOf(process: ProcessModel, isTroubled: () => boolean): GateProbe;
  answersOf(rolloutId: string, wave: string, gate: string): readonly GivenAnswer[];
}

// A metric that is bad stays so for a while.
const moodMs = 15 * 60_000;

export function makeGateModel(setup: Setup, now: () => number, struck: (kind: FaultKind) => void): GateModel {
  const given = new Map<string, GivenAnswer[]>();
  const chances = makeChances(setup.seed, 'gates');
  return {
    answersOf: (rolloutId, wave, gate) => given.get(`${rolloutId}/${wave}/${gate}`) ?? [],
    probeOf: (process, isTroubled) => ({
      ask: async ({ gate, summary }) => {
        await process.wait(chances.int(20, 900));
        const mood = makeChances(setup.seed, `mood/${gate.name}/${Math.floor(now() / moodMs)}`);
        const isBad = isTroubled() && mood.hit(setup.faults.gateMisses);
        const isSilent = isTroubled() && chances.hit(setup.faults.gateErrors);
        if (isSilent) struck('gateErrors');
        else if (isBad) struck('gateMisses');
        const answer = answerOf(gate.kind === 'webhook' ? 'webhook' : 'prometheus', isBad, isSilent);
        const isMet =
          answer.kind === 'value' &&
          gate.kind === 'prometheus' &&
          evaluateExpectation(gate.expect, answer.value);
        const isPass = answer.kind === 'verdict' && answer.verdict === 'pass';
        const failed = gate.kind === 'webhook' ? 'hold' : 'missed';
        const key = `${summary.rollout}/${summary.wave}/${gate.name}`;
        const kind = answer.kind === 'error' ? 'error' : isMet || isPass ? 'met' : failed;
        given.set(key, [...(given.get(key) ?? []), { at: now(), kind }]);
        await process.wait(chances.int(5, 200));
        return answer;
      },
    }),
  };
}

function answerOf(kind: 'prometheus' | 'webhook', isBad: boolean, isSilent: boolean): GateAnswer {
  if (isSilent) return { kind: 'error', detail: 'connection refused' };
  if (kind === 'webhook') return { kind: 'verdict', verdict: isBad ? 'hold' : 'pass', detail: '' };
  return { kind: 'value', value: isBad ? 0.9 : 0.995, detail: '' };
}
