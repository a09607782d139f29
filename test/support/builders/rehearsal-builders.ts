import type { SeedResult } from '../../../src/rehearsal/play/play-seed.ts';
import type { WhatIf } from '../../../src/rehearsal/world/what-if.ts';
import { aNight } from '../status-parts.ts';

/** A rehearsed rollout of a hundred that went well in an hour. */
export function aSeedResult(changes: Partial<SeedResult> = {}): SeedResult {
  return {
    ...{ seed: 1, state: 'succeeded', reasonKind: 'allEnded', reason: '', tookMs: 3_600_000, planned: 100 },
    ...{
      joined: 0,
      broken: 0,
      harmed: 0,
      othersDone: 100,
      othersFailed: 0,
      rolledBack: 0,
      upgraded: 100,
      requests: 500,
    },
    ...{ waves: [], heldStrata: [], night: aNight() },
    ...changes,
  };
}

/** Upgrades take five or six minutes, and nothing goes wrong. */
export function aWhatIf(changes: Partial<WhatIf> = {}): WhatIf {
  return {
    ...{ durations: { medianMs: 300_000, p95Ms: 360_000 }, failures: { once: 0, always: 0 } },
    ...{ breaks: [], disturbances: [], gates: {}, approval: { kind: 'atOnce' } },
    ...changes,
  };
}
