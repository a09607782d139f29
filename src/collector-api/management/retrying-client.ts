import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { ListPage, Operation } from '../../contract/operation.ts';
import type { CallInput } from '../../http/client.ts';
import { type Answer, mapAnswer } from '../../orchestrator/ports/fleet-service.ts';
import { type PageOf, readWholeList } from '../wire/paging.ts';
import { passesUntouched, repeatWhileTransient } from '../wire/repeat-while-transient.ts';
import type { ServedAnswer, ServiceCall } from '../wire/service-call.ts';
import type { ServiceClient } from '../wire/service-client.ts';

export interface RetryingClientParts {
  readonly client: ServiceClient;
  readonly sleep: Sleep;
  /** Rows a page; the service's own default where left out. */
  readonly pageSize?: number;
  /** Reported with each list that had rows which can't be used: they are left out. */
  readonly onUnusable?: (rows: number) => void;
}

type Call = <Params, Query, Body, Result>(
  operation: Operation<Params, Query, Body, Result>,
  input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
  call: Pick<ServiceCall, 'signal' | 'ifMatch' | 'trailingSlash'>,
) => Promise<ServedAnswer<Result>>;

/** Speaks to the service for a person who waits: first in the budget, and not put off by what passes. */
export interface RetryingClient {
  /** Repeats a read that failed in passing; a write only when the service has certainly not acted on it. */
  readonly call: Call;
  /** As `call`, without repeating. */
  readonly callOnce: Call;
  /** Reads a list to its end, each row once, also when it shrinks meanwhile; repeats pages that fail in passing. */
  readAll<Row extends { readonly id: number }>(
    readPage: (page: PageOf) => Promise<ServedAnswer<ListPage<Row>>>,
    signal: AbortSignal | undefined,
  ): Promise<Answer<readonly Row[]>>;
  /** The rows of a list that comes whole in one answer. */
  readonly rowsOf: <Row>(answer: ServedAnswer<ListPage<Row>>) => Answer<readonly Row[]>;
}

// A person waits: 1 + 2 s, then the failure is reported.
const attemptsMax = 3;
const backoffMs: DurationMs = 1_000;

export function makeRetryingClient(parts: RetryingClientParts): RetryingClient {
  const retryBounds = { attemptsMax, backoffMs, sleep: parts.sleep };
  const callOnce: Call = async (operation, input, call) => {
    const answer = await parts.client.call(operation, input, { ...call, budgetClass: 'operator' });
    // Nothing comes of a read that the service may have got.
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
        operation.method === 'GET' ? undefined : passesUntouched,
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

/** An answer without what came beside its body. */
export function bodyOf<Body>(answer: ServedAnswer<Body>): Answer<Body> {
  return mapAnswer(answer, ({ body }) => body);
}
