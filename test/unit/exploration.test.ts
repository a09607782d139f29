import { describe, expect, it } from 'vitest';
import { exploreScenario, replay } from '../exploration/explore-scenario.ts';
import { plantedOrderNames, plantedOrders } from '../exploration/planted-orders.ts';
import { type Scenario, scenarios } from '../exploration/scenarios.ts';

function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

// `npm run explore` takes more than a million.
const statesMax = 200;
const limits = { statesMax, depthMax: 200, finishEvery: 11, planted: null };

describe('two daemons and two collectors, in every order', () => {
  it.each(scenarios.map(({ name }) => name))('keep the promises: %s', async (name) => {
    const explored = await exploreScenario(scenarioOf(name), limits);
    expect(explored).toMatchObject({ states: statesMax, violation: null });
    expect(explored.finished).toBeGreaterThan(1);
  });

  it.each(plantedOrderNames)('show the planted bug %s, by a way that shows it again', async (planted) => {
    const { scenario: name, promise } = plantedOrders[planted];
    const scenario = scenarioOf(name);
    const { violation } = await exploreScenario(scenario, { ...limits, statesMax: 6_000, planted });
    expect(violation?.promise).toBe(promise);
    const trace = violation?.trace ?? [];
    expect(await replay(scenario, trace, { planted })).toMatchObject({ promise });
  });
});
