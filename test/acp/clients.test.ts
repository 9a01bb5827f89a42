// On one stage, because setting a stage up for each file takes three seconds.
import './early-cancel.ts';
import './acp-factory-turns.ts';
import './acpx-turns.ts';
