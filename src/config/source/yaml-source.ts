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
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
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

/** The file can be read apart from duplicate keys, of which the last one counts. Other checks can go on with it. */
export class DuplicateKeysError extends ConfigError {
  readonly source: YamlSource;

  constructor(problems: readonly ConfigProblem[], source: YamlSource) {
    super(problems);
    this.source = source;
  }
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
 * @throws DuplicateKeysError when there are only duplicate keys
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
  const nodes = readNodes(document, positionAt);
  const problems = [
    ...syntaxProblems(document, positionAt, nodes.quotesByEnd),
    ...(document.errors.length === 0 ? nodes.problems : []),
  ];
  const placed = (list: readonly Problem[]) => list.map((problem) => ({ file, path: '', ...problem }));
  const duplicates = placed(document.errors.length === 0 ? nodes.duplicates : []);
  if (problems.length > 0) throw new ConfigError([...placed(problems), ...duplicates]);
  const source = { file, value: plainValue(document, file), locate: makeLocate(document, nodes, positionAt) };
  if (duplicates.length > 0) throw new DuplicateKeysError(duplicates, source);
  return source;
}

type PositionAt = (offset: number) => Position;
type Problem = Position & { readonly path?: string; readonly message: string };

// What comes after these mostly follows from them, as after a bracket that is never closed.
const problemsMax = 3;

/** The first error of each of the first lines, and the first wrong indentation alone: one mistake makes several. */
function syntaxProblems(
  { errors, warnings }: Document,
  positionAt: PositionAt,
  quotesByEnd: ReadonlyMap<number, number>,
): readonly Problem[] {
  const faults = [...errors, ...warnings];
  // Found first, because another error may have the same position.
  const tooDeep = new Set(
    faults.flatMap(({ code, pos }) => (code === 'MULTILINE_IMPLICIT_KEY' ? pos[0] : [])),
  );
  const linesSeen = new Set<number>();
  let isIndented = true;
  return faults.flatMap((fault): readonly Problem[] => {
    const [offset] = fault.pos;
    const { line } = positionAt(offset);
    const isBelow = tooDeep.has(offset);
    const isIndent = isBelow || isIndentation(fault);
    if (linesSeen.has(line) || linesSeen.size >= problemsMax || (isIndent && !isIndented)) return [];
    linesSeen.add(line);
    isIndented &&= !isIndent;
    if (isBelow) return [{ line: line + 1, column: 1, message: indentSentence }];
    // yaml reports an unclosed quote at its end, often at the end of the file.
    const openedAt = fault.code === 'MISSING_CHAR' ? quotesByEnd.get(offset) : undefined;
    if (openedAt === undefined) return [{ ...positionAt(offset), message: syntaxSentence(fault) }];
    return [{ ...positionAt(openedAt), message: 'this quote is never closed; close it' }];
  });
}

const tooDeepSentence = `nested too deeply; at most ${nestingMax} levels are read`;

/** Messages where yaml's own would not help. */
const sentencesByCode: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: 'a second YAML document starts here; keep one document in one file',
  TAG_RESOLVE_FAILED:
    'YAML tags (!…) are not supported; write the plain value, in quotes if it starts with "!"',
  BAD_COLLECTION_TYPE: 'YAML tags (!…) are not supported; remove it',
  RESOURCE_EXHAUSTION: tooDeepSentence,
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

/** What one walk through a document finds. */
interface Nodes {
  /** Constructs that YAML allows, but a config does not: `__proto__`, merge keys, aliases without end. */
  readonly problems: readonly Problem[];
  readonly duplicates: readonly Problem[];
  /** The start of each quoted text by its end. */
  readonly quotesByEnd: ReadonlyMap<number, number>;
  /** The members of each mapping, because a file may have many problems. The last one of a name, as yaml reads it. */
  readonly membersOf: ReadonlyMap<YAMLMap, ReadonlyMap<string, Pair>>;
  /** What each alias stands for, since yaml would walk the whole document for each. */
  readonly targetOf: ReadonlyMap<Alias, Node>;
}

function readNodes(document: Document, positionAt: PositionAt): Nodes {
  const problems: Problem[] = [];
  const duplicates: Problem[] = [];
  const quotesByEnd = new Map<number, number>();
  const membersOf = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  const targetOf = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();
  const report = (node: Node, message: string, path = '') =>
    void problems.push({ ...positionAt(startOf(node) ?? 0), path, message });
  visit(document, {
    Node(_key, node, ancestors) {
      if (ancestors.length > 2 * nestingMax) {
        report(node, tooDeepSentence);
        return visit.BREAK;
      }
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target === undefined)
          report(
            node,
            'this alias (*…) has no anchor (&…) before it; a text that starts with "*" must be in quotes',
          );
        else if (ancestors.includes(target))
          report(node, 'this alias (*…) is inside its own anchor (&…), so it would never end');
        else targetOf.set(node, target);
        return undefined;
      }
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (isMap(node)) membersOf.set(node, readMembers(node, positionAt, report, duplicates));
      const isQuoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
      if (isQuoted && node.range) quotesByEnd.set(node.range[1], node.range[0]);
      return undefined;
    },
  });
  return { problems, duplicates, quotesByEnd, membersOf, targetOf };
}

function readMembers(
  { items }: YAMLMap,
  positionAt: PositionAt,
  report: (node: Node, message: string, path?: string) => void,
  duplicates: Problem[],
): ReadonlyMap<string, Pair> {
  const members = new Map<string, Pair>();
  const firstLines = new Map<string, number>();
  for (const pair of items) {
    const { key } = pair;
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (name === '__proto__') {
      report(key, 'the key "__proto__" is not allowed; remove it', name);
    } else if (name === '<<') {
      report(key, 'merge keys (<<) are not supported; write the keys out');
    } else {
      const keyText = keyName(name);
      const place = positionAt(startOf(key) ?? 0);
      const line = firstLines.get(name);
      if (line === undefined) firstLines.set(name, place.line);
      else {
        const message = `the key ${quote(keyText)} is given twice, first on line ${line}; keep one`;
        duplicates.push({ ...place, path: formatPath([keyText]), message });
      }
      members.set(name, pair);
    }
  }
  return members;
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

function makeLocate(
  { contents }: Document,
  { membersOf, targetOf }: Nodes,
  positionAt: PositionAt,
): YamlSource['locate'] {
  return (path, part = 'value') => {
    let node: unknown = contents;
    let offset = startOf(node);
    for (const [index, step] of path.entries()) {
      const whole = isAlias(node) ? targetOf.get(node) : node;
      const pair = isMap(whole) ? membersOf.get(whole)?.get(String(step)) : undefined;
      const item = isSeq(whole) && typeof step === 'number' ? whole.items[step] : undefined;
      if (pair === undefined && item === undefined) break;
      node = pair === undefined ? item : pair.value;
      const isKeyMeant = (part === 'key' && index === path.length - 1) || !isWritten(node);
      offset = startOf(pair !== undefined && isKeyMeant ? pair.key : node) ?? offset;
    }
    return offset === undefined ? undefined : positionAt(offset);
  };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/** True for a value with a position of its own. An absent one (`key:`) has none, and a collection is shown by its key. */
function isWritten(value: unknown): boolean {
  return isScalar(value) && (value.range?.[0] ?? 0) < (value.range?.[1] ?? 0);
}
