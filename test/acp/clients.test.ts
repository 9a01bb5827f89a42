// On one stage: to set it for each of them costs three seconds of work.
import './early-cancel.ts';
import './acp-factory-turns.ts';
import './acpx-turns.ts';
