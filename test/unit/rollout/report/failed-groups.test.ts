import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import { tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import { recordGroups } from '../../../../src/rollout/report/failed-groups.ts';
import { aCollector } from '../../../support/builders.ts';

const size = 200;
// Each fifth is in rack r1, each eighth has a database.
const fleet = Array.from({ length: size }, (_, id) =>
  aCollector({ id, category: id % 8 === 0 ? 'db' : 'web', fields: { rack: `r${id % 5}` } }),
);
const table = runAtOnce(tabulateAttributes(fleet));
const outcomesOf = (hasFailed: (id: number) => boolean) => ({
  failed: new Set(fleet.map(({ id }) => id).filter(hasFailed)),
  succeeded: new Set(fleet.map(({ id }) => id).filter((id) => !hasFailed(id))),
});
const rack = [{ key: 'fields.rack', value: 'r1' }];
const category = [{ key: 'category', value: 'db' }];

describe('the groups that a rollout leaves in the history of its build', () => {
  it('are those that explain its failures, each apart from those before', () => {
    const outcomes = outcomesOf((id) => id % 5 === 1 || (id % 8 === 0 && id < 160));
    expect(recordGroups(table, outcomes, [])).toEqual([
      { attributes: rack, tried: 40, failed: 40 },
      { attributes: category, tried: 25, failed: 21 },
    ]);
  });

  it('are also those that were held, or failed in earlier rollouts, so that their risk falls', () => {
    const untried = [{ key: 'fields.rack', value: 'r9' }];
    expect(
      recordGroups(
        table,
        outcomesOf(() => false),
        [rack, rack, untried],
      ),
    ).toEqual([{ attributes: rack, tried: 40, failed: 0 }]);
  });
});
