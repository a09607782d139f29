import type { z } from 'zod';
import { type ConfigProblem, formatPath, keyName } from './config-error.ts';
import type { YamlSource } from './yaml-source.ts';

/** An issue at one position: unknown keys are separate, and the likely branch of a union is chosen. */
export interface PlacedIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The part of the position that has the problem. */
  readonly part: 'key' | 'value';
}

/**
 * Turns zod's issues into problems with file, line, column and path, in the order of the file.
 * Parse with `error: explainIssue` to get messages for operators.
 */
export function describeProblems(issues: readonly z.core.$ZodIssue[], source: YamlSource): ConfigProblem[] {
  return placeProblems(issues.flatMap(placeIssue), source);
}

/** Adds the position in the file to each issue. */
export function placeProblems(issues: readonly PlacedIssue[], source: YamlSource): ConfigProblem[] {
  const problems = issues.map(({ path, message, part }) => ({
    file: source.file,
    ...source.locate(path, part),
    path: formatPath(path.map((key) => (typeof key === 'string' ? keyName(key) : key))),
    message,
  }));
  const order = (problem: ConfigProblem) => [problem.line ?? 0, problem.column ?? 0] as const;
  return problems.sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1] - order(b)[1]);
}

/** Splits a zod issue into issues with one position each. */
export function placeIssue(issue: z.core.$ZodIssue): PlacedIssue[] {
  if (issue.code === 'unrecognized_keys') {
    const sentences = issue.message.split('\n');
    return issue.keys.map((key, index) => ({
      path: [...issue.path, key],
      message: sentences[index] ?? issue.message,
      part: 'key',
    }));
  }
  if (issue.code === 'invalid_union') {
    // A branch with the right type is the likely one.
    const meant = issue.errors.find((branch) => !branch.some(isWrongType));
    if (meant !== undefined) {
      return meant.flatMap((inner) => placeIssue({ ...inner, path: [...issue.path, ...inner.path] }));
    }
  }
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message, part: 'key' }];
  }
  return [{ path: issue.path, message: issue.message, part: 'value' }];
}

/** True when the whole value has another type, so none of its parts was checked. */
function isWrongType(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}
