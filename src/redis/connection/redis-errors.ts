/** Error codes of connections that failed or broke. */
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

// Redis is reachable and busy: a long script, or slots that move between a Cluster's nodes.
const busy = /^(?:BUSY|TRYAGAIN) /;

// Messages of ioredis itself for ended connections, and for a Cluster without a usable node. These errors have no class and
// no code.
const lost =
  /^(?:Command aborted due to connection close|None of startup nodes is available|Node is disconnected|Cluster is disconnect(?:ed|ing)\.|Cluster isn't ready and enableOfflineQueue options is false|Socket timeout\. .*|connect ETIMEDOUT)$/;
// The last node was no help either, for as long as a Cluster may be incomplete.
const redirectedTooOften =
  /^Too many Cluster redirections\. Last error: (?:\w*Error: )?(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/;

/**
 * True for an error which means that Redis is unreachable or temporarily unable: it is transient, and the connection reports
 * it. Everything else (a refused command, a key of another type, a failing script, a bug) lasts until a person acts.
 */
export function isRedisOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isRedisSilence(error) || writeRefusalOf(error) !== null || busy.test(error.message)) return true;
  if (lost.test(error.message) || redirectedTooOften.test(error.message)) return true;
  // An error for each of several addresses of one host.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isRedisOutage);
  return 'code' in error && typeof error.code === 'string' && networkCodes.has(error.code);
}

/** Errors of ioredis for a command without a reply. Only some have a class. */
const silentMessages: readonly string[] = [
  'Command timed out',
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
];
const silentNames: readonly string[] = ['MaxRetriesPerRequestError', 'ClusterAllFailedError'];

/**
 * True for an error which means that Redis did not reply: it hangs, or is unreachable. Whether it ran the command is
 * unknown.
 */
export function isRedisSilence(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return silentMessages.includes(error.message) || silentNames.includes(error.name);
}

// Out of memory; a full disk or a failed snapshot; a replica; too few replicas; a replica without its master; a server that
// loads its file; an incomplete cluster. In a script the code may follow other words (Redis 6).
const refusals =
  /(?:^|[\s-])((?:OOM|MISCONF|READONLY|UNBLOCKED|NOREPLICAS|MASTERDOWN|LOADING|CLUSTERDOWN) .*)/;

// The name and line of the script.
const scriptPlace = /\.?\s*(?:script: |, on @user_script|@user_script:).*$/;

/** Redis's message why it refuses writes; null for another error. */
export function writeRefusalOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const [, words] = refusals.exec(error.message) ?? [];
  return words === undefined ? null : words.replace(scriptPlace, '').replace(/\.?\s*$/, '');
}

// For a command, a key or a channel. In scripts Redis 6 and 7.0 word it differently.
const rightsRefusals = /\bNOPERM\b|\bThe user executing the script can't\b/;

/** True for an error which means that Redis refuses a right to upwave's user: a person has to grant it. */
export function isRightsRefusal(error: unknown): error is Error {
  return error instanceof Error && rightsRefusals.test(error.message);
}

// No password was given, or the user and the password do not fit.
const signInRefusals = /^(?:NOAUTH|WRONGPASS)\b/;

/** Describes a refused sign-in and its remedy, as a part of a sentence; undefined for another error. */
export function describeSignInRefusal(error: Error): string | undefined {
  const [code] = signInRefusals.exec(error.message) ?? [];
  if (code === undefined) return undefined;
  return `Redis refuses the sign-in (${code}): check the user, and redis.password or redis.passwordFile`;
}
