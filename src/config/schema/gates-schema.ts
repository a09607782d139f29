import { z } from 'zod';
import { invariant } from '../../base/assert.ts';
import type { Expectation } from '../../rollout/model/expectation.ts';
import { type GatePlace, type GateRule, gateKinds } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import {
  durationSchema,
  filePath,
  freeName,
  httpUrl,
  oneOf,
  percentageSchema,
  shortName,
  uniqueNames,
} from './value-schemas.ts';

/** The URL of a gate. A query would be stored and shown with the URL, and is often a credential (P12). */
function gateUrl(query: string) {
  const example = 'https://prometheus.example.com';
  return httpUrl({ example, credentials: 'use tokenFile', query }).transform(({ href }) => href);
}

const operators = ['>=', '>', '<=', '<', '==', '!='] as const satisfies ReadonlyArray<
  Expectation['operator']
>;

const Expect = z
  .string({ error: (issue) => (issue.input === undefined ? undefined : 'must be text such as ">= 0.99"') })
  .transform((text, context): Expectation => {
    const expectation = parseExpectation(text);
    if (expectation !== undefined) return expectation;
    context.addIssue(
      `${quote(text)} is not an expectation; write one of >= > <= < == != and a number, such as ">= 0.99"`,
    );
    return z.NEVER;
  })
  .meta({ examples: ['>= 0.99', '< 5'] });

function parseExpectation(text: string): Expectation | undefined {
  const [, operator, number] =
    /^(>=|>|<=|<|==|=|!=)\s*(-?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)$/i.exec(text.trim()) ?? [];
  const known = operators.find((candidate) => candidate === (operator === '=' ? '==' : operator));
  const value = Number(number);
  return known === undefined || !Number.isFinite(value) ? undefined : { operator: known, value };
}

/** Keys of gates with HTTP requests. */
const asking = {
  every: durationSchema('100ms', '1d').prefault('1m').describe('How often the probe asks.'),
  urlFile: filePath()
    .exactOptional()
    .describe(
      'A file with the URL, instead of url, when the path or query is a secret. Read at each request. Relative to the config file.',
    ),
  tokenFile: filePath()
    .exactOptional()
    .describe('A file with a bearer token, read at each request. Relative to the config file.'),
  caFile: filePath()
    .exactOptional()
    .describe(
      'A PEM file with certificate authorities to trust beside the public ones, read at each request. Relative to the config file.',
    ),
};

const Prometheus = z
  .strictObject({
    url: gateUrl('PromQL belongs in query')
      .exactOptional()
      .describe('The address of Prometheus, such as https://prometheus.example.com.'),
    query: z
      .string()
      .trim()
      .min(1, 'is empty; write a PromQL query that gives one number')
      .max(4_000)
      .describe('A PromQL query with one number as its result.'),
    expect: Expect.describe(
      'The condition for the number: >= > <= < == or != and a number, such as ">= 0.99".',
    ),
    for: durationSchema('0s')
      .prefault('0s')
      .describe(
        'How long the condition must hold without a break to pass, or fail without a break to fail. 0s: one answer decides.',
      ),
    ...asking,
  })
  .check(oneOf(['url', 'urlFile']))
  .transform(({ for: duration, ...rule }) => ({ ...rule, forMs: duration }))
  .describe('A query to Prometheus.');

const Webhook = z
  .strictObject({
    url: gateUrl('write the URL into a file, and name that as urlFile')
      .exactOptional()
      .describe(
        'The address that gets a POST with a summary of the rollout. 2xx passes, with any body. 409 holds, and anything else is no answer. The address is stored and shown.',
      ),
    ...asking,
  })
  .check(oneOf(['url', 'urlFile']))
  .describe('A request to a service of your own.');

const every = asking.every;

