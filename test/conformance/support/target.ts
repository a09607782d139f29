import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { ReferenceServiceParts } from '../../../src/reference-service/server/start-reference-service.ts';
import { aReferenceService, type ReferenceSetup } from '../../support/reference-client.ts';
import { Api } from './api.ts';
import { externalService } from './external-service.ts';
import { OwnCollectors } from './own-collectors.ts';
import { makePolitePace } from './request-pace.ts';

/** The service which a test file asks, and what the file has created there. */
export interface Target {
  readonly api: Api;
  readonly own: OwnCollectors;
}

/** Accepted by every reference service of the suite. */
export const referenceCredentials = { accessId: 'anid', accessKey: 'akey' };

/** Large enough to hold every kind of collector. */
const wholeFleet: ScenarioInput = {
  fleet: { size: 300, shares: { hosted: 0.05 } },
  naturalFailures: { failed: 0, timeout: 0, lost: 0, lostMac: 0 },
  limits: { requestsPerSecond: null, concurrentRequests: null, signInsPerMinute: null },
};

/** Opens the service for a whole test file: the one given from outside, else a reference service of its own. */
export function useTarget(): () => Target {
  // Paced requests, and rests after a 429, make a test slow there.
  if (externalService !== undefined) vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
  let open: (Target & { readonly close: () => Promise<void> }) | undefined;
  beforeAll(async () => {
    open = await openTarget();
  });
  afterAll(async () => open?.close());
  return () => {
    if (open === undefined) throw new Error('the target is not open yet');
    return open;
  };
}

async function openTarget() {
  if (externalService !== undefined) {
    const { baseUrl, accessId, accessKey } = externalService;
    const api = new Api({ baseUrl, credentials: { accessId, accessKey }, pace: makePolitePace() });
    const own = new OwnCollectors(api);
    return {
      api,
      own,
      close: async () => {
        await own.deleteAll();
        api.close();
      },
    };
  }
  const setup = await aReferenceService(wholeFleet);
  const api = new Api({ baseUrl: setup.service.baseUrl, credentials: referenceCredentials });
  return {
    api,
    own: new OwnCollectors(api),
    close: async () => {
      api.close();
      await setup.close();
    },
  };
}

/** A reference service in the hands of one test: its clock stands until the test moves it. */
export interface ControlledService extends Pick<ReferenceSetup, 'service' | 'clock'> {
  readonly api: Api;
  readonly own: OwnCollectors;
  /** A client of its own, with a cookie jar of its own. */
  anotherApi(parts?: Partial<ConstructorParameters<typeof Api>[0]>): Api;
}

/** @returns starts a service; all are closed after the test */
export function useControlledServices() {
  const closers: Array<() => Promise<void> | void> = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  return async (
    scenario: ScenarioInput = {},
    parts: Partial<ReferenceServiceParts> = {},
  ): Promise<ControlledService> => {
    const setup = await aReferenceService(
      {
        ...wholeFleet,
        ...scenario,
        fleet: { ...wholeFleet.fleet, ...scenario.fleet },
        limits: { ...wholeFleet.limits, ...scenario.limits },
      },
      parts,
    );
    const anotherApi: ControlledService['anotherApi'] = (apiParts = {}) => {
      const api = new Api({
        baseUrl: setup.service.baseUrl,
        credentials: referenceCredentials,
        ...apiParts,
      });
      closers.unshift(() => api.close());
      return api;
    };
    closers.push(() => setup.close());
    const api = anotherApi();
    return { service: setup.service, clock: setup.clock, api, own: new OwnCollectors(api), anotherApi };
  };
}
