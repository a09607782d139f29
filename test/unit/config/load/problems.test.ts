import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/config/source/config-error.ts';
import {
  problemCases,
  problemsIn,
  problemsOf,
  readConfig,
  withRollout,
  withSection,
  withService,
} from '../../../support/config-fixtures.ts';

const rolloutCases = problemCases(`
wave: [] → 4:5: rollouts[0].wave: unknown key "wave"; did you mean "waves"?
quorum: 3
  → 4:5: rollouts[0].quorum: unknown key "quorum", not known in this release; known here: name, account, accounts, select, target, schedule, timeZone, approval, windows, freezes, concurrency, maxInFlightPer, pace, spreadBy, isolate, waves, onBreach, lostWeight, upgrade, retry, defer, messageRules
name: x → 4:5: name: the key "name" is given twice, first on line 3; keep one
select: { include: { name: 5 } } → 4:32: rollouts[0].select.include.name: must be text or a list, not a number
select: { include: { name: "" } }
  → 4:32: rollouts[0].select.include.name: is empty; write a glob such as "prod-*", or remove the key
select: { include: { name: [] } }
  → 4:26: rollouts[0].select.include.name: is an empty list, which nothing matches; remove the key
select: { include: { name: [a, /(/] } }
  → 4:36: rollouts[0].select.include.name[1]: "/(/" is not a regular expression that upwave runs: missing closing ): (
select: { include: { osName: /a/g } }
  → 4:34: rollouts[0].select.include.osName: "/a/g" looks like a regular expression with flags other than "i", which are not supported
select: { include: { version: newer } }
  → 4:35: rollouts[0].select.include.version: "newer" is not a version range; write one such as ">=19.361-1 <19.500-1"
select: { include: { id: 1.5 } }
  → 4:30: rollouts[0].select.include.id: must be a whole number or a list, not a number with a fraction
select: { include: { ephemeral: no } }
  → 4:37: rollouts[0].select.include.ephemeral: must be true or false, not text
select: { exclude: [{}] }
  → 4:25: rollouts[0].select.exclude[0]: an empty entry would exclude every collector; remove it
select: { exclude: } → 4:15: rollouts[0].select.exclude: must be a list, not empty
target: { version: 19.45 }
  → 4:24: rollouts[0].target.version: must be text; put the build in quotes, such as "19.455-2"
target: { version: newest }
  → 4:24: rollouts[0].target.version: "newest" is not a build; write latest, or a build such as 19.455-2
target: { version: 19.455-2, minimumAge: 3d }
  → 4:46: rollouts[0].target.minimumAge: is for latest only, and version names one build; remove it
target: { version: 19.455-2, supersede: true }
  → 4:45: rollouts[0].target.supersede: is for latest only, and version names one build; remove it
onBreach: rolback
  → 4:15: rollouts[0].onBreach: must be one of "hold", "abort", "rollback"; did you mean "rollback"?
maxInFlightPer: { fields.cluster: 0 } → 4:39: rollouts[0].maxInFlightPer["fields.cluster"]: must be at least 1
maxInFlightPer: { fields: { cluster: 1 } }
  → 4:23: rollouts[0].maxInFlightPer.fields: unknown key "fields"; did you mean "fields.<name>"?
maxInFlightPer: [hostName] → 4:5: rollouts[0].maxInFlightPer: must be a mapping of keys, not a list
spreadBy: osName → 4:15: rollouts[0].spreadBy: must be a list, not text
spreadBy: [osName, hostName, osName] → 4:34: rollouts[0].spreadBy[2]: "osName" is listed twice; keep one
spreadBy: [version] → 4:16: rollouts[0].spreadBy[0]: unknown key "version"; did you mean "collectorVersion"?
spreadBy: [colour]
  → 4:16: rollouts[0].spreadBy[0]: unknown key "colour"; known here: osName, osArch, collectorVersion, category, hostName, timeZone, sourceSyncMode, ephemeral, fields.<name>
schedule: hourly
  → 4:15: rollouts[0].schedule: "hourly" is not a cron expression that comes due; write five fields, or six with seconds first, such as "*/15 * * * *"
timeZone: Europe/Berln
  → 4:15: rollouts[0].timeZone: "Europe/Berln" is not an IANA time zone; did you mean "Europe/Berlin"?
timeZone: "+01:00" → 4:15: rollouts[0].timeZone: "+01:00" is not an IANA time zone; write one such as Europe/Berlin
concurrency: 0 → 4:18: rollouts[0].concurrency: must be at least 1
concurrency: 10001 → 4:18: rollouts[0].concurrency: must be at most 10000
concurrency: many → 4:18: rollouts[0].concurrency: must be a number, not text
waves: []
  → 4:5: rollouts[0].waves: is an empty list; give at least one wave, or remove the key for the default ones
waves: [{ name: a, size: 1 per host }]
  → 4:30: rollouts[0].waves[0].size: "1 per host" is not an amount; it must be a count such as 5, a percentage such as "2%", or "1 per stratum"
waves: [{ name: a, size: 0 per stratum }, { name: b }] → 4:30: rollouts[0].waves[0].size: must be more than 0
waves: [{ name: a, maxFailures: 1 per stratum }]
  → 4:37: rollouts[0].waves[0].maxFailures: "1 per stratum" is not an amount; it must be a count such as 5, or a percentage such as "2%"
waves: [{ name: a, match: {} }, { name: b }]
  → 4:24: rollouts[0].waves[0].match: is empty, which would take every collector; give a key, or remove it
waves: [{ name: a, size: 1 }, { name: b, match: { osName: Linux } }]
  → 4:46: rollouts[0].waves[1].match: the last wave takes the remaining collectors; remove match, or put a wave after it
waves: [{ name: try, size: 10% }]
  → 4:32: rollouts[0].waves[0].size: the last wave takes the remaining collectors; leave size out, or put a wave after it
waves: [{ name: a, size: 0 }, { name: b }] → 4:30: rollouts[0].waves[0].size: must be more than 0
waves: [{ name: a, size: 120% }, { name: b }] → 4:30: rollouts[0].waves[0].size: must be at most 100%
waves: [{ name: a, size: 120% }] → 4:30: rollouts[0].waves[0].size: must be at most 100%
waves: [{ name: a, size: -1 }]
  → 4:30: rollouts[0].waves[0].size: must be a count such as 5, a percentage such as "2%", or "1 per stratum"
waves: [{ name: a, maxFailures: 101% }] → 4:37: rollouts[0].waves[0].maxFailures: must be at most 100%
waves: [{ name: a, soak: soon }]
  → 4:30: rollouts[0].waves[0].soak: "soon" is not a duration; write one such as 250ms, 30s, 15m, 12h or 7d
waves: [{ name: a, soak: 30 }] → 4:30: rollouts[0].waves[0].soak: must be a duration such as 30s, 15m or 12h
waves: [{ name: a, size: 1 }, { name: a }]
  → 4:43: rollouts[0].waves[1].name: another wave is called "a" already; names must be unique
waves: [{ name: a }, { name: b }]
  → 4:13: rollouts[0].waves[0].size: is missing; only the last wave takes the remaining collectors
waves: [{ name: a, size: 60% }, { name: b, size: 40% }, { name: c }]
  → 4:54: rollouts[0].waves[1].size: the waves up to here take 100% of the plan, which leaves nothing for the next ones
waves: [{ size: 5 }, { name: b }] → 4:13: rollouts[0].waves[0].name: is missing; it must be text
upgrade: { deadline: 500ms, expect: 100ms } → 4:26: rollouts[0].upgrade.deadline: must be at least 1s
upgrade: { deadline: 400d } → 4:26: rollouts[0].upgrade.deadline: must be at most 366d
upgrade: { deadline: 4m } → 4:5: rollouts[0].upgrade.expect: must be shorter than deadline; it is 5m, deadline 4m
upgrade: → 4:5: rollouts[0].upgrade: must be a mapping of keys, not empty
retry: { backoff: { initial: 2h } }
  → 4:14: rollouts[0].retry.backoff.max: must not be shorter than initial; it is 1h, initial 2h
messageRules: [{ words: [a] }]
  → 4:20: rollouts[0].messageRules[0].class: is missing; it must be one of "retry", "retryLater", "permanent"
messageRules: [{ words: [" "], class: retry }]
  → 4:30: rollouts[0].messageRules[0].words[0]: is empty; an empty word occurs in every message
messageRules: [{ words: [], class: retry }] → 4:22: rollouts[0].messageRules[0].words: must have at least 1 entry
`);

