import { describe, expect, it } from 'vitest';
import { makeServiceCircuit, unansweredMax } from '../../../../src/collector-api/wire/service-circuit.ts';
import type { ApiBudget, BudgetGrant } from '../../../../src/orchestrator/ports/api-budget.ts';

const grant: BudgetGrant = { waitedMs: 0, giveBack: () => undefined };
const probe: BudgetGrant = { ...grant, isProbe: true };

function aCircuit() {
  const reported: string[] = [];
  const budget: ApiBudget = {
    take: async () => grant,
    pause: async () => 0,
    succeeded: async () => undefined,
    serviceDown: async (reason) => {
      reported.push(reason);
    },
    serviceUp: async () => {
      reported.push('up');
    },
  };
  const circuit = makeServiceCircuit(budget);
  const fail = async (times: number, reason = 'down') => {
    for (let time = 0; time < times; time += 1) await circuit.unanswered(circuit.begin(), grant, reason);
  };
  return { circuit, reported, fail };
}

describe('the circuit', () => {
  it('opens at the fifth failure in a row, with its reason', async () => {
    const { reported, fail } = aCircuit();
    await fail(4, 'earlier');
    expect(reported).toEqual([]);
    await fail(1, 'the fifth');
    expect(reported).toEqual(['the fifth']);
    expect(unansweredMax).toBe(5);
  });

  it('reports no answers while it is closed', async () => {
    const { circuit, reported, fail } = aCircuit();
    await fail(4);
    await circuit.answered(circuit.begin(), grant);
    await fail(4);
    expect(reported).toEqual([]);
  });

  it('is not closed by an answer to what was sent before it opened', async () => {
    const { circuit, reported, fail } = aCircuit();
    const before = circuit.begin();
    await fail(5);
    await circuit.answered(before, grant);
    expect(reported).toEqual(['down']);
    // And it still knows that the next failure is one more of the same.
    await fail(1);
    expect(reported).toEqual(['down', 'down']);
    await circuit.answered(circuit.begin(), grant);
    expect(reported).toEqual(['down', 'down', 'up']);
  });

  it('counts from the start once it was closed', async () => {
    const { circuit, reported, fail } = aCircuit();
    await fail(5);
    await circuit.answered(circuit.begin(), grant);
    await fail(4);
    expect(reported).toEqual(['down', 'up']);
  });

  it('closes by the answer of a probe, also when another daemon opened it', async () => {
    const { circuit, reported } = aCircuit();
    await circuit.unanswered(circuit.begin(), probe, 'still down');
    await circuit.answered(circuit.begin(), probe);
    expect(reported).toEqual(['still down', 'up']);
  });
});
