/** What a connection fails with that could not be made, or broke. */
const networkCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

// Redis is there, and says itself that it will answer later: a long script, or slots that move between a Cluster's nodes.
const busy = /^(?:BUSY|TRYAGAIN) /;

// What ioredis says itself of connections that ended, and of a Cluster that has no node to answer; its own texts, since
// none of these errors has a class or a code.
const lost =
  /^(?:Command aborted due to connection close|None of startup nodes is available|Node is disconnected|Cluster is disconnect(?:ed|ing)\.|Cluster isn't ready and enableOfflineQueue options is false|Socket timeout\. .*|connect ETIMEDOUT)$/;
// The node that it was sent to last was of no help either, for as long as a Cluster may be out of order.
const sentRound =
  /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/;

/**
 * True for an error that means that Redis is away, or can't do now what was asked: it passes by itself, and the
 * connection reports it. Everything else (a command that is refused to our user, a key of another type, a script that
 * fails, a bug of ours) passes by no waiting, and has to be seen by a person.
 */
export function isRedisOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isRedisSilence(error) || writeRefusalOf(error) !== null || busy.test(error.message)) return true;
  if (lost.test(error.message) || sentRound.test(error.message)) return true;
  // Of several addresses of one host.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isRedisOutage);
  return 'code' in error && typeof error.code === 'string' && networkCodes.has(error.code);
}

/** What ioredis says of a command that got no answer; only one of these has a class of its own. */
const silentMessages: readonly string[] = [
  'Command timed out',
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
];
const silentNames: readonly string[] = ['MaxRetriesPerRequestError', 'ClusterAllFailedError'];

/** True for an error that means that Redis gave no answer: it hangs, or is away. Whether it did what was asked is not known. */
export function isRedisSilence(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return silentMessages.includes(error.message) || silentNames.includes(error.name);
}

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

// Of a command, a key or a channel; in a script Redis 6 and 7.0 say it in other words than outside of one.
const rightsRefusals = /\bNOPERM\b|\bThe user executing the script can't\b/;

/** True for an error that means that Redis is there, and refuses our user a right: a person has to grant it. */
export function isRightsRefusal(error: unknown): error is Error {
  return error instanceof Error && rightsRefusals.test(error.message);
}
