import { invariant } from '../../base/assert.ts';
import { compareBuildVersions } from '../../base/build-version.ts';
import { groupBy, sumOf } from '../../base/grouping.ts';
import { nearestNames } from '../../base/names.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { AuditEntry, HeldThings } from '../../contract/admin/holds.ts';
import type { PolicyStatuses } from '../../contract/admin/policies.ts';
import type { ReloadChanges } from '../../contract/admin/reload.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { isRolloutId, parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { RolloutsPage } from '../ports/rollout-store.ts';
import type { ExplainResult, HoldResult, Operations, RolloutStatusPage } from './operations.ts';
import type { ReloadPreviewResult, ReloadResult } from './reload-config.ts';
import { type NotStarted, unknownPolicy } from './start-policy.ts';

/** The operations of one account. */
export interface AccountOperations {
  readonly operations: Operations;
  /** Names of its policies. */
  readonly policies: () => readonly string[];
}

/**
 * Joins the operations of several accounts. A request for a rollout or a policy goes to its account. A request for a build or
 * a collector goes to all. Lists are joined.
 */
export function joinAccounts(accounts: readonly AccountOperations[]): Operations {
  const all = accounts.map(({ operations }) => operations);
  const [first] = all;
  invariant(first !== undefined, 'a daemon has at least one account');

  /** The account of the policy comes first. A rollout without a policy in the config may be in any account. */
  async function ask<Result>(
    policy: string,
    question: (operations: Operations) => Promise<Result>,
    isUnknown: (result: Result) => boolean,
  ): Promise<Result> {
    const owner = accounts.find(({ policies }) => policies().includes(policy))?.operations ?? first;
    invariant(owner !== undefined, 'a daemon has at least one account');
    const answer = await question(owner);
    if (!isUnknown(answer)) return answer;
    for (const other of all) {
      if (other === owner) continue;
      const found = await question(other);
      if (!isUnknown(found)) return found;
    }
    return answer;
  }
  const ofRollout = <Result>(
    rolloutId: string,
    question: (operations: Operations) => Promise<Result>,
  ): Promise<Result> => ask(policyOf(rolloutId), question, isUnknownRollout);
  const ofPolicy = async <Result extends { readonly kind: string }>(
    policy: string,
    question: (operations: Operations) => Promise<Result>,
  ): Promise<Result | NotStarted> => {
    const answer = await ask(policy, question, ({ kind }) => kind === 'unknownPolicy');
    // An account knows only its own policies.
    const known = () => accounts.flatMap(({ policies }) => policies());
    return answer.kind === 'unknownPolicy' ? unknownPolicy(policy, known()) : answer;
  };
  const ofAll = <Result>(question: (operations: Operations) => Promise<Result>): Promise<Result[]> =>
    Promise.all(all.map(question));

  return {
    rolloutStatus: (id) => ofRollout(id, (each) => each.rolloutStatus(id)),
    listUpgrades: (id, page) => ofRollout(id, (each) => each.listUpgrades(id, page)),
    searchUpgrades: (id, search) => ofRollout(id, (each) => each.searchUpgrades(id, search)),
    showCourse: (id) => ofRollout(id, (each) => each.showCourse(id)),
    readEvents: (id, limit, filter) => ofRollout(id, (each) => each.readEvents(id, limit, filter)),
    report: (id, format) => ofRollout(id, (each) => each.report(id, format)),
    previewRollback: (id) => ofRollout(id, (each) => each.previewRollback(id)),
    apply: (request) => ofRollout(request.rolloutId, (each) => each.apply(request)),
    previewStart: (policy) => ofPolicy(policy, (each) => each.previewStart(policy)),
    start: (request) => ofPolicy(request.policy, (each) => each.start(request)),
    listRollouts: async () => newestFirst((await ofAll((each) => each.listRollouts())).flat()),
    pageRollouts: (page) => pageAll(all, page),
    listPolicies: async () => joinPolicies(await ofAll((each) => each.listPolicies())),
    hold: async (request) => joinHolds(await ofAll((each) => each.hold(request))),
    release: async (request) => joinHolds(await ofAll((each) => each.release(request))),
    listHolds: async () => joinHeld(await ofAll((each) => each.listHolds())),
    readAudit: async (limit, filter) =>
      joinAudits(await ofAll((each) => each.readAudit(limit, filter))).slice(0, limit),
    // Of one build, each account has a row: its collectors are others.
    listBuildHistory: async () =>
      (await ofAll((each) => each.listBuildHistory()))
        .flat()
        .toSorted((a, b) => compareBuildVersions(b.build, a.build) ?? 0),
    explain: async (collector) =>
      // Otherwise each other account would send a request for a collector that it does not have.
      joinPlanned(await ofAll((each) => each.explainPlanned(collector))) ??
      joinExplanations(collector, await ofAll((each) => each.explain(collector))),
    explainPlanned: async (collector) => joinPlanned(await ofAll((each) => each.explainPlanned(collector))),
    // One after the other: all read the same file, and each reports its own changes.
    reload: async (request) => {
      const results: ReloadResult[] = [];
      for (const each of all) results.push(await each.reload(request));
      return joinReloads(results);
    },
    previewReload: async () => joinPreviews(await ofAll((each) => each.previewReload())),
  };
}

