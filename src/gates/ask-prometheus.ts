import { z } from 'zod';
import type { RawAnswer } from '../http/exchange.ts';
import { readJson } from '../http/json-text.ts';
import type { SingleRequest } from '../http/request-once.ts';
import type { GateAnswer } from '../rollout/decision/assess-gate.ts';
import { writeExpectation, writeGateValue } from '../rollout/messages/gates.ts';
import type { GateRule } from '../rollout/model/policy.ts';
import { type SafeText, statusProblem } from './answer-text.ts';

type PrometheusGate = Extract<GateRule, { kind: 'prometheus' }>;

const queryPath = '/api/v1/query';

/**
 * Writes an instant query of Prometheus's HTTP API. The gate's URL may name the server, or the path of the query API.
 */
export function writePrometheusQuery(
  gate: PrometheusGate,
  base: URL,
): Pick<SingleRequest, 'method' | 'url' | 'body'> {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(queryPath) ? path : `${path}${queryPath}`;
  url.searchParams.set('query', gate.query);
  return { method: 'GET', url, body: null };
}

/** Reads the one number of a response, or an error that says why there is none (P14). */
export function readPrometheusAnswer(
  gate: PrometheusGate,
  answer: RawAnswer,
  safeText: SafeText,
): GateAnswer {
  const read = readJson(answer.body);
  const refused = refusedAnswer(answer, read.kind === 'json' ? read.value : undefined, safeText);
  if (refused !== undefined) return error(refused);
  if (read.kind !== 'json') return error('the response is not JSON');
  const parsed = successBody.safeParse(read.value);
  if (!parsed.success) return error(notPrometheus);
  const { resultType, result } = parsed.data.data;
  switch (resultType) {
    case 'scalar':
      return answerOfValue(gate, result[1], safeText);
    case 'vector':
      return answerOfVector(gate, result, safeText);
    default:
      return error(`the query returns a ${resultType}, but a gate needs one number`);
  }
}

const notPrometheus = 'the response is not a Prometheus query result';

/** A time, and a number as text. */
const sample = z.tuple([z.unknown(), z.string()]);
/** Histograms have no `value`. */
const series = z.object({ value: sample.optional() });

const successBody = z.object({
  status: z.literal('success'),
  data: z.discriminatedUnion('resultType', [
    z.object({ resultType: z.literal('scalar'), result: sample }),
    z.object({ resultType: z.literal('vector'), result: z.array(z.unknown()) }),
    z.object({ resultType: z.enum(['matrix', 'string']), result: z.unknown() }),
  ]),
});

const errorBody = z.object({
  status: z.literal('error'),
  errorType: z.string().optional(),
  error: z.string().optional(),
});

/** Prometheus reports errors with a 4xx or 5xx, and the reason in the body. */
function refusedAnswer(answer: RawAnswer, body: unknown, safeText: SafeText): string | undefined {
  const parsed = errorBody.safeParse(body);
  const { errorType, error: reason } = parsed.data ?? {};
  const words = [errorType, reason].filter((part) => part !== undefined && part !== '').join(': ');
  const isRedirect = answer.status >= 300 && answer.status <= 399;
  if (parsed.success && !isRedirect) return words === '' ? 'an error without a reason' : safeText(words);
  return statusProblem(answer.status);
}

function answerOfVector(gate: PrometheusGate, vector: readonly unknown[], safeText: SafeText): GateAnswer {
  if (vector.length === 0) return error('the query returns no data');
  if (vector.length > 1) {
    return error(`the query returns ${vector.length} series, but a gate needs one: aggregate it`);
  }
  const first = series.safeParse(vector[0]).data;
  if (first === undefined) return error(notPrometheus);
  if (first.value === undefined) return error('the query returns a histogram, but a gate needs one number');
  return answerOfValue(gate, first.value[1], safeText);
}

// Stricter than `Number`, which parses an empty text as 0.
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function answerOfValue(gate: PrometheusGate, text: string, safeText: SafeText): GateAnswer {
  const value = number.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value))
    return error(`the query returns ${safeText(text) || 'nothing'}, which is not a number`);
  const detail = `${writeGateValue(gate.expect, value)} (${writeExpectation(gate.expect)})`;
  return { kind: 'value', value, detail };
}

function error(detail: string): GateAnswer {
  return { kind: 'error', detail };
}
