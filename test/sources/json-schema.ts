import { z } from 'zod';
import { ConfigFile } from '../../src/config/schema/config-file.ts';

/** The config file as a JSON Schema, for editors. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(ConfigFile, {
    io: 'input',
    // Variables are not replaced in keys.
    override: ({ jsonSchema, path }) => {
      reportBounds(jsonSchema);
      if (path.at(-1) !== 'propertyNames') allowVariable(jsonSchema);
    },
  });
  return { ...schema, title: 'upwave' };
}

/** JSON Schema has no bounds for durations as text, so the description has them. Changes its argument. */
function reportBounds(schema: JsonSchema): void {
  const { bounds, description = '' } = schema;
  if (typeof bounds !== 'string') return;
  Reflect.deleteProperty(schema, 'bounds');
  schema.description = `${description} From ${bounds}.`.trim();
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
