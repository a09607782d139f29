import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { counted } from '../../../rollout/messages/sentences.ts';
import { chosenAccount, showAllAccounts } from '../parts/account.tsx';
import { useDeeds } from '../parts/deeds.tsx';
import { heardAt, me, policies, rollouts } from '../parts/live.ts';
import { failedOf } from '../parts/progress.tsx';
import { type AskedDialog, linkTo, replaceRoute } from '../parts/route.ts';
import { HeldThings } from '../verbs/held.tsx';
import { DaemonProblems } from './daemon-problems.tsx';
import { EndedRollouts } from './ended-rollouts.tsx';
import { isWanted, needOf, overviewsOf, type PolicyOverview, sharedHolds } from './policy-overviews.ts';
import { PolicyRow } from './policy-row.tsx';
import { askStart, PolicyScans } from './scans.tsx';
import { SharedHold } from './shared-hold.tsx';

const words = signal('');
// Fewer policies are found by eye.
const searchedFrom = 6;

/** That no rollout is stopped. Held strata need a person as well, although the rest continues. */
function calmText(rows: readonly PolicyOverview[]): string {
  const where = chosenAccount.value === '' ? '' : ` in account ${chosenAccount.value}`;
  const held = rows.flatMap(({ rollout }) => (rollout?.endedAt === null ? rollout.strata.held : []));
  const waiting = held.reduce((sum, each) => sum + each.waiting, 0);
  if (waiting === 0) return `Nothing needs you${where}.`;
  const collectors = counted(waiting, 'collector of held strata waits', 'collectors of held strata wait');
  return `No rollout is stopped${where}. ${collectors} for a release.`;
}

/** One row for each policy, those that need a person first. */
export function Overview({ asked }: { readonly asked: AskedDialog }) {
  const deeds = useDeeds();
  useEffect(() => {
    if (policies.value === undefined || asked.do === undefined) return;
    if (asked.do === 'start' && asked.what !== undefined && me.value.role === 'operator')
      askStart(asked.what);
    // A reload of the page does not ask again.
    replaceRoute(linkTo.overview);
  }, [policies.value === undefined, asked.do, asked.what]);
  if (heardAt.value === 0) return <h2 class="lead">The page has no answer of the daemon yet.</h2>;
  const all = overviewsOf(rollouts.value, policies.value);
  const rows = all.filter((each) => isWanted(each, ''));
  const hasSearch = rows.length >= searchedFrom;
  const shown = hasSearch ? rows.filter((each) => isWanted(each, words.value)) : rows;
  const shared = sharedHolds(rows);
  const needing = countNeeding(rows);
  const everywhere = countNeeding(all);
  const elsewhere = {
    rollouts: everywhere.rollouts - needing.rollouts,
    policies: everywhere.policies - needing.policies,
  };
  return (
    <>
      <h2 class="lead">
        {isNone(needing) ? `${calmText(rows)}${failuresText(rows)}` : `${needingText(needing)} you.`}
      </h2>
      {isNone(elsewhere) ? null : (
        <p class="note bad">
          {needingText(elsewhere)} you in other accounts than {chosenAccount.value}.{' '}
          <button type="button" onClick={showAllAccounts}>
            show all accounts
          </button>
        </p>
      )}
      <DaemonProblems />
      {[...shared].map(([build, stopped]) => (
        <SharedHold key={build} build={build} stopped={stopped} />
      ))}
      {hasSearch ? (
        <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Search
            <input
              type="search"
              value={words.value}
              placeholder="policy, rollout, build, state"
              autocomplete="off"
              onInput={({ currentTarget }) => (words.value = currentTarget.value)}
            />
          </label>
        </form>
      ) : null}
      {rows.length === 0 ? (
        <p class="empty">No rollout yet. The daemon scans by each policy’s schedule.</p>
      ) : shown.length === 0 ? (
        <p class="empty">None of {counted(rows.length, 'policy', 'policies')} has these words.</p>
      ) : (
        <ul class="policies">
          {shown.map((row) => (
            <PolicyRow
              key={row.rollout?.id ?? row.policy}
              {...row}
              deed={deeds.get(row.rollout?.id ?? '')}
              hasSharedHold={shared.has(row.rollout?.buildHold?.build ?? '')}
            />
          ))}
        </ul>
      )}
      <PolicyScans />
      <HeldThings />
      <EndedRollouts deeds={deeds} />
    </>
  );
}

/** Running rollouts, and policies without one, that need a person. */
interface Needing {
  readonly rollouts: number;
  readonly policies: number;
}

function isNone({ rollouts, policies }: Needing): boolean {
  return rollouts + policies === 0;
}

/** `2 rollouts need`, `1 policy needs`, `1 rollout and 1 policy need` */
function needingText({ rollouts, policies }: Needing): string {
  if (policies === 0) return counted(rollouts, 'rollout needs', 'rollouts need');
  if (rollouts === 0) return counted(policies, 'policy needs', 'policies need');
  return `${counted(rollouts, 'rollout')} and ${counted(policies, 'policy', 'policies')} need`;
}

/** A rollout whose rollback waits waits for nothing else, and counts once. */
function countNeeding(rows: readonly PolicyOverview[]): Needing {
  const needing = rows.flatMap(({ rollout }) => (rollout?.headline.needsPerson === true ? [rollout] : []));
  const ids = new Set(needing.map(({ id }) => id));
  return {
    rollouts: needing.filter(({ rollbackId }) => rollbackId === null || !ids.has(rollbackId)).length,
    policies: rows.filter((row) => needOf(row) !== undefined).length,
  };
}

/** Failures need nobody while they are within their limits, but worth knowing. */
function failuresText(rows: readonly PolicyOverview[]): string {
  const failing = rows.flatMap(({ rollout }) =>
    rollout !== undefined && rollout.endedAt === null && failedOf(rollout.counts) > 0 ? [rollout] : [],
  );
  if (failing.length === 0) return '';
  const failed = failing.reduce((total, { counts }) => total + failedOf(counts), 0);
  return ` ${counted(failed, 'upgrade')} failed, within the limits.`;
}
