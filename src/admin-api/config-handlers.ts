import type { adminApi } from '../contract/admin-api.ts';
import type { OperationHandlers } from '../http/http-exchange.ts';
import { AdminFault } from './admin-fault.ts';
import type { AskOperations } from './ask-operations.ts';
import { wordsOf } from './words-of.ts';

/** The handlers of our own API that are about the config file. */
export type ConfigHandlers = Pick<OperationHandlers<typeof adminApi>, 'reloadConfig'>;

export function makeConfigHandlers(ask: AskOperations): ConfigHandlers {
  return {
    reloadConfig: async ({ body }) => {
      const result = await ask.act((operations) => operations.reload(wordsOf(body)));
      if (result.kind === 'refused') throw new AdminFault('invalid', result.reason);
      return { body: result };
    },
  };
}
