import { describe, expect, it } from 'vitest';
import { holdsOfAccount } from '../../../../src/cli/plan/read-compared.ts';
import { joinAccounts } from '../../../../src/orchestrator/operations/join-accounts.ts';
import type { HoldResult } from '../../../../src/orchestrator/operations/operations.ts';
import type { ReloadResult } from '../../../../src/orchestrator/operations/reload-config.ts';
import { heldBuildName } from '../../../../src/rollout/messages/stratum-reasons.ts';
import { aBuildRecord } from '../../../support/builders.ts';
import { anExplanation, aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';

type FakeData = Partial<Parameters<typeof makeFakeOperations>[0]>;

const aRollout = (policy: string, createdAt: number) =>
  aRolloutStatus({ id: `${policy}-20261121-${createdAt}`, policy, createdAt });
const by = { by: 'ops', reason: 'it is bad' };

/** The accounts eu and us with a policy each, and their operations as one. */
function twoAccounts(ofEu: FakeData = {}, ofUs: FakeData = {}) {
  const eu = makeFakeOperations({ rollouts: [], ...ofEu });
  const us = makeFakeOperations({ rollouts: [], ...ofUs });
  const joined = joinAccounts([
    { operations: eu, policies: () => ['web-eu'] },
    { operations: us, policies: () => ['web-us'] },
  ]);
  return { eu, us, joined };
}

describe('the operations of several accounts', () => {
  it('show all rollouts, newest first, also page by page', async () => {
    const { joined } = twoAccounts(
      { rollouts: [aRollout('web-eu', 5), aRollout('web-eu', 2), aRollout('web-eu', 1)] },
      { rollouts: [aRollout('web-us', 4), aRollout('web-us', 2)] },
    );
    const createdAt = (rollouts: ReadonlyArray<{ readonly createdAt: number }>) =>
      rollouts.map((rollout) => rollout.createdAt);
    expect(createdAt(await joined.listRollouts())).toEqual([5, 4, 2, 2, 1]);
    const pages: number[][] = [];
    let before: string | null | undefined;
    while (before !== null) {
      const page = await joined.pageRollouts({ limit: 2, ...(before !== undefined && { before }) });
      pages.push(createdAt(page?.rollouts ?? []));
      before = page?.next ?? null;
    }
    expect(pages).toEqual([[5, 4], [2, 2], [1]]);
    expect(await joined.pageRollouts({ limit: 2, before: 'web-eu-20260101-9' })).toBeUndefined();
  });

  it('send a verb to the account that has the rollout, also when its policy is gone', async () => {
    const { joined, eu, us } = twoAccounts(
      { rollouts: [aRollout('web-eu', 1)] },
      { rollouts: [aRollout('old', 2)] },
    );
    await joined.apply({ rolloutId: 'web-eu-20261121-1', verb: 'pause', ...by });
    await joined.apply({ rolloutId: 'old-20261121-2', verb: 'pause', ...by });
    expect(us.requests.map(({ rolloutId }) => rolloutId)).toEqual(['old-20261121-2']);
    expect(eu.requests.some(({ rolloutId }) => rolloutId === 'web-eu-20261121-1')).toBe(true);
    expect(await joined.apply({ rolloutId: 'old-20261121-9', verb: 'pause', ...by })).toEqual({
      kind: 'unknownRollout',
    });
  });

  it('name the policies of all accounts where none has the policy', async () => {
    const { joined } = twoAccounts();
    const unknown = { kind: 'unknownPolicy' };
    const reason = 'there is no policy nosuch; the config has web-eu, web-us';
    expect(await joined.previewStart('nosuch')).toEqual({ ...unknown, reason });
    expect(await joined.start({ policy: 'nosuch', planHash: '7f3a', ...by })).toEqual({ ...unknown, reason });
    const near = 'there is no policy web-uss; did you mean web-us?';
    expect(await joined.previewStart('web-uss')).toEqual({ ...unknown, reason: near });
  });

  it('show what builds did, newest first, with a row for each account', async () => {
    const ofEu = ['19.1-1', '19.3-1'].map((build) => aBuildRecord({ build }));
    const ofUs = ['19.3-1', '19.2-1'].map((build) => aBuildRecord({ build }));
    const { joined } = twoAccounts({ buildRecords: ofEu }, { buildRecords: ofUs });
    const builds = (await joined.listBuildHistory()).map(({ build }) => build);
    expect(builds).toEqual(['19.3-1', '19.3-1', '19.2-1', '19.1-1']);
  });

  it('show what one request did in several accounts as one entry of the audit', async () => {
    const released = (at: number, who = 'ann') =>
      ({ at, event: 'build.released', subject: '19.536-4', by: who, reason: 'fixed' }) as const;
    const { joined } = twoAccounts(
      { audit: [released(90_000), released(50_003, 'bob'), released(50_000)] },
      { audit: [released(50_009)] },
    );
    const at = (await joined.readAudit(9, {})).map((entry) => `${entry.at} ${entry.by}`);
    expect(at).toEqual(['90000 ann', '50009 ann', '50003 bob']);
  });

  it('show the account of a held build, and once a build that all hold', async () => {
    const by = { by: 'daemon', reason: 'it tripped a canary', at: 1 };
    const none = { collectors: [], groups: [], strata: [] };
    const [bad, own] = ['19.536-4', '19.525-63'].map((build) => ({ build, ...by }));
    if (bad === undefined || own === undefined) throw new Error('there are two');
    const { joined } = twoAccounts(
      {
        held: {
          ...none,
          builds: [
            { ...bad, accountName: 'eu' },
            { ...own, accountName: 'eu' },
          ],
        },
      },
      { held: { ...none, builds: [{ ...bad, accountName: 'us' }] } },
    );
    const held = await joined.listHolds();
    expect(held.builds).toEqual([bad, { ...own, accountName: 'eu' }]);
    expect(held.builds.map(heldBuildName)).toEqual(['build 19.536-4', 'build 19.525-63 in account eu']);
    const ofUs = holdsOfAccount(held, 'us').builds.map(({ build }) => build);
    expect([ofUs, holdsOfAccount(held, 'eu').builds.length]).toEqual([['19.536-4'], 2]);
  });

  it('hold in all accounts, and return the best answer', async () => {
    const done: HoldResult = { kind: 'done', subject: { kind: 'build', build: '19.536-4' } };
    const away: HoldResult = { kind: 'unavailable', reason: 'no answer' };
    const { joined, eu, us } = twoAccounts(
      { holdResults: { '19.536-4': away } },
      { holdResults: { '19.536-4': done } },
    );
    expect(await joined.hold({ subject: '19.536-4', ...by })).toBe(done);
    const doubtful: HoldResult = { ...done, note: { kind: 'groupEmpty', nearest: [] } };
    const group = 'osName=AIX';
    const doubting = twoAccounts({ holdResults: { [group]: doubtful } }, { holdResults: { [group]: done } });
    expect(await doubting.joined.hold({ subject: group, ...by })).toBe(done);
    expect([eu.holdRequests, us.holdRequests].map(({ length }) => length)).toEqual([1, 1]);
    const warned: HoldResult = { ...done, note: { kind: 'waitsInRollback', rollback: 'web-us-2' } };
    const warning = twoAccounts({ holdResults: { [group]: done } }, { holdResults: { [group]: warned } });
    expect(await warning.joined.hold({ subject: group, ...by })).toBe(warned);
    const counted = (collectors: number): HoldResult => ({ ...done, collectors });
    const both = twoAccounts(
      { holdResults: { [group]: counted(8) } },
      { holdResults: { [group]: counted(5) } },
    );
    expect(await both.joined.hold({ subject: group, ...by })).toEqual(counted(13));
    expect(await joined.release({ subject: 'nothing', ...by })).toMatchObject({ kind: 'unknown' });
  });

  it('explain a collector by the account that has it in a rollout', async () => {
    const explained = (wave: string | null) => ({
      kind: 'explained' as const,
      collectorId: 7,
      collectorName: 'web-7',
      build: '19.441-2',
      seen: null,
      attributes: [],
      explanations: [anExplanation({ wave })],
      history: [],
    });
    const unplanned = explained(null);
    const planned = explained('canary');
    const { joined } = twoAccounts(
      { explanations: { 'web-7': unplanned, 'web-8': { kind: 'unavailable', reason: 'no answer' } } },
      { explanations: { 'web-7': planned } },
    );
    expect(await joined.explain('web-7')).toBe(planned);
    expect(await joined.explain('web-8')).toMatchObject({ kind: 'unavailable' });
    expect(await joined.explain('web-9')).toMatchObject({ kind: 'unknownCollector' });
    expect(await joined.explainPlanned('web-7')).toBe(planned);
    expect(await joined.explainPlanned('web-8')).toBeUndefined();
  });

  it('do not ask any service for a collector that is in the rollout of another account', async () => {
    const planned = {
      kind: 'explained' as const,
      collectorId: 7,
      collectorName: 'web-7',
      build: '19.441-2',
      seen: null,
      attributes: [],
      explanations: [anExplanation({ wave: 'canary' })],
      history: [],
    };
    const { eu, us } = twoAccounts({}, { explanations: { 'web-7': planned } });
    const asking = () => Promise.reject(new Error('the service was asked'));
    const joined = joinAccounts([
      { operations: { ...eu, explain: asking }, policies: () => ['web-eu'] },
      { operations: us, policies: () => ['web-us'] },
    ]);
    expect(await joined.explain('web-7')).toBe(planned);
  });

  it('name the nearest collectors of all accounts first', async () => {
    const { eu, us } = twoAccounts({}, {});
    const near = async (...nearest: readonly string[]) => ({ kind: 'unknownCollector', nearest }) as const;
    const joined = joinAccounts([
      { operations: { ...eu, explain: () => near('web-172', 'web-103') }, policies: () => ['web-eu'] },
      { operations: { ...us, explain: () => near('web-154') }, policies: () => ['web-us'] },
    ]);
    expect(await joined.explain('web-15')).toEqual({ kind: 'unknownCollector', nearest: ['web-154'] });
  });

  it('reload all accounts, and fail when one of them refuses', async () => {
    const reloaded: ReloadResult = {
      kind: 'reloaded',
      policies: [],
      settings: [],
      needsRestart: ['http.port'],
      rollouts: [{ rollout: 'web-us-20261121-1', followed: [], waiting: [] }],
      warnings: ['a warning'],
    };
    const { joined, eu, us } = twoAccounts({}, { reload: reloaded });
    expect(await joined.reload(by)).toEqual(reloaded);
    expect([eu.reloads, us.reloads].map(({ length }) => length)).toEqual([1, 1]);
    const refused: ReloadResult = { kind: 'refused', reason: 'a slip in line 3' };
    expect(await twoAccounts({ reload: reloaded }, { reload: refused }).joined.reload(by)).toBe(refused);
  });
});
