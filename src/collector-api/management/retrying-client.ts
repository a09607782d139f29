import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { ListPage, Operation } from '../../contract/operation.ts';
import type { CallInput } from '../../http/client.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import { type PageOf, readWholeList } from '../wire/paging.ts';
import { isTransientAndUnsent, repeatWhileTransient } from '../wire/repeat-while-transient.ts';
import type { ServedAnswer, ServiceCall } from '../wire/service-call.ts';
import type { ServiceClient } from '../wire/service-client.ts';

export interface RetryingClientParts {
  readonly client: ServiceClient;
  readonly sleep: Sleep;
  /** Rows per page. Default: the service's own. */
  readonly pageSize?: number;
  /** Called when a list had unusable rows, which are left out. */
  readonly onUnusable?: (rows: number) => void;
}

type Call = <Params, Query, Body, Result>(
  operation: Operation<Params, Query, Body, Result>,
  input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
  call: Pick<ServiceCall, 'signal' | 'ifMatch' | 'trailingSlash'>,
) => Promise<ServedAnswer<Result>>;

/** A client for a person who waits: its requests go first in the budget, and transient errors are retried. */
export interface RetryingClient {
  /** Retries a read after a transient error; a write only when the service has certainly not acted on it. */
  readonly call: Call;
  /** Like `call`, without retries. */
  readonly callOnce: Call;
  /** Reads a whole list, each row once, even if it shrinks meanwhile. Pages are retried after transient errors. */
  readAll<Row extends { readonly id: number }>(
    readPage: (page: PageOf) => Promise<ServedAnswer<ListPage<Row>>>,
    signal: AbortSignal | undefined,
  ): Promise<Answer<readonly Row[]>>;
  /** The rows of a list that comes in one response. */
  readonly rowsOf: <Row>(answer: ServedAnswer<ListPage<Row>>) => Answer<readonly Row[]>;
}

// For a person who waits: 1 + 2 s, then the failure is reported.
const attemptsMax = 3;
const backoffMs: DurationMs = 1_000;

export function makeRetryingClient(parts: RetryingClientParts): RetryingClient {
  const retryBounds = { attemptsMax, backoffMs, sleep: parts.sleep };
  const callOnce: Call = async (operation, input, call) => {
    const answer = await parts.client.call(operation, input, { ...call, budgetClass: 'operator' });
    // It does not matter whether the service received a read.
    if (answer.ok || operation.method !== 'GET' || !('sent' in answer.failure)) return answer;
    return { ok: false, failure: { ...answer.failure, sent: false } };
  };
  const report = (unusable: number): void => {
    if (unusable > 0) parts.onUnusable?.(unusable);
  };
  return {
    callOnce,
    call: (operation, input, call) =>
      repeatWhileTransient(
        () => callOnce(operation, input, call),
        { ...retryBounds, signal: call.signal },
        operation.method === 'GET' ? undefined : isTransientAndUnsent,
      ),
    readAll: async (readPage, signal) => {
      const list = await readWholeList({
        ...retryBounds,
        signal,
        readPage: async (page) => bodyOf(await readPage(page)),
        idOf: ({ id }) => id,
        pageSize: parts.pageSize ?? serviceLimits.collectorPageSizeDefault,
      });
      if (!list.ok) return list;
      report(list.value.unusable);
      return { ok: true, value: list.value.rows };
    },
    rowsOf: (answer) => {
      const page = bodyOf(answer);
      if (!page.ok) return page;
      const rows = page.value.rows.filter((row) => row !== null);
      report(page.value.rows.length - rows.length);
      return { ok: true, value: rows };
    },
  };
}

/** Drops everything but the body. */
export function bodyOf<Body>(answer: ServedAnswer<Body>): Answer<Body> {
  return mapAnswer(answer, ({ body }) => body);
}
