import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { refuseUnsent } from './client-refusals.ts';

/**
 * Not supported in a path, even encoded (collector-api.md §4.1, Rules for Get by name). A lone surrogate can't be
 * encoded.
 */
const unsupportedInPath = /[;/%\\]|\p{Cs}/u;

/** Whether a collector can be requested by this name. */
export function isNameSupported(name: string): boolean {
  return name !== '' && !unsupportedInPath.test(name);
}

/** The request for a collector by name (collector-api.md §4.1, Rules for Get by name). */
interface NameRequest {
  readonly params: { readonly name: string };
  /** Required for a name with a period. */
  readonly trailingSlash: boolean;
}

/** Requests a collector by name, or refuses a name that the API can't express. */
export async function requestByName<T>(
  name: string,
  send: (request: NameRequest) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  if (!isNameSupported(name)) {
    return refuseUnsent(
      'client.name.unsupported',
      `The API does not support the name ${JSON.stringify(name)}: it is empty, or contains one of ; / % \\. Use the collector's id, or list the collectors.`,
    );
  }
  return send({ params: { name }, trailingSlash: name.includes('.') });
}
