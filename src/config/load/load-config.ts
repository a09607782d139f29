import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { invariant } from '../../base/assert.ts';
import type { Secret } from '../../base/secret.ts';
import { type GateRule, isSearchGate, type Policy } from '../../rollout/model/policy.ts';
import { placePolicies } from '../account-configs.ts';
import type { Account, Config, HttpConfig, RedisConfig, ServiceConfig } from '../config.ts';
import { ConfigFile } from '../schema/config-file.ts';
import { HttpSchema } from '../schema/http-schema.ts';
import { withPassword } from '../schema/redis-schema.ts';
import { partOf } from '../schema/value-schemas.ts';
import { ConfigError, type ConfigProblem, formatPath } from '../source/config-error.ts';
import { type PlacedIssue, placeIssue, placeProblems } from '../source/describe-problems.ts';
import { explainIssue } from '../source/explain-issue.ts';
import { DuplicateKeysError, readYaml, type YamlSource } from '../source/yaml-source.ts';
import { type NamedFiles, readNamedFiles, secretOr } from './read-named-files.ts';
import { receiversOf } from './receivers.ts';
import {
  plainScalarOf,
  redactSubstituted,
  type Substitution,
  substituteEnvironment,
} from './substitute-environment.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the config file, fills in the environment, the defaults and the secrets.
 * @param withSecrets false: files with secrets are not read, for a command that calls nobody
 * @throws ConfigError with all problems at once, each with file, line, column and path
 */
export function loadConfig(path: string, environment: Environment, withSecrets = true): Config {
  return configFrom(() => readYaml(path), environment, withSecrets);
}

/** Duplicate keys hide no other problem of the file. */
export function configFrom(read: () => YamlSource, environment: Environment, withSecrets = true): Config {
  try {
    return configOf(read(), environment, withSecrets);
  } catch (error) {
    if (!(error instanceof DuplicateKeysError)) throw error;
    const others = problemsOf(() => configOf(error.source, environment, withSecrets));
    const problems = [...error.problems, ...others];
    throw new ConfigError(problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)));
  }
}

