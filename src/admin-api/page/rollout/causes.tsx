import { showCount } from '../../../base/singular-or-plural.ts';
import type { Cause, CauseGroup, SharedAttribute } from '../../../contract/admin/rollout-status.ts';
import { capitalized, counted } from '../../../rollout/messages/sentences.ts';
import { sharedAttributeText, unweighedText } from '../../../rollout/messages/stop-causes.ts';
import { formatAttributes } from '../../../rollout/model/attributes.ts';
import { holdCommandOf } from '../../../rollout/status/command-for.ts';
import { ActButton, mayAct } from '../parts/act-button.tsx';
import type { Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { Badge } from '../parts/tones.tsx';
import { askHold } from '../verbs/held.tsx';
import { askVerb } from '../verbs/verb-dialogs.tsx';

const titles: Readonly<Record<CauseGroup['of'], string>> = {
  failed: 'Failed',
  retrying: 'Retrying',
  deferred: 'Deferred',
  withdrawn: 'Withdrawn',
};

/** Why upgrades failed, wait, or were withdrawn. Each cause leads to its collectors. */
export function CauseGroups({ rollout }: { readonly rollout: Rollout }) {
  if (rollout.causes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="causes">
      <h2 id="causes">Causes</h2>
      {rollout.sharedAttribute === null ? null : (
        <div class="note bad">
          <p>
            {capitalized(sharedAttributeText(rollout.sharedAttribute))}.{' '}
            <a
              href={linkTo.collectors(rollout.id, {
                attributes: formatAttributes(rollout.sharedAttribute.attributes),
              })}
            >
              Show them
            </a>
            .
          </p>
          <HoldGroup rollout={rollout} shared={rollout.sharedAttribute} />
        </div>
      )}
      {rollout.unweighedFields.length === 0 || rollout.sharedAttribute !== null ? null : (
        <p class="quiet small">{unweighedText(rollout.unweighedFields)}.</p>
      )}
      {rollout.causes.map((group, index) => (
        <details key={group.of} open={index === 0}>
          <summary>
            <h3>
              {titles[group.of]}: {showCount(group.total)}
            </h3>
          </summary>
          <CauseRows group={group} rollout={rollout} />
        </details>
      ))}
    </section>
  );
}

// The rest is folded, so that a phone shows the waves soon.
const openMax = 2;

function CauseRows({ group, rollout }: { readonly group: CauseGroup; readonly rollout: Rollout }) {
  const { of, causes, others } = group;
  const row = (cause: Cause) => (
    <CauseRow key={`${cause.kind} ${cause.text}`} cause={cause} group={of} rollout={rollout} />
  );
  const folded = causes.slice(openMax);
  return (
    <>
      <ul class="rows counts">{causes.slice(0, openMax).map(row)}</ul>
      {folded.length === 0 ? null : (
        <details>
          <summary>
            {counted(folded.length, 'more cause')} of {counted(countIn(folded), 'collector')}
          </summary>
          <ul class="rows counts">{folded.map(row)}</ul>
        </details>
      )}
      {others.count === 0 ? null : (
        <ul class="rows counts">
          <li class="quiet">
            <b>{showCount(others.count)}</b>
            <span>
              <a href={linkTo.collectors(rollout.id, { state: of })}>others</a>
              {others.causes === 0
                ? others.unread > 0
                  ? ', not read'
                  : ', which did not start'
                : `, ${others.unread > 0 ? 'at least ' : ''}${showCount(others.causes)} more causes`}
            </span>
          </li>
        </ul>
      )}
    </>
  );
}

function countIn(causes: readonly Cause[]): number {
  return causes.reduce((sum, { count }) => sum + count, 0);
}

interface CauseRowProps {
  readonly cause: Cause;
  readonly group: CauseGroup['of'];
  readonly rollout: Rollout;
}

/** Holds the collectors that explain the failures; the command does the same. */
function HoldGroup({ rollout, shared }: { readonly rollout: Rollout; readonly shared: SharedAttribute }) {
  const command = holdCommandOf(rollout);
  if (command === undefined) return null;
  const name = formatAttributes(shared.attributes);
  const count = Math.round(shared.share * rollout.planned);
  return (
    <div class="verbs">
      <ActButton onClick={() => askHold(name, `the ${counted(count, 'collector')} with ${name}`)}>
        hold these {showCount(count)}
      </ActButton>
      <span class="quiet small">
        {mayAct() ? 'or ' : ''}
        <code>{command}</code>
      </span>
    </div>
  );
}

function CauseRow({ cause, group, rollout }: CauseRowProps) {
  const { kind, text, count, strata, otherStrata, names } = cause;
  const where = strata.map((stratum) => `${stratum.label} ×${showCount(stratum.count)}`);
  if (otherStrata.strata > 0)
    where.push(
      `${counted(otherStrata.strata, 'more stratum', 'more strata')} ×${showCount(otherStrata.count)}`,
    );
  const filter = { state: group, ...(text !== '' && { cause: text }) };
  return (
    <li>
      <b>{showCount(count)}</b>
      <span>
        <Badge name={kind} /> <a href={linkTo.collectors(rollout.id, filter)}>{text || 'no reason given'}</a>
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
        {group === 'failed' && text !== '' && rollout.verbs.includes('retry') ? (
          <ActButton
            aria-label={`retry these ${count}: ${text}`}
            onClick={() => askVerb('retry', rollout, text)}
          >
            retry these
          </ActButton>
        ) : null}
      </span>
    </li>
  );
}
