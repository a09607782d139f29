import { randomInt } from 'node:crypto';
import { wireCodes } from '../../contract/collector-management/errors.ts';
import { createUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import type { HttpAnswer, HttpRequest, RequestFailure } from '../../http/operation-handlers.ts';
import { invalidField, serviceRefusal } from '../fleet/refusals.ts';
import { errorBody, formOf, RefusedRequest } from '../scenario/refused-request.ts';
import type { Scenario } from '../scenario/scenario.ts';

const codesOnWire: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wireCodes).map(([wire, documented]) => [documented, wire]),
);

/** Writes errors as the service does, with the form and the names of codes that the scenario sets. */
export class ErrorAnswers {
  readonly #scenario: Pick<Scenario, 'errorBodies' | 'errorCodes'>;

  constructor(scenario: Pick<Scenario, 'errorBodies' | 'errorCodes'>) {
    this.#scenario = scenario;
  }

  /** @param form default: as in collector-api.md §7.1, unless the scenario has another form for the status */
  of(
    { status, code, message }: RefusedRequest,
    headers: Readonly<Record<string, string>> = {},
    form = formOf(this.#scenario.errorBodies, status),
  ): HttpAnswer {
    const name = this.#scenario.errorCodes === 'wire' ? (codesOnWire[code] ?? code) : code;
    const written = errorBody(form, { status, id: makeInstanceId(), code: name, message });
    return { ...written, status, headers: { ...headers, ...written.headers } };
  }
}

/** Has the form `LC484-MA4EZ-OZ730` (field-facts.md, The wire), and is random. */
function makeInstanceId(): string {
  const group = () =>
    randomInt(36 ** 5)
      .toString(36)
      .padStart(5, '0')
      .toUpperCase();
  return `${group()}-${group()}-${group()}`;
}

/** The service's response to a request that failed before or in its handler. */
export function requestFailure(failure: RequestFailure, request: HttpRequest): RefusedRequest {
  switch (failure.kind) {
    case 'unknownRoute':
      return new RefusedRequest(404, 'notfound', 'there is nothing at this path');
    case 'wrongMethod':
      return new RefusedRequest(405, 'method.unsupported', 'this path does not support this method');
    case 'malformedUrl':
      return new RefusedRequest(400, 'service.url.invalid', 'the URL cannot be read');
    case 'malformedJson':
      return new RefusedRequest(400, 'service.json.invalid', 'the body is not valid JSON');
    case 'bodyTooLarge':
      return new RefusedRequest(413, 'service.body.toolarge', 'the body is too large');
    case 'unreadable':
      return new RefusedRequest(failure.status, 'service.request.invalid', 'the request cannot be read');
    case 'invalidInput':
      return invalidInput(failure, request);
    case 'handlerError':
      return failure.error instanceof RefusedRequest
        ? failure.error
        : new RefusedRequest(
            500,
            'internal.error',
            `a bug of the reference service: ${String(failure.error)}`,
          );
  }
}

function invalidInput(
  failure: Extract<RequestFailure, { kind: 'invalidInput' }>,
  request: HttpRequest,
): RefusedRequest {
  const [issue] = failure.issues;
  const field = String(issue?.path[0] ?? '');
  if (request.operation?.name === createUpgradeTask.name && failure.part === 'body') {
    return serviceRefusal(field === 'toVersion' ? 'collector.version.invalid' : 'collector.invalid');
  }
  if (failure.part !== 'params') return invalidField(field || failure.part);
  // A number out of range is still a number: no collector and no source has it.
  const isNumber = issue?.code === 'too_big' || issue?.code === 'too_small';
  if (!isNumber) return serviceRefusal('createValidationError');
  return field === 'sourceId' ? unknownSource() : serviceRefusal('InvalidCollector');
}

/** The specification has no code for this error. */
export function unknownSource(): RefusedRequest {
  return new RefusedRequest(404, 'notfound', 'the collector has no source with this ID');
}
