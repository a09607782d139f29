import { isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { TargetRule } from '../model/policy.ts';

export type TargetChoice =
  | { readonly kind: 'chosen'; readonly build: string }
  | {
      readonly kind: 'none';
      readonly reason: string;
      /** When the latest build will be old enough, where only its age stands in the way. */
      readonly notBefore?: EpochMs;
    };

/** When builds were seen first, as known at an instant. */
export interface BuildAges {
  readonly firstSeen: ReadonlyMap<string, EpochMs>;
  readonly at: EpochMs;
}

/**
 * Pins the one build of a rollout (P6): the one marked latest, not the highest number, or the build the policy names.
 * @param seen without it, the age of a latest build is not checked; a build it does not know is as old as this look
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
  if (build === undefined) {
    const reason = isLatest
      ? 'the service marks no build as the latest'
      : `the service does not offer build ${rule.version}`;
    return { kind: 'none', reason };
  }
  const hold = entryOf(heldBuilds, build);
  if (hold !== undefined) {
    const reason = `build ${build} is held: ${hold}; upwave release ${build} lets it through`;
    return { kind: 'none', reason };
  }
  if (isLatest && seen !== undefined) {
    const since = entryOf(seen.firstSeen, build) ?? seen.at;
    const notBefore = since + rule.minimumAgeMs;
    if (seen.at < notBefore) {
      const age = formatDuration(rule.minimumAgeMs);
      const reason = `build ${build} is known since ${isoOf(since)}, and will be ${age} old at ${isoOf(notBefore)}`;
      return { kind: 'none', reason, notBefore };
    }
  }
  return { kind: 'chosen', build };
}

/** True while the service still offers this build. */
export function isOffered(build: string, builds: ReadonlyArray<{ readonly version: string }>): boolean {
  return builds.some((offered) => isSameBuild(offered.version, build));
}

function entryOf<T>(byBuild: ReadonlyMap<string, T>, build: string): T | undefined {
  for (const [known, value] of byBuild) if (isSameBuild(known, build)) return value;
  return undefined;
}

function isoOf(at: EpochMs): string {
  return new Date(at).toISOString();
}
