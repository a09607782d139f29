import { z } from 'zod';

/** The parts of a JSON Schema that the references show. */
export const SchemaNode = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  pattern: z.string().optional(),
  /** Of a text that is a duration or a percentage: `1s to 366d`. */
  bounds: z.string().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), SchemaNode).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), SchemaNode]).optional();
  },
  get items() {
    return SchemaNode.optional();
  },
  get anyOf() {
    return z.array(SchemaNode).optional();
  },
  get oneOf() {
    return z.array(SchemaNode).optional();
  },
});
export type SchemaNode = z.infer<typeof SchemaNode>;
