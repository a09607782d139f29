import { expect, it } from 'vitest';
import { listPolicies } from '../../../../src/orchestrator/operations/list-policies.ts';
import { aPolicy, aRollout } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';

const nobodyElse = { account: '', others: [] };

it.each([
  ['of an older config', 50, { generation: 3, isReinstated: false }, 'superseded'],
  ['of an older config with the same limits', 5, { generation: 3, isReinstated: false }, 'agreed'],
  ['of a config that counts', 50, { generation: 3, isReinstated: true }, 'agreed'],
  ['of a newer config', 50, { generation: 8, isReinstated: false }, 'agreed'],
  ['that cannot know', 50, undefined, 'agreed'],
])(
  'a policy whose running rollout keeps other limits says so to a daemon %s',
  async (_of, concurrency, version, kind) => {
    const rollout = {
      ...aRollout({ policy: aPolicy({ concurrency: 5 }) }),
      config: { generation: 7, changes: 0 },
    };
    const { parts } = await aHouse({ rollout });
    const settings = () => ({ keys: ['notify'], others: 1 });
    const { policies, configDifference } = await listPolicies({
      ...parts,
      configs: { statuses: () => new Map(), versionOf: () => version, living: () => nobodyElse, settings },
      rollouts: () => [aPolicy({ concurrency })],
    });
    expect(configDifference).toMatch(/^1 daemon has another config of notify\. /);
    expect(policies.map((each) => each.config.kind)).toEqual([kind]);
  },
);
