import { z } from 'zod';
import { quote, withoutUserInfo } from '../source/config-error.ts';
import {
  durationSchema,
  filePath,
  httpUrl,
  percentageSchema,
  reportSeveral,
  secretFile,
  secretText,
  unfitForId,
  unprintable,
  wholeCheck,
  wholeNumber,
} from './value-schemas.ts';

const BaseUrl = httpUrl({
  example: 'https://api.example.com/api',
  credentials: 'give accessId and accessKey',
  query: 'remove it',
}).transform(({ origin, pathname }) => {
  // Paths are relative to {baseUrl}/v1, but people often copy the URL with /v1.
  return `${origin}${pathname.replace(/\/*(\/v1)?\/*$/, '')}`;
});

const HostPattern = z
  .string()
  .regex(/^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?$/, {
    error: (issue) =>
      `${quote(withoutUserInfo(String(issue.input)))} is not a host; write one such as eu.api.example.com or "*.api.example.com"`,
  })
  .transform((host) => host.toLowerCase());

const credentials = [
  { key: 'accessId', fileKey: 'accessIdFile', variable: 'UPWAVE_ACCESS_ID' },
  { key: 'accessKey', fileKey: 'accessKeyFile', variable: 'UPWAVE_ACCESS_KEY' },
];

/** The Collector Management Service and our part of its limits. */
export const ServiceSchema = z
  .strictObject({
    baseUrl: BaseUrl.describe(
      'The address of the Collector Management API, such as https://api.example.com/api. Paths are relative to {baseUrl}/v1.',
    ),
    accessId: secretText(unfitForId)
      .exactOptional()
      .describe(`The access id. Take it from the environment: \${UPWAVE_ACCESS_ID}.`),
    accessIdFile: secretFile('the access id', 'accessId'),
    accessKey: secretText(unprintable)
      .exactOptional()
      .describe(
        `The access key. Take it from the environment: \${UPWAVE_ACCESS_KEY}. A key of 8 characters or more is hidden where the service repeats it.`,
      ),
    accessKeyFile: secretFile('the access key', 'accessKey'),
    caFile: filePath()
      .exactOptional()
      .describe(
        "A PEM file with certificate authorities to trust beside the public ones, such as your company's. Relative to the config file. Certificates are always checked.",
      ),
    allowedHosts: z
      .array(HostPattern)
      .max(100)
      .default([])
      .describe(
        'Other hosts to which a redirect (301) may lead, such as "*.api.example.com". Add a port when it is neither that of baseUrl nor the usual one: "api.example.com:8443". Credentials go to no other host.',
      ),
    requestsPerSecond: z
      .number()
      .min(0.1)
      .max(10_000)
      .default(4)
      .describe('The rate limit of the service for this user, over all keys and tools.'),
    concurrentRequests: wholeNumber(1, 1_000)
      .default(10)
      .describe('The concurrent requests that the service allows for this access key.'),
    budgetShare: percentageSchema('80%')
      .prefault('100%')
      .describe(
        'The share of requestsPerSecond that upwave uses. The remaining share is for other tools of the same user.',
      ),
    requestTimeout: durationSchema('100ms', '10m')
      .prefault('30s')
      .describe('How long to wait for an answer of the service.'),
  })
  .check(
    wholeCheck((service, report) => {
      for (const { key, fileKey, variable } of credentials) {
        reportSeveral(service, [key, fileKey], report);
        if (service[key] === undefined && service[fileKey] === undefined)
          report(`is missing; give ${key}, such as \${${variable}}, or ${fileKey}`, [key]);
      }
    }),
  )
  .describe('The Collector Management Service and the limits for upwave.');
