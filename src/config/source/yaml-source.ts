import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml';
import { ConfigError, type ConfigProblem, formatPath, keyName, quote } from './config-error.ts';
import { readTextFile } from './text-file.ts';

/** A YAML file as plain data, with the position of each part. */
export interface YamlSource {
  /** The name given by the operator. */
  readonly file: string;
  /** Plain data; null for an empty file. */
  readonly value: unknown;
  /** The position of a path's key or value; for a missing one, that of the nearest part around it. */
  locate(path: readonly PropertyKey[], part?: 'key' | 'value'): Position | undefined;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Far above a config with 100 rollouts and long lists. */
export const fileBytesMax = 1024 * 1024;
/** Deeper than any key of ours, but shallow enough for recursion. */
const nestingMax = 64;
/** How often one anchor may be repeated, nested repetition multiplied: yaml's guard against expansion bombs. */
const aliasExpansionsMax = 100;

/**
 * Reads a YAML file.
 * @throws ConfigError when the file is missing, a directory, too large, not UTF-8, or not plain YAML
 */
export function readYaml(path: string, maxBytes: number = fileBytesMax): YamlSource {
  const text = readTextFile(path, maxBytes);
  if (typeof text !== 'string') throw new ConfigError([{ file: path, path: '', message: text.problem }]);
  return parseYaml(text, path);
}

/**
 * Reads YAML text; `file` names it in errors.
 * @throws ConfigError with every syntax error, duplicate key, and construct that plain data cannot have
 */
export function parseYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    // The pretty form shows the line itself, which may contain a secret.
    prettyErrors: false,
    // Checked below, in linear time.
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
    // Not `silent`, which would ignore a second document.
    logLevel: 'error',
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };

  const problems = [
    ...syntaxProblems(document, positionAt, file),
    ...(document.errors.length === 0 ? structureProblems(document, positionAt, file) : []),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return { file, value: plainValue(document, file), locate: makeLocate(document, positionAt) };
}

/** The first error of each line, and the first wrong indentation alone: one mistake makes several. */
function syntaxProblems(
  document: Document,
  positionAt: (offset: number) => Position,
  file: string,
): ConfigProblem[] {
  const faults = [...document.errors, ...document.warnings];
  const quotes = faults.some(({ code }) => code === 'MISSING_CHAR') ? quotesByEnd(document) : undefined;
  const byLine = new Map<number, ConfigProblem>();
  // Found first, because another error may have the same position.
  const tooDeep = new Set(
    faults.flatMap(({ code, pos }) => (code === 'MULTILINE_IMPLICIT_KEY' ? pos[0] : [])),
  );
  let isIndented = true;
  for (const fault of faults) {
    const { line } = positionAt(fault.pos[0]);
    if (byLine.has(line)) continue;
    const isBelow = tooDeep.has(fault.pos[0]);
    if (isBelow || isIndentation(fault)) {
      if (!isIndented) continue;
      isIndented = false;
    }
    if (isBelow) {
      byLine.set(line, { file, line: line + 1, column: 1, path: '', message: indentSentence });
      continue;
    }
    const openedAt = fault.code === 'MISSING_CHAR' ? quotes?.get(fault.pos[0]) : undefined;
    const message = openedAt === undefined ? syntaxSentence(fault) : 'this quote is never closed; close it';
    byLine.set(line, { file, ...positionAt(openedAt ?? fault.pos[0]), path: '', message });
  }
  return [...byLine.values()];
}

/** The start of each quoted text by its end: yaml reports an unclosed quote at its end, often at the end of the file. */
function quotesByEnd(document: Document): ReadonlyMap<number, number> {
  const begins = new Map<number, number>();
  visit(document, {
    Node(_key, node, ancestors) {
      if (ancestors.length > 2 * nestingMax) return visit.SKIP;
      const isQuoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
      if (isQuoted && node.range) begins.set(node.range[1], node.range[0]);
      return undefined;
    },
  });
  return begins;
}

/** Messages where yaml's own would not help. */
const sentencesByCode: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: 'a second YAML document starts here; keep one document in one file',
  TAG_RESOLVE_FAILED:
    'YAML tags (!…) are not supported; write the plain value, in quotes if it starts with "!"',
  BAD_COLLECTION_TYPE: 'YAML tags (!…) are not supported; remove it',
  RESOURCE_EXHAUSTION: `nested too deeply; at most ${nestingMax} levels are read`,
  NON_STRING_KEY: 'a key must be plain text',
  BAD_ALIAS: 'a text that starts with "*" or "&" must be in quotes',
  BAD_DQ_ESCAPE: 'no escape that double quotes know; write \\\\ for a backslash, or use single quotes',
  BAD_DIRECTIVE: 'a line that starts with "%" is a YAML directive, which is not supported; remove it',
  TAB_AS_INDENT: 'a tab is used as indentation; use spaces',
};

const indentSentence =
  'this line is not indented like its neighbours; indent the keys of one mapping alike, and a list below its key';

function isIndentation({ code, message }: YAMLParseError | YAMLWarning): boolean {
  if (code === 'TAB_AS_INDENT') return true;
  if (code === 'BAD_INDENT') return !message.startsWith('Flow ');
  return code === 'MISSING_CHAR' && message.startsWith('Sequence item ');
}

