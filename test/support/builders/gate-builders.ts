import { freshStatus } from '../../../src/rollout/decision/assess-gate.ts';
import type { GateAnswers } from '../../../src/rollout/model/gate-answers.ts';
import type { DataFlowRule, GateRule } from '../../../src/rollout/model/policy.ts';

type PrometheusGateRule = Extract<GateRule, { kind: 'prometheus' }>;
type WebhookGateRule = Extract<GateRule, { kind: 'webhook' }>;

/** Asked each minute; met while 99 % are up. */
export function aPrometheusGate(changes: Partial<PrometheusGateRule> = {}): PrometheusGateRule {
  return {
    kind: 'prometheus',
    name: 'prometheus',
    dryRun: false,
    everyMs: 60_000,
    url: 'http://prometheus.example.com',
    query: 'up',
    expect: { operator: '>=', value: 0.99 },
    forMs: 0,
    ...changes,
  };
}

export function aWebhookGate(changes: Partial<WebhookGateRule> = {}): WebhookGateRule {
  return {
    kind: 'webhook',
    name: 'webhook',
    dryRun: false,
    everyMs: 60_000,
    url: 'http://hook.example.com',
    ...changes,
  };
}

export function aDataFlowGate(changes: Partial<DataFlowRule> = {}): DataFlowRule {
  const rule = { windowMs: 5 * 60_000, atLeast: 0.7, comparedToMs: 86_400_000 };
  return { kind: 'dataFlow', name: 'dataFlow', dryRun: false, everyMs: 60_000, ...rule, ...changes };
}

/** The status of a gate that was never asked. */
export function aStatus(changes: Partial<GateAnswers> = {}): GateAnswers {
  return { ...freshStatus(), ...changes };
}
