import fc from 'fast-check';

// In a short run every property is asked of the same cases: what passed once passes again.
// `npm run faults` draws new ones each time.
if (process.env['FAULTS'] !== 'long') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_101 });
}
