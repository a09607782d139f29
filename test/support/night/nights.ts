import { type RedisForTests, useRedis } from '../redis/redis.ts';
import {
  aDaemonNight,
  aStartedNight,
  type Night,
  type NightInput,
  nightConfig,
  type StartedNight,
} from './daemon-night.ts';
import { aDesk, type Desk, type RunningTest } from './upwave-desk.ts';

type OwnNightInput = Partial<NightInput> & { readonly daemons?: number };

/** Nights of a test file, each on keys of its own in the Redis of the run. */
export interface Nights {
  readonly redis: RedisForTests;
  aNight(test: RunningTest, input?: OwnNightInput): Promise<Night>;
  aStartedNight(test: RunningTest, input?: OwnNightInput): Promise<StartedNight>;
  /** A night, and a config for processes that work in it. @param env of the processes */
  aNightDesk(
    test: RunningTest,
    input?: OwnNightInput & Parameters<typeof aDesk>[2],
  ): Promise<{ readonly night: Night; readonly desk: Desk }>;
}

export function useNights(): Nights {
  const redis = useRedis();
  const own = (input: OwnNightInput): NightInput => ({ redis: redis.config(), ...input });
  const aNight: Nights['aNight'] = (test, input = {}) => aDaemonNight(own(input), test.onTestFinished);
  return {
    redis,
    aNight,
    aStartedNight: (test, input = {}) => aStartedNight(own(input), test.onTestFinished),
    aNightDesk: async (test, input = {}) => {
      const night = await aNight(test, input);
      const config = { ...nightConfig(night.baseUrl, input), redis: night.redis };
      return { night, desk: aDesk(test, config, input) };
    },
  };
}