function problemsOf(load: () => Config): readonly ConfigProblem[] {
  try {
    load();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

/** For YAML that was read already. @throws ConfigError */
export function configOf(source: YamlSource, environment: Environment, withSecrets = true): Config {
  if (source.value === null) {
    throw new ConfigError([
      { file: source.file, path: '', message: 'the file is empty; give at least service and rollouts' },
    ]);
  }
  const substitution = substituteEnvironment(source.value, environment);
  const { parsed, issues } = parseFile(substitution, ConfigFile);
  const { byPath, secretFiles, issues: ofFiles } = readNamedFiles(substitution, source.file, withSecrets);
  const allIssues = [...issues, ...ofFiles];
  if (parsed === undefined || allIssues.length > 0) throw new ConfigError(placeProblems(allIssues, source));
  const config = assemble(parsed, byPath, dirname(source.file));
  return secretFiles.length === 0 ? config : { ...config, secretFiles };
}

/** The part of the file that a command needs to reach the daemon. */
export interface DaemonConfig {
  readonly http: Pick<HttpConfig, 'host' | 'port' | 'token'>;
  /** Empty if they have a mistake: the running daemon has an earlier config and can still be asked. */
  readonly rollouts: readonly Policy[];
}

/**
 * Reads only where the daemon listens, and its policies. Secrets of the service and of Redis are not needed.
 * @param token replaces that of the file, which is not read then
 * @throws ConfigError
 */
export function loadDaemonConfig(
  path: string,
  environment: Environment,
  token: Secret | undefined,
): DaemonConfig {
  const source = readYaml(path);
  const place = sectionOf(source.value, 'http', [
    // Tokens of other people. A person who only asks the daemon may have no right to read their files.
    ...['tokens', 'trustedProxy'],
    ...(token === undefined ? [] : ['token', 'tokenFile']),
  ]);
  const substitution = substituteEnvironment(place, environment);
  const schema = token === undefined ? PlaceAndToken : Place;
  const { parsed, issues } = parseFile(substitution, schema);
  const files = readNamedFiles(substitution, source.file);
  const allIssues = [...issues, ...files.issues];
  if (parsed === undefined || allIssues.length > 0) throw new ConfigError(placeProblems(allIssues, source));
  const { http } = parsed;
  const policies = substituteEnvironment(sectionOf(source.value, 'rollouts'), environment);
  return {
    http: {
      host: http.host,
      port: http.port,
      token: token ?? http.token ?? files.byPath.get('http.tokenFile'),
    },
    rollouts: placePolicies(parseFile(policies, Policies).parsed?.rollouts ?? [], null).map(
      ({ policy }) => policy,
    ),
  };
}

const PlaceAndToken = z.object({ http: ConfigFile.shape.http });
const { host, port, token } = HttpSchema.shape;
const Place = z.object({ http: z.object({ host, port, token }).prefault({}) });
const Policies = z.object({ rollouts: ConfigFile.shape.rollouts });

/** One section of the file, without some of its keys. */
function sectionOf(file: unknown, name: string, without: readonly string[] = []): object {
  const section = partOf(file, name);
  if (section === undefined) return {};
  if (without.length === 0 || typeof section !== 'object' || section === null) return { [name]: section };
  const kept = Object.entries(section).filter(([key]) => !without.includes(key));
  return { [name]: Object.fromEntries(kept) };
}

interface ParsedFile<Parsed> {
  readonly parsed: Parsed | undefined;
  readonly issues: readonly PlacedIssue[];
}

function parseFile<Parsed>(substitution: Substitution, schema: z.ZodType<Parsed>): ParsedFile<Parsed> {
  const first = schema.safeParse(substitution.value, { error: explainIssue });
  const result = first.success
    ? first
    : schema.safeParse(withPlainScalars(substitution, first.error.issues), { error: explainIssue });
  if (result.success && substitution.issues.length === 0) return { parsed: result.data, issues: [] };
  // If a variable is missing, the schema's result for that text is useless.
  const unresolved = new Set(substitution.issues.map((issue) => formatPath(issue.path)));
  const found = (result.success ? [] : result.error.issues.flatMap(placeIssue))
    .filter((issue) => !unresolved.has(formatPath(issue.path)))
    .map(redacted(substitution));
  return { parsed: undefined, issues: [...substitution.issues, ...found] };
}

function redacted({ texts }: Substitution): (issue: PlacedIssue) => PlacedIssue {
  return (issue) => {
    const text = texts.get(formatPath(issue.path));
    return text === undefined ? issue : { ...issue, message: redactSubstituted(issue.message, text) };
  };
}

/** Environment variables are texts. If the schema refuses a text that spells a number or boolean, that value is used. */
function withPlainScalars(substitution: Substitution, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = structuredClone(substitution.value);
  for (const { path } of issues.flatMap(placeIssue)) {
    const scalar = plainScalarOf(substitution.texts.get(formatPath(path))?.value ?? '');
    const last = path.at(-1);
    if (scalar === undefined || last === undefined) continue;
    const parent = path.slice(0, -1).reduce(partOf, copy);
    if (typeof parent === 'object' && parent !== null) Reflect.set(parent, last, scalar);
  }
  return copy;
}

function assemble(file: ConfigFile, files: NamedFiles['byPath'], folder: string): Config {
  const { service, accounts, redis } = file;
  const names = Object.keys(accounts ?? {});
  const placed = placePolicies(file.rollouts, names[0] ?? null);
  const { tokenFile: _file, ...http } = file.http;
  const common = {
    redis: redis === undefined ? undefined : redisOf(redis, files),
    http: {
      ...http,
      token: http.token ?? files.get('http.tokenFile'),
      tokens: http.tokens.map(({ name, role, token }, index) => ({
        ...{ name, role },
        token: secretOr(token, files, `http.tokens[${index}].tokenFile`),
      })),
      trustedProxy: http.trustedProxy,
    },
    notify: receiversOf(file.notify, files),
    ...(file.report && { report: { ...file.report, directory: resolve(folder, file.report.directory) } }),
    installation: file.installation,
    learnsFromAccounts: file.learnFrom === 'accounts',
    historyMs: file.history,
    log: file.log,
    rollouts: placed.map(({ policy }) => withGateFiles(policy, folder)),
  };
  if (service !== undefined) return { service: serviceOf(service, ['service'], files), ...common };
  return {
    accounts: Object.entries(accounts ?? {}).map(
      ([name, { keyPrefix, ...written }]): Account => ({
        name,
        service: serviceOf(written, ['accounts', name], files),
        ...(keyPrefix !== undefined && { keyPrefix }),
        policies: placed.flatMap(({ policy, account }) => (account === name ? [policy.name] : [])),
      }),
    ),
    ...common,
  };
}

type WrittenService = NonNullable<ConfigFile['service']>;

function serviceOf(
  { accessIdFile: _id, accessKeyFile: _key, caFile: _ca, requestTimeout, ...service }: WrittenService,
  path: readonly string[],
  files: NamedFiles['byPath'],
): ServiceConfig {
  const placeOf = (key: string) => formatPath([...path, key]);
  return {
    ...service,
    accessId: secretOr(service.accessId, files, placeOf('accessIdFile')),
    accessKey: secretOr(service.accessKey, files, placeOf('accessKeyFile')),
    requestTimeoutMs: requestTimeout,
    ca: files.get(placeOf('caFile'))?.reveal(),
  };
}

function redisOf(redis: NonNullable<ConfigFile['redis']>, files: NamedFiles['byPath']): RedisConfig {
  const { keyPrefix, username, tls } = redis;
  const password = redis.password ?? files.get('redis.passwordFile');
  const ca = files.get('redis.caFile')?.reveal();
  const access = { username, password, tls, keyPrefix, ca };
  if (redis.url !== undefined)
    return { kind: 'single', url: withPassword(redis.url, password), keyPrefix, ca };
  if (redis.cluster !== undefined) return { kind: 'cluster', nodes: redis.cluster, ...access };
  invariant(
    redis.sentinels !== undefined && redis.name !== undefined,
    'the schema requires url, cluster, or sentinels with name',
  );
  return { kind: 'sentinel', sentinels: redis.sentinels, name: redis.name, ...access };
}

/** Makes the paths of files that gates name absolute; in the config they are relative to its folder. */
function withGateFiles(policy: Policy, folder: string): Policy {
  const withFiles = (gate: GateRule): GateRule => {
    if (isSearchGate(gate)) return gate;
    return {
      ...gate,
      ...('urlFile' in gate && { urlFile: resolve(folder, gate.urlFile) }),
      ...(gate.tokenFile !== undefined && { tokenFile: resolve(folder, gate.tokenFile) }),
      ...(gate.caFile !== undefined && { caFile: resolve(folder, gate.caFile) }),
    };
  };
  return {
    ...policy,
    waves: policy.waves.map((wave) => ({ ...wave, gates: wave.gates.map(withFiles) })),
  };
}
