import { z } from 'zod';
import { ConfigFile } from './config-file.ts';

/** The config file as a JSON Schema, for editors. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(ConfigFile, {
    io: 'input',
    // Keys are left alone when variables are replaced.
    override: ({ jsonSchema, path }) => {
      reportBounds(jsonSchema);
      if (path.at(-1) !== 'propertyNames') allowVariable(jsonSchema);
    },
  });
  return { ...schema, title: 'upwave' };
}

/** The schema as the text that is committed. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** JSON Schema has no bounds for a text that is a duration, so editors show them with its description. Changes its argument. */
function reportBounds(schema: JsonSchema): void {
  const { bounds, description = '' } = schema;
  if (typeof bounds !== 'string') return;
  Reflect.deleteProperty(schema, 'bounds');
  schema.description = `${description} From ${bounds}.`.trim();
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const variablePattern = '\\$\\{[A-Za-z_]\\w*\\}';

/** `${NAME}` may stand wherever a value may, which only a text without rules allows by itself. Changes its argument. */
function allowVariable(schema: JsonSchema): void {
  // Wrappers such as a default pass here again with what is inside them.
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
