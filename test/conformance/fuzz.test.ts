import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { updateCollector } from '../../src/contract/collector-management/collectors.ts';
import { updateSource } from '../../src/contract/collector-management/sources.ts';
import { expectRefusal, read } from './support/answers.ts';
import type { Api } from './support/api.ts';
import { itInProcess } from './support/conditions.ts';
import {
  checkInvariants,
  type FuzzedService,
  playRequests,
  someFuzzRequests,
  startFuzzedService,
} from './support/fuzz-batch.ts';
import { bodyOf } from './support/fuzz-bodies.ts';
import { openResource } from './support/resources.ts';
import { OneSource } from './support/wire-shapes.ts';

const requestsMin = numberGiven('FUZZ') ?? 3_000;
// The same requests in every `npm test`; others each time somebody asks for a longer run.
const seed = numberGiven('SEED') ?? (numberGiven('FUZZ') === undefined ? 20_260_302 : randomInt(2 ** 31));

// A fresh service for each part: what a failure needs to be seen again stays small, and so does the fleet.
const runsPerBatch = 250;
const updatesPerBatch = 150;
// As many updates as one in twenty of the requests.
const updateBatches = Math.ceil(requestsMin / 20 / updatesPerBatch);
// Several hundred requests a second, on a machine that is busy with other things.
const timeoutMs = 60_000 + requestsMin * 20;
// Looking for a smaller example of a failure must end, too.
const shrinkWithinMs = 120_000;

itInProcess(
  `§7.1 fuzz: each of ${requestsMin} generated requests gets an answer of a documented form, and breaks nothing`,
  async () => {
    let requests = 0;
    let accepted = 0;
    for (let batch = 0; requests < requestsMin; batch++) {
      const options = {
        numRuns: runsPerBatch,
        seed: seed + batch,
        interruptAfterTimeLimit: shrinkWithinMs,
      };
      const { tally } = await inBatch(seed + batch, async (fuzzed) => {
        const property = fc.asyncProperty(someFuzzRequests(fuzzed.knowledge), (some) =>
          playRequests(fuzzed, some),
        );
        await fc.assert(property, options);
      });
      requests += tally.requests;
      accepted += tally.accepted;
    }
    process.stdout.write(`fuzz: ${requests} requests from seed ${seed}, ${accepted} accepted\n`);
    // Requests that are all refused would prove nothing.
    expect(accepted).toBeGreaterThan(requests / 10);
  },
  timeoutMs,
);

itInProcess(
  '§4.4 fuzz: whatever the update of a collector or a source states, what is stored has the documented form',
  async () => {
    for (let batch = 0; batch < updateBatches; batch++) {
      await inBatch(seed + batch, async ({ api, knowledge }) => {
        const options = { numRuns: updatesPerBatch, seed: seed + batch };
        const ids = fc.constantFrom(...knowledge.collectorIds.slice(0, 40));
        const updating = fc.asyncProperty(ids, bodyOf(updateCollector, ids), (id, changed) =>
          changeWith(api, `/collectors/${id}`, (changed as { collector: unknown }).collector),
        );
        await fc.assert(updating, options);
        const body = bodyOf(updateSource, ids);
        const creating = fc.asyncProperty(ids, body, body, async (id, created, changed) => {
          const list = `/collectors/${id}/sources`;
          const answer = await api.post(list, created);
          if (answer.status >= 300) return void expectRefusal(answer);
          const path = `${list}/${read(OneSource, answer).source.id}`;
          await changeWith(api, path, (changed as { source: unknown }).source);
          expect((await api.delete(path)).status).toBe(200);
        });
        await fc.assert(creating, options);
      });
    }
  },
  timeoutMs,
);

/** Puts changes on top of what is shown; the id stays. */
async function changeWith(api: Api, path: string, changes: unknown): Promise<void> {
  const { stated, put } = await openResource(api, path);
  const answer = await put({ ...Object(changes), id: stated['id'] });
  if (answer.status !== 200) expectRefusal(answer);
  await openResource(api, path);
}

/** @throws when it is not a number: a run that does nothing would look like a good one */
function numberGiven(name: string): number | undefined {
  const text = process.env[`UPWAVE_CONFORMANCE_${name}`];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`UPWAVE_CONFORMANCE_${name} is not a number: ${text}`);
  return Number(text);
}

/** Plays against a service of its own, which must still work afterwards. */
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
