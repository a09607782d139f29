import { counted } from '../../../rollout/messages/sentences.ts';
import type { Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { ByWhom } from '../parts/time.tsx';
import { groupDue, HoldFirst, ReleaseBuild } from '../verbs/held.tsx';

/** A held build that stops several rollouts: one incident, with its cause and what ends it. */
export function SharedHold({
  build,
  stopped,
}: {
  readonly build: string;
  readonly stopped: readonly Rollout[];
}) {
  const held = stopped[0]?.buildHold ?? null;
  if (held === null) return null;
  // Rollouts that one group stops show its button once.
  const groups = new Map(
    stopped.flatMap((rollout) => {
      const group = groupDue(rollout);
      return group === undefined ? [] : [[group, rollout] as const];
    }),
  );
  return (
    <section class="note bad" aria-label={`build ${build}`}>
      <p>
        <b>
          Build {build} is held, which stops {counted(stopped.length, 'rollout')}.
        </b>{' '}
        Held <ByWhom {...held} />
      </p>
      <p class="small">
        {stopped.map(({ id, policy }, index) => (
          <span key={id}>
            {index === 0 ? '' : ', '}
            <a href={linkTo.rollout(id)}>{policy}</a>
          </span>
        ))}
      </p>
      <div class="verbs">
        {[...groups].map(([group, rollout]) => (
          <HoldFirst key={group} rollout={rollout} />
        ))}
        <ReleaseBuild build={build} isDue={groups.size === 0} />
      </div>
    </section>
  );
}
