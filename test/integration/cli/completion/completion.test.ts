import { afterEach, expect, it, vi } from 'vitest';
import { anUpgrade, startedAt } from '../../../support/builders.ts';
import { ending } from '../../../support/ending.ts';
import { aRolloutStatus, aWaveStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';
import { aPolicyStatus } from '../../../support/status-parts.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

afterEach(() => void vi.unstubAllEnvs());

const label = 'Linux / amd64 / 19.441-2';
const hostile = 'AIX\u001b[2J';
const figures = { size: 9, succeeded: 0, failed: 0, active: 0, waiting: 9, isHeld: false };
const group = 'osName=Windows*';
const tally = { failed: 2, tried: 3 };
const sharedAttribute = {
  attributes: [{ key: 'osName', value: 'Windows*' }],
  ...{ ...tally, elsewhere: tally, share: 0.1 },
};
const since = { by: 'alice', reason: 'broken disk', at: startedAt };

/** 60 collectors of one build. The names of 59 begin alike, that of one as the build does. The last has failed. */
const planned = Array.from({ length: 60 }, (_each, index) => {
  const identity = { collectorId: 4_000 + index, collectorName: index === 58 ? '19.5-box' : `db-${index}` };
  return index === 59 ? anEndedOne('failed', {}, identity) : anUpgrade({ state: 'pending' }, identity);
});

async function setUp() {
  const operations = makeFakeOperations({
    upgrades: planned,
    rollouts: [
      aRolloutStatus({
        hold: 17,
        sharedAttribute,
        waves: [aWaveStatus({ name: 'canary' }), aWaveStatus({ name: 'rest' })],
      }),
      aRolloutStatus({
        ...{ id: 'edge-20260302-1', policy: 'edge', waves: [aWaveStatus({ name: 'shore' })] },
        ...{ state: 'succeeded', endedAt: startedAt, targetBuild: '19.600-1', fromBuilds: ['19.500-1'] },
      }),
    ],
    policies: {
      policies: [aPolicyStatus(), aPolicyStatus({ policy: 'edge' })],
      orphans: [],
    },
    course: {
      strata: [
        ...[label, hostile].map((each) => ({ label: each, ...figures })),
        { label: 'Linux / amd46', ...figures, size: 0 },
      ],
    },
    held: {
      builds: [{ build: '19.455-2', ...since }],
      groups: [{ label: 'fields.rack=r7', attributes: [{ key: 'fields.rack', value: 'r7' }], ...since }],
      collectors: [
        { collectorId: 7, name: 'web-7', ...since },
        { collectorId: 8, ...since },
      ],
      strata: [{ policy: 'edge', rolloutId: 'edge-20260302-1', isEnded: false, label, ...since }],
    },
  });
  const { url } = ending(await startFakeAdminApi(operations));
  const offered = async (shell: string, ...words: readonly string[]) => {
    const { out } = await callUpwave('completion', shell, '--', ...words);
    return out === '' ? [] : out.trimEnd().split('\n');
  };
  return { operations, url, offered };
}

const rollouts = ['production', 'edge', 'production-20260302-1', 'edge-20260302-1'];
const builds = ['19.536-4', '19.441-2', '19.600-1', '19.500-1'];

it.each([
  ['status .', rollouts],
  ['pause --reason lunch .', rollouts],
  ['start .', ['production', 'edge']],
  ['audit --policy .', ['production', 'edge']],
  ['list --before .', ['production-20260302-1', 'edge-20260302-1']],
  ['upgrades --wave .', ['canary', 'rest', 'shore']],
  ['upgrades edge --wave .', ['shore']],
  ['approve production-20260302-1 --wave .', ['canary', 'rest']],
  ['upgrades production --stratum .', [label]],
  ['resume --hold .', ['17']],
  ['resume production --hold = 1', ['17']],
  ['resume edge --hold .', []],
  ['rehearse --build .', builds],
  ['hold .', [...builds, label, group]],
  ['hold web-7 .', [...builds, label, group]],
  ['release .', ['19.455-2', 'web-7', '8', 'fields.rack=r7', label]],
  ['status production .', []],
  ['explain .', []],
  ['explain db', []],
  ['explain db-2', ['db-2', ...Array.from({ length: 10 }, (_each, index) => `db-2${index}`)]],
  ['explain "db-59', ['db-59']],
  ['explain 4007', ['4007']],
  ['explain 19.5', ['19.5-box']],
  ['hold db-59', [...builds, label, group, 'db-59']],
  ['hold db-5 db-59', [...builds, label, group, 'db-59']],
])('completion of `%s` asks the daemon', async (words, values) => {
  const { url, offered } = await setUp();
  vi.stubEnv('UPWAVE_URL', url);
  expect(await offered('bash', ...words.split(' '))).toEqual(values);
});

it('completion offers at most 50 collectors, failed ones first, and names those offered by their id', async () => {
  const { url, offered } = await setUp();
  vi.stubEnv('UPWAVE_URL', url);
  const names = await offered('bash', 'explain', 'db-');
  expect(names).toHaveLength(50);
  expect(names[0]).toBe('db-59');
  expect(await offered('fish', 'explain', '4007')).toEqual(['4007\tdb-7']);
});

it('completion asks the daemon that was named', async () => {
  const { url, offered } = await setUp();
  expect(await offered('bash', 'start', '--url', url, '.')).toEqual(['production', 'edge']);
});

it('completion shows the state of a rollout, and escapes what its shell would split', async () => {
  const { url, offered } = await setUp();
  vi.stubEnv('UPWAVE_URL', url);
  const running = 'production-20260302-1';
  expect(await offered('zsh', 'status', '.')).toContain(`${running}:RUNNING wave 1/2 canary`);
  expect(await offered('fish', 'status', '.')).toContain(`${running}\tRUNNING wave 1/2 canary`);
  expect(await offered('fish', 'start', '.')).toEqual(['production', 'edge']);
});

it('completion offers nothing without a daemon, and waits no longer than a second for one that hangs', async () => {
  const { operations, url, offered } = await setUp();
  vi.stubEnv('UPWAVE_URL', 'http://127.0.0.1:9');
  expect(await offered('bash', 'start', '.')).toEqual([]);
  vi.stubEnv('UPWAVE_URL', url);
  operations.hang();
  const startedToAsk = performance.now();
  expect(await offered('bash', 'start', '.')).toEqual([]);
  expect(performance.now() - startedToAsk).toBeLessThan(5_000);
});