const sectionCases = problemCases(`
mailing: {}
  → 3:1: mailing: unknown key "mailing", not known in this release; known here: service, accounts, learnFrom, redis, http, installation, log, history, notify, report, rollouts
history: 23h → 3:10: history: must be at least 1d
history: 400d → 3:10: history: must be at most 366d
history: 90 → 3:10: history: must be a duration such as 30s, 15m or 12h
installation: "Our Own"
  → 3:15: installation: must be 1 to 63 small letters, digits or "-", and start with a letter or digit
log: { level: loud } → 3:15: log.level: must be one of "debug", "info", "warn", "error", "silent"
http: { host: 0.0.0.0 }
  → 3:15: http.host: is reachable from other machines, which needs a token; give token, tokenFile or tokens, or use 127.0.0.1
http: { host: "a b", token: sixteen--letters } → 3:15: http.host: is not a host name or address
http: { host: "fe80::1%eth0", token: sixteen--letters }
  → 3:15: http.host: names an interface after "%", which no URL can hold; write an address without it, such as 127.0.0.1, or :: for all addresses of this machine
http: { token: "" } → 3:16: http.token: is empty; give the credential, or name a file that holds it
http: { token: hunter2-is-so-l }
  → 3:16: http.token: is shorter than 16 characters, so it can be guessed; take a random one, as \`openssl rand -hex 16\` prints
http: { token: 123 } → 3:16: http.token: must be text, not a number; put it in quotes
http: { tokens: [{ name: daemon, role: operator, token: sixteen--letters }] }
  → 3:26: http.tokens[0].name: is reserved; choose another name
http: { tokens: [{ name: mia, role: viewer }] }
  → 3:18: http.tokens[0]: needs token or tokenFile
http: { tokens: [{ name: a, role: viewer, token: sixteen--letters }, { name: a, role: viewer, token: sixteen--letterz }] }
  → 3:78: http.tokens[1].name: another token is called "a" already; names must be unique
http: { trustedProxy: { addresses: [somewhere] } }
  → 3:37: http.trustedProxy.addresses[0]: is not an address or network, such as 10.0.0.7 or 10.0.0.0/24
redis: {} → 3:1: redis: needs url, sentinels or cluster
redis: { url: "http://u:hunter2@h" }
  → 3:15: redis.url: is not a Redis URL; write redis://host:6379, rediss://host:6379, unix:///path or /path
redis: { url: "redis://h?password=hunter2" }
  → 3:15: redis.url: must not contain a password in its query ("?…"); use password or passwordFile
redis: { url: /s, cluster: [a:1] } → 3:19: redis.cluster: url and cluster are given; keep one
redis: { sentinels: [a:1] } → 3:1: redis.name: is missing; sentinels need the group's name
redis: { sentinels: [a], name: n }
  → 3:22: redis.sentinels[0]: "a" is not an address; write host:port, such as redis-1.example.com:6379
redis: { url: /s, name: n } → 3:25: redis.name: is for sentinels only; remove it
redis: { url: /s, tls: true } → 3:24: redis.tls: is for sentinels and cluster; write rediss:// in url
redis: { url: /s, keyPrefix: "a{b}" } → 3:30: redis.keyPrefix: must be 1 to 64 letters, digits, "_", "." or "-"
redis: { url: /s, password: p } → 3:15: redis.url: is a socket, which takes no password; remove the password
redis: { url: "redis://:a@h", password: p }
  → 3:15: redis.url: contains a password, and another one is given; keep one
`);

