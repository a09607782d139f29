import { isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import type { NoTarget } from '../model/left-out.ts';
import type { TargetRule } from '../model/policy.ts';

export type TargetChoice =
  | { readonly kind: 'chosen'; readonly build: string }
  | { readonly kind: 'none'; readonly why: NoTarget };

/** When each build was first seen, as known at `at`. */
export interface BuildAges {
  readonly firstSeen: ReadonlyMap<string, EpochMs>;
  readonly at: EpochMs;
}

/**
 * Chooses the target build of a rollout (P6): the build marked latest, which need not be the highest, or the build that
 * the policy names.
 * @param seen without it, the age of the latest build is not checked; a build that it lacks counts as first seen now
 * @param heldBuilds builds that may not be installed, with the reason (DESIGN §4, Quarantine)
 */
export function chooseTarget(
  rule: TargetRule,
  builds: ReadonlyArray<{ readonly version: string; readonly latest: boolean }>,
  seen?: BuildAges,
  heldBuilds: ReadonlyMap<string, string> = new Map(),
): TargetChoice {
  const isLatest = rule.version === 'latest';
  const build = builds.find(({ version, latest }) =>
    isLatest ? latest : isSameBuild(version, rule.version),
  )?.version;
  if (build === undefined)
    return none(isLatest ? { kind: 'noLatest' } : { kind: 'notOffered', build: rule.version });
  const reason = entryOf(heldBuilds, build);
  if (reason !== undefined) return none({ kind: 'buildHeld', build, reason });
  if (isLatest && seen !== undefined) {
    const since = entryOf(seen.firstSeen, build) ?? seen.at;
    const ageMs = rule.minimumAgeMs;
    const notBefore = since + ageMs;
    if (seen.at < notBefore) return none({ kind: 'tooNew', build, since, ageMs, notBefore });
  }
  return { kind: 'chosen', build };
}

/** Whether the service still offers this build. */
export function isOffered(build: string, builds: ReadonlyArray<{ readonly version: string }>): boolean {
  return builds.some((offered) => isSameBuild(offered.version, build));
}

function entryOf<T>(byBuild: ReadonlyMap<string, T>, build: string): T | undefined {
  for (const [known, value] of byBuild) if (isSameBuild(known, build)) return value;
  return undefined;
}

function none(why: NoTarget): TargetChoice {
  return { kind: 'none', why };
}
