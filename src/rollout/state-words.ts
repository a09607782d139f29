/** The name of a state for a person: `finishedWithFailures` becomes `finished with failures`. */
export function stateWords(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
