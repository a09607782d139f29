import { z } from 'zod';
import { reservedNames } from '../../base/vocabulary.ts';

const reasonLengthMax = 500;

/** Fields for the reason and the operator, part of the body of every change. */
export const whyAndWho = {
  reason: z
    .string()
    .trim()
    .max(reasonLengthMax)
    .default('')
    .describe('Why, for the events and for other operators.'),
  by: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .refine((name) => !reservedNames.includes(name), { message: 'names the daemon itself' })
    .default('operator')
    .describe('The operator.'),
};

/**
 * All fields, and the body itself, are optional: an operator who pauses a rollout with curl at night must not be refused for
 * a missing field.
 */
export const VerbBody = z.object(whyAndWho).prefault({});
export type VerbBody = z.infer<typeof VerbBody>;
