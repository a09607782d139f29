import { expect, it } from 'vitest';
import { encodeUpgrade } from '../../../../src/admin-api/handlers/upgrade-body.ts';
import { anUpgrade, anUpgradingOne, because, startedAt } from '../../../support/builders.ts';
import { aWaveStatus } from '../../../support/fake-operations.ts';

const shown = (upgrade: Parameters<typeof encodeUpgrade>[0]) =>
  encodeUpgrade(upgrade, { waves: [aWaveStatus({ name: 'canary' })] }, ({ stratum }) =>
    stratum === 0 ? { stratum: 'Linux', group: null } : { stratum: '', group: 'osName=Windows*' },
  );

it('a running upgrade is shown with its task, by the names of its wave and stratum', () => {
  const place = { collectorId: 2, collectorName: '<b>two</b>', order: 2, attempts: 1 };
  expect(shown(anUpgradingOne({ taskId: '99' }, { ...place, firstStartedAt: startedAt }))).toEqual({
    ...{
      ...place,
      wave: 'canary',
      stratum: 'Linux',
      group: null,
      fromBuild: '19.441-2',
      toBuild: '19.536-4',
    },
    ...{ state: 'upgrading', reason: null, reasonKind: null, failureClass: null, taskId: '99' },
    ...{ startedAt, dueAt: startedAt + 150_000, endedAt: null },
  });
});

it('a failed upgrade is shown with its reason and class, and nameless parts by number or not at all', () => {
  const over = { endedAt: startedAt, weight: 1, lost: false, reason: because('no space left') };
  const failed = anUpgrade({ state: 'failed', failureClass: 'retry', ...over }, { wave: 1, stratum: 4 });
  expect(shown(failed)).toMatchObject({
    ...{
      wave: '1',
      stratum: '',
      group: 'osName=Windows*',
      state: 'failed',
      reason: 'no space left',
      reasonKind: 'service',
    },
    ...{ failureClass: 'retry', taskId: null, startedAt: null, dueAt: null, endedAt: startedAt },
  });
});
