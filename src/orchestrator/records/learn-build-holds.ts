import { isSameBuild } from '../../base/build-version.ts';
import type { BuildHold } from '../../contract/admin/status-parts.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';

/** The register of another account. */
export interface OtherAccount {
  readonly account: string;
  readonly register: Pick<FleetRegister, 'holds'>;
}

/**
 * A register in which the builds that other accounts hold are held, too. Nothing is copied: a hold ends in all accounts with
 * its release in its own account.
 */
export function learnBuildHolds(own: FleetRegister, others: readonly OtherAccount[]): FleetRegister {
  return {
    ...own,
    holds: async () => {
      const [holds, ...elsewhere] = await Promise.all([
        own.holds(),
        ...others.map(async ({ account, register }) =>
          (await register.holds()).builds.map((hold) => ({
            ...hold,
            reason: `in account ${account}: ${hold.reason}`,
          })),
        ),
      ]);
      const builds: BuildHold[] = [...holds.builds];
      for (const hold of elsewhere.flat())
        if (!builds.some(({ build }) => isSameBuild(build, hold.build))) builds.push(hold);
      return builds.length === holds.builds.length ? holds : { ...holds, builds };
    },
  };
}