function syntaxSentence(fault: YAMLParseError | YAMLWarning): string {
  const { code, message } = fault;
  const sentence = sentencesByCode[code];
  if (sentence !== undefined) return sentence;
  if (isIndentation(fault)) return indentSentence;
  if (code === 'BAD_INDENT' && message.startsWith('Flow '))
    return 'a { or [ before this line is not closed; close it with } or ]';
  // After a colon comes source text, which may contain a secret.
  const cause = code === 'UNEXPECTED_TOKEN' ? message.replace(/:.*$/s, '') : message;
  return `not valid YAML: ${cause}; put a text that contains special characters, or starts with one, in quotes`;
}

/** Reports constructs that YAML allows, but a config does not: duplicate keys, `__proto__`, merge keys, alias bombs. */
function structureProblems(
  document: Document,
  positionAt: (offset: number) => Position,
  file: string,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report = (node: unknown, path: string, message: string) => {
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    problems.push({ file, ...positionAt(offset), path, message });
  };
  const anchorsSeen = new Set<string>();

  visit(document, {
    Node(_key, node, ancestors) {
      if (ancestors.length > 2 * nestingMax) {
        report(node, '', `nested too deeply; at most ${nestingMax} levels are read`);
        return visit.BREAK;
      }
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchorsSeen.add(node.anchor);
        if (isMap(node))
          checkKeys(
            node.items.map(({ key }) => key),
            positionAt,
            report,
          );
        return undefined;
      }
      if (!anchorsSeen.has(node.source)) {
        report(
          node,
          '',
          'this alias (*…) has no anchor (&…) before it; a text that starts with "*" must be in quotes',
        );
      } else if (
        ancestors.some((outer) => isNode(outer) && !isAlias(outer) && outer.anchor === node.source)
      ) {
        report(node, '', 'this alias (*…) is inside its own anchor (&…), so it would never end');
      }
      return undefined;
    },
  });
  return problems;
}

function checkKeys(
  keys: readonly unknown[],
  positionAt: (offset: number) => Position,
  report: (node: unknown, path: string, message: string) => void,
): void {
  const seen = new Map<string, Scalar>();
  for (const key of keys) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    const first = seen.get(name);
    if (name === '__proto__') {
      report(key, '__proto__', 'the key "__proto__" is not allowed; remove it');
    } else if (name === '<<') {
      report(key, '', 'merge keys (<<) are not supported; write the keys out');
    } else if (first !== undefined) {
      const { line } = positionAt(first.range?.[0] ?? 0);
      report(
        key,
        formatPath([keyName(name)]),
        `the key ${quote(keyName(name))} is given twice, first on line ${line}; keep one`,
      );
    } else {
      seen.set(name, key);
    }
  }
}

function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasExpansionsMax }) ?? null;
  } catch (error) {
    // The only remaining fault: yaml reports an expansion bomb without a position.
    if (!(error instanceof ReferenceError)) throw error;
    const message = `its aliases (*name) expand more than ${aliasExpansionsMax} times; write the values out`;
    throw new ConfigError([{ file, path: '', message }]);
  }
}

function makeLocate(document: Document, positionAt: (offset: number) => Position): YamlSource['locate'] {
  const childOf = makeChildOf();
  // Resolving an alias walks the whole document.
  const anchoredBy = new WeakMap<object, unknown>();
  const anchored = (alias: Alias): unknown => {
    if (!anchoredBy.has(alias)) anchoredBy.set(alias, alias.resolve(document));
    return anchoredBy.get(alias);
  };
  return (path, part = 'value') => {
    let node: unknown = document.contents;
    let offset = isNode(node) ? node.range?.[0] : undefined;
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = anchored(node);
      const child = childOf(node, step);
      if (child === undefined) break;
      const isLast = index === path.length - 1;
      const shown =
        child.key !== undefined && ((isLast && part === 'key') || !isWritten(child.value))
          ? child.key
          : child.value;
      offset = (isNode(shown) ? shown.range?.[0] : undefined) ?? offset;
      node = child.value;
    }
    return offset === undefined ? undefined : positionAt(offset);
  };
}

/** True for a value with a position of its own. An absent one (`key:`) has none, and a collection is shown by its key. */
function isWritten(value: unknown): boolean {
  return isScalar(value) && (value.range?.[0] ?? 0) < (value.range?.[1] ?? 0);
}

/** Finds a member of a mapping or list. Keys of mappings are indexed, because a file may have many problems. */
function makeChildOf() {
  const pairsOf = new WeakMap<object, Map<string, { key: unknown; value: unknown }>>();
  return (node: unknown, step: PropertyKey): { key: unknown; value: unknown } | undefined => {
    if (isMap(node)) {
      const known = pairsOf.get(node);
      const pairs =
        known ??
        new Map(node.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])));
      if (known === undefined) pairsOf.set(node, pairs);
      return pairs.get(String(step));
    }
    if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      return { key: undefined, value: node.items[step] };
    }
    return undefined;
  };
}
