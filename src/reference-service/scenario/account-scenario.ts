import { z } from 'zod';
import { nearestText } from '../../base/names.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** The account with the scenario's fleet, which is the default for keys. */
export const mainAccountName = 'main';

/** More accounts would have no ids left for their collectors. */
const accountsMax = 20;

export const Account = z.strictObject({
  /** True for accounts that may use the Search Job interface (collector-api.md §5.6). */
  enterprise: z.boolean().default(true),
  /** The label of its deployment; null: the default one. */
  deployment: z.string().nullable().default(null),
  /** The number of its collectors. The main account has the scenario's `fleet`. */
  fleet: z.number().int().min(0).max(serviceLimits.collectorsMax).default(20),
});

/** An access id and key, with the rights of its owner (collector-api.md §5). */
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
  /** Its host names. Default: `<label>.localhost`. */
  hosts: z.array(z.string()).optional(),
  /** The target of redirects from other deployments. Default: the first host with the service's own port. */
  url: z.string().optional(),
});

interface AccountParts {
  readonly accounts: Readonly<Record<string, z.infer<typeof Account>>>;
  readonly keys: readonly AccessKey[];
  readonly deployments: Readonly<Record<string, unknown>>;
}

/** Reports a mistake across several keys, at one of them. */
export type ReportMistake = (path: ReadonlyArray<string | number>, message: string) => void;

/** Reports mistakes in how keys, accounts and deployments name each other. */
export function reportAccountMistakes(
  { accounts, keys, deployments }: AccountParts,
  report: ReportMistake,
): void {
  if (Object.keys(accounts).length > accountsMax)
    report(['accounts'], `has more than ${accountsMax} accounts`);
  for (const [name, { deployment }] of Object.entries(accounts)) {
    if (deployment === null || Object.hasOwn(deployments, deployment)) continue;
    const message = unknownName('deployment', deployment, Object.keys(deployments));
    report(['accounts', name, 'deployment'], message);
  }
  const known = [mainAccountName, ...Object.keys(accounts)];
  keys.forEach(({ account, accessId }, index) => {
    if (!known.includes(account)) report(['keys', index, 'account'], unknownName('account', account, known));
    if (keys.findIndex((other) => other.accessId === accessId) !== index)
      report(['keys', index, 'accessId'], `"${accessId}" is given twice`);
  });
}

function unknownName(kind: string, name: string, known: readonly string[]): string {
  const nearest = nearestText(name, known);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return `there is no ${kind} "${name}"${hint}`;
}
