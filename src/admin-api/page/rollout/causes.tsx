import type { Cause, CauseGroup } from '../../../contract/admin/rollout-status.ts';
import { capitalized } from '../../../rollout/messages/sentences.ts';
import { sharedAttributeWords, unweighedWords } from '../../../rollout/messages/stop-causes.ts';
import { formatAttributes } from '../../../rollout/model/attributes.ts';
import { holdCommandOf } from '../../../rollout/status/command-for.ts';
import type { Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { Badge, counted } from '../parts/tones.tsx';

const titles: Readonly<Record<CauseGroup['of'], string>> = {
  failed: 'Failed',
  retrying: 'Retrying',
  deferred: 'Deferred',
  withdrawn: 'Withdrawn',
};

/** Why upgrades failed, wait, or were withdrawn. Each cause leads to its collectors. */
export function CauseGroups({ rollout }: { readonly rollout: Rollout }) {
  if (rollout.causes.length === 0) return null;
  const holdCommand = holdCommandOf(rollout);
  return (
    <section class="card" aria-labelledby="causes">
      <h2 id="causes">Causes</h2>
      {rollout.sharedAttribute === null ? null : (
        <p class="note bad">
          {capitalized(sharedAttributeWords(rollout.sharedAttribute))}.{' '}
          <a
            href={linkTo.collectors(rollout.id, {
              attributes: formatAttributes(rollout.sharedAttribute.attributes),
            })}
          >
            Show them
          </a>
          .
          {holdCommand === undefined ? null : (
            <>
              {' '}
              To hold them alone: <code>{holdCommand}</code>
            </>
          )}
        </p>
      )}
      {rollout.unweighedFields.length === 0 || rollout.sharedAttribute !== null ? null : (
        <p class="quiet small">{unweighedWords(rollout.unweighedFields)}.</p>
      )}
      {rollout.causes.map(({ of, total, causes, others }) => (
        <div key={of}>
          <h3>
            {titles[of]}: {total.toLocaleString('en')}
          </h3>
          <ul class="rows counts">
            {causes.map((cause) => (
              <CauseRow key={`${cause.kind} ${cause.text}`} cause={cause} of={of} rolloutId={rollout.id} />
            ))}
            {others.count === 0 ? null : (
              <li class="quiet">
                <b>{others.count}</b>
                <span>
                  <a href={linkTo.collectors(rollout.id, { state: of })}>others</a>
                  {others.causes === 0
                    ? ', not read'
                    : `, ${others.unread > 0 ? 'at least ' : ''}${others.causes} more causes`}
                </span>
              </li>
            )}
          </ul>
        </div>
      ))}
    </section>
  );
}

interface CauseRowProps {
  readonly cause: Cause;
  readonly of: CauseGroup['of'];
  readonly rolloutId: string;
}

function CauseRow({ cause, of, rolloutId }: CauseRowProps) {
  const { kind, text, count, strata, otherStrata, names } = cause;
  const where = strata.map((stratum) => `${stratum.label} ×${stratum.count}`);
  if (otherStrata.strata > 0)
    where.push(`${counted(otherStrata.strata, 'more stratum', 'more strata')} ×${otherStrata.count}`);
  const filter = { state: of, ...(text !== '' && { cause: text }) };
  return (
    <li>
      <b>{count.toLocaleString('en')}</b>
      <span>
        <Badge name={kind} /> <a href={linkTo.collectors(rolloutId, filter)}>{text || 'no reason given'}</a>
        <span class="quiet small block">
          {where.join(', ')}
          {where.length > 0 ? ': ' : ''}
          {names.map((name, index) => (
            <span key={name}>
              {index === 0 ? '' : ', '}
              <bdi>{name}</bdi>
            </span>
          ))}
          {count > names.length ? ', …' : ''}
        </span>
      </span>
    </li>
  );
}
