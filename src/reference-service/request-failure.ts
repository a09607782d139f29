import { createUpgradeTask } from '../contract/upgrade-operations.ts';
import type { HttpRequest, RequestFailure } from '../http/http-exchange.ts';
import { refused } from './create-refusals.ts';
import { invalidField, refusal } from './refusals.ts';
import { ServiceFailure } from './service-failure.ts';

/** What the service says to a request that failed before, or in, its handler. */
export function requestFailure(failure: RequestFailure, request: HttpRequest): ServiceFailure {
  switch (failure.kind) {
    case 'unknownRoute':
      return new ServiceFailure(404, 'notfound', 'there is nothing at this path');
    case 'wrongMethod':
      return new ServiceFailure(405, 'method.unsupported', 'this path does not take this method');
    case 'malformedUrl':
      return new ServiceFailure(400, 'service.url.invalid', 'the URL cannot be read');
    case 'malformedJson':
      return new ServiceFailure(400, 'service.json.invalid', 'the body is not valid JSON');
    case 'bodyTooLarge':
      return new ServiceFailure(413, 'service.body.toolarge', 'the body is too large');
    case 'unreadable':
      return new ServiceFailure(failure.status, 'service.request.invalid', 'the request cannot be read');
    case 'invalidInput':
      return invalidInput(failure, request);
    case 'handlerError':
      return failure.error instanceof ServiceFailure
        ? failure.error
        : new ServiceFailure(
            500,
            'internal.error',
            `a bug of the reference service: ${String(failure.error)}`,
          );
  }
}

function invalidInput(
  failure: Extract<RequestFailure, { kind: 'invalidInput' }>,
  request: HttpRequest,
): ServiceFailure {
  const [issue] = failure.issues;
  const field = String(issue?.path[0] ?? '');
  if (request.operation?.name === createUpgradeTask.name && failure.part === 'body') {
    return refused(field === 'toVersion' ? 'collector.version.invalid' : 'collector.invalid');
  }
  if (failure.part !== 'params') return invalidField(field || failure.part);
  // A number too large for us is still a number: no collector, no source has it.
  const isNumber = issue?.code === 'too_big' || issue?.code === 'too_small';
  if (!isNumber) return refusal('createValidationError');
  return field === 'sourceId' ? unknownSource() : refusal('InvalidCollector');
}

/** The specification has no code for it. */
export function unknownSource(): ServiceFailure {
  return new ServiceFailure(404, 'notfound', 'the collector has no source with this ID');
}
