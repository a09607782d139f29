import {
  appendAuditScript,
  changeHoldScript,
  seeBuildsScript,
} from '../../../src/redis/coordination/scripts.ts';
import {
  activatePlanScript,
  joinPlanScript,
  replacePlanScript,
  saveRolloutScript,
  writeUpgradesScript,
} from '../../../src/redis/rollout-store/scripts.ts';

/** Each of them makes the whole change of its call, whatever is staged before it or removed after it. */
const applying: ReadonlySet<unknown> = new Set(
  [
    activatePlanScript,
    appendAuditScript,
    changeHoldScript,
    joinPlanScript,
    replacePlanScript,
    saveRolloutScript,
    seeBuildsScript,
    writeUpgradesScript,
  ].flatMap(({ lua, sha1 }) => [lua, sha1]),
);

/** Answers after which the call has not been judged yet, or fails. */
const unfinished: ReadonlySet<unknown> = new Set(['packed', 'lost']);

/** Whether this script, by its source or hash, has made the change of its call, or refused it. */
export function hasApplied(script: unknown, reply: unknown): boolean {
  return applying.has(script) && !unfinished.has(reply);
}
