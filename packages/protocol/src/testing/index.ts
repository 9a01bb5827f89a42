/** For tests of code that reads events: whole runs (handwritten or generated), and their expected results. */
export { eventScripts } from './event-scripts.ts';
export { plantedSecrets, type PlantedSecret } from './planted-secrets.ts';
export { naiveTurn, naiveViews } from './naive-folds.ts';
export { runOf } from './run-of.ts';
export { seed001Event, seed001Response } from './seed-001.ts';
