import { isSameBuild } from '../base/build-version.ts';
import type { TargetRule } from './policy.ts';

export type TargetChoice =
  | { readonly kind: 'chosen'; readonly build: string }
  | { readonly kind: 'none'; readonly reason: string };

/** Pins the one build of a rollout (P6): the one marked latest, not the highest number, or the build the policy names. */
export function chooseTarget(
  rule: TargetRule,
  builds: ReadonlyArray<{ readonly version: string; readonly latest: boolean }>,
): TargetChoice {
  if (rule.version === 'latest') {
    const latest = builds.find((build) => build.latest);
    if (latest !== undefined) return { kind: 'chosen', build: latest.version };
    return { kind: 'none', reason: 'the service marks no build as the latest' };
  }
  const named = builds.find((build) => isSameBuild(build.version, rule.version));
  if (named !== undefined) return { kind: 'chosen', build: named.version };
  return { kind: 'none', reason: `the service does not offer build ${rule.version}` };
}

/** True while the service still offers this build. */
export function isOffered(build: string, builds: ReadonlyArray<{ readonly version: string }>): boolean {
  return builds.some((offered) => isSameBuild(offered.version, build));
}
