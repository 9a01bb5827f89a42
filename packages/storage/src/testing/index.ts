/** The suites: one suite for each contract. Every driver runs all suites. */
export * from './blob-suite.ts';
export * from './coordination-suite.ts';
export * from './damage-suite.ts';
export * from './event-archive-suite.ts';
export * from './event-log-suite.ts';
export * from './grants-suite.ts';
export * from './item-pages-suite.ts';
export * from './response-store-suite.ts';
export * from './search-suite.ts';
export * from './subject.ts';
