import type { Config } from '../config/config.ts';

/** The place belongs into the line: it is what the operator checks first. */
export function unreachableWords({ service }: Pick<Config, 'service'>, reason: string): string {
  return `cannot reach the service at ${service.baseUrl}: ${reason}`;
}
