import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { updateCollector } from '../../src/contract/collector-operations.ts';
import { updateSource } from '../../src/contract/source-operations.ts';
import { etagOf, expectRefusal, read } from './support/answers.ts';
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

const requestsMin = Number(process.env['UPWAVE_CONFORMANCE_FUZZ'] ?? '3000');
const seed = Number(process.env['UPWAVE_CONFORMANCE_SEED'] ?? randomInt(2 ** 31));

// A fresh service for each part: what a failure needs to be seen again stays small, and so does the fleet.
const conversationsPerBatch = 400;
const updatesPerBatch = 150;
// Several hundred requests a second, on a machine that is busy with other things.
const timeoutMs = 60_000 + requestsMin * 20;
// Trying to find a smaller example of a failure must end, too.
const shrinkWithinMs = 120_000;

itInProcess(
  `§7.1 fuzz: ${requestsMin} generated requests get an HTTP answer of a documented form each, and break nothing`,
  async () => {
    let requests = 0;
    for (let batch = 0; requests < requestsMin; batch++) {
      requests += await inBatch(seed + batch, async (fuzzed) => {
        await fc.assert(
          fc.asyncProperty(aFuzzConversation(fuzzed.knowledge), (conversation) =>
            playConversation(fuzzed, conversation),
          ),
          { numRuns: conversationsPerBatch, seed: seed + batch, interruptAfterTimeLimit: shrinkWithinMs },
        );
      });
    }
    process.stdout.write(`fuzz: ${requests} requests from seed ${seed}\n`);
  },
  timeoutMs,
);

itInProcess(
  '§4.4 fuzz: whatever an update states, what is stored has the documented form',
  async () => {
    for (let batch = 0; batch * 20 * updatesPerBatch < requestsMin; batch++) {
      await inBatch(seed + batch, async ({ api, knowledge }) => {
        const ids = fc.constantFrom(...knowledge.collectorIds.slice(0, 40));
        const collectorUpdates = fc.tuple(ids, bodyOf(updateCollector, ids));
        const sourceUpdates = fc.tuple(ids, bodyOf(updateSource, ids));
        const options = { numRuns: updatesPerBatch, seed: seed + batch };
        await fc.assert(
          fc.asyncProperty(collectorUpdates, async ([id, body]) => {
            const path = `/collectors/${id}`;
            const before = await api.get(path);
            const { collector: changes } = body as { collector: unknown };
            const stated = { ...read(OneCollector, before).collector, ...Object(changes) };
            const answer = await api.put(path, { collector: { ...stated, id } }, etagOf(before));
            if (answer.status !== 200) expectRefusal(answer);
            read(OneCollector, await api.get(path));
          }),
          options,
        );
        await fc.assert(
          fc.asyncProperty(sourceUpdates, async ([id, body]) => {
            const list = `/collectors/${id}/sources`;
            const created = await api.post(list, body);
            if (created.status >= 300) {
              expectRefusal(created);
              return;
            }
            const path = `${list}/${read(OneSource, created).source.id}`;
            const before = await api.get(path);
            const { source } = read(OneSource, before);
            const { source: changes } = body as { source: object };
            const answer = await api.put(
              path,
              { source: { ...source, ...changes, id: source.id } },
              etagOf(before),
            );
            if (answer.status !== 200) expectRefusal(answer);
            read(OneSource, await api.get(path));
            expect((await api.delete(path)).status).toBe(200);
          }),
          options,
        );
      });
    }
  },
  timeoutMs,
);

/** @returns how many requests were generated */
async function inBatch(batchSeed: number, play: (fuzzed: FuzzedService) => Promise<void>): Promise<number> {
  const fuzzed = await startFuzzedService();
  try {
    await play(fuzzed);
    await checkInvariants(fuzzed);
    return fuzzed.tally.requests;
  } catch (error) {
    throw new Error(`replay: npm run test:conformance -- --fuzz 1 --seed ${batchSeed}`, { cause: error });
  } finally {
    await fuzzed.close();
  }
}
