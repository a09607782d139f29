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
  const regex = /^\/(.*)\/(i?)$/s.exec(pattern);
  if (regex !== null) {
    const compiled = new RegExp(regex[1] ?? '', `u${regex[2] ?? ''}`);
    return (text) => compiled.test(text);
  }
  if (pattern === '*') return () => true;
  const source = pattern
    .replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  const compiled = new RegExp(`^${source}$`, 'isu');
  return (text) => compiled.test(text);
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
