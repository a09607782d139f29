import { collectorManagementApi } from '../../contract/collector-management/api.ts';
import { getCollectorByName } from '../../contract/collector-management/collectors.ts';
import { createUpgradeCodes, FlatErrorBody } from '../../contract/collector-management/errors.ts';
import { type GeneralAnswer, makeOpenApiDocument } from '../../http/openapi.ts';
import { exampleExchanges } from './example-exchanges.ts';

/** The known statuses of error codes (field-facts.md, The wire; collector-api.md §6, §7.5). Most are not documented. */
const errorStatuses: Readonly<Record<string, number>> = {
  ...Object.fromEntries(createUpgradeCodes.map((code) => [code, 400])),
  DuplicateResourceName: 400,
  InvalidSourceType: 400,
  CannotModifyCollector: 403,
  InvalidCollector: 404,
  forbidden: 403,
};

const generalAnswers: readonly GeneralAnswer[] = [
  {
    status: 301,
    description: '`moved`: the account lives in another deployment',
    headers: { Location: 'The same path at the right address.' },
  },
  {
    status: 400,
    description: 'a parameter or the body is invalid',
    appliesTo: ({ path, body, name }) => path.includes('{') || body !== null || name.startsWith('list'),
  },
  {
    status: 401,
    description: '`unauthorized`: the credential could not be verified, or too many sign-ins within a minute',
    headers: { 'WWW-Authenticate': 'Asks for Basic credentials.' },
  },
  { status: 404, description: 'there is no such resource', appliesTo: ({ path }) => path.includes('{') },
  {
    status: 415,
    description: 'the `Content-Type` is not `application/json`',
    appliesTo: ({ path }) => path.startsWith('/collectors/upgrades'),
  },
  { status: 429, description: 'more than 4 requests a second, or 10 at the same time' },
];

/** A name with a period needs a slash at the end of the path (collector-api.md §4.1), which for OpenAPI is another path. */
export const getCollectorByNameWithPeriod = {
  ...getCollectorByName,
  name: 'getCollectorByNameWithPeriod',
  summary: 'Get a collector whose name has a period',
  path: `${getCollectorByName.path}/`,
};

/** The Collector Management API as an OpenAPI document, built from the contract that client and reference service share. */
export function describeCollectorManagementApi() {
  return makeOpenApiDocument({
    title: 'Collector Management API',
    version: 'v1',
    description:
      'Manages collectors, their sources and their upgrades. A client sends the session cookie of the first response with later requests, so that they do not count as sign-ins. A user may send 4 requests a second, an access key 10 at the same time.',
    serverUrl: '{baseUrl}/v1',
    serverVariables: {
      baseUrl: {
        default: 'https://api.example.com/api',
        description: 'The API address of the deployment in which the account lives.',
      },
    },
    operations: [...collectorManagementApi, getCollectorByNameWithPeriod],
    examples: exampleExchanges,
    errorBody: FlatErrorBody,
    errorStatuses,
    generalAnswers,
    signIn: 'basic',
  });
}
