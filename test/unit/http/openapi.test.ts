import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { adminFaultStatuses } from '../../../src/admin-api/access/admin-fault.ts';
import { AdminErrorBody, adminApi, adminApiPath } from '../../../src/contract/admin/api.ts';
import { collectorManagementApi } from '../../../src/contract/collector-management/api.ts';
import { noBody, type Operation } from '../../../src/contract/operation.ts';
import { makeOpenApiDocument } from '../../../src/http/openapi.ts';
import {
  describeCollectorManagementApi,
  getCollectorByNameWithPeriod,
} from '../../../src/reference-service/api/api-document.ts';

/** As loosely typed as `JSON.parse` has it, since tests look into it freely. */
type Loose = ReturnType<typeof JSON.parse>;

const service: Loose = describeCollectorManagementApi();
const serviceOperations: readonly Operation[] = [...collectorManagementApi, getCollectorByNameWithPeriod];
const admin: Loose = makeOpenApiDocument({
  title: 'upwave',
  version: '1',
  description: 'The admin API.',
  serverUrl: adminApiPath,
  operations: adminApi,
  errorBody: AdminErrorBody,
  errorStatuses: adminFaultStatuses,
  signIn: 'bearer',
});

describe.each([
  ['the Collector Management API', service, serviceOperations],
  ['the admin API', admin, adminApi],
])('the OpenAPI document of %s', (_name, document, operations) => {
  it('is valid, and all its references lead somewhere', async () => {
    const validator = new Validator();
    const plain = JSON.parse(JSON.stringify(document));
    expect(await validator.validate(plain)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(() => validator.resolveRefs({ specification: plain })).not.toThrow();
  });

  it('has every operation of the contract, each with a name of its own', () => {
    const ids = operations.map(({ path, method, name }) => {
      const { operationId } = document.paths[path][method.toLowerCase()];
      expect(operationId).toBe(name);
      return operationId;
    });
    expect(new Set(ids).size).toBe(operations.length);
    const described = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object));
    expect(described).toHaveLength(operations.length);
  });

  it('has a summary of its own for every operation', () => {
    const summaries = operations.map(
      ({ path, method }) => document.paths[path][method.toLowerCase()].summary ?? `none: ${method} ${path}`,
    );
    expect(new Set(summaries).size).toBe(operations.length);
    for (const summary of summaries) expect(summary).toMatch(/^[A-Z](?!one:)[^.]{5,79}$/);
  });

  it('names each segment of a path as a parameter', () => {
    for (const { path, method } of operations) {
      const { parameters } = document.paths[path][method.toLowerCase()];
      const inPath = parameters.filter(({ in: place }: Loose) => place === 'path');
      expect(inPath.map(({ name }: Loose) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }: Loose) => required)).toBe(true);
    }
  });

  it('has every error code of an operation', () => {
    for (const { path, method, errors } of operations) {
      const { responses } = document.paths[path][method.toLowerCase()];
      const words = Object.values<Loose>(responses).map(({ description }) => description);
      for (const code of errors) expect(words.join()).toContain(`\`${code}\``);
    }
  });
});

describe('the OpenAPI document of the admin API', () => {
  it('describes every instant as a whole number of milliseconds', () => {
    const instants: Loose[] = [];
    const visit = (schema: Loose, name: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const isNumber = JSON.stringify(schema.anyOf ?? schema).includes('"type":"number"');
      const isInteger = JSON.stringify(schema.anyOf ?? schema).includes('"type":"integer"');
      if (/^(at|since|until|\w+(At|By))$/.test(name) && (isNumber || isInteger))
        instants.push([name, isInteger]);
      for (const [key, part] of Object.entries(schema)) visit(part, key);
    };
    visit(admin.components.schemas, '');
    expect(instants.length).toBeGreaterThan(15);
    expect(instants.filter(([, isInteger]) => !isInteger)).toEqual([]);
  });
});

describe('the OpenAPI document of the Collector Management API', () => {
  const collector = service.paths['/collectors/{id}'];
  const source = service.paths['/collectors/{collectorId}/sources/{sourceId}'];

  it('asks for If-Match where an update needs it, and shows the ETag where it comes from', () => {
    const header = collector.put.parameters.find(({ in: place }: Loose) => place === 'header');
    expect(header).toMatchObject({ name: 'If-Match', required: true, schema: { type: 'string' } });
    const hasIfMatch = ({ parameters }: Loose) => parameters.some(({ name }: Loose) => name === 'If-Match');
    expect([source.put, source.delete].map(hasIfMatch)).toEqual([true, false]);
    for (const { get } of [collector, source]) expect(get.responses['200'].headers).toHaveProperty('ETag');
  });

  it('signs in with Basic credentials', () => {
    expect(service.components.securitySchemes.signIn).toEqual({ type: 'http', scheme: 'basic' });
    expect(service.security).toEqual([{ signIn: [] }]);
  });

  it('has the answers that any operation may give', () => {
    for (const { path, method } of collectorManagementApi) {
      const { responses } = service.paths[path][method.toLowerCase()];
      expect(responses['301'].headers).toHaveProperty('Location');
      expect(responses).toHaveProperty('401');
      expect(responses).toHaveProperty('429');
      expect(responses.default.content['application/json'].schema).toEqual({
        $ref: '#/components/schemas/ServiceError',
      });
      expect('415' in responses).toBe(path.startsWith('/collectors/upgrades'));
    }
  });

  it.each(serviceOperations)('has an exchange of $name that its own schemas accept', (operation) => {
    const { parameters, requestBody, responses } =
      service.paths[operation.path][operation.method.toLowerCase()];
    const exampleIn = (part: Loose) => part.content['application/json'].examples.usual.value;
    const inPlace = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((each: Loose) => each.in === place && 'example' in each)
          .map(({ name, example }: Loose) => [name, example]),
      );
    // In a URL each is a text.
    const texts = (values: object) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
    expect(operation.params.safeParse(texts(inPlace('path'))).error).toBeUndefined();
    expect(operation.query.safeParse(texts(inPlace('query'))).error).toBeUndefined();
    if (operation.body !== null)
      expect(operation.body.safeParse(exampleIn(requestBody)).error).toBeUndefined();
    const answer = responses[String(operation.answer.status)];
    if (operation.answer.body === noBody) expect(answer).not.toHaveProperty('content');
    else expect(operation.answer.body.safeParse(exampleIn(answer)).error).toBeUndefined();
  });

  it('has no body where a collector or a source is deleted', () => {
    for (const { delete: deleted } of [collector, source])
      expect(deleted.responses['200']).toEqual({ description: 'Done.' });
  });

  it('claims no status for a code whose status is not known', () => {
    expect(collector.put.responses['4XX'].description).toContain('`CollectorNameTooLong`');
    expect(service.paths['/collectors/upgrades'].post.responses['400'].description).toContain(
      '`collector.in.upgrading`',
    );
  });
});