const Search = z
  .strictObject({
    query: z
      .string()
      .trim()
      .min(1, 'is empty; write a query whose result is one number')
      .max(4_000)
      .describe(
        'A query of the service that ends with an aggregate, and returns one record with one number.',
      ),
    expect: Expect.describe('The condition for the number, such as "< 100".'),
    from: durationSchema('1m', '1d').prefault('10m').describe('How far back the search looks.'),
    every,
  })
  .describe(
    'A search over the messages that the collectors deliver, asked when the soak is over. Needs an account with the Search Job interface.',
  );

const DataFlow = z
  .strictObject({
    window: durationSchema('2m', '1d').prefault('10m').describe('How long messages are counted.'),
    atLeast: percentageSchema('70%')
      .prefault('70%')
      .describe('The share of the earlier messages that the wave must deliver.'),
    comparedTo: durationSchema('1h', '30d')
      .prefault('1d')
      .describe('How much earlier the other messages are. 7d where weekends differ.'),
    every,
  })
  .describe(
    'Whether the upgraded collectors still deliver, asked when the soak is over. A collector that delivered before and is silent now is a failure, like one that died. Needs an account with the Search Job interface.',
  );

const Gate = z
  .strictObject({
    prometheus: Prometheus.exactOptional(),
    webhook: Webhook.exactOptional(),
    dataFlow: DataFlow.exactOptional(),
    search: Search.exactOptional(),
    name: shortName()
      .exactOptional()
      .describe('The name of the probe, unique in the wave. The default is its kind.'),
    dryRun: z
      .boolean()
      .default(false)
      .describe('Whether the probe only shows its result and decides nothing.'),
  })
  .check(oneOf(gateKinds, 'make two gates of them'))
  .describe(
    'A probe before the next wave may open: exactly one of prometheus, webhook, dataFlow and search.',
  );

/** A wave's gates, each with a name of its own. */
export const GatesSchema = z
  .array(Gate)
  .max(20)
  .check(uniqueNames('gate of the wave'))
  .prefault([])
  .transform((gates) => {
    const names = new Set(gates.flatMap(({ name }) => name ?? []));
    return gates.map((gate): GateRule => {
      const name = gate.name ?? freeName(gateKinds.find((kind) => gate[kind] !== undefined) ?? 'gate', names);
      names.add(name);
      return ruleOf(gate, name);
    });
  })
  .describe(
    'Probes that must pass, beside failures and soak, before the next wave opens. A probe without a result holds the rollout.',
  );

/** The gate of a wave with `dataFlow: required`. */
export const defaultDataFlow: GateRule = ruleOf({ dataFlow: DataFlow.parse({}), dryRun: false }, 'dataFlow');

function ruleOf(gate: z.output<typeof Gate>, name: string): GateRule {
  const { prometheus, webhook, dataFlow, search, dryRun } = gate;
  if (dataFlow !== undefined) {
    const { window: windowMs, comparedTo: comparedToMs, every: everyMs, atLeast } = dataFlow;
    return { kind: 'dataFlow', name, dryRun, everyMs, windowMs, atLeast, comparedToMs };
  }
  if (search !== undefined) {
    const { from: fromMs, every: everyMs, query, expect } = search;
    return { kind: 'search', name, dryRun, everyMs, query, expect, fromMs };
  }
  const asked = prometheus ?? webhook;
  invariant(asked !== undefined, 'the schema wants one of them');
  const { every, tokenFile, caFile } = asked;
  const shared = {
    name,
    dryRun,
    everyMs: every,
    ...placeOf(asked),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(caFile !== undefined && { caFile }),
  };
  if (prometheus === undefined) return { kind: 'webhook', ...shared };
  const { query, expect, forMs } = prometheus;
  return { kind: 'prometheus', ...shared, query, expect, forMs };
}

function placeOf({ url, urlFile }: { readonly url?: string; readonly urlFile?: string }): GatePlace {
  if (urlFile !== undefined) return { urlFile };
  invariant(url !== undefined, 'the schema wants one of the two');
  return { url };
}
