import { Agent } from 'node:http';
import fc from 'fast-check';
import { sendRaw } from '../../support/network/raw-http.ts';
import { aReferenceService, type ReferenceSetup } from '../../support/reference-client.ts';
import { Api } from './api.ts';
import { complaintAbout, operationOf } from './fuzz-judge.ts';
import { aFuzzRequest, type FuzzKnowledge, type FuzzRequest } from './fuzz-requests.ts';
import { idsOf, listBuilds, listCollectors, listSources } from './resources.ts';
import { referenceCredentials } from './target.ts';

const fleetSize = 120;

/** A service that is being fuzzed, and what is known of it from its answers. */
export interface FuzzedService {
  readonly setup: ReferenceSetup;
  readonly api: Api;
  readonly agent: Agent;
  readonly knowledge: FuzzKnowledge;
  readonly tally: {
    requests: number;
    accepted: number;
    created: number;
    deleted: number;
    isOfflineDeleted: boolean;
  };
  close(): Promise<void>;
}

export async function startFuzzedService(): Promise<FuzzedService> {
  const setup = await aReferenceService({
    fleet: { size: fleetSize, shares: { hosted: 0.2 } },
    limits: { requestsPerSecond: null, concurrentRequests: null, signInsPerMinute: null },
  });
  const api = new Api({ baseUrl: setup.service.baseUrl, credentials: referenceCredentials });
  const agent = new Agent({ keepAlive: true });
  const facts = setup.service.world.collectors().map((collector) => collector.facts);
  return {
    setup,
    api,
    agent,
    knowledge: { collectorIds: idsOf(facts), names: facts.map(({ name }) => name) },
    tally: { requests: 0, accepted: 0, created: 0, deleted: 0, isOfflineDeleted: false },
    close: async () => {
      agent.destroy();
      api.close();
      await setup.close();
    },
  };
}

/** Requests that are sent one after the other. */
export function someFuzzRequests(knowledge: FuzzKnowledge): fc.Arbitrary<readonly FuzzRequest[]> {
  return fc.array(aFuzzRequest(knowledge), { minLength: 1, maxLength: 12, size: 'max' });
}

/**
 * Sends the requests and judges every answer.
 * @throws for the first answer that is none, or none of a documented form; and when the service hangs
 */
export async function playRequests(fuzzed: FuzzedService, requests: readonly FuzzRequest[]): Promise<void> {
  const { tally, agent, setup } = fuzzed;
  for (const request of requests) {
    const answer = await sendRaw({ ...request, origin: setup.service.url, agent });
    const complaint = complaintAbout(answer, request);
    if (complaint !== undefined)
      throw new Error(`${complaint}\nto ${JSON.stringify(request).slice(0, 2_000)}`);
    tally.requests++;
    if (answer.status < 300) tally.accepted++;
    const name = operationOf(request)?.name;
    if (name === 'createCollector' && answer.status === 201) tally.created++;
    if (name === 'deleteCollector' && answer.status === 200) tally.deleted++;
    if (name === 'deleteOfflineCollectors' && answer.status === 200) tally.isOfflineDeleted = true;
  }
}

/**
 * Checks whether the service still works.
 * @throws for the first invariant that does not hold
 */
export async function checkInvariants({ api, setup, tally }: FuzzedService): Promise<void> {
  const collectors = await listCollectors(api, '/collectors?limit=10000');
  holds(new Set(collectors.map(({ name }) => name)).size === collectors.length, 'names are unique');
  holds(new Set(idsOf(collectors)).size === collectors.length, 'ids are unique');
  const expected = fleetSize + tally.created - tally.deleted;
  const isAsExpected = tally.isOfflineDeleted
    ? collectors.length <= expected
    : collectors.length === expected;
  holds(isAsExpected, `${collectors.length} collectors are those of ${expected}`);
  for (const { id } of collectors) await listSources(api, id);
  holds(
    (await listBuilds(api)).filter(({ latest }) => latest).length === 1,
    'exactly one build is the latest',
  );
  holds(Object.keys(Object.prototype).length === 0 && !('polluted' in {}), 'no prototype is polluted');
  // Half an hour later every task has come to its end.
  setup.clock.advance(40 * 60_000);
  const { creates, tasksInFlight } = setup.service.record.snapshot();
  holds(tasksInFlight === 0, `no task of ${creates.length} goes on for ever`);
  await listCollectors(api, '/collectors?limit=10000');
}

function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`the service broke: it does not hold that ${what}`);
}
