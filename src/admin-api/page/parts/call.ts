import type { z } from 'zod';
import type { adminApi } from '../../../contract/admin/api.ts';
import type { RolloutEventBody } from '../../../contract/admin/rollout-event.ts';
import type { RolloutStatus } from '../../../contract/admin/rollout-status.ts';
import type { RolloutVerbName } from '../../../contract/admin/status-parts.ts';
import { encodeTarget, type TargetValues } from '../../../http/request-target.ts';

/** Names of the contract's types in the page. */
export type Rollout = RolloutStatus;
export type RolloutEvent = RolloutEventBody;
export type Wave = Rollout['waves'][number];
export type Counts = Rollout['counts'];
export type UpgradeState = keyof Counts;
export type AuditEntry = AnswerOf<'readAudit'>['entries'][number];
export type Policies = AnswerOf<'listPolicies'>;
export type Holds = AnswerOf<'listHolds'>;
export type Course = AnswerOf<'getRolloutCourse'>;
export type Collector = AnswerOf<'listRolloutCollectors'>['collectors'][number];
export type Verb = z.infer<typeof RolloutVerbName>;

type Operation = (typeof adminApi)[number];
type OperationName = Operation['name'];
type OperationCalled<Name> = Extract<Operation, { readonly name: Name }>;
export type AnswerOf<Name extends OperationName> = z.output<OperationCalled<Name>['answer']['body']>;

/** The daemon determines the caller. */
type WithoutBy<Body> = Body extends unknown ? Omit<Body, 'by'> : never;
export type BodyOf<Name extends OperationName> = WithoutBy<
  z.output<NonNullable<OperationCalled<Name>['body']>>
>;

interface CallInput<Name extends OperationName> {
  readonly params?: z.output<OperationCalled<Name>['params']>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: BodyOf<Name>;
}

/** Method and path of every operation. The build takes them from the contract, whose schemas would be too large here. */
declare const operationRoutes: Readonly<
  Record<OperationName, { readonly method: string; readonly path: string }>
>;

/** The daemon refused a call. Any other error of a call means that it did not answer. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

// Reads are answered from memory and Redis; a verb, or a preview of a start, may read the whole fleet.
const readTimeoutMs = 8_000;
const slowTimeoutMs = 305_000;
const slowReads: readonly OperationName[] = ['previewStart'];

const tokenKey = 'upwave.token';

/** The token of this tab. It is stored nowhere else. */
export const token = {
  isKnown: () => sessionStorage.getItem(tokenKey) !== null,
  headers: (): Readonly<Record<string, string>> => {
    const kept = sessionStorage.getItem(tokenKey);
    return kept === null ? {} : { authorization: `Bearer ${kept}` };
  },
  keep: (text: string) => sessionStorage.setItem(tokenKey, text),
  forget: () => sessionStorage.removeItem(tokenKey),
};

/** The URL of a path of the admin API. */
export function apiUrl(path: string): string {
  return `${document.documentElement.dataset['api'] ?? ''}${path}`;
}

/** @throws RefusedError, or what `fetch` throws when there is no answer in time */
export async function callDaemon<Name extends OperationName>(
  name: Name,
  { params, query = {}, body }: CallInput<Name> = {},
): Promise<AnswerOf<Name>> {
  const { method, path } = operationRoutes[name];
  const isSlow = method !== 'GET' || slowReads.includes(name);
  const response = await fetch(apiUrl(encodeTarget(path, (params ?? {}) as TargetValues, query)), {
    method,
    headers: {
      accept: 'application/json',
      ...token.headers(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    cache: 'no-store',
    signal: AbortSignal.timeout(isSlow ? slowTimeoutMs : readTimeoutMs),
  });
  if (response.ok) return response.json();
  throw await refusalOf(response);
}

/** The daemon's reason for refusing a request. */
export async function refusalOf(response: Response): Promise<RefusedError> {
  const refusal: { readonly message?: string } = await response.json().catch(() => ({}));
  return new RefusedError(response.status, refusal.message ?? `HTTP ${response.status}`);
}
