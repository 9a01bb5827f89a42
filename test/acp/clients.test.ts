// All files run on one stage, because setting up a stage for each file takes three seconds.
import './early-cancel.ts';
import './acp-factory-turns.ts';
import './acpx-turns.ts';