// A request goes to all accounts at the same time, and each writes it down when it has done it.
const sameRequestMs: DurationMs = 10_000;

/** Newest first. What a request did in several accounts, such as the release of a build, is one entry. */
function joinAudits(audits: ReadonlyArray<readonly AuditEntry[]>): readonly AuditEntry[] {
  const seen = new Map<string, { readonly at: EpochMs; readonly account: number }>();
  const all = audits.flatMap((entries, account) => entries.map((entry) => ({ entry, account })));
  all.sort((a, b) => b.entry.at - a.entry.at);
  return all.flatMap(({ entry, account }) => {
    const { at, ...what } = entry;
    const key = JSON.stringify(what);
    const before = seen.get(key);
    if (before !== undefined && before.account !== account && before.at - at < sameRequestMs) return [];
    seen.set(key, { at, account });
    return [entry];
  });
}

function policyOf(rolloutId: string): string {
  return isRolloutId(rolloutId) ? parseRolloutId(rolloutId).policy : '';
}

function isUnknownRollout(answer: unknown): boolean {
  if (answer === undefined) return true;
  return (
    typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'unknownRollout'
  );
}

type Dated = Pick<RolloutStatus, 'id' | 'createdAt'>;

/** In the order of the store: rollouts of one instant by their ids. */
function isOlder(one: Dated, other: Dated): boolean {
  return one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id);
}

function newestFirst<Of extends Dated>(rollouts: readonly Of[]): Of[] {
  return rollouts.toSorted((a, b) => (isOlder(a, b) ? 1 : -1));
}

// A bound on the history that is read.
const pagesReadMax = 1_000;

/** A page over all accounts: the newest rollouts out of one full page of each account. */
async function pageAll(
  accounts: readonly Operations[],
  { before, limit }: RolloutsPage,
): Promise<RolloutStatusPage | undefined> {
  const known =
    before === undefined ? [] : await Promise.all(accounts.map((each) => each.rolloutStatus(before)));
  const from = known.find((status) => status !== undefined);
  if (before !== undefined && from === undefined) return undefined;
  const pages = await Promise.all(
    accounts.map((each, index) =>
      known[index] === undefined ? pageOlder(each, from, limit) : each.pageRollouts({ limit, before }),
    ),
  );
  const rollouts = newestFirst(pages.flatMap((page) => page?.rollouts ?? []));
  const isMore = rollouts.length > limit || pages.some((page) => (page?.next ?? null) !== null);
  const first = rollouts.slice(0, limit);
  return { rollouts: first, next: isMore ? (first.at(-1)?.id ?? null) : null };
}

/** A page of one account with rollouts older than one of another account. */
async function pageOlder(
  account: Operations,
  than: Dated | undefined,
  limit: number,
): Promise<RolloutStatusPage> {
  const rollouts: RolloutStatusPage['rollouts'][number][] = [];
  let next: string | null | undefined;
  for (let pages = 0; pages < pagesReadMax && next !== null && rollouts.length < limit; pages += 1) {
    const page = await account.pageRollouts({ limit, before: next });
    rollouts.push(...(page?.rollouts ?? []).filter((status) => than === undefined || isOlder(status, than)));
    next = page?.next ?? null;
  }
  return { rollouts, next: next ?? null };
}

