import type { RawAnswer } from '../http/exchange.ts';
import type { SingleRequest } from '../http/request-once.ts';
import type { GateQuestion } from '../orchestrator/ports/gate-probe.ts';
import type { GateAnswer } from '../rollout/decision/assess-gate.ts';
import { type SafeText, statusProblem } from './answer-text.ts';

/** Writes the POST that reports a wave's status to the webhook. */
export function writeWebhookCall(
  summary: GateQuestion['summary'],
  url: URL,
): Pick<SingleRequest, 'method' | 'url' | 'body'> {
  return { method: 'POST', url, body: JSON.stringify(summary) };
}

/**
 * Reads the webhook's verdict: 2xx is a pass, 409 a hold with its reason in the body. Anything else is an error (P14).
 */
export function readWebhookAnswer({ status, body }: RawAnswer, safeText: SafeText): GateAnswer {
  if (status === 409) return { kind: 'verdict', verdict: 'hold', detail: safeText(body) };
  const refused = statusProblem(status);
  return refused === undefined
    ? { kind: 'verdict', verdict: 'pass', detail: `answered ${status}` }
    : { kind: 'error', detail: refused };
}
