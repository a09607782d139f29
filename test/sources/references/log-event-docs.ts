import type { LogFields, LogLevel } from '../../../src/observability/logger.ts';
import type { DaemonNote } from '../../../src/orchestrator/ports/event-sink.ts';
import type { EventDoc } from './rollout-event-docs.ts';

/** The notes that may have this name: some have several. */
type NoteNamed<Name, Note = DaemonNote> = Note extends { readonly event: infer Names }
  ? Name extends Names
    ? Note
    : never
  : never;
type WithoutName<Note> = Note extends unknown ? Omit<Note, 'event'> : never;

const policy = 'production';
const rollout = 'production-20261122-1';
const at = 0;
const error = 'connect ECONNREFUSED 10.0.0.5:6379';

/** What each event of the log means that belongs to no rollout's history. */
export const noteDocs = {
  'daemon.started': {
    when: 'The daemon listens and works.',
    example: { detail: 'listening on http://127.0.0.1:9464' },
  },
  'daemon.stopping': { when: 'The daemon got a signal and ends its work.', example: { detail: 'SIGTERM' } },
  'daemon.stopped': { when: 'The daemon has ended.', example: { detail: 'all work has ended' } },
  'daemon.starved': {
    when: 'This process repeatedly works too late: too little CPU, or a slow Redis.',
    example: { late: { kind: 'places', lateMs: 700 } },
  },
  'leader.acquired': { when: 'This daemon leads now.', example: {} },
  'leader.lost': { when: 'This daemon no longer leads.', example: {} },
  'scan.finished': { when: 'A scan ended with a result.', example: { policy, result: 'nothing to do' } },
  'scan.failed': {
    when: 'A scan got no result. It is repeated after 1 to 15 minutes.',
    example: { policy, reason: 'the service does not answer' },
  },
  'poll.failed': {
    when: 'A request for a whole rollout got no answer. It is repeated.',
    example: { rollout, reason: 'the inventory: no answer within 30s' },
  },
  'step.failed': {
    when: 'A step of one upgrade ended with an error of upwave. It is repeated.',
    example: { rollout, collectorId: 7, error },
  },
  'reconcile.failed': {
    when: 'A decision about a rollout ended with an error of upwave. It is repeated.',
    example: { rollout, error },
  },
  'backgroundTask.failed': {
    when: 'A background task ended with an error of upwave. It is started again.',
    example: { backgroundTask: `inventory ${rollout}`, error },
  },
  'build.held': {
    when: 'A build is held: by an operator, or by the daemon after a failed first wave (level `error`).',
    example: { policy, subject: '19.536-4', by: 'ann', at, reason: 'drops messages' },
  },
  'build.released': {
    when: 'An operator released a build.',
    example: { subject: '19.536-4', by: 'ann', at, reason: '' },
  },
  'collector.held': {
    when: 'An operator held a collector.',
    example: { subject: '7', by: 'ann', at, reason: 'disk replacement' },
  },
  'collector.released': {
    when: 'An operator released a collector.',
    example: { subject: '7', by: 'ann', at, reason: '' },
  },
  'group.held': {
    when: 'An operator held a group of collectors, over all policies.',
    example: { subject: 'fields.rack=r7', by: 'ann', at, reason: 'its switch is replaced' },
  },
  'group.released': {
    when: 'An operator released a group of collectors.',
    example: { subject: 'fields.rack=r7', by: 'ann', at, reason: '' },
  },
  'config.reloaded': {
    when: 'The config was read again. The reason lists what changed.',
    example: { by: 'ann', at, reason: 'production: concurrency 50 → 20' },
  },
  'config.refused': {
    when: 'The config was read again, has errors, and nothing was changed.',
    example: { by: 'ann', reason: 'upwave.yaml:9:18: rollouts[0].concurrency: must be at least 1' },
  },
  'config.differs': {
    when: 'The daemons have different configs of a policy, and this one has the newest.',
    example: { policy, reason: '1 daemon has another config of production' },
  },
  'config.outdated': {
    when: 'The daemons have different configs of a policy, and this one has an older one.',
    example: { policy, reason: '1 daemon has a newer config of production' },
  },
  'config.agreed': {
    when: 'All daemons have the same config of a policy again.',
    example: { policy, reason: 'all daemons have the same config of production again' },
  },
  'config.settingsDiffer': {
    when: 'The daemons have different configs outside of the policies, such as receivers.',
    example: { reason: '1 daemon has another config of notify' },
  },
  'config.settingsAgree': {
    when: 'All daemons have the same config outside of the policies again.',
    example: { reason: 'all daemons have the same config outside of the policies again' },
  },
  'policy.orphaned': {
    when: 'At start: a running rollout has a policy that is not in the config.',
    example: { policy, rollout, reason: 'the config has no policy called production' },
  },
  'rollout.foreign': {
    when: 'A rollout belongs to another account, or may belong to one. This daemon leaves it alone.',
    example: { policy, rollout, reason: 'it belongs to another account' },
  },
  'record.broken': {
    when: 'A record in Redis is unreadable and is left out of lists.',
    example: { reason: 'the record of production-20261122-1 is not valid' },
  },
  'record.newer': {
    when: 'A newer upwave wrote a record. This daemon leaves its rollout alone.',
    example: { reason: 'record version 9, this upwave reads 8' },
  },
  'redis.unreachable': { when: 'Redis does not answer.', example: { reason: error } },
  'redis.reachable': { when: 'Redis answers again.', example: { reason: 'connected' } },
  'redis.unwritable': {
    when: 'Redis answers, but rejects writes: no memory, no disk, a replica, or an incomplete cluster.',
    example: { reason: 'OOM command not allowed when used memory > maxmemory' },
  },
  'redis.writable': { when: 'Redis takes writes again.', example: { reason: 'connected' } },
  'redis.fault': {
    when: 'Redis answers a command of upwave with an error that does not end automatically.',
    example: { reason: 'WRONGTYPE Operation against a key holding the wrong kind of value' },
  },
  'redis.faultOver': { when: 'The commands of upwave work again.', example: { reason: 'connected' } },
  'redis.forbidden': {
    when: 'The Redis user lacks a right that every daemon needs.',
    example: { rights: ['+evalsha'], reason: 'the user upwave lacks +evalsha' },
  },
  'redis.allowed': {
    when: 'The Redis user has all rights again.',
    example: { reason: 'all rights are there' },
  },
  'redis.risk': {
    when: 'A setting of Redis risks data, such as a missing `appendonly`.',
    example: { reason: 'appendonly is off: a crash of Redis loses rollouts' },
  },
  'redis.emptied': {
    when: 'Redis has lost data that this daemon knew. Holds are stored again.',
    example: { reason: 'Redis has lost 1 rollout' },
  },
  'clock.wrong': {
    when: 'The clocks of this host and of Redis differ by more than ten seconds. This daemon stops working.',
    example: { reason: 'this clock is 42s ahead of that of Redis' },
  },
  'clock.right': { when: 'The two clocks agree again.', example: { reason: 'the clocks agree' } },
  'service.down': {
    when: 'The service does not answer.',
    example: { reason: '5 requests in a row got no answer' },
  },
  'service.up': { when: 'The service answers again.', example: { reason: 'answers' } },
  'service.moved': {
    when: 'The service redirects to another allowed host, which is now used.',
    example: { baseUrl: 'https://api.eu.example.com/api' },
  },
  'service.proxied': {
    when: 'Requests go through a proxy of the environment.',
    example: { proxy: 'http://proxy.example.com:3128' },
  },
  'service.paused': {
    when: 'At start: an earlier pause of the API budget still lasts.',
    example: { reason: '429', pauseMs: 45_000 },
  },
  'service.throttled': {
    when: 'The service answered 429, or rejected the sign-in. All daemons pause. `durationMs` is the pause.',
    example: { reason: '429', pauseMs: 60_000 },
  },
  'inventory.incomplete': {
    when: 'Rows of the list of collectors are unreadable. No plan includes them.',
    example: { reason: '2 rows are unreadable' },
  },
  'metrics.incomplete': {
    when: 'A scrape of `/metrics` could not read Redis, and lacks some series.',
    example: { error },
  },
  'metrics.complete': { when: 'Scrapes have all series again.', example: {} },
  'notification.sent': {
    when: 'A receiver took a message.',
    example: { receiver: 'slack', policy, notice: 'held' },
  },
  'notification.failed': {
    when: 'A receiver did not take a message. It is retried. Repeated failures have the level `debug`.',
    example: { receiver: 'slack', reason: '503', failures: 1 },
  },
  'notification.recovered': { when: 'A receiver takes messages again.', example: { receiver: 'slack' } },
  'notification.dropped': {
    when: 'A receiver rejected a message, or took none for a day.',
    example: { receiver: 'slack', policy, notice: 'held', reason: '404' },
  },
  'notification.pushedOut': {
    when: 'Too many messages wait, and the oldest were dropped.',
    example: { messages: 12 },
  },
  'report.written': {
    when: 'The report of an ended rollout was written. The reason is its path.',
    example: { policy, rollout, reason: '/var/lib/upwave/reports/production-20261122-1.html' },
  },
  'report.failed': {
    when: 'A report could not be written. It is retried. Repeated failures have the level `debug`.',
    example: { policy, rollout, reason: 'ENOSPC: no space left on device', failures: 1 },
  },
  'report.recovered': {
    when: 'Reports can be written again.',
    example: { reason: 'reports are written again' },
  },
} satisfies {
  readonly [Name in DaemonNote['event']]: EventDoc<WithoutName<NoteNamed<Name>>>;
};

