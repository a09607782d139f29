import { readFile } from 'node:fs/promises';
import { assertNever } from '../base/assert.ts';
import type { Secret } from '../base/secret.ts';
import { type Clock, type DurationMs, formatDuration } from '../base/time.ts';
import { withEitherSignal } from '../base/waiting.ts';
import { requestOnce, type SingleRequest } from '../http/request-once.ts';
import type { GateProbe, GateQuestion } from '../orchestrator/ports/gate-probe.ts';
import type { LogSearch } from '../orchestrator/ports/log-search.ts';
import type { GateAnswer } from '../rollout/decision/assess-gate.ts';
import { type HttpGateRule, isSearchGate } from '../rollout/model/policy.ts';
import { addressOf } from './address-of.ts';
import { describeFault, makeSafeText } from './answer-text.ts';
import { readPrometheusAnswer, writePrometheusQuery } from './ask-prometheus.ts';
import { askSearch } from './ask-search.ts';
import { readWebhookAnswer, writeWebhookCall } from './ask-webhook.ts';
import { type ReadFile, readCertificates, readGateFile } from './read-gate-file.ts';

export interface GateProbeParts {
  /** Searches the messages that collectors delivered. */
  readonly search: LogSearch;
  readonly clock: Clock;
  /** From the request to the last byte of the response, including reading the gate's files. Default: 10 s. */
  readonly timeoutMs?: DurationMs;
  /** Reads a gate's file as text. Default: from disk. */
  readonly readFile?: ReadFile;
}

const timeoutMsDefault = 10_000;

/** A response is a number or a sentence. A longer one means that the URL is wrong. */
const bodyBytesMax = 1_000_000;

/**
 * Asks Prometheus and webhooks, each over its own connection, and the service's search jobs. Every failure is an
 * `error` answer (P14). Tokens are sent to the gate's own host only. No answer contains a token or a URL from a file
 * (P12).
 */
export function makeGateProbe(parts: GateProbeParts): GateProbe {
  const timeoutMs = parts.timeoutMs ?? timeoutMsDefault;
  const read: ReadFile =
    parts.readFile ?? ((path, fileSignal) => readFile(path, { encoding: 'utf8', signal: fileSignal }));

  return {
    async ask({ gate, flow, summary }, signal) {
      if (isSearchGate(gate)) {
        return await askSearch(gate, flow, { ...parts, signal: signal ?? new AbortController().signal });
      }
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        return await withEitherSignal([signal, limit.signal], (either) =>
          askWithin({ gate, summary }, { timeoutMs, read, signal: either }),
        );
      } catch (error) {
        if (limit.signal.aborted) {
          return { kind: 'error', detail: `no complete response within ${formatDuration(timeoutMs)}` };
        }
        if (signal?.aborted === true) return { kind: 'error', detail: 'the request was cancelled' };
        return { kind: 'error', detail: describeFault(error) };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function askWithin(
  { gate, summary }: Pick<GateQuestion, 'summary'> & { readonly gate: HttpGateRule },
  bounds: { readonly timeoutMs: DurationMs; readonly read: ReadFile; readonly signal: AbortSignal },
): Promise<GateAnswer> {
  const { read, signal } = bounds;
  const url = await addressOf(gate, read, signal);
  if (!url.ok) return { kind: 'error', detail: url.detail };
  const { tokenFile } = gate;
  const token =
    tokenFile === undefined
      ? undefined
      : await readGateFile({ path: tokenFile, what: 'token' }, read, signal);
  if (token?.ok === false) return { kind: 'error', detail: token.detail };
  const authorities =
    gate.caFile === undefined ? undefined : await readCertificates(gate.caFile, read, signal);
  if (authorities?.ok === false) return { kind: 'error', detail: authorities.detail };
  const ca = authorities === undefined ? {} : { ca: authorities.pem };
  const send = (call: Omit<SingleRequest, 'name' | 'headers'>) =>
    requestOnce(
      { ...call, ...ca, name: 'gate', headers: headersOf(call.body !== null, token?.value) },
      { totalMs: bounds.timeoutMs, bodyBytesMax },
      signal,
    );
  const safeText = makeSafeText(token === undefined ? url.secrets : [...url.secrets, token.value]);
  switch (gate.kind) {
    case 'prometheus':
      return readPrometheusAnswer(gate, await send(writePrometheusQuery(gate, url.value)), safeText);
    case 'webhook':
      return readWebhookAnswer(await send(writeWebhookCall(summary, url.value)), safeText);
    default:
      return assertNever(gate);
  }
}

function headersOf(hasBody: boolean, token: Secret | undefined): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'user-agent': 'upwave',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
    ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
  };
}
