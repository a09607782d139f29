import type { GateAnswer } from '../../rollout/decision/assess-gate.ts';
import type { DataFlowQuestion } from '../../rollout/decision/data-flow.ts';
import type { GateRule } from '../../rollout/model/policy.ts';

/** Asks a gate's probe. Never throws; bounded in time. */
export interface GateProbe {
  ask(question: GateQuestion, signal?: AbortSignal): Promise<GateAnswer>;
}

export interface GateQuestion {
  readonly gate: GateRule;
  /** What a gate of kind `dataFlow` counts. */
  readonly flow?: DataFlowQuestion;
  /** What a webhook gets about the wave. */
  readonly summary: {
    readonly rollout: string;
    readonly policy: string;
    readonly targetBuild: string;
    readonly wave: string;
    readonly size: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly lost: number;
    readonly deferred: number;
    readonly failures: number;
    readonly failuresAllowed: number;
  };
}
