import type { HttpRequest } from '../../http/operation-handlers.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** Several deployments on one server, distinguished by the host name of a request (collector-api.md §1). */
export class Deployments {
  readonly #scenario: Pick<Scenario, 'deployments' | 'moved'>;
  readonly #ownUrl: () => string;

  /** @param ownUrl the default deployment's address, known once the server listens */
  constructor(scenario: Pick<Scenario, 'deployments' | 'moved'>, ownUrl: () => string) {
    this.#scenario = scenario;
    this.#ownUrl = ownUrl;
  }

  /** The target to which the scenario redirects all requests for this host; undefined for other hosts. */
  movedTo(request: HttpRequest): string | undefined {
    const { moved } = this.#scenario;
    if (!moved.hosts.includes(hostName(request))) return undefined;
    return at(moved.location ?? this.#ownUrl(), request);
  }

  /** The address of an account's deployment; undefined when the request was sent there. */
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

/** The same path and query at another address, encoded for a header. */
function at(baseUrl: string, request: HttpRequest): string {
  const target = request.url.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character));
  return `${baseUrl.replace(/\/$/, '')}${target}`;
}
