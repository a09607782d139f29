import fc from 'fast-check';
import { aReferenceService, type ReferenceSetup } from '../../support/reference-client.ts';
import { read } from './answers.ts';
import { Api } from './api.ts';
import { converse } from './conversation.ts';
import { complaintAbout, operationOf } from './fuzz-judge.ts';
import { someNonsense } from './fuzz-nonsense.ts';
import {
  aFuzzRequest,
  encodeRequest,
  type FuzzKnowledge,
  type FuzzRequest,
  isTooLarge,
} from './fuzz-requests.ts';
import { referenceCredentials } from './target.ts';
import { CollectorList, SourceList, TargetList } from './wire-shapes.ts';

const fleetSize = 120;

/** A service that is being fuzzed, and what is known of it from its answers. */
export interface FuzzedService {
  readonly setup: ReferenceSetup;
  readonly api: Api;
  readonly knowledge: FuzzKnowledge;
  readonly tally: {
    requests: number;
    /** Answers by the first digit of their status. */
    readonly answersByClass: Map<number, number>;
    created: number;
    deleted: number;
    /** Requests whose answers were not awaited or did not come: each may have created or deleted one collector. */
    unseen: number;
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
  const facts = setup.service.world.collectors().map((collector) => collector.facts);
  return {
    setup,
    api,
    knowledge: { collectorIds: facts.map(({ id }) => id), names: facts.map(({ name }) => name) },
    tally: {
      requests: 0,
      answersByClass: new Map(),
      created: 0,
      deleted: 0,
      unseen: 0,
      isOfflineDeleted: false,
    },
    close: async () => {
      api.close();
      await setup.close();
    },
  };
}

export interface FuzzConversation {
  readonly requests: readonly FuzzRequest[];
  /** Where the bytes are cut into writes, in thousandths. */
  readonly cuts: readonly number[];
  readonly ending: 'wait' | 'halfClose' | 'leave' | Buffer;
}

/** Several requests, one after another without waiting, and how the connection goes on. */
export function aFuzzConversation(knowledge: FuzzKnowledge): fc.Arbitrary<FuzzConversation> {
  return fc.record({
    requests: fc.array(aFuzzRequest(knowledge), { minLength: 1, maxLength: 12, size: 'max' }),
    cuts: fc.array(fc.nat(1_000), { maxLength: 3 }),
    ending: fc.oneof(
      { weight: 7, arbitrary: fc.constant('wait' as const) },
      { weight: 1, arbitrary: fc.constantFrom('halfClose' as const, 'leave' as const) },
      { weight: 2, arbitrary: someNonsense },
    ),
  });
}

/**
 * Has the conversation and judges every answer.
 * @throws for the first answer that is none, or none of a documented form; and when the service hangs
 */
export async function playConversation(fuzzed: FuzzedService, conversation: FuzzConversation): Promise<void> {
  const { requests, ending } = conversation;
  const { tally } = fuzzed;
  const isNonsense = Buffer.isBuffer(ending);
  const bytes = Buffer.concat([...requests.map(encodeRequest), ...(isNonsense ? [ending] : [])]);
  tally.requests += requests.length + (isNonsense ? 1 : 0);
  const { answers, closed } = await converse(fuzzed.setup.service.port, {
    writes: cutUp(bytes, conversation.cuts),
    answersMax: isNonsense ? Number.POSITIVE_INFINITY : requests.length,
    isHead: (index) => requests[index]?.method === 'HEAD',
    ending: isNonsense ? 'halfClose' : ending,
  });
  for (const [index, answer] of answers.entries()) {
    const request = requests[index];
    const complaint = complaintAbout(answer, request);
    if (complaint !== undefined) throw new Error(`${complaint}\nto ${shortly(request)}`);
    const statusClass = Math.floor(answer.status / 100);
    tally.answersByClass.set(statusClass, (tally.answersByClass.get(statusClass) ?? 0) + 1);
    note(tally, request, answer.status);
  }
  tally.unseen += Math.max(0, requests.length - answers.length) + (isNonsense ? 1 : 0);
  const announced = answers.at(-1)?.headers.get('connection') === 'close' || requests.some(isTooLarge);
  if (ending === 'wait' && closed && answers.length < requests.length && !announced) {
    throw new Error(`the connection was closed without an answer to ${shortly(requests[answers.length])}`);
  }
}

/**
 * Looks whether the service is still itself.
 * @throws for the first invariant that does not hold
 */
export async function checkInvariants({ api, setup, tally }: FuzzedService): Promise<void> {
  const { collectors } = read(CollectorList, await api.get('/collectors?limit=10000'));
  const names = new Set(collectors.map(({ name }) => name));
  holds(names.size === collectors.length, 'names are unique');
  holds(new Set(collectors.map(({ id }) => id)).size === collectors.length, 'ids are unique');
  const sizeMax = fleetSize + tally.created - tally.deleted + tally.unseen;
  const sizeMin = tally.isOfflineDeleted ? 0 : fleetSize + tally.created - tally.deleted - tally.unseen;
  holds(
    sizeMin <= collectors.length && collectors.length <= sizeMax,
    `${collectors.length} collectors are between ${sizeMin} and ${sizeMax}`,
  );
  for (const { id } of collectors) read(SourceList, await api.get(`/collectors/${id}/sources`));
  const { targets } = read(TargetList, await api.get('/collectors/upgrades/targets'));
  holds(targets.filter(({ latest }) => latest).length === 1, 'exactly one build is the latest');
  holds(Object.keys(Object.prototype).length === 0, 'no prototype is polluted');
  holds(!('polluted' in {}), 'no prototype is polluted');
  // Half an hour later every task has come to its end.
  setup.clock.advance(40 * 60_000);
  const { creates, tasksInFlight } = setup.service.record.snapshot();
  holds(tasksInFlight === 0, `no task of ${creates.length} goes on for ever`);
  read(CollectorList, await api.get('/collectors?limit=10000'));
}

function note(tally: FuzzedService['tally'], request: FuzzRequest | undefined, status: number): void {
  const name = request === undefined ? undefined : operationOf(request)?.name;
  if (name === 'createCollector' && status === 201) tally.created++;
  if (name === 'deleteCollector' && status === 200) tally.deleted++;
  if (name === 'deleteOfflineCollectors' && status === 200) tally.isOfflineDeleted = true;
}

function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...cuts].sort((a, b) => a - b).map((cut) => Math.floor((bytes.length * cut) / 1_000));
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

function shortly(request: FuzzRequest | undefined): string {
  return request === undefined ? 'nonsense' : encodeRequest(request).subarray(0, 2_000).toString('latin1');
}

function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`the service broke: it does not hold that ${what}`);
}
