import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyAssignments, collectAssignment } from '../../../../src/cli/inventory/assignments.ts';
import { UsageFailure } from '../../../../src/cli/shell/command.ts';
import { Collector } from '../../../../src/contract/collector-management/collectors.ts';

const set = (resource: object, ...texts: readonly string[]) =>
  applyAssignments(
    { ...resource },
    texts.reduce<ReturnType<typeof collectAssignment>>((before, text) => collectAssignment(text, before), []),
    Collector.shape,
  );

describe('--set', () => {
  it.each([
    ['category=prod/web', { category: 'prod/web' }],
    ['category=a=b', { category: 'a=b' }],
    ['category=', { category: null }],
    ['ephemeral=true', { ephemeral: true }],
    ['targetCpu=20', { targetCpu: 20 }],
    ['denylist=["*.gz"]', { denylist: ['*.gz'] }],
    ['someField={"a":1}', { someField: { a: 1 } }],
    ['someField=[half', { someField: '[half' }],
    // The contract makes these texts, also when they look like something else.
    ['name=123', { name: '123' }],
    ['description=true', { description: 'true' }],
    // As text it would be worth nothing to the service, so it goes as what it is.
    ['cutoffTimestamp=soon', { cutoffTimestamp: 'soon' }],
  ])('reads %s', (text, fields) => {
    expect(set({}, text)).toEqual(fields);
  });

  it('sets one of many, and keeps the others', () => {
    const resource = { fields: { team: 'core', tier: 'a' }, other: { deep: { x: 1, y: 2 } } };
    expect(set(resource, 'fields.team=42', 'fields.kubernetes.io/name=x', 'other.deep.x=5')).toEqual({
      fields: { team: '42', tier: 'a', 'kubernetes.io/name': 'x' },
      other: { deep: { x: 5, y: 2 } },
    });
    expect(resource.fields).toEqual({ team: 'core', tier: 'a' });
  });

  it('removes one of many', () => {
    expect(set({ fields: { team: 'core', tier: 'a' } }, 'fields.team=')).toEqual({ fields: { tier: 'a' } });
  });

  it('creates missing parts', () => {
    expect(set({ fields: null }, 'fields.team=core', 'a.b.c=1')).toEqual({
      fields: { team: 'core' },
      a: { b: { c: 1 } },
    });
  });

  it('cannot lead into a text or a list', () => {
    expect(() => set({ name: 'x' }, 'name.first=y')).toThrow(UsageFailure);
    expect(() => set({ filters: [] }, 'filters.0=y')).toThrow(/filters has no 0: set the whole of filters/);
  });

  it('changes no prototype, whatever the name', () => {
    const fields = set({}, '__proto__.polluted=1', 'fields.__proto__=2', 'constructor.prototype.polluted=3');
    expect(Object.keys(fields)).toEqual(['__proto__', 'fields', 'constructor']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Object.hasOwn(Object, 'polluted')).toBe(false);
  });

  it('stores any text in a text map unchanged', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(set({}, `fields.team=${text}`)).toEqual({ fields: { team: text } });
      }),
    );
  });
});
