import { parseRegularExpression } from '../rollout/selector.ts';
import { quote } from './config-error.ts';
import type { PlacedIssue } from './describe-problems.ts';
import { isSlowPattern } from './slow-pattern.ts';

/** Whoever mends these finds the next ones then; a file of nothing else is soon refused. */
const toldMax = 5;

/** Where texts are patterns: in selectors. */
const selectorKeys: ReadonlySet<unknown> = new Set(['select', 'match']);

/** Patterns longer than this are refused as such. */
export const patternCharactersMax = 500;

/**
 * Finds the regular expressions that would stop the process. It looks at the data before it is checked, so that they are
 * tried together, as few as it takes to refuse the file, and are told with all other problems.
 * @param rollouts what the file has under `rollouts`, variables filled in
 */
export function slowPatternIssues(rollouts: unknown): readonly PlacedIssue[] {
  const tried = new Map<string, boolean>();
  const issues: PlacedIssue[] = [];

  const look = (text: string, path: readonly PropertyKey[]) => {
    const expression = issues.length < toldMax ? expressionOf(text) : undefined;
    if (expression === undefined) return;
    const found = tried.get(text) ?? isSlowPattern(expression);
    tried.set(text, found);
    if (!found) return;
    const message = `${quote(text)} would take for ever on some names; write it with fewer repetitions ("*", "+"), and none inside another`;
    issues.push({ path, message, part: 'value' });
  };
  const walk = (node: unknown, path: readonly PropertyKey[], isSelector: boolean): void => {
    if (typeof node === 'string' && isSelector) look(node, path);
    if (typeof node !== 'object' || node === null) return;
    for (const [name, item] of Object.entries(node)) {
      const key = Array.isArray(node) ? Number(name) : name;
      walk(item, [...path, key], isSelector || selectorKeys.has(key));
    }
  };
  walk(rollouts, ['rollouts'], false);
  return issues;
}

function expressionOf(text: string): RegExp | undefined {
  if (text.length > patternCharactersMax) return undefined;
  try {
    return parseRegularExpression(text);
  } catch {
    // The schema tells what is wrong with it.
    return undefined;
  }
}
