import fc from 'fast-check';

// In short runs every property checks the same cases, so that a passed run passes again. `npm run faults` draws new
// cases.
if (process.env['FAULTS'] !== 'long') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_101 });
}