const serviceCases = problemCases(`
service: { baseUrl: "ftp://h", accessId: i, accessKey: k }
  → 1:21: service.baseUrl: must start with https:// or http://
service: { baseUrl: "https://hunter2@h", accessId: i, accessKey: k }
  → 1:21: service.baseUrl: must not contain a user name or password; give accessId and accessKey
service: { baseUrl: "api hunter2", accessId: i, accessKey: k }
  → 1:21: service.baseUrl: is not a URL; write one such as https://api.example.com/api
service: { accessId: i, accessKey: k } → 1:1: service.baseUrl: is missing; it must be text
service: { baseUrl: http://h, accessKey: k }
  → 1:1: service.accessId: is missing; give accessId, such as \${UPWAVE_ACCESS_ID}, or accessIdFile
service: { baseUrl: http://h, accessId: "a:b", accessKey: k }
  → 1:41: service.accessId: holds a colon, a space, a line break or another character that can't be in a credential
service: { baseUrl: http://h, accessId: a, accessKey: "hunter2\\n" }
  → 1:55: service.accessKey: holds a space, a line break or another character that can't be in a credential
service: { baseUrl: http://h, accessId: a, accessKey: k, budgetShare: 0.0001% }
  → 1:71: service.budgetShare: "0.0001%" is not a share; it must be a percentage from 1% to 100%, such as 80%
service: { baseUrl: http://h, accessId: a, accessKey: k, allowedHosts: ["*"] }
  → 1:73: service.allowedHosts[0]: "*" is not a host; write one such as eu.api.example.com or "*.api.example.com"
service: { baseUrl: http://h, accessId: a, accessKey: k, requestTimeout: 1ms }
  → 1:74: service.requestTimeout: must be at least 100ms
service: { baseUrl: http://h, accessId: a, accessKey: k, requestTimeout: 30d }
  → 1:74: service.requestTimeout: must be at most 10m
service: { baseUrl: http://h, accessId: a, accessKey: k, requestsPerSecond: 1e-9 }
  → 1:77: service.requestsPerSecond: must be at least 0.1
`);

