import { z } from 'zod';
import { reservedNames } from '../../base/vocabulary.ts';

const reasonLengthMax = 500;

/** Why, and who: part of the body of everything that an operator asks for. */
export const whyAndWho = {
  reason: z
    .string()
    .trim()
    .max(reasonLengthMax)
    .default('')
    .meta({ description: 'Why, for the events and for other operators.' }),
  by: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .refine((name) => !reservedNames.includes(name), { message: 'names the daemon itself' })
    .default('operator')
    .meta({ description: 'Who asks for it.' }),
};

/**
 * Why, and who. All of it may be left out, body included: who reaches for the brake at night with curl must not be
 * refused for a missing word.
 */
export const VerbBody = z.object(whyAndWho).prefault({});
export type VerbBody = z.infer<typeof VerbBody>;
