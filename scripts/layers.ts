// Checks all imports by the rules in `layers/rules.ts`, how many functions each constructor, function and method takes,
// and that each error stands in the table of its package.
import { root } from './bootstrap/root.mjs';
import { findCallbacks } from './layers/callbacks.ts';
import { cruisePackages } from './layers/cruise.ts';
import { describeViolations } from './layers/describe-violations.ts';
import { findErrors } from './layers/errors.ts';
import { findBlindSpots } from './layers/blind-spots.ts';

const result = await cruisePackages(root);
const complaints = [
  ...describeViolations(result),
  ...findBlindSpots(root, result),
  ...findCallbacks(root),
  ...findErrors(root),
];

for (const complaint of complaints) console.error(complaint);
console.log(`${result.modules.length} modules, ${complaints.length} violations`);
process.exitCode = complaints.length === 0 ? 0 : 1;
