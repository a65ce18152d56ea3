import { writeFile } from 'node:fs/promises';

// In a package of ES modules, only this tells Node.js and TypeScript that a folder has CommonJS.
await writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n');
