import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { refuse } from './client-refusals.ts';

/** Not supported in a path, even encoded (collector-api.md §4.1, Rules for Get by name); a lone surrogate can't be encoded. */
const unsupportedInPath = /[;/%\\]|\p{Cs}/u;

/** Whether the service can be asked for a collector by this name. */
export function isNameAskable(name: string): boolean {
  return name !== '' && !unsupportedInPath.test(name);
}

/** How the service is asked for a collector by its name (collector-api.md §4.1, Rules for Get by name). */
interface QuestionByName {
  readonly params: { readonly name: string };
  /** A name with a period wants one. */
  readonly trailingSlash: boolean;
}

/** Asks for a collector by its name; one that the service can't be asked for is refused here. */
export async function askByName<T>(
  name: string,
  ask: (question: QuestionByName) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  if (!isNameAskable(name)) {
    return refuse(
      'client.name.unsupported',
      `The service can't be asked for the name ${JSON.stringify(name)}: it is empty, or holds one of ; / % \\. Use its id, or read the list.`,
    );
  }
  return ask({ params: { name }, trailingSlash: name.includes('.') });
}
