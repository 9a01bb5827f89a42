import fc from 'fast-check';

// In short runs, every property always checks the same cases, so that a run that passed passes again. `npm run faults`
// draws new cases.
if (process.env['FAULTS'] !== 'long') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_101 });
}
