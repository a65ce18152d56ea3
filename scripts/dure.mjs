#!/usr/bin/env node
// What `npx dure` runs: the compiled command, which the compiler does not make executable.
import '../dist/cli.js';
