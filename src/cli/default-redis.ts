import { Secret } from '../base/secret.ts';
import type { RedisConfig } from '../config/config.ts';

/** Where Redis is when neither the config nor the command line says so (DESIGN §4). */
export const defaultRedis: RedisConfig = {
  kind: 'single',
  url: new Secret('redis://127.0.0.1:6379'),
  keyPrefix: 'upwave',
};
