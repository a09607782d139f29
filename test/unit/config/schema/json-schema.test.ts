import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../../sources/json-schema.ts';

describe('config/upwave.schema.json', () => {
  it('describes every key', () => {
    const undescribed: string[] = [];
    let keyCount = 0;
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const properties: unknown = 'properties' in node ? node.properties : {};
      for (const [key, schema] of Object.entries(Object(properties))) {
        keyCount += 1;
        if (!JSON.stringify(schema).startsWith('{') || !Object.hasOwn(Object(schema), 'description'))
          undescribed.push(`${path}.${key}`);
      }
      for (const [key, child] of Object.entries(node)) walk(child, `${path}.${key}`);
    };
    walk(configJsonSchema(), '');
    expect(undescribed).toEqual([]);
    expect(keyCount).toBeGreaterThan(60);
  });

  it('allows a variable in place of a number', () => {
    const schema = JSON.stringify(configJsonSchema());
    expect(schema).toContain('{"type":"integer","minimum":0,"maximum":65535},{"type":"string"');
  });
});
