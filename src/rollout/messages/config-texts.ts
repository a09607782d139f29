import type { RolloutState } from '../../base/vocabulary.ts';
import type { PolicyStatus } from '../../contract/admin/policies.ts';
import type { PolicyDifference, ReloadChanges } from '../../contract/admin/reload.ts';
import type { SettingsDifference } from '../reload/newest-config.ts';
import { counted, stateText } from './sentences.ts';

/** How this daemon's config differs from those of the other daemons, and what to do; undefined if all agree. */
export function configText(policy: string, status: PolicyStatus['config']): string | undefined {
  const have = counted(status.others, 'daemon has', 'daemons have');
  switch (status.kind) {
    case 'agreed':
      return undefined;
    case 'newest':
      return `${have} another config of ${policy}. This daemon scans the policy. Give all daemons the same config`;
    case 'outdated':
      return `${have} a newer config of ${policy}. This daemon runs upgrades, and leaves the lead, scans and plans to the newest config. Give it the new config, then run upwave reload, or restart it`;
    case 'superseded':
      return `The limits of the running rollout of ${policy} come from a newer config, which no running daemon has. Restart the daemons to apply their config, or give them the newer one`;
  }
}

/** How this daemon's config differs from those of the others outside of the policies, and what to do. */
export function settingsText({ keys, others }: SettingsDifference): string {
  const have = counted(others, 'daemon has', 'daemons have');
  return `${have} another config of ${keys.join(', ')}. The daemon that leads uses its own, so messages to receivers may be missing. Give all daemons the same config, then run upwave reload, or restart them`;
}

/** What is reported once configs agree again. */
export const healthyConfigText = {
  policy: (policy: string) => `all daemons have the same config of ${policy} again`,
  settings: 'all daemons have the same config outside of the policies again',
};

/** `concurrency 50 → 5, freezes none → 2026-12-20T00:00–2027-01-04T00:00 UTC`. */
export function differenceText(differences: readonly PolicyDifference[]): string {
  return differences
    .map(({ key, from, to }) => `${key} ${from === '' ? 'none' : from} → ${to === '' ? 'none' : to}`)
    .join(', ');
}

/** `preview`: nothing has changed yet. */
export type ReloadStage = 'preview' | 'done';

/** A line of the answer to a reload. */
export interface ReloadLine {
  /** The kind of the change in one word; may be empty. */
  readonly what: string;
  readonly words: string;
}

/** What a reload changed, or would change, by policy and running rollout. */
export function reloadLines(
  { policies, settings, needsRestart, rollouts, warnings }: ReloadChanges,
  stage: ReloadStage,
): readonly ReloadLine[] {
  const lines: ReloadLine[] = policies.map(({ policy, kind, differences }) => ({
    what: kind,
    words: kind === 'changed' ? `${policy}: ${differenceText(differences)}` : policy,
  }));
  const [when, follows] = stage === 'done' ? ['now', ''] : ['immediately', ' would follow'];
  if (settings.length > 0) lines.push({ what: when, words: settings.join(', ') });
  for (const { rollout, followed, waiting } of rollouts) {
    const changes = differenceText(followed);
    if (changes !== '') lines.push({ what: when, words: `${rollout}${follows}: ${changes}` });
    const keys = waiting.map(({ key }) => key).join(', ');
    if (keys !== '')
      lines.push({ what: 'later', words: `${rollout} keeps its plan; for the next rollout: ${keys}` });
  }
  if (needsRestart.length > 0) {
    const keys = needsRestart.join(', ');
    lines.push({ what: 'restart', words: `the daemon keeps its old ${keys} until it is restarted` });
  }
  lines.push(...warnings.map((words) => ({ what: 'warning', words })));
  const same = { what: '', words: 'the daemon has the config of this file already' };
  return lines.length === 0 ? [same] : lines;
}

// The audit keeps one readable line. The answer to the reload has all changes.
const wordsMax = 2_000;

/** What a reload changed, for the audit. */
export function reloadText({
  policies,
  settings,
  needsRestart,
}: Pick<ReloadChanges, 'policies' | 'settings' | 'needsRestart'>): string {
  const parts = policies.map(({ policy, kind, differences }) =>
    kind === 'changed' ? `${policy}: ${differenceText(differences)}` : `${policy}: ${kind}`,
  );
  if (settings.length > 0) parts.push(`changed: ${settings.join(', ')}`);
  if (needsRestart.length > 0) parts.push(`needs a restart: ${needsRestart.join(', ')}`);
  const words = parts.length === 0 ? 'nothing changed' : parts.join('; ');
  return words.length > wordsMax ? `${words.slice(0, wordsMax)}…` : words;
}

/** A reload removes the policy of a running rollout. */
export function removedPolicyText(rolloutId: string): string {
  return `${rolloutId} waits: its policy is no longer in the config. Put it back, or run \`upwave abort ${rolloutId}\``;
}

/** Why a rollout without a policy in the config waits, and what to do. */
export function orphanText(orphan: {
  readonly id: string;
  readonly policy: string;
  readonly state: RolloutState;
}): string {
  const { id, policy, state } = orphan;
  return `${id} is ${stateText(state)}, and waits: the config has no policy called ${policy}. Its running upgrades take no slot of another policy. Put ${policy} back into the config until the rollout is over, or run \`upwave abort ${id}\``;
}
