#!/usr/bin/env node
import { main } from './program.ts';

process.exit(await main(process.argv.slice(2)));
