import fc from 'fast-check';
import { collectorManagementApi } from '../../../src/contract/collector-management/api.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { basicAuthorization } from './api.ts';
import { bodyOf, bodyText } from './fuzz-bodies.ts';
import { headerValue, oddText, segment } from './fuzz-texts.ts';
import type { RawRequest } from './raw-http.ts';
import { referenceCredentials } from './target.ts';

/** A request whose frame is right, whatever is in it. */
export type FuzzRequest = Pick<RawRequest, 'method' | 'target' | 'headers' | 'body'>;

/** What the fleet of the service holds, so that some requests hit it. */
export interface FuzzKnowledge {
  readonly collectorIds: readonly number[];
  readonly names: readonly string[];
}

const operations: readonly Operation[] = collectorManagementApi as readonly Operation[];

/** Requests to every operation of the contract: valid ones, ones nearly so, and hostile ones. */
export function aFuzzRequest(knowledge: FuzzKnowledge): fc.Arbitrary<FuzzRequest> {
  return fc.constantFrom(...operations).chain((operation) =>
    fc.record({
      method: method(operation),
      target: target(operation, knowledge),
      headers: headers(),
      body: body(operation, knowledge),
    }),
  );
}

function method(operation: Operation): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 24, arbitrary: fc.constant(operation.method) },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH') },
    { weight: 1, arbitrary: fc.constantFrom('TRACE', 'PROPFIND', 'LINK', 'M-SEARCH', 'PURGE', 'SEARCH') },
  );
}

function target(operation: Operation, { collectorIds, names }: FuzzKnowledge): fc.Arbitrary<string> {
  const knownId = fc.constantFrom(...collectorIds).map(String);
  const value = (param: string): fc.Arbitrary<string> =>
    param === 'name'
      ? fc.oneof(segment(fc.constantFrom(...names)), segment(oddText))
      : fc.oneof({ weight: 3, arbitrary: knownId }, { weight: 1, arbitrary: segment(oddText) });
  const parts = operation.path.split(/(\{\w+\})/).map((part) => {
    const param = /^\{(\w+)\}$/.exec(part)?.[1];
    return param === undefined ? fc.constant(part) : value(param);
  });
  const path = fc.tuple(...parts).map((texts) => texts.join(''));
  return fc.tuple(prefix, path.chain(bent), query(operation)).map((texts) => texts.join(''));
}

const prefix = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('/v1', '/api/v1') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '/v2',
      '//v1',
      '/v1/v1',
      '/V1',
      '/v1/.',
      '/v1/..',
      'http://other.example.com/v1',
    ),
  },
);

/** A path, or one near it. */
function bent(path: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 30, arbitrary: fc.constant(path) },
    { weight: 1, arbitrary: fc.constant(`${path}/`) },
    { weight: 1, arbitrary: fc.constant(path.replaceAll('/', '//')) },
    { weight: 1, arbitrary: fc.constant(path.toUpperCase()) },
    { weight: 1, arbitrary: fc.constant(path.slice(0, path.lastIndexOf('/'))) },
    { weight: 1, arbitrary: segment(oddText).map((more) => `${path}/${more}`) },
  );
}

const pageNames = ['limit', 'offset', 'filter', 'aliveBeforeDays', 'download', 'toVersion'] as const;
const pageValues = [
  '1',
  '7',
  '0',
  '-1',
  'true',
  'alive',
  'hosted',
  '19.536-4',
  '999999999999999999',
] as const;

function query(operation: Operation): fc.Arbitrary<string> {
  const own = operation.query instanceof Object && 'shape' in operation.query ? operation.query.shape : {};
  const names = [...Object.keys(own as object), ...pageNames];
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, segment(oddText));
  const text = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pageValues) }, segment(oddText));
  const pair = fc.tuple(name, text).map(([key, value]) => `${key}=${value}`);
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant('') },
    {
      weight: 2,
      arbitrary: fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => `?${pairs.join('&')}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('?', '?&&&', '?limit', '?limit[]=1&limit[]=2', '?=&=', '?a=b=c', '?%'),
    },
  );
}

function headers(): fc.Arbitrary<FuzzRequest['headers']> {
  const oddTypes = [
    'text/plain',
    'application/json; charset=utf-16',
    'multipart/form-data',
    'a/b;'.repeat(50),
  ];
  const extra = [
    'If-Match',
    'Cookie',
    'Accept',
    'Content-Encoding',
    'Range',
    'X-HTTP-Method-Override',
    'Via',
  ];
  return fc
    .tuple(
      mostly('Authorization', fc.constant(basicAuthorization(referenceCredentials)), headerValue),
      mostly(
        'Content-Type',
        fc.constant('application/json'),
        fc.oneof(headerValue, fc.constantFrom(...oddTypes)),
      ),
      fc.dictionary(fc.constantFrom(...extra), headerValue, { maxKeys: 3 }),
    )
    .map((parts) => Object.assign({}, ...parts));
}

/** A header as it should be; now and then an odd one, or none. */
function mostly(
  name: string,
  good: fc.Arbitrary<string>,
  odd: fc.Arbitrary<string>,
): fc.Arbitrary<FuzzRequest['headers']> {
  const value = fc.oneof({ weight: 28, arbitrary: good }, { weight: 2, arbitrary: odd });
  return fc
    .option(value, { nil: undefined, freq: 30 })
    .map((text) => (text === undefined ? {} : { [name]: text }));
}

function body(operation: Operation, { collectorIds }: FuzzKnowledge): fc.Arbitrary<string | undefined> {
  const text = bodyText(bodyOf(operation, fc.constantFrom(...collectorIds)));
  return operation.body === null
    ? fc.option(text, { nil: undefined, freq: 10 })
    : fc.oneof(
        { weight: 15, arbitrary: text },
        { weight: 1, arbitrary: fc.constant<string | undefined>(undefined) },
      );
}