describe('each rule names file, line, column, path, and what to do', () => {
  it.each(rolloutCases)('%s', (yaml, problem) => {
    expect(problemsIn(withRollout(yaml))).toEqual([`config.yaml:${problem}`]);
  });

  it.each(sectionCases)('%s', (yaml, problem) => {
    expect(problemsIn(withSection(yaml))).toEqual([`config.yaml:${problem}`]);
  });

  it.each(serviceCases)('%s', (yaml, problem) => {
    expect(problemsIn(withService(yaml))).toEqual([`config.yaml:${problem}`]);
  });
});

describe('a config with several mistakes', () => {
  it('reports all of them, in the order of the file', () => {
    const text = `service: { baseUrl: nowhere, accessId: i }
http: { host: 10.0.0.1, port: x }
rollouts:
  - name: Bad
    concurrency: 0
  - name: same
    colour: red
  - name: same
    retry: { backoff: { initial: 2h, factor: 0 } }
    waves: [{ name: a, size: 1 }, { name: a, soak: x }]`;
    expect(problemsIn(text).map((line) => line.split(': ', 2).join(': '))).toEqual([
      'config.yaml:1:1: service.accessKey',
      'config.yaml:1:21: service.baseUrl',
      'config.yaml:2:15: http.host',
      'config.yaml:2:31: http.port',
      'config.yaml:4:11: rollouts[0].name',
      'config.yaml:5:18: rollouts[0].concurrency',
      'config.yaml:7:5: rollouts[1].colour',
      'config.yaml:8:11: rollouts[2].name',
      'config.yaml:9:14: rollouts[2].retry.backoff.max',
      'config.yaml:9:46: rollouts[2].retry.backoff.factor',
      'config.yaml:10:43: rollouts[2].waves[1].name',
      'config.yaml:10:52: rollouts[2].waves[1].soak',
    ]);
  });

  it('reports duplicate keys with the others, and reads the last of them', () => {
    const yaml = 'concurrency: 3\nwave: []\nconcurrency: 0\nconcurrency: many\nschedule: hourly';
    expect(problemsIn(withRollout(yaml)).map((line) => line.slice(0, 72))).toEqual([
      expect.stringContaining('5:5: rollouts[0].wave: unknown key "wave"'),
      expect.stringContaining('6:5: concurrency: the key "concurrency" is given twice'),
      expect.stringContaining('7:5: concurrency: the key "concurrency" is given twice'),
      expect.stringContaining('7:18: rollouts[0].concurrency: must be a number'),
      expect.stringContaining('8:15: rollouts[0].schedule: "hourly" is not'),
    ]);
  });

  it('carries them as data, and shows at most fifty', () => {
    const names = Array.from({ length: 70 }, (_, index) => `key${index}: 1`).join('\n');
    const read = () => readConfig(withSection(names));
    expect(problemsOf(read)).toHaveLength(51);
    expect(problemsOf(read).at(-1)).toBe('and 20 more');
    try {
      read();
      expect.unreachable();
    } catch (error) {
      const problems = error instanceof ConfigError ? error.problems : [];
      expect(problems).toHaveLength(70);
      expect(problems[0]).toMatchObject({ file: 'config.yaml', line: 3, column: 1, path: 'key0' });
    }
  });

  it.each(['- 1', 'text', '5', 'null: 1', '{}', 'rollouts: []', 'service: []'])(
    'refuses a file that holds only %s',
    (text) => {
      expect(problemsIn(text)).not.toEqual([]);
    },
  );
});
