import { Agent } from 'node:http';
import { onTestFinished } from 'vitest';
import type { EpochMs } from '../../src/base/time.ts';
import { parseScenario, type ScenarioInput } from '../../src/reference-service/scenario/scenario.ts';
import {
  type ReferenceServiceParts,
  startReferenceService,
} from '../../src/reference-service/server/start-reference-service.ts';
import { type RawAnswer, sendRaw } from './network/raw-http.ts';

export type StatusClock = ReturnType<typeof aStatusClock>;

/** A clock that only the test advances. */
export function aStatusClock(now: EpochMs = Date.UTC(2026, 10, 21, 12)) {
  let instant = now;
  return {
    now: () => instant,
    advance: (durationMs: number) => {
      instant += durationMs;
    },
  };
}

const credentials = { accessId: 'anid', accessKey: 'akey' };
export const basic = (login = credentials) =>
  `Basic ${Buffer.from(`${login.accessId}:${login.accessKey}`).toString('base64')}`;

/** An answer, with its body as loosely typed as `JSON.parse` has it; undefined for text that is not JSON. */
interface ParsedAnswer extends RawAnswer {
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface RawRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with its type; a text is sent as it is, without one. */
  readonly body?: unknown;
  /** Leaves the credentials out. */
  readonly anonymous?: boolean;
}

/** Sends requests as they are: no retry, no cookie, no redirect. */
function aRawClient(origin: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const send = async (target: string, request: RawRequest = {}): Promise<ParsedAnswer> => {
    const { method = 'GET', anonymous = false } = request;
    const body =
      typeof request.body === 'object' ? JSON.stringify(request.body) : (request.body as string | undefined);
    const headers = {
      ...(anonymous ? {} : { authorization: basic() }),
      ...(body === request.body ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    };
    const answer = await sendRaw({ method, origin, target, headers, body, agent });
    return { ...answer, body: parsed(answer.text) };
  };
  return { send, close: () => agent.destroy() };
}

function parsed(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type ReferenceSetup = Awaited<ReturnType<typeof aReferenceService>>;

/** A service whose clock only the test advances, and without limits unless the scenario sets them. */
export async function aReferenceService(
  scenario: ScenarioInput = {},
  parts: Partial<ReferenceServiceParts> = {},
) {
  const clock = aStatusClock();
  const limits = { requestsPerSecond: null, signInsPerMinute: null, ...scenario.limits };
  const service = await startReferenceService({
    credentials: [credentials],
    clock,
    scenario: parseScenario({ ...scenario, fleet: { size: 60, ...scenario.fleet }, limits }),
    waitReal: async () => {},
    ...parts,
  });
  const client = aRawClient(service.url);
  return {
    service,
    clock,
    send: client.send,
    create: (body: unknown) => client.send('/v1/collectors/upgrades', { method: 'POST', body }),
    close: async () => {
      client.close();
      await service.close();
    },
  };
}

/** The same, for one test: it ends with it, unless it is closed before. */
export async function openReferenceService(
  ...args: Parameters<typeof aReferenceService>
): Promise<ReferenceSetup> {
  const setup = await aReferenceService(...args);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= setup.close();
    return closing;
  };
  onTestFinished(close);
  return { ...setup, close };
}

/** The matching part of an answer that refuses with this code. */
export const refusalWith = (status: number, code: string) => ({ status, body: { status, code } });
