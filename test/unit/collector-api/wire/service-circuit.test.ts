import { describe, expect, it } from 'vitest';
import { makeServiceCircuit, unansweredMax } from '../../../../src/collector-api/wire/service-circuit.ts';
import type { ApiBudget, BudgetGrant } from '../../../../src/orchestrator/ports/api-budget.ts';

const grant: BudgetGrant = { waitedMs: 0, giveBack: () => undefined };
const probe: BudgetGrant = { ...grant, isProbe: true };

function aCircuit() {
  const told: string[] = [];
  const budget: ApiBudget = {
    take: async () => grant,
    pause: async () => 0,
    succeeded: async () => undefined,
    serviceDown: async (reason) => {
      told.push(reason);
    },
    serviceUp: async () => {
      told.push('up');
    },
  };
  const circuit = makeServiceCircuit(budget);
  const fail = async (times: number, reason = 'down') => {
    for (let time = 0; time < times; time += 1) await circuit.unanswered(circuit.begin(), grant, reason);
  };
  return { circuit, told, fail };
}

describe('the circuit', () => {
  it('opens at the fifth failure in a row, with its reason', async () => {
    const { told, fail } = aCircuit();
    await fail(4, 'earlier');
    expect(told).toEqual([]);
    await fail(1, 'the fifth');
    expect(told).toEqual(['the fifth']);
    expect(unansweredMax).toBe(5);
  });

  it('reports no answers while it is closed', async () => {
    const { circuit, told, fail } = aCircuit();
    await fail(4);
    await circuit.answered(circuit.begin(), grant);
    await fail(4);
    expect(told).toEqual([]);
  });

  it('is not closed by an answer to what was sent before it opened', async () => {
    const { circuit, told, fail } = aCircuit();
    const before = circuit.begin();
    await fail(5);
    await circuit.answered(before, grant);
    expect(told).toEqual(['down']);
    // And it still knows that the next failure is one more of the same.
    await fail(1);
    expect(told).toEqual(['down', 'down']);
    await circuit.answered(circuit.begin(), grant);
    expect(told).toEqual(['down', 'down', 'up']);
  });

  it('counts from the start once it was closed', async () => {
    const { circuit, told, fail } = aCircuit();
    await fail(5);
    await circuit.answered(circuit.begin(), grant);
    await fail(4);
    expect(told).toEqual(['down', 'up']);
  });

  it('closes by the answer of a probe, also when another daemon opened it', async () => {
    const { circuit, told } = aCircuit();
    await circuit.unanswered(circuit.begin(), probe, 'still down');
    await circuit.answered(circuit.begin(), probe);
    expect(told).toEqual(['still down', 'up']);
  });
});
