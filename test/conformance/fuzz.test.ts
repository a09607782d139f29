import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { updateCollector } from '../../src/contract/collector-management/collectors.ts';
import { updateSource } from '../../src/contract/collector-management/sources.ts';
import { etagOf, expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import {
  aFuzzConversation,
  checkInvariants,
  type FuzzedService,
  playConversation,
  startFuzzedService,
} from './support/fuzz-batch.ts';
import { bodyOf } from './support/fuzz-bodies.ts';
import { OneCollector, OneSource } from './support/wire-shapes.ts';

const requestsMin = numberGiven('FUZZ') ?? 3_000;
// The same requests in every `npm test`; others each time somebody asks for a longer run.
const seed = numberGiven('SEED') ?? (numberGiven('FUZZ') === undefined ? 20_260_302 : randomInt(2 ** 31));

// A fresh service for each part: what a failure needs to be seen again stays small, and so does the fleet.
const conversationsPerBatch = 250;
const updatesPerBatch = 150;
// As many updates as one in twenty of the requests.
const updateBatches = Math.ceil(requestsMin / 20 / updatesPerBatch);
// Several hundred requests a second, on a machine that is busy with other things.
const timeoutMs = 60_000 + requestsMin * 20;
// Looking for a smaller example of a failure must end, too.
const shrinkWithinMs = 120_000;

itInProcess(
  `§7.1 fuzz: ${requestsMin} generated requests get an HTTP answer of a documented form each, and break nothing`,
  async () => {
    let requests = 0;
    const answersByClass = new Map<number, number>();
    for (let batch = 0; requests < requestsMin; batch++) {
      const options = {
        numRuns: conversationsPerBatch,
        seed: seed + batch,
        interruptAfterTimeLimit: shrinkWithinMs,
      };
      const { tally } = await inBatch(seed + batch, async (fuzzed) => {
        const play = (conversation: Parameters<typeof playConversation>[1]) =>
          playConversation(fuzzed, conversation);
        await fc.assert(fc.asyncProperty(aFuzzConversation(fuzzed.knowledge), play), options);
      });
      requests += tally.requests;
      for (const [statusClass, answers] of tally.answersByClass) {
        answersByClass.set(statusClass, (answersByClass.get(statusClass) ?? 0) + answers);
      }
    }
    const classes = [...answersByClass]
      .sort(([a], [b]) => a - b)
      .map(([digit, count]) => `${count} ${digit}xx`);
    process.stdout.write(`fuzz: ${requests} requests from seed ${seed}: ${classes.join(', ')}\n`);
    // Requests that only bounce off the door would prove nothing.
    expect(answersByClass.get(2)).toBeGreaterThan(requests / 10);
  },
  timeoutMs,
);

itInProcess(
  '§4.4 fuzz: whatever the update of a collector states, what is stored has the documented form',
  async () => {
    for (let batch = 0; batch < updateBatches; batch++) {
      await inBatch(seed + batch, async ({ api, knowledge }) => {
        const ids = fc.constantFrom(...knowledge.collectorIds.slice(0, 40));
        const property = fc.asyncProperty(ids, bodyOf(updateCollector, ids), (id, body) =>
          updateWith(api, id, (body as { collector: unknown }).collector),
        );
        await fc.assert(property, { numRuns: updatesPerBatch, seed: seed + batch });
      });
    }
  },
  timeoutMs,
);

itInProcess(
  '§4.4 fuzz: whatever a source states, what is stored has the documented form',
  async () => {
    for (let batch = 0; batch < updateBatches; batch++) {
      await inBatch(seed + batch, async ({ api, knowledge }) => {
        const ids = fc.constantFrom(...knowledge.collectorIds.slice(0, 40));
        const body = bodyOf(updateSource, ids);
        const property = fc.asyncProperty(ids, body, body, (id, created, changed) =>
          createAndChange(api, `/collectors/${id}/sources`, { created, changed }),
        );
        await fc.assert(property, { numRuns: updatesPerBatch, seed: seed + batch });
      });
    }
  },
  timeoutMs,
);

async function updateWith(api: Api, id: number, changes: unknown): Promise<void> {
  const path = `/collectors/${id}`;
  const before = await api.get(path);
  const stated = { ...read(OneCollector, before).collector, ...Object(changes) };
  const answer = await api.put(path, { collector: { ...stated, id } }, etagOf(before));
  if (answer.status !== 200) expectRefusal(answer);
  read(OneCollector, await api.get(path));
}

async function createAndChange(
  api: Api,
  list: string,
  bodies: { readonly created: unknown; readonly changed: unknown },
): Promise<void> {
  const answer = await api.post(list, bodies.created);
  if (answer.status >= 300) {
    expectRefusal(answer);
    return;
  }
  const path = `${list}/${read(OneSource, answer).source.id}`;
  const before = await api.get(path);
  const { source } = read(OneSource, before);
  const { source: changes } = bodies.changed as { source: unknown };
  const stated = { ...source, ...Object(changes), id: source.id };
  const changed = await api.put(path, { source: stated }, etagOf(before));
  if (changed.status !== 200) expectRefusal(changed);
  read(OneSource, await api.get(path));
  expect((await api.delete(path)).status).toBe(200);
}

/** @throws when it is no number: a run that does nothing would look like a good one */
function numberGiven(name: string): number | undefined {
  const text = process.env[`UPWAVE_CONFORMANCE_${name}`];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`UPWAVE_CONFORMANCE_${name} is no number: ${text}`);
  return Number(text);
}

/** Plays against a service of its own, which must be itself afterwards. */
async function inBatch(
  batchSeed: number,
  play: (fuzzed: FuzzedService) => Promise<void>,
): Promise<FuzzedService> {
  const fuzzed = await startFuzzedService();
  try {
    await play(fuzzed);
    await checkInvariants(fuzzed);
    return fuzzed;
  } catch (error) {
    throw new Error(`replay: npm run test:conformance -- --fuzz 1 --seed ${batchSeed}`, { cause: error });
  } finally {
    await fuzzed.close();
  }
}
