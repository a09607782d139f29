import { expect, it } from 'vitest';
import {
  collectorErrorCodes,
  createUpgradeCodes,
  parseServiceError,
  sourceErrorCodes,
} from '../../../../src/contract/collector-management/errors.ts';
import { ErrorAnswers } from '../../../../src/reference-service/api/error-answers.ts';
import { RefusedRequest } from '../../../../src/reference-service/scenario/refused-request.ts';
import { parseScenario } from '../../../../src/reference-service/scenario/scenario.ts';

it.each([...new Set([...collectorErrorCodes, ...sourceErrorCodes, ...createUpgradeCodes])])(
  '%s has a name on the wire, which is read as the documented one',
  (code) => {
    const answers = new ErrorAnswers(parseScenario({ errorCodes: 'wire' }));
    const { body } = answers.of(new RefusedRequest(400, code, 'no'));
    expect(body).toMatchObject({ code: expect.stringMatching(/^collectors?\.[a-z.]+$/) });
    expect(parseServiceError(body).code).toBe(code);
  },
);
