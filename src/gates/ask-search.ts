import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/time.ts';
import { collectorColumn, countColumn } from '../contract/collector-management/search-job-bodies.ts';
import type { GateQuestion } from '../orchestrator/ports/gate-probe.ts';
import type { LogAnswer, LogRecord, LogSearch } from '../orchestrator/ports/log-search.ts';
import type { GateAnswer, MessageCounts } from '../rollout/decision/assess-gate.ts';
import type { TimeRange } from '../rollout/decision/data-flow.ts';
import type { SearchGateRule } from '../rollout/model/policy.ts';
import { describeFailure } from '../rollout/upgrade/failure-classes.ts';
import { makeSafeText } from './answer-text.ts';

interface SearchGateParts {
  readonly search: LogSearch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type Error = Extract<GateAnswer, { kind: 'error' }>;

/** Searches the messages that collectors delivered. Every failure is an `error` answer (P14). */
export async function askSearch(
  gate: SearchGateRule,
  flow: GateQuestion['flow'],
  parts: SearchGateParts,
): Promise<GateAnswer> {
  switch (gate.kind) {
    case 'search':
      return await askNumber(gate, parts);
    case 'dataFlow':
      return await askCounts(flow, parts);
    default:
      return assertNever(gate);
  }
}

async function askNumber(
  { query, fromMs }: Extract<SearchGateRule, { kind: 'search' }>,
  { search, clock, signal }: SearchGateParts,
): Promise<GateAnswer> {
  const to = clock.now();
  const answer = await search.run({ query, from: to - fromMs, to }, signal);
  return answer.kind === 'records' ? numberOf(answer.records) : error(reasonOf(answer));
}

async function askCounts(
  flow: GateQuestion['flow'],
  { search, signal }: SearchGateParts,
): Promise<GateAnswer> {
  if (flow === undefined) return error('there is no data about the wave');
  const counts = async ({ from, to }: TimeRange): Promise<MessageCounts | Error> => {
    const answer = await search.run({ query: countQuery(flow.names), from, to }, signal);
    return answer.kind === 'records' ? countsOf(answer.records) : error(reasonOf(answer));
  };
  const before = await counts(flow.before);
  if ('kind' in before) return before;
  const after = await counts(flow.after);
  if ('kind' in after) return after;
  return { kind: 'counts', before, after, detail: '' };
}

// A service limits the length of a query. Beyond this many names all collectors are counted, which is one search as
// well.
const namesMax = 50;

/** Counts messages by collector: of these collectors, or of all when there are many names. */
function countQuery(names: readonly string[]): string {
  const scope = names.length > namesMax ? '*' : `(${names.map(nameTerm).join(' or ')})`;
  return `${scope} | count by ${collectorColumn}`;
}

function nameTerm(name: string): string {
  return `${collectorColumn}="${name.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;
}

function countsOf(records: readonly LogRecord[]): MessageCounts | Error {
  const counts = new Map<string, number>();
  for (const record of records) {
    const [name, count] = [record[collectorColumn], Number(record[countColumn])];
    if (name === undefined || !Number.isSafeInteger(count))
      return error('the search returned no counts by collector');
    counts.set(name, count);
  }
  return counts;
}

/** The only number of the only record. */
function numberOf(records: readonly LogRecord[]): GateAnswer {
  const [record, ...more] = records;
  if (record === undefined)
    return error('the search returns no record; end it with an aggregate such as | count');
  if (more.length > 0) return error(`the search returns ${records.length} records, but a gate needs one`);
  const numbers = Object.values(record).flatMap((text) => (text.trim() === '' ? [] : [Number(text)]));
  const [value, ...others] = numbers.filter(Number.isFinite);
  if (value === undefined || others.length > 0)
    return error('the record of the search must contain exactly one number');
  return { kind: 'value', value, detail: '' };
}

function reasonOf(answer: Exclude<LogAnswer, { kind: 'records' }>): string {
  // The service's message may be long, and have several lines.
  const safeText = makeSafeText([]);
  switch (answer.kind) {
    case 'failed':
      return describeFailure(answer.failure);
    case 'forbidden':
      return 'the service refuses search jobs (403): they require an Enterprise account';
    case 'lost':
      return 'the service no longer knows the search job; the next one may succeed';
    case 'ended':
      return safeText(`the search job ended in state ${answer.state}`);
    case 'unfinished':
      return 'the search job did not finish in time';
    case 'partial':
      return safeText(`the search is incomplete: ${answer.errors.join('; ')}`);
    case 'tooMany':
      return `the search returns more than ${answer.recordsMax} records`;
    case 'unreadable':
      return 'the response of the search job is unreadable';
    default:
      return answer satisfies never;
  }
}

function error(detail: string): Error {
  return { kind: 'error', detail };
}
