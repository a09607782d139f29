import { z } from 'zod';
import { ConfigFile } from '../../src/config/schema/config-file.ts';

/** The config file as a JSON Schema, for editors. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(ConfigFile, {
    io: 'input',
    // Variables are not replaced in keys.
    override: ({ jsonSchema, path }) => {
      if (path.at(-1) !== 'propertyNames') allowVariable(jsonSchema);
    },
  });
  reportBounds(schema);
  return { ...schema, title: 'upwave' };
}

/** The same without variables, and with `bounds` where JSON Schema has none. */
export function configSchemaWithBounds(): object {
  return z.toJSONSchema(ConfigFile, { io: 'input' });
}

/** JSON Schema has no bounds for durations and percentages as text, so the descriptions have them. Changes its argument. */
function reportBounds(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  Object.values(node).forEach(reportBounds);
  const { bounds, description = '' } = node as JsonSchema;
  if (typeof bounds !== 'string') return;
  Reflect.deleteProperty(node, 'bounds');
  Reflect.set(node, 'description', `${description} From ${bounds}.`.trim());
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const variablePattern = '\\$\\{[A-Za-z_]\\w*\\}';

/** Allows `${NAME}` for every value. By itself only a text without rules allows it. Changes its argument. */
function allowVariable(schema: JsonSchema): void {
  // Wrappers, such as for a default, are visited again with their inner schema.
  if (schema.pattern !== undefined && !schema.pattern.endsWith(variablePattern)) {
    schema.pattern = `${schema.pattern}|${variablePattern}`;
  }
  const isText = schema.type === 'string' && schema.enum === undefined;
  if (isText || schema.type === undefined || schema.type === 'object' || schema.type === 'array') return;
  const rules: JsonSchema = {};
  for (const key of Object.keys(schema)) {
    if (key === 'description' || key === 'default') continue;
    Reflect.set(rules, key, schema[key]);
    Reflect.deleteProperty(schema, key);
  }
  schema.anyOf = [rules, { type: 'string', pattern: variablePattern }];
}