/** Events that the program writes into the log itself. */
export const programEventDocs: Readonly<
  Record<string, EventDoc<Omit<LogFields, 'event'>> & { readonly level: LogLevel }>
> = {
  'daemon.starting': { level: 'info', when: 'The program starts.', example: { version: '0.1.0' } },
  'daemon.failed': {
    level: 'error',
    when: 'A loop of the daemon ended with an error of upwave.',
    example: { error },
  },
  'start.incomplete': {
    level: 'warn',
    when: 'A part of the start failed. It is repeated.',
    example: { error },
  },
  'config.risk': {
    level: 'warn',
    when: 'A key of the config is risky.',
    example: { reason: 'service.baseUrl is http: the access key travels in the open' },
  },
  'config.unsettled': {
    level: 'error',
    when: 'A reloaded config could not be applied completely. Restart the daemon.',
    example: { error },
  },
  'redis.embedded': {
    level: 'info',
    when: 'The daemon started its own Redis, at first or again.',
    example: { reason: 'data in ./.upwave/redis' },
  },
  'redis.stopped': {
    level: 'error',
    when: 'The Redis of the daemon stopped unexpectedly. The daemon starts it again, up to 5 times in 5 minutes, then exits with 4.',
    example: { reason: 'redis-server on 127.0.0.1:41873 has stopped unexpectedly; upwave starts it again' },
  },
  'queue.failed': { level: 'debug', when: 'The job queue lost its connection to Redis.', example: { error } },
  'queue.refused': { level: 'error', when: 'Redis rejected a command of the job queue.', example: { error } },
  'http.failed': {
    level: 'error',
    when: 'A request to the HTTP API met an error of upwave.',
    example: { error },
  },
  'projection.failed': {
    level: 'error',
    when: 'An event could not be written to the log or counted.',
    example: { error },
  },
};
