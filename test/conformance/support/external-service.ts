import { z } from 'zod';

/** A service outside this process, which the suite reads, and to which it adds only what it takes away again. */
export interface ExternalService {
  /** `{base_url}` of collector-api.md: without `/v1`. */
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
  /** Upgrade tasks change collectors permanently, so they must be allowed explicitly. */
  readonly allowsUpgrades: boolean;
}

const given = z.string().min(1);
const Environment = z.object({
  UPWAVE_CONFORMANCE_BASE_URL: z.url().transform((url) => url.replace(/\/+$/, '').replace(/\/v1$/, '')),
  UPWAVE_CONFORMANCE_ACCESS_ID: given,
  UPWAVE_CONFORMANCE_ACCESS_KEY: given,
  UPWAVE_CONFORMANCE_ALLOW_UPGRADES: z.string().optional(),
});

/** undefined: the suite starts the reference service itself. */
export const externalService: ExternalService | undefined = readExternalService();

function readExternalService(): ExternalService | undefined {
  const baseUrl = process.env['UPWAVE_CONFORMANCE_BASE_URL'];
  if (baseUrl === undefined || baseUrl === '') return undefined;
  const environment = Environment.parse(process.env);
  return {
    baseUrl: environment.UPWAVE_CONFORMANCE_BASE_URL,
    accessId: environment.UPWAVE_CONFORMANCE_ACCESS_ID,
    accessKey: environment.UPWAVE_CONFORMANCE_ACCESS_KEY,
    allowsUpgrades: environment.UPWAVE_CONFORMANCE_ALLOW_UPGRADES === '1',
  };
}
