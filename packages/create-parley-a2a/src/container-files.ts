import type { ProjectParts } from './part.js';

/** The Dockerfile, its `.dockerignore`, and the compose file. */
export function containerFiles(parts: ProjectParts): Readonly<Record<string, string>> {
  return {
    Dockerfile: dockerfile(parts),
    '.dockerignore': 'node_modules\ndata\n.env\n.git\n.next\n',
    'compose.yaml': composeFile(parts),
  };
}

function dockerfile({ host, storage }: ProjectParts): string {
  const build = host.scripts.build === undefined ? 'npm run check' : 'npm run build';
  const data = storage.opening !== undefined ? 'RUN mkdir data && chown node:node data\nVOLUME /app/data\n' : '';
  const copies = host.imageFiles.map(
    (file) => `COPY --from=build /app/${file} ./${file.startsWith('.') ? `${file}/` : ''}\n`,
  );
  return `FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN ${build} && npm test && npm prune --omit=dev

FROM node:24-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules/
${copies.join('')}${data}ENV NODE_ENV=production ${host.imageVariables.join(' ')}
USER node
EXPOSE ${host.port}
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \\
  CMD ["node", "--eval", "fetch(\`http://127.0.0.1:\${process.env.PORT}${host.probe}\`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ${JSON.stringify(host.command).replaceAll(',', ', ')}
`;
}

function composeFile({ agent: { variables = [] }, host, storage, auth }: ProjectParts): string {
  const { service } = storage;
  const environment = [
    `A2A_PUBLIC_URL: http://localhost:${host.port}`,
    ...(service === undefined ? [] : [`DATABASE_URL: ${service.url}`]),
    // The port is published for this machine only.
    ...(auth.composeVariables?.map((name) => `${name}: \${${name}:?set it in .env}`) ?? [
      "A2A_ALLOW_ANONYMOUS: 'true'",
    ]),
    // Without a value: Compose reads it from `.env`, and leaves it out if it is missing.
    ...variables.map(({ name }) => `${name}:`),
  ];
  const agent = [
    'build: .',
    'ports:',
    `  - 127.0.0.1:${host.port}:${host.port}`,
    'environment:',
    ...environment.map((line) => `  ${line}`),
    ...(storage.writesData === true ? ['volumes:', '  - data:/app/data'] : []),
    ...(service === undefined ? [] : ['depends_on:', `  ${service.name}:`, '    condition: service_healthy']),
    'stop_grace_period: 30s',
  ];
  const services = [{ name: 'agent', lines: agent }, ...(service === undefined ? [] : [service])];
  const hasData = storage.writesData === true || service !== undefined;
  return `services:
${services.map(({ name, lines }) => `  ${name}:\n${lines.map((line) => `    ${line}\n`).join('')}`).join('\n')}${hasData ? '\nvolumes:\n  data:\n' : ''}`;
}
