import type { DurationMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { ConfigRegister } from '../ports/config-register.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { Configs } from './configs.ts';

// A daemon is taken for gone after five of these.
const beatEveryMs: DurationMs = 2_000;

/** Keeps saying that this daemon lives, until the signal is aborted; Redis may keep a beat waiting for as long as it is away. */
export async function keepBeating(
  configs: Pick<Configs, 'beat'>,
  {
    register,
    sink,
    sleep,
    afterBeat,
  }: {
    readonly register: Pick<ConfigRegister, 'leave'>;
    readonly sink: EventSink;
    readonly sleep: Sleep;
    /** What is to be done by what the beat has shown. */
    readonly afterBeat: () => Promise<unknown>;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await configs.beat();
      await afterBeat();
    } catch (error) {
      // Redis away, or refusing: what was judged last stands, and each scan asks again.
      if (!signal.aborted) sink.note({ event: 'reconcile.failed', rollout: '', error });
    }
    await sleep(beatEveryMs, signal);
  }
  // Else the others would wait some seconds for it; where Redis is away, they do.
  await register
    .leave()
    .catch((error: unknown) => sink.note({ event: 'reconcile.failed', rollout: '', error }));
}
