import type { GateRule } from '../../rollout/model/policy.ts';

/** What a gate answered; the core decides what it means. */
export type GateAnswer =
  /** A query's value. */
  | { readonly kind: 'value'; readonly value: number; readonly detail: string }
  /** A webhook's word. */
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'hold'; readonly detail: string }
  /** No usable answer: no data, no connection, an answer nobody can read (P14). */
  | { readonly kind: 'error'; readonly detail: string };

/** Asks a gate's question outside. Never throws; bounded in time. */
export interface GateProbe {
  ask(question: GateQuestion, signal?: AbortSignal): Promise<GateAnswer>;
}

export interface GateQuestion {
  readonly gate: GateRule;
  /** What a webhook is told about the wave. */
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
