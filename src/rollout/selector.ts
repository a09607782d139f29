import { compareBuildVersions } from '../base/build-version.ts';
import type { FleetCollector } from './collector.ts';
import type { Selector } from './policy.ts';

/** Makes a test out of a selector: every given key must match, a list matches when one entry does (DESIGN §4). */
export function compileSelector(selector: Selector): (collector: FleetCollector) => boolean {
  const tests: Array<(collector: FleetCollector) => boolean> = [];
  const text = (patterns: readonly string[] | undefined, of: (collector: FleetCollector) => string) => {
    if (patterns === undefined) return;
    const matchers = patterns.map(compilePattern);
    tests.push((collector) => matchers.some((matches) => matches(of(collector))));
  };
  text(selector.name, (c) => c.name);
  text(selector.category, (c) => c.category);
  text(selector.hostName, (c) => c.hostName);
  text(selector.osName, (c) => c.osName);
  text(selector.osArch, (c) => c.osArch);
  text(selector.sourceSyncMode, (c) => c.sourceSyncMode);
  for (const [key, patterns] of Object.entries(selector.fields ?? {})) {
    text(patterns, (c) => (Object.hasOwn(c.fields, key) ? (c.fields[key] ?? '') : ''));
  }
  const { id, version, ephemeral } = selector;
  if (id !== undefined) {
    const ids = new Set(id);
    tests.push((c) => ids.has(c.id));
  }
  if (version !== undefined) tests.push((c) => version.some((range) => isInVersionRange(c.build, range)));
  if (ephemeral !== undefined) tests.push((c) => c.ephemeral === ephemeral);
  return (collector) => tests.every((test) => test(collector));
}

/** Makes a test out of a glob (`*` any characters, `?` one; in any case), or of a `/regular expression/`. */
export function compilePattern(pattern: string): (text: string) => boolean {
  const expression = parseRegularExpression(pattern);
  return expression === undefined ? compileGlob(pattern) : (text) => expression.test(text);
}

/** @returns undefined for a glob. @throws SyntaxError */
export function parseRegularExpression(pattern: string): RegExp | undefined {
  const [, source, flags] = /^\/(.*)\/(i?)$/s.exec(pattern) ?? [];
  return source === undefined ? undefined : new RegExp(withoutBeginning(source), `u${flags ?? ''}`);
}

/** Anything at the beginning means nothing, as a match may begin anywhere; but on a long text it costs its square. */
function withoutBeginning(source: string): string {
  return source.replace(/^(?:\.\*\??)+(?![*+?{])/, '');
}

/**
 * What stands between the stars is looked for from left to right, each part as early as it can be. As one regular
 * expression a glob of many stars would try every way to share a long text out among them, which never ends.
 */
function compileGlob(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = glob.split(/\*+/);
  const last = rest.pop();
  if (last === undefined) {
    const whole = new RegExp(`^${globSource(first)}$`, 'isu');
    return (text) => whole.test(text);
  }
  const start = new RegExp(`^${globSource(first)}`, 'isu');
  const middle = rest.map((part) => new RegExp(globSource(part), 'gisu'));
  const end = new RegExp(`${globSource(last)}$`, 'gisu');
  return (text) => {
    let from = start.exec(text)?.[0].length;
    for (const part of middle) from = from === undefined ? undefined : endOfMatch(part, text, from);
    return from !== undefined && endOfMatch(end, text, from) !== undefined;
  };
}

function globSource(part: string): string {
  return part.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&').replaceAll('?', '.');
}

/** Where the first match from there on ends. */
function endOfMatch(part: RegExp, text: string, from: number): number | undefined {
  part.lastIndex = from;
  return part.test(text) ? part.lastIndex : undefined;
}

/** One comparison of a version range. */
interface VersionBound {
  readonly operator: '<' | '<=' | '>' | '>=' | '=';
  readonly build: string;
}

/** Reads `>=19.361-1 <19.500-1`: all bounds must hold. @returns undefined when the text is no range */
export function parseVersionRange(range: string): readonly VersionBound[] | undefined {
  const bounds: VersionBound[] = [];
  for (const part of range.trim().split(/\s+/)) {
    const match = /^(<=|>=|<|>|=)?(\d+\.\d+(?:-\d+)?)$/.exec(part);
    if (match?.[2] === undefined) return undefined;
    bounds.push({ operator: (match[1] as VersionBound['operator'] | undefined) ?? '=', build: match[2] });
  }
  return bounds;
}

function isInVersionRange(build: string, range: string): boolean {
  const bounds = parseVersionRange(range);
  if (bounds === undefined) return false;
  return bounds.every((bound) => {
    const order = compareBuildVersions(build, bound.build);
    if (order === undefined) return false;
    switch (bound.operator) {
      case '<':
        return order < 0;
      case '<=':
        return order <= 0;
      case '>':
        return order > 0;
      case '>=':
        return order >= 0;
      default:
        return order === 0;
    }
  });
}
