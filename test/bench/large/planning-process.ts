import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../../src/base/time.ts';
import { makeTurnBudget, runInSlices } from '../../../src/base/turn-budget.ts';
import { loadRolloutSummary } from '../../../src/orchestrator/records/read-records.ts';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { freezeInSteps } from '../../../src/rollout/planning/freeze-plan.ts';
import { planInSteps } from '../../../src/rollout/planning/plan.ts';
import { describeRollout } from '../../../src/rollout/status/status.ts';
import { anApiBudgetStatus } from '../../support/builders.ts';
import { quietView } from '../../support/quiet-parts.ts';
import { aRedisRegister, aRedisStore } from '../../support/redis/redis-adapters.ts';
import { answerParent, startChild } from '../processes/child-process.ts';
import { quantile } from '../quantile.ts';
import { benchPolicy, makeFleet } from './plan-inputs.ts';

export interface PlanningBrief {
  readonly collectors: number;
  readonly redisUrl: string;
}

/** The cost of planning a fleet, and of reading the frozen rollout. */
export interface PlanningFigures {
  readonly collectors: number;
  readonly planMs: DurationMs;
  /** The longest turn of the event loop meanwhile; its CPU time is what it takes where nothing else wants the machine. */
  readonly longestTurn: { readonly ms: DurationMs; readonly cpuMs: DurationMs };
  /** Of the whole process, with the fleet, the plan and its records in memory. */
  readonly rssPeakBytes: number;
  readonly freezeMs: DurationMs;
  readonly statusMs: { readonly median: DurationMs; readonly p95: DurationMs };
  readonly broken: readonly string[];
}

// Enough for a 95th percentile of a figure in milliseconds.
const statusLooks = 200;

/** Plans and freezes a fleet in a process of its own, so that its peak of memory is its own. */
export async function runPlanning(brief: PlanningBrief): Promise<PlanningFigures> {
  const child = startChild(new URL(import.meta.url));
  try {
    return await child.ask<PlanningFigures>(brief);
  } finally {
    await child.stop();
  }
}

async function measurePlanning({ collectors, redisUrl }: PlanningBrief): Promise<PlanningFigures> {
  const fleet = makeFleet(collectors);
  const policy = benchPolicy();
  const id = 'bench-20260302-1';

  const turns = watchTurns();
  const planFrom = performance.now();
  const plan = await runInSlices(planInSteps(policy, '19.536-4', fleet, id), makeTurnBudget());
  const origin = { id, policy, startedBy: 'bench', createdAt: fleet.readAt, fleet };
  const frozenPlan = await runInSlices(freezeInSteps(plan, origin), makeTurnBudget());
  const planMs = performance.now() - planFrom;
  const longestTurn = turns.end();
  const { maxRSS } = process.resourceUsage();

  const keyPrefix = `bench-${randomUUID()}`;
  const connection = makeRedisConnection({ url: redisUrl, keyPrefix }, 'worker');
  const store = aRedisStore({ commands: connection.commands, keyPrefix });
  const register = aRedisRegister({ commands: connection.commands, keyPrefix });
  const freezeFrom = performance.now();
  const frozen = await store.freeze({ ...frozenPlan, events: [] });
  const freezeMs = performance.now() - freezeFrom;

  const looks: DurationMs[] = [];
  let planned = 0;
  for (let look = 0; look < statusLooks; look += 1) {
    const from = performance.now();
    const now = Date.now();
    const view = await loadRolloutSummary({ store, register, ...quietView }, id, now);
    if (view !== undefined) planned = describeRollout(view, now, anApiBudgetStatus()).counts.pending;
    looks.push(performance.now() - from);
  }
  await connection.close();

  const broken: string[] = [];
  if (frozen !== 'frozen') broken.push(`the plan was not frozen: ${frozen}`);
  if (planned !== collectors) broken.push(`the status shows ${planned} of ${collectors} collectors`);
  return {
    collectors,
    planMs,
    longestTurn,
    rssPeakBytes: maxRSS * 1_024,
    freezeMs,
    statusMs: { median: quantile(looks, 0.5), p95: quantile(looks, 0.95) },
    broken,
  };
}

/** Measures each turn of the event loop, until its end. */
function watchTurns(): { end(): PlanningFigures['longestTurn'] } {
  let longest = { ms: 0, cpuMs: 0 };
  let beganAt = performance.now();
  let cpu = process.cpuUsage();
  const measure = () => {
    const { user, system } = process.cpuUsage(cpu);
    const turn = { ms: performance.now() - beganAt, cpuMs: (user + system) / 1_000 };
    longest = { ms: Math.max(longest.ms, turn.ms), cpuMs: Math.max(longest.cpuMs, turn.cpuMs) };
    beganAt = performance.now();
    cpu = process.cpuUsage();
  };
  const watch = () => {
    measure();
    next = setImmediate(watch);
  };
  let next = setImmediate(watch);
  return {
    end: () => {
      clearImmediate(next);
      measure();
      return longest;
    },
  };
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  answerParent<PlanningBrief>(measurePlanning);
}
