// Of a command, a key or a channel; in a script Redis 6 and 7.0 say it in other words than outside of one.
const refusals = /\bNOPERM\b|\bThe user executing the script can't\b/;

/**
 * True for an error that means that Redis is there, and does not let our user do what was asked: it is a person's to
 * grant, however often it is asked again. Never to be taken for a Redis that is away.
 */
export function isRightsRefusal(error: unknown): error is Error {
  return error instanceof Error && refusals.test(error.message);
}
