import type { HttpRequest } from '../../http/operation-handlers.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** Several deployments behind one server, distinguished by the host name that a request was sent to (collector-api.md §1). */
export class Deployments {
  readonly #scenario: Pick<Scenario, 'deployments' | 'moved'>;
  readonly #ownUrl: () => string;

  /** @param ownUrl the default deployment's address, known once the server listens */
  constructor(scenario: Pick<Scenario, 'deployments' | 'moved'>, ownUrl: () => string) {
    this.#scenario = scenario;
    this.#ownUrl = ownUrl;
  }

  /** Where the scenario sends every request for this host; undefined when it does not. */
  movedTo(request: HttpRequest): string | undefined {
    const { moved } = this.#scenario;
    if (!moved.hosts.includes(hostName(request))) return undefined;
    return at(moved.location ?? this.#ownUrl(), request);
  }

  /** The right address for an account of a deployment; undefined when the request was sent there. */
  rightAddress(request: HttpRequest, accountDeployment: string | null): string | undefined {
    if (this.#deploymentOf(hostName(request)) === accountDeployment) return undefined;
    return at(accountDeployment === null ? this.#ownUrl() : this.#urlOf(accountDeployment), request);
  }

  #deploymentOf(host: string): string | null {
    const found = Object.keys(this.#scenario.deployments).find((label) =>
      this.#hostsOf(label).includes(host),
    );
    return found ?? null;
  }

  #hostsOf(label: string): readonly string[] {
    return this.#scenario.deployments[label]?.hosts ?? [`${label}.localhost`];
  }

  #urlOf(label: string): string {
    const stated = this.#scenario.deployments[label]?.url;
    if (stated !== undefined) return stated;
    const url = new URL(this.#ownUrl());
    url.hostname = this.#hostsOf(label)[0] ?? url.hostname;
    return url.origin;
  }
}

function hostName(request: HttpRequest): string {
  return (request.headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
}

/** The same path and query at another address, in characters that a header may have. */
function at(baseUrl: string, request: HttpRequest): string {
  const target = request.url.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character));
  return `${baseUrl.replace(/\/$/, '')}${target}`;
}
