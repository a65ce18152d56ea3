import process from 'node:process';

/* The ten failovers of docs/operations/high-availability.md, of which the system tests do two. */

process.env['DURE_DRILLS'] = 'long';
await import('../system/drills/failover.test.ts');
