import fc from 'fast-check';
import { collectorManagementApi } from '../../../src/contract/collector-management/api.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import type { RawRequest } from '../../support/network/raw-http.ts';
import { basicAuthorization } from './api.ts';
import { bodyOf, bodyText } from './fuzz-bodies.ts';
import { headerValue, oddText, oneOf, segment } from './fuzz-texts.ts';
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
  return oneOf(
    [24, fc.constant(operation.method)],
    [1, fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH')],
    [1, fc.constantFrom('TRACE', 'PROPFIND', 'LINK', 'M-SEARCH', 'PURGE', 'SEARCH')],
  );
}

function target(operation: Operation, { collectorIds, names }: FuzzKnowledge): fc.Arbitrary<string> {
  const knownId = fc.constantFrom(...collectorIds).map(String);
  const value = (param: string): fc.Arbitrary<string> =>
    param === 'name'
      ? fc.oneof(segment(fc.constantFrom(...names)), segment(oddText))
      : oneOf([3, knownId], [1, segment(oddText)]);
  const parts = operation.path.split(/(\{\w+\})/).map((part) => {
    const param = /^\{(\w+)\}$/.exec(part)?.[1];
    return param === undefined ? fc.constant(part) : value(param);
  });
  const path = fc.tuple(...parts).map((texts) => texts.join(''));
  return fc.tuple(prefix, path.chain(bent), query(operation)).map((texts) => texts.join(''));
}

const oddPrefixes = ['', '/v2', '//v1', '/v1/v1', '/V1', '/v1/..', 'http://other.example.com/v1'];
const prefix = oneOf([20, fc.constantFrom('/v1', '/api/v1')], [1, fc.constantFrom(...oddPrefixes)]);

/** A path, or one near it. */
function bent(path: string): fc.Arbitrary<string> {
  const cut = path.slice(0, path.lastIndexOf('/'));
  const near = [`${path}/`, path.replaceAll('/', '//'), path.toUpperCase(), cut];
  return oneOf(
    [30, fc.constant(path)],
    [4, fc.constantFrom(...near)],
    [1, segment(oddText).map((more) => `${path}/${more}`)],
  );
}

const pageNames = ['limit', 'offset', 'filter', 'aliveBeforeDays', 'download', 'toVersion'] as const;
const pageValues = ['1', '7', '0', '-1', 'true', 'alive', 'hosted', '19.536-4', '999999999999999999'];
const oddQueries = ['?', '?&&&', '?limit', '?limit[]=1&limit[]=2', '?=&=', '?a=b=c', '?%'];

function query(operation: Operation): fc.Arbitrary<string> {
  const own = operation.query instanceof Object && 'shape' in operation.query ? operation.query.shape : {};
  const names = [...Object.keys(own as object), ...pageNames];
  const name = oneOf([4, fc.constantFrom(...names)], [1, segment(oddText)]);
  const text = oneOf([4, fc.constantFrom(...pageValues)], [1, segment(oddText)]);
  const pair = fc.tuple(name, text).map(([key, value]) => `${key}=${value}`);
  const pairs = fc.array(pair, { minLength: 1, maxLength: 4 }).map((all) => `?${all.join('&')}`);
  return oneOf([5, fc.constant('')], [2, pairs], [1, fc.constantFrom(...oddQueries)]);
}

const oddTypes = ['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'a/b;'.repeat(50)];
const moreHeaders = ['If-Match', 'Cookie', 'Accept', 'Content-Encoding', 'Range', 'X-HTTP-Method-Override'];

function headers(): fc.Arbitrary<FuzzRequest['headers']> {
  const authorization = mostly(basicAuthorization(referenceCredentials), headerValue);
  const type = mostly('application/json', fc.oneof(headerValue, fc.constantFrom(...oddTypes)));
  return fc
    .tuple(authorization, type, fc.dictionary(fc.constantFrom(...moreHeaders), headerValue, { maxKeys: 3 }))
    .map(([given, typed, more]) => ({
      ...(given === undefined ? {} : { Authorization: given }),
      ...(typed === undefined ? {} : { 'Content-Type': typed }),
      ...more,
    }));
}

/** A header's value as it should be; now and then an odd one, or none. */
function mostly(good: string, odd: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> {
  return fc.option(oneOf([28, fc.constant(good)], [2, odd]), { nil: undefined, freq: 30 });
}

function body(operation: Operation, { collectorIds }: FuzzKnowledge): fc.Arbitrary<string | undefined> {
  const text = bodyText(bodyOf(operation, fc.constantFrom(...collectorIds)));
  // Of ten reads one has a body, of sixteen writes one has none.
  return fc.option(text, { nil: undefined, freq: operation.body === null ? 10 : 15 });
}
