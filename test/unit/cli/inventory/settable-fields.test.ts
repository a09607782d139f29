import { describe, expect, it } from 'vitest';
import { collectAssignment } from '../../../../src/cli/inventory/assignments.ts';
import { checkSettable, type SetFor } from '../../../../src/cli/inventory/settable-fields.ts';

const check = (setFor: SetFor, ...texts: readonly string[]) =>
  checkSettable(
    texts.flatMap((text) => collectAssignment(text)),
    setFor,
  );

describe('--set of what nobody can set', () => {
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
    ['source', 'pathexpresion=/var/log', /^is "pathexpresion" a slip of "pathExpression"\? .*--from FILE$/],
  ])('of a %s is refused: %s', (setFor, text, says) => {
    expect(() => check(setFor, text)).toThrow(says);
  });

  it('names every wrong field at once', () => {
    expect(() => check('collector', 'alive=true', 'name=x', 'nosuch=1')).toThrow(
      /^alive can't.*; a collector/,
    );
  });
});

describe('--set of what can be set', () => {
  it.each<[SetFor, readonly string[]]>([
    ['collector', ['name=x', 'fields.team=core', 'fields._budget=b', 'targetCpu=', 'sourceSyncMode=Json']],
    ['new collector', ['name=x', 'collectorType=Hosted']],
    // The last ones belong to other types of sources.
    ['source', ['interval=60000', 'denylist=[]', 'scanInterval=300', 'fields.team=core', 'timeZone=Etc/UTC']],
  ])('of a %s is taken: %j', (setFor, texts) => {
    expect(() => check(setFor, ...texts)).not.toThrow();
  });
});
