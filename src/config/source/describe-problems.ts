import type { z } from 'zod';
import { type ConfigProblem, formatPath, keyName } from './config-error.ts';
import type { YamlSource } from './yaml-source.ts';

/** An issue as it concerns one place: unknown keys apart, the likely branch of a union chosen. */
export interface PlacedIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Which part of the place the problem is about. */
  readonly part: 'key' | 'value';
}

/**
 * Turns zod's issues into problems with file, line, column and path, in the order of the file.
 * For the operator's words, parse with `error: explainIssue`.
 */
export function describeProblems(issues: readonly z.core.$ZodIssue[], source: YamlSource): ConfigProblem[] {
  return placeProblems(issues.flatMap(placeIssue), source);
}

/** Adds to each issue where it stands in the file. */
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

/** One zod issue as one or more issues of one place each. */
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
    // A branch that at least has the right type is the one that was meant.
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

/** True when the value as a whole is of another type, so that nothing in it was looked at. */
function isWrongType(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}
