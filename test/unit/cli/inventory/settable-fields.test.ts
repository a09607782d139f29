import { describe, expect, it } from 'vitest';
import { collectAssignment } from '../../../../src/cli/inventory/assignments.ts';
import {
  checkKnownFields,
  checkSettable,
  likelySlips,
  type SetFor,
} from '../../../../src/cli/inventory/settable-fields.ts';

const check = (setFor: SetFor, ...texts: readonly string[]) =>
  checkSettable(
    texts.flatMap((text) => collectAssignment(text)),
    setFor,
  );

describe('--set of a read-only or unknown field', () => {
  it.each<[SetFor, string, RegExp]>([
    [
      'collector',
      'alive=false',
      /^alive can't be set: the service sets it itself; fields to set: name, desc/,
    ],
    ['collector', 'osName=Linux', /^osName can't be set: the service sets it itself; fields to set: /],
    ['collector', 'nosuch=1', /^a collector has no field "nosuch"; fields to set: name, /],
    ['collector', 'catgeory=x', /^a collector has no field "catgeory"; did you mean "category"\?$/],
    ['collector', 'field.team=core', /did you mean "fields"\?$/],
    ['collector', 'collectorType=Hosted', /^collectorType can't be set/],
    ['source', 'id=3', /^id can't be set: the service sets it itself$/],
    ['source', 'pathexpresion=/var/log', /^is "pathexpresion" a typo for "pathExpression"\? .*--from FILE$/],
  ])('of a %s is refused: %s', (setFor, text, says) => {
    expect(() => check(setFor, text)).toThrow(says);
  });

  it('names every wrong field at once', () => {
    expect(() => check('collector', 'alive=true', 'name=x', 'nosuch=1')).toThrow(
      /^alive can't.*; a collector/,
    );
  });
});

describe('the fields of a file', () => {
  it('for a new collector are refused where no collector has them, with the nearest known field', () => {
    const check = (...names: readonly string[]) => checkKnownFields(names, 'web.json');
    expect(() => check('name', 'catgeory', 'nosuch')).toThrow(
      /^web\.json: a collector has no field "catgeory"; did you mean "category"\?; a collector has no field "nosuch"; fields to set: name, /,
    );
    // As `collectors show --json` prints it.
    expect(() => check('id', 'name', 'collectorType', 'alive', 'links', 'osName', 'fields')).not.toThrow();
  });

  it('for a source are sent as they are, because each type has its own, and a likely typo is named', () => {
    expect(likelySlips(['name', 'scanInterval', 'paused', 'id', 'pathExpresion'])).toEqual([
      'is "pathExpresion" a typo for "pathExpression"? It is sent as it is',
    ]);
  });
});

describe('--set of a writable field', () => {
  it.each<[SetFor, readonly string[]]>([
    ['collector', ['name=x', 'fields.team=core', 'fields._budget=b', 'targetCpu=', 'sourceSyncMode=Json']],
    ['new collector', ['name=x', 'collectorType=Hosted']],
    // The last ones belong to other types of sources.
    ['source', ['interval=60000', 'denylist=[]', 'scanInterval=300', 'fields.team=core', 'timeZone=Etc/UTC']],
  ])('of a %s is accepted: %j', (setFor, texts) => {
    expect(() => check(setFor, ...texts)).not.toThrow();
  });
});
