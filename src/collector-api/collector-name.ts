import type { Answer } from '../orchestrator/ports/answer.ts';
import { refuse } from './client-refusals.ts';

/** Not supported in a path, even encoded (collector-api.md §4.1, Rules for Get by name); a lone surrogate can't be encoded. */
const unsupportedInPath = /[;/%\\]|\p{Cs}/u;

/** Whether the service can be asked for a collector by this name. */
export function isNameAskable(name: string): boolean {
  return name !== '' && !unsupportedInPath.test(name);
}

export function unaskableName(name: string): Answer<never> {
  return refuse(
    'client.name.unsupported',
    `The service can't be asked for the name ${JSON.stringify(name)}: it is empty, or holds one of ; / % \\. Use its id, or read the list.`,
  );
}
