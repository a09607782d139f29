import { assertNever } from '../../base/assert.ts';
import type { adminApi } from '../../contract/admin/api.ts';
import type { PolicyStatuses } from '../../contract/admin/policies.ts';
import type { OperationHandlers } from '../../http/operation-handlers.ts';
import type { StartPreviewResult, StartResult } from '../../orchestrator/operations/start-policy.ts';
import { AdminFault } from '../access/admin-fault.ts';
import { type AskOperations, withReason } from './ask-operations.ts';

/** Handlers of the admin API for policies. */
export function makePolicyHandlers(ask: AskOperations) {
  return {
    listPolicies: async () => ({ body: await readPolicies(ask) }),
    previewStart: async ({ params }) => {
      const result = await ask.approve((operations) => operations.previewStart(params.policy));
      return { body: result.kind === 'planned' ? result.preview : refuse(result) };
    },
    startPolicy: async ({ params, body }) => {
      const request = { policy: params.policy, ...withReason(body) };
      const result = await ask.approve((operations) => operations.start(request));
      return { body: result.kind === 'started' ? result.status : refuse(result) };
    },
  } satisfies Partial<OperationHandlers<typeof adminApi>>;
}

/** The policies, and whether Redis allows this daemon to work. */
export async function readPolicies(ask: AskOperations): Promise<PolicyStatuses> {
  const statuses = await ask.read((operations) => operations.listPolicies());
  const notReady = await ask.notReady();
  return { ...statuses, ...(notReady !== undefined && { notReady }) };
}

function refuse(
  result: Exclude<StartPreviewResult | StartResult, { readonly kind: 'planned' | 'started' }>,
): never {
  switch (result.kind) {
    case 'refused':
    case 'unavailable':
      throw new AdminFault(result.kind, result.reason);
    case 'unknownPolicy':
      throw new AdminFault('notFound', result.reason);
    default:
      return assertNever(result.kind);
  }
}

/** Handlers of the admin API for the config file. */
export function makeConfigHandlers(ask: AskOperations) {
  return {
    previewReload: async () => {
      const result = await ask.read((operations) => operations.previewReload());
      if (result.kind === 'refused') throw new AdminFault('invalid', result.reason);
      return { body: result };
    },
    reloadConfig: async ({ body }) => {
      const result = await ask.act((operations) => operations.reload(withReason(body)));
      if (result.kind === 'refused') throw new AdminFault('invalid', result.reason);
      return { body: result };
    },
  } satisfies Partial<OperationHandlers<typeof adminApi>>;
}
