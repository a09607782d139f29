import type { Config } from '../config/config.ts';

/** Why the service did not do what was asked. The place belongs into the line: it is what the operator checks first. */
export function noAnswerWords(
  { service }: Pick<Config, 'service'>,
  { isUnreached, reason }: { readonly isUnreached: boolean; readonly reason: string },
): string {
  return isUnreached
    ? `cannot reach the service at ${service.baseUrl}: ${reason}`
    : `the service at ${service.baseUrl} gave no usable answer: ${reason}`;
}
