import { randomInt } from 'node:crypto';
import { wireCodes } from '../contract/service-errors.ts';
import type { HttpAnswer, HttpRequest, RequestFailure } from '../http/http-exchange.ts';
import { errorBody, formOf } from './error-bodies.ts';
import { requestFailure } from './request-failure.ts';
import type { Scenario } from './scenario.ts';
import type { ServiceFailure } from './service-failure.ts';

const codesOnWire: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wireCodes).map(([wire, documented]) => [documented, wire]),
);

/** Writes errors as the service does, in the form and with the names of codes that the scenario asks for. */
export class ErrorAnswers {
  readonly #scenario: Pick<Scenario, 'errorBodies' | 'errorCodes'>;

  constructor(scenario: Pick<Scenario, 'errorBodies' | 'errorCodes'>) {
    this.#scenario = scenario;
  }

  /** The body of collector-api.md §7.1, unless the scenario has another form for the status. */
  of(failure: ServiceFailure, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
    return this.#written(formOf(this.#scenario.errorBodies, failure.status), failure, headers);
  }

  /** A gateway's body, whatever the scenario says. */
  list(failure: ServiceFailure): HttpAnswer {
    return this.#written('list', failure, {});
  }

  ofRequest(failure: RequestFailure, request: HttpRequest): HttpAnswer {
    return this.of(
      requestFailure(failure, request),
      failure.kind === 'wrongMethod' ? { allow: failure.allowed.join(', ') } : {},
    );
  }

  #written(
    form: Parameters<typeof errorBody>[0],
    { status, code, message }: ServiceFailure,
    headers: Readonly<Record<string, string>>,
  ): HttpAnswer {
    const name = this.#scenario.errorCodes === 'wire' ? (codesOnWire[code] ?? code) : code;
    const written = errorBody(form, { status, id: makeInstanceId(), code: name, message });
    return { ...written, status, headers: { ...headers, ...written.headers } };
  }
}

/** Looks like `LC484-MA4EZ-OZ730` (field-facts.md, The wire), and is another one after each start. */
function makeInstanceId(): string {
  const group = () =>
    randomInt(36 ** 5)
      .toString(36)
      .padStart(5, '0')
      .toUpperCase();
  return `${group()}-${group()}-${group()}`;
}