function joinPolicies(statuses: readonly PolicyStatuses[]): PolicyStatuses {
  const [first] = statuses;
  const problems = [...new Set(statuses.flatMap(({ notificationProblems = [] }) => notificationProblems))];
  const configDifference = statuses.find((each) => each.configDifference !== undefined)?.configDifference;
  return {
    // These belong to the process, so they are the same in each account: file, Redis, reports.
    ...first,
    policies: statuses.flatMap(({ policies }) => policies),
    orphans: statuses.flatMap(({ orphans }) => orphans),
    ...(configDifference !== undefined && { configDifference }),
    ...(problems.length > 0 && { notificationProblems: problems }),
  };
}

/**
 * Evaluated in order: an account that knows the subject has held it. Of several, one whose note names a consequence, else one
 * without a note, with the collectors of all.
 */
const holdOrder: ReadonlyArray<HoldResult['kind']> = ['done', 'unchanged', 'unavailable', 'unknown'];

/** Notes that are true whatever the other accounts answer. A doubt about the subject is not. */
const consequences: ReadonlySet<string | undefined> = new Set(['waitsInRollback', 'notJudged']);

function joinHolds(results: readonly HoldResult[]): HoldResult {
  const found = holdOrder.flatMap((kind) => results.filter((result) => result.kind === kind));
  const alike = found.filter(({ kind }) => kind === found[0]?.kind);
  const best =
    alike.find((each) => 'note' in each && consequences.has(each.note?.kind)) ??
    alike.find((each) => !('note' in each)) ??
    found[0];
  invariant(best !== undefined, 'each account answers');
  if (!('collectors' in best) || best.collectors === undefined) return best;
  return {
    ...best,
    collectors: sumOf(results, (each) => ('collectors' in each ? (each.collectors ?? 0) : 0)),
  };
}

function joinHeld(held: readonly HeldThings[]): HeldThings {
  const builds = [
    ...groupBy(
      held.flatMap((each) => each.builds),
      ({ build }) => build,
    ).values(),
  ];
  const groups = new Map(held.flatMap((each) => each.groups.map((hold) => [hold.label, hold] as const)));
  return {
    builds: builds.flatMap((holds) => (holds.length === held.length ? ofAllAccounts(holds) : holds)),
    collectors: held.flatMap(({ collectors }) => collectors),
    groups: [...groups.values()],
    strata: held.flatMap(({ strata }) => strata),
  };
}

/** A build that every account holds is one hold. */
function ofAllAccounts([first]: HeldThings['builds']): HeldThings['builds'] {
  if (first === undefined) return [];
  const { accountName: _any, ...hold } = first;
  return [hold];
}

/** A collector belongs to one account. Where several have the name or id, the one with a running rollout is chosen. */
function joinPlanned(results: ReadonlyArray<ExplainResult | undefined>): ExplainResult | undefined {
  return results.find((result) => result?.kind === 'explained');
}

function joinExplanations(idOrName: string, results: readonly ExplainResult[]): ExplainResult {
  const found =
    results.find(({ kind }) => kind === 'explained') ?? results.find(({ kind }) => kind === 'unavailable');
  if (found !== undefined) return found;
  const near = results.flatMap((result) => (result.kind === 'unknownCollector' ? result.nearest : []));
  return { kind: 'unknownCollector', nearest: nearestNames(idOrName, near) };
}

function joinReloads(results: readonly ReloadResult[]): ReloadResult {
  const done = results.flatMap((result) => (result.kind === 'refused' ? [] : [result]));
  const refused = results.find((result) => result.kind === 'refused');
  if (refused !== undefined) return refused;
  return {
    kind: done.some(({ kind }) => kind === 'reloaded') ? 'reloaded' : 'unchanged',
    ...joinChanges(done),
  };
}

function joinPreviews(results: readonly ReloadPreviewResult[]): ReloadPreviewResult {
  const previews = results.flatMap((result) => (result.kind === 'refused' ? [] : [result]));
  const refused = results.find((result) => result.kind === 'refused');
  if (refused !== undefined) return refused;
  return { kind: 'shown', ...joinChanges(previews), configs: previews.flatMap(({ configs }) => configs) };
}

function joinChanges(changes: readonly ReloadChanges[]): ReloadChanges {
  return {
    policies: changes.flatMap(({ policies }) => policies),
    settings: [...new Set(changes.flatMap(({ settings }) => settings))],
    needsRestart: [...new Set(changes.flatMap(({ needsRestart }) => needsRestart))],
    rollouts: changes.flatMap(({ rollouts }) => rollouts),
    warnings: changes.flatMap(({ warnings }) => warnings),
  };
}
