import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { ReferenceServiceParts } from '../../../src/reference-service/server/start-reference-service.ts';
import {
  aReferenceService,
  openReferenceService,
  type ReferenceSetup,
} from '../../support/reference-client.ts';
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

/** A reference service for one test, which advances its clock. */
export interface ControlledService extends Pick<ReferenceSetup, 'service' | 'clock'> {
  readonly api: Api;
  readonly own: OwnCollectors;
  /** A client of its own, with a cookie jar of its own. */
  anotherApi(parts?: Partial<ConstructorParameters<typeof Api>[0]>): Api;
}

/** Starts a service, which ends with the test. */
export async function aService(
  scenario: ScenarioInput = {},
  parts: Partial<ReferenceServiceParts> = {},
): Promise<ControlledService> {
  const fleet = { ...wholeFleet.fleet, ...scenario.fleet };
  const limits = { ...wholeFleet.limits, ...scenario.limits };
  const { service, clock } = await openReferenceService({ ...wholeFleet, ...scenario, fleet, limits }, parts);
  const anotherApi: ControlledService['anotherApi'] = (apiParts = {}) => {
    const api = new Api({ baseUrl: service.baseUrl, credentials: referenceCredentials, ...apiParts });
    onTestFinished(() => api.close());
    return api;
  };
  const api = anotherApi();
  return { service, clock, api, own: new OwnCollectors(api), anotherApi };
}
