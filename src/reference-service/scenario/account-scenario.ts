import { z } from 'zod';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** The account of the scenario's fleet, and of keys that name no other. */
export const mainAccountName = 'main';

/** More would have no ids left for their collectors. */
const accountsMax = 20;

export const Account = z.strictObject({
  /** Only these may use the Search Job interface (collector-api.md §5.6). */
  enterprise: z.boolean().default(true),
  /** The label of the deployment it lives in; null is the default one. */
  deployment: z.string().nullable().default(null),
  /** How many collectors it has; the main account has the scenario's `fleet`. */
  fleet: z.number().int().min(0).max(serviceLimits.collectorsMax).default(20),
});

/** An access id and key, and what its owner may do (collector-api.md §5). */
export const AccessKey = z.strictObject({
  accessId: z
    .string()
    .min(1)
    .refine((id) => !id.includes(':'), 'an access id has no colon: HTTP Basic ends it there'),
  accessKey: z.string().min(1),
  /** Keys of one user share its request rate. */
  user: z.string().min(1).default('owner'),
  account: z.string().min(1).default(mainAccountName),
  /** The capability to manage or to view collectors, or neither. */
  may: z.enum(['manage', 'view', 'nothing']).default('manage'),
});
export type AccessKey = z.infer<typeof AccessKey>;

export const Deployment = z.strictObject({
  /** Host names of its address; `<label>.localhost` where left out. */
  hosts: z.array(z.string()).optional(),
  /** Where a request sent to the wrong deployment should go; the first host and the service's own port where left out. */
  url: z.string().optional(),
});

interface AccountParts {
  readonly accounts: Readonly<Record<string, z.infer<typeof Account>>>;
  readonly keys: readonly AccessKey[];
  readonly deployments: Readonly<Record<string, unknown>>;
}

/** Mistakes in how keys, accounts and deployments name each other. */
export function accountContradictions({ accounts, keys, deployments }: AccountParts): string[] {
  const problems: string[] = [];
  if (Object.keys(accounts).length > accountsMax) problems.push(`accounts: at most ${accountsMax}`);
  for (const [name, { deployment }] of Object.entries(accounts)) {
    if (deployment !== null && !Object.hasOwn(deployments, deployment)) {
      problems.push(`accounts.${name}.deployment: there is no deployment "${deployment}"`);
    }
  }
  keys.forEach(({ account, accessId }, index) => {
    if (account !== mainAccountName && !Object.hasOwn(accounts, account)) {
      problems.push(`keys.${index}.account: there is no account "${account}"`);
    }
    if (keys.findIndex((other) => other.accessId === accessId) !== index) {
      problems.push(`keys.${index}.accessId: "${accessId}" is there twice`);
    }
  });
  return problems;
}
