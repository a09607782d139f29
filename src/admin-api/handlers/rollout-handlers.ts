import type { adminApi } from '../../contract/admin/api.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import {
  type CollectorSearch,
  type EventSearch,
  rolloutPageSizeDefault,
} from '../../contract/admin/rollouts.ts';
import type { VerbBody } from '../../contract/admin/verb-body.ts';
import type { RollbackPreview } from '../../contract/admin/verbs.ts';
import type { OperationHandlers } from '../../http/operation-handlers.ts';
import type {
  EventFilter,
  RollbackPreviewResult,
  VerbRequest,
  VerbResult,
} from '../../orchestrator/operations/operations.ts';
import type { UpgradeSearch } from '../../orchestrator/operations/search-upgrades.ts';
import { parseAttributes } from '../../rollout/model/attributes.ts';
import { AdminFault } from '../access/admin-fault.ts';
import { type AskOperations, withReason } from './ask-operations.ts';
import { encodeUpgrade } from './upgrade-body.ts';

/** Handlers of the admin API for rollouts. */
export function makeRolloutHandlers(ask: AskOperations) {
  const statusOf = async (id: string) =>
    found(id, await ask.read((operations) => operations.rolloutStatus(id)));
  const apply = async (request: VerbRequest) => {
    const perform = request.verb === 'approve' ? ask.approve : ask.act;
    return {
      body: statusOrRefuse(request.rolloutId, await perform((operations) => operations.apply(request))),
    };
  };
  return {
    listRollouts: async ({ query: { before, limit } }) => {
      if (before === undefined && limit === undefined) {
        const rollouts = await ask.read((operations) => operations.listRollouts());
        // The newest rollout is always current, so the history before it has all others.
        return { body: { rollouts, next: rollouts[0]?.id ?? null } };
      }
      const page = { limit: limit ?? rolloutPageSizeDefault, before };
      return { body: found(before ?? '', await ask.read((operations) => operations.pageRollouts(page))) };
    },
    getRollout: async ({ params }) => ({ body: await statusOf(params.id) }),
    listRolloutCollectors: async ({ params, query }) => {
      const status = await statusOf(params.id);
      const search = searchOf(query, status);
      const { upgrades, placeOf, total, next } = found(
        params.id,
        await ask.read((operations) => operations.searchUpgrades(params.id, search)),
      );
      const withResults = query.results !== undefined;
      const collectors = upgrades.map((each) => encodeUpgrade(each, status, placeOf, withResults));
      return { body: { collectors, total, next } };
    },
    getRolloutCourse: async ({ params }) => ({
      body: found(params.id, await ask.read((operations) => operations.showCourse(params.id))),
    }),
    listRolloutEvents: async ({ params, query }) => {
      const filter = eventFilterOf(query);
      const events = await ask.read((operations) => operations.readEvents(params.id, query.limit, filter));
      return { body: { events: found(params.id, events) } };
    },
    reportRollout: async ({ params, query }) => {
      const { format } = query;
      // The request reads every record of the rollout.
      const report = await ask.act((operations) => operations.report(params.id, format));
      return { body: { report: found(params.id, report) } };
    },
    listRolloutVerbs: async ({ params }) => ({ body: { verbs: (await statusOf(params.id)).verbs } }),
    pauseRollout: (input) => apply({ verb: 'pause', ...askedOf(input) }),
    resumeRollout: (input) => apply({ verb: 'resume', ...askedOf(input) }),
    approveRollout: (input) => apply({ verb: 'approve', ...askedOf(input) }),
    skipRolloutSoak: (input) => apply({ verb: 'skipSoak', ...askedOf(input) }),
    abortRollout: (input) => apply({ verb: 'abort', ...askedOf(input) }),
    rollBackRollout: ({ params, body: { now, ...body } }) =>
      apply({ verb: 'rollback', ...askedOf({ params, body }), ...(now && { now }) }),
    retryRollout: (input) => apply({ verb: 'retry', ...askedOf(input) }),
    previewRollback: async ({ params }) => ({
      body: previewOrRefuse(params.id, await ask.act((operations) => operations.previewRollback(params.id))),
    }),
  } satisfies Partial<OperationHandlers<typeof adminApi>>;
}

/** What an operator asks of a rollout, as the operations take it. */
function askedOf<Body extends VerbBody>({ params, body }: { params: { id: string }; body: Body }) {
  return { rolloutId: params.id, ...withReason(body) };
}

/** @throws AdminFault for a wave that the rollout does not have */
function searchOf(query: CollectorSearch, { id, waves }: RolloutStatus): UpgradeSearch {
  const { state: states, wave: name, stratum, cause, match, attributes: text, after, limit } = query;
  const attributes = text === undefined ? undefined : parseAttributes(text);
  if (text !== undefined && attributes === undefined)
    throw new AdminFault('invalid', `${text} is not an attribute, such as fields.rack=r7 or osName=Windows*`);
  const wave = name === undefined ? undefined : waves.findIndex((each) => each.name === name);
  if (wave === -1) throw new AdminFault('notFound', `rollout ${id} has no wave ${name}`);
  return { limit, after, states, wave, stratum, cause, match, attributes };
}

/** undefined where all are asked for. */
function eventFilterOf({ since, type, collector, by }: EventSearch): EventFilter | undefined {
  const filter = { since, type, collector, by };
  return Object.values(filter).every((part) => part === undefined) ? undefined : filter;
}

function previewOrRefuse(rolloutId: string, result: RollbackPreviewResult): RollbackPreview {
  return result.kind === 'shown' ? result.preview : refuse(rolloutId, result);
}

function statusOrRefuse(rolloutId: string, result: VerbResult): RolloutStatus {
  return result.kind === 'done' || result.kind === 'unchanged' ? result.status : refuse(rolloutId, result);
}

type Refusal = Exclude<RollbackPreviewResult, { readonly kind: 'shown' }>;

function refuse(rolloutId: string, result: Refusal): never {
  if (result.kind === 'unknownRollout') throw unknownRollout(rolloutId);
  throw new AdminFault(result.kind, result.reason);
}

function found<T>(rolloutId: string, value: T | undefined): T {
  if (value === undefined) throw unknownRollout(rolloutId);
  return value;
}

function unknownRollout(rolloutId: string): AdminFault {
  return new AdminFault('notFound', `no rollout ${rolloutId}`);
}
