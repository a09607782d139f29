import { counted } from '../../../rollout/messages/sentences.ts';
import type { Rollout } from '../parts/call.ts';
import { linkTo } from '../parts/route.ts';
import { ByWhom } from '../parts/time.tsx';
import { ReleaseBuild } from '../verbs/held.tsx';

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
      <ReleaseBuild build={build} />
    </section>
  );
}
