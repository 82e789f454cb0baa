import type { HostPart } from '../part.js';

/** The members of a host whose server is the file `server.ts`. */
export const NODE_SERVER: Omit<HostPart, 'summary' | 'path' | 'files'> = {
  port: 8080,
  probe: '/healthz',
  scripts: {
    dev: 'node --watch --env-file-if-exists=.env server.ts',
    start: 'node --env-file-if-exists=.env server.ts',
  },
  imageFiles: ['*.ts'],
  imageVariables: ['PORT=8080', 'HOST=0.0.0.0'],
  command: ['node', 'server.ts'],
};
