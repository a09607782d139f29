// No memory; no disk, or a snapshot that failed; a replica, also one that was just made so; too few replicas; a replica
// without its master, or one that reads its file; a cluster that is not whole. In a script the code may stand behind
// other words (Redis 6).
const refusals =
  /(?:^|[\s-])((?:OOM|MISCONF|READONLY|UNBLOCKED|NOREPLICAS|MASTERDOWN|LOADING|CLUSTERDOWN) .*)/;

// Which of our scripts it was, and where.
const scriptPlace = /\.?\s*(?:script: |, on @user_script|@user_script:).*$/;

/** In Redis's own words, why it takes no writes; null when the error says something else. */
export function writeRefusalOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const [, words] = refusals.exec(error.message) ?? [];
  return words === undefined ? null : words.replace(scriptPlace, '').replace(/\.?\s*$/, '');
}
