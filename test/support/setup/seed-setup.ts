import fc from 'fast-check';

// The same properties on the same examples in every run, so that what fails failed because of a change. For new ones:
// UPWAVE_TEST_SEED=$RANDOM npm test; a failure names its seed.
const seed = Number(process.env['UPWAVE_TEST_SEED'] ?? 20_260_302);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
