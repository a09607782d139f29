import { z } from 'zod';
import { defineOperation } from '../operation.ts';

export const CallerRole = z.enum(['viewer', 'operator', 'metrics']).meta({
  id: 'CallerRole',
  description:
    '`viewer` reads everything and changes nothing. `operator` may do everything. `metrics` reads /metrics only.',
});
export type CallerRole = z.infer<typeof CallerRole>;

export const whoAmI = defineOperation({
  name: 'whoAmI',
  summary: "Show the caller's name and role",
  route: 'GET /me',
  answer: {
    status: 200,
    body: z
      .object({
        name: z
          .string()
          .nullable()
          .describe(
            'The name of the token, or of the user that a proxy names; null: an operator without a name.',
          ),
        role: CallerRole,
      })
      .meta({ id: 'Caller' }),
  },
  source: 'DESIGN §5, HTTP: bearer tokens with names and roles',
});
