import type { PolicyNeed } from '../../../contract/admin/policies.ts';
import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import { compareUrgency } from '../../../rollout/status/compare-urgency.ts';
import { isOfChosenAccount } from '../parts/account.tsx';
import type { Policies, Rollout } from '../parts/call.ts';

/** A policy with one of its rollouts, if it has any. One that waits for a start has none here, also after ended rollouts. */
export interface PolicyOverview {
  readonly policy: string;
  readonly rollout: Rollout | undefined;
  readonly scan: Policies['policies'][number] | undefined;
}

/** The running rollouts, else the last of each policy; and the policies without a rollout. */
export function overviewsOf(all: readonly Rollout[], scans: Policies | undefined): readonly PolicyOverview[] {
  const scanOf = (policy: string) => scans?.policies.find((each) => each.policy === policy);
  const names = [
    ...new Set([...(scans?.policies ?? []).map(({ policy }) => policy), ...all.map(({ policy }) => policy)]),
  ];
  const rows = names.flatMap((policy): PolicyOverview[] => {
    const own = all.filter((rollout) => rollout.policy === policy);
    const running = own.filter(({ endedAt }) => endedAt === null);
    const scan = scanOf(policy);
    const last = scan?.needs === undefined ? own.slice(0, 1) : [];
    const listed = running.length > 0 ? running : last;
    return listed.length === 0
      ? [{ policy, rollout: undefined, scan }]
      : listed.map((rollout) => ({ policy, rollout, scan }));
  });
  return rows.toSorted((a, b) => compareUrgency(rankedOf(a), rankedOf(b)));
}

function rankedOf(row: PolicyOverview) {
  const needs = needOf(row);
  return needs === undefined ? row.rollout : { policy: row.policy, needs };
}

/** What a policy without a running rollout waits for; undefined: no operator. */
export function needOf({ rollout, scan }: PolicyOverview): PolicyNeed | undefined {
  return rollout === undefined ? scan?.needs : undefined;
}

/** Whether it belongs to the chosen account, and has the words that a person looks for. */
export function isWanted({ policy, rollout, scan }: PolicyOverview, words: string): boolean {
  if (!isOfChosenAccount(rollout ?? scan ?? {})) return false;
  const facts = [policy, rollout?.id, rollout?.targetBuild, rollout && headlineWords(rollout)];
  return facts.some((fact) => fact?.toLowerCase().includes(words.trim().toLowerCase()));
}

/** Builds whose hold stops at least two of the rollouts. */
export function sharedHolds(all: readonly PolicyOverview[]): ReadonlyMap<string, readonly Rollout[]> {
  const stopped = all.flatMap(({ rollout }) =>
    rollout?.buildHold != null && rollout.headline.needsPerson ? [rollout] : [],
  );
  const byBuild = new Map<string, Rollout[]>();
  for (const rollout of stopped) {
    const build = rollout.buildHold?.build ?? '';
    byBuild.set(build, [...(byBuild.get(build) ?? []), rollout]);
  }
  return new Map([...byBuild].filter(([, some]) => some.length > 1));
}
