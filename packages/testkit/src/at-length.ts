/** Whether tests take their time (`npm run faults`), and play what a run before each commit plays a part of. */
export const atLength = process.env['FAULTS'] === 'long';
