import { useEffect, useState } from 'preact/hooks';
import { showCount } from '../../../base/singular-or-plural.ts';
import { headlineWords } from '../../../rollout/messages/need-texts.ts';
import { targetText } from '../../../rollout/messages/plans.ts';
import { AccountName, isOfChosenAccount } from '../parts/account.tsx';
import { callDaemon, type Rollout } from '../parts/call.ts';
import { type Deed, DeedNote, RollbackLinks } from '../parts/deeds.tsx';
import { rollouts } from '../parts/live.ts';
import { failedOf } from '../parts/progress.tsx';
import { linkTo } from '../parts/route.ts';
import { Time } from '../parts/time.tsx';
import { Badge } from '../parts/tones.tsx';

const earlierMax = 30;

/** Read again only when a rollout starts or ends, because the daemon computes all policies for it. */
export function EndedRollouts({ deeds }: { readonly deeds: ReadonlyMap<string, Deed> }) {
  const [past, setPast] = useState<readonly Rollout[]>([]);
  const changes = rollouts.value.map(({ id, endedAt }) => `${id} ${endedAt}`).join();
  useEffect(() => {
    callDaemon('listRollouts', { query: { limit: earlierMax } }).then(
      (page) => setPast(page.rollouts.filter(({ endedAt }) => endedAt !== null)),
      // The state of the connection shows that the daemon is unavailable.
      () => {},
    );
  }, [changes]);
  const shown = past.filter(isOfChosenAccount);
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-labelledby="earlier">
      <h2 id="earlier">Ended rollouts</h2>
      <ul class="rows ended">
        {shown.map((rollout) => {
          const { id, accountName, rollbackOf, rollbackId, kind, counts, headline, planned, endedAt } =
            rollout;
          return (
            <li key={id}>
              <span>
                <a href={linkTo.rollout(id)}>{id}</a> <AccountName {...(accountName && { accountName })} />{' '}
                <RollbackLinks rollbackOf={rollbackOf} rollbackId={rollbackId} />{' '}
                <DeedNote deed={deeds.get(id)} rollout={rollout} />
              </span>
              <Badge name={headline.kind} words={headlineWords(rollout)} />
              <span>{`${kind === 'rollback' ? 'back to ' : ''}${targetText(rollout)}`}</span>
              <span>
                {showCount(counts.succeeded)} / {showCount(planned)}
                {failedOf(counts) > 0 ? `, ${showCount(failedOf(counts))} failed` : ''}
              </span>
              <span class="quiet">{endedAt === null ? '' : <Time at={endedAt} />}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
