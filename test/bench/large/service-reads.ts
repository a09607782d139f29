import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import type { DurationMs } from '../../../src/base/time.ts';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { answerParent, type Child, startChild } from '../processes/child-process.ts';
import { quantile } from '../quantile.ts';
import { sendReads } from './read-load.ts';

/** How one server did under the reads. */
export interface ReadFigures {
  readonly medianMs: DurationMs;
  readonly p99Ms: DurationMs;
  readonly rssPeakBytes: number;
}

export interface ServiceReadFigures {
  readonly collectors: number;
  readonly requestsPerSecond: number;
  /** The reference service. */
  readonly service: ReadFigures;
  /** A server that knows nothing but the bytes: what HTTP itself costs on this machine at this moment. */
  readonly trivial: ReadFigures;
}

/** Goals of the reference service; one that is not met fails nothing. */
export const serviceReadGoals = { p99Ms: 50, mebibytes: 300 } as const;

const requestsPerSecond = 200;
const accessId = 'bench';

type Question =
  | { readonly serve: { readonly collectors: number; readonly accessKey: string } }
  | { readonly repeat: ReadonlyArray<readonly [target: string, bytes: Uint8Array]> }
  | 'rssPeakBytes';

/** Reads from a large fleet at a steady rate, and the same bytes from a trivial server after it. */
export async function runServiceReads(parts: {
  readonly collectors: number;
  readonly durationMs: DurationMs;
}): Promise<ServiceReadFigures> {
  const accessKey = randomBytes(18).toString('base64url');
  const authorization = `Basic ${Buffer.from(`${accessId}:${accessKey}`).toString('base64')}`;
  const service = startChild(new URL(import.meta.url));
  const trivial = startChild(new URL(import.meta.url));
  try {
    const { collectors, durationMs } = parts;
    const origin = await service.ask<string>({ serve: { collectors, accessKey } } satisfies Question);
    const targets = await mixedReads(origin, authorization);
    const answers = new Map<string, Uint8Array>();
    for (const target of new Set(targets)) answers.set(target, await bytesOf(origin, target, authorization));
    const other = await trivial.ask<string>({ repeat: [...answers] } satisfies Question);
    const load = { authorization, targets, requestsPerSecond, durationMs };
    return {
      collectors,
      requestsPerSecond,
      service: await figures(service, await sendReads({ ...load, origin })),
      trivial: await figures(trivial, await sendReads({ ...load, origin: other })),
    };
  } finally {
    await Promise.all([service.stop(), trivial.stop()]);
  }
}

async function figures(child: Child, latenciesMs: readonly DurationMs[]): Promise<ReadFigures> {
  return {
    medianMs: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    rssPeakBytes: await child.ask<number>('rssPeakBytes' satisfies Question),
  };
}

/** In the proportions of a rollout: many polls, and sometimes a page of a list. */
async function mixedReads(origin: string, authorization: string): Promise<readonly string[]> {
  const fleet = JSON.parse(
    Buffer.from(await bytesOf(origin, '/v1/collectors?filter=alive&limit=2000', authorization)).toString(),
  ) as { readonly collectors: ReadonlyArray<{ readonly id: number; readonly name: string }> };
  const one = (step: number) => fleet.collectors[(step * 37) % fleet.collectors.length];
  const task = await aTask(origin, authorization);
  return Array.from({ length: 100 }, (_none, step) => {
    if (step % 50 === 0) return '/v1/collectors?limit=1000';
    if (step % 10 === 5) return '/v1/collectors/upgrades/collectors';
    if (step % 10 === 7) return '/v1/collectors/upgrades/targets';
    if (step % 10 === 3) return `/v1/collectors/${one(step)?.id}/sources`;
    if (step % 10 === 9)
      return `/v1/collectors/name/${encodeURIComponent(plainName(fleet.collectors, step))}`;
    return step % 2 === 0 ? `/v1/collectors/upgrades/${task}` : `/v1/collectors/${one(step)?.id}`;
  });
}

/** @returns the id of a task to poll */
async function aTask(origin: string, authorization: string): Promise<string> {
  const path = '/v1/collectors/upgrades';
  const page = await bytesOf(origin, `${path}/collectors?limit=1`, authorization);
  const { collectors } = JSON.parse(Buffer.from(page).toString()) as {
    readonly collectors: ReadonlyArray<{ readonly id: number }>;
  };
  const answer = await request(`${origin}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ collectorId: collectors[0]?.id }),
  });
  return ((await answer.body.json()) as { readonly id: string }).id;
}

/** A name that can stand in a path as it is. */
function plainName(collectors: ReadonlyArray<{ readonly name: string }>, step: number): string {
  const plain = collectors.filter(({ name }) => /^[\w-]+$/.test(name));
  return plain[step % plain.length]?.name ?? '';
}

async function bytesOf(origin: string, target: string, authorization: string): Promise<Uint8Array> {
  const answer = await request(`${origin}${target}`, { headers: { authorization } });
  return new Uint8Array(await answer.body.arrayBuffer());
}

async function serve({ collectors, accessKey }: { collectors: number; accessKey: string }): Promise<string> {
  const service = await startReferenceService({
    credentials: [{ accessId, accessKey }],
    scenario: parseScenario({
      fleet: { size: collectors },
      limits: { requestsPerSecond: null, concurrentRequests: null, signInsPerMinute: null },
    }),
  });
  return service.url;
}

async function repeat(answers: ReadonlyArray<readonly [string, Uint8Array]>): Promise<string> {
  const byTarget = new Map(answers);
  const server = createServer((incoming, outgoing) => {
    const bytes = byTarget.get(incoming.url ?? '');
    outgoing.writeHead(bytes === undefined ? 404 : 200, { 'content-type': 'application/json' });
    outgoing.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  answerParent<Question>(async (question) => {
    // libuv counts in KiB.
    if (question === 'rssPeakBytes') return process.resourceUsage().maxRSS * 1_024;
    return 'serve' in question ? serve(question.serve) : repeat(question.repeat);
  });
}
