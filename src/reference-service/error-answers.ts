import { hashHex } from '../base/hash.ts';
import { wireCodes } from '../contract/service-errors.ts';
import { createUpgradeTask } from '../contract/upgrade-operations.ts';
import type { HttpAnswer, HttpRequest, RequestFailure } from '../http/http-exchange.ts';
import { refused } from './create-refusals.ts';
import { ServiceFailure } from './service-failure.ts';

const codesOnWire: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wireCodes).map(([wire, documented]) => [documented, wire]),
);

/** Writes errors as the service does: flat bodies, with codes as documented or as found on the wire. */
export class ErrorAnswers {
  readonly #names: 'documented' | 'wire';
  #count = 0;

  constructor(names: 'documented' | 'wire') {
    this.#names = names;
  }

  /** The flat body of collector-api.md §7.1. */
  flat(failure: ServiceFailure, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
    const { status, message } = failure;
    const code = this.#names === 'wire' ? (codesOnWire[failure.code] ?? failure.code) : failure.code;
    return { status, headers, body: { status, id: this.#instanceId(), code, message } };
  }

  /** A gateway's body (field-facts.md, The wire). */
  list(failure: ServiceFailure): HttpAnswer {
    const { status, code, message } = failure;
    return { status, body: { id: this.#instanceId(), errors: [{ code, message }] } };
  }

  ofRequest(failure: RequestFailure, request: HttpRequest): HttpAnswer {
    return this.flat(
      serviceFailure(failure, request),
      failure.kind === 'wrongMethod' ? { allow: failure.allowed.join(', ') } : {},
    );
  }

  /** Looks like `LC484-MA4EZ-OZ730`. */
  #instanceId(): string {
    const text = hashHex(`error:${this.#count++}`, 15).toUpperCase();
    return `${text.slice(0, 5)}-${text.slice(5, 10)}-${text.slice(10, 15)}`;
  }
}

function serviceFailure(failure: RequestFailure, request: HttpRequest): ServiceFailure {
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
      return new ServiceFailure(400, 'service.request.invalid', 'the request cannot be read');
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
  const field = String(failure.issues[0]?.path[0] ?? '');
  if (request.operation?.name === createUpgradeTask.name && failure.part === 'body') {
    return refused(field === 'toVersion' ? 'collector.version.invalid' : 'collector.invalid');
  }
  if (failure.part === 'params') {
    return new ServiceFailure(400, 'createValidationError', 'the specified ID is invalid');
  }
  return new ServiceFailure(
    400,
    `service.${field || 'body'}.invalid`,
    `invalid value for "${field || failure.part}"`,
  );
}
