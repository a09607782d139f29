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
