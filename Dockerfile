# The example agents as an image: docs/docker.md. For agents of your own, the last stage is what to copy.

# The digest is that of the index over all platforms; docs/docker.md says how to renew it.
ARG BASE_IMAGE=node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${BASE_IMAGE} AS build
WORKDIR /app
COPY . .
RUN node scripts/start.mjs --build \
 && mkdir data

FROM ${BASE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/node-version.mjs scripts/
COPY packages/parley/package.json packages/parley/
COPY packages/console/package.json packages/console/
COPY packages/grpc/package.json packages/grpc/
COPY packages/capnweb/package.json packages/capnweb/
COPY packages/postgres/package.json packages/postgres/
COPY packages/redis/package.json packages/redis/
COPY packages/pino/package.json packages/pino/
COPY packages/testing/package.json packages/testing/
COPY examples/agents/package.json examples/agents/
# Without the frameworks that the library can be put into: they are optional peers.
RUN npm ci --omit=dev --legacy-peer-deps --workspace=packages/parley --workspace=packages/grpc --workspace=packages/capnweb --workspace=packages/pino --workspace=packages/postgres --workspace=packages/redis --workspace=examples/agents --no-audit --no-fund

FROM ${BASE_IMAGE}
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/packages/parley/bundle packages/parley/bundle
COPY --from=build /app/packages/grpc/dist packages/grpc/dist
COPY --from=build /app/packages/capnweb/dist packages/capnweb/dist
COPY --from=build /app/packages/pino/dist packages/pino/dist
COPY --from=build /app/packages/postgres/dist packages/postgres/dist
COPY --from=build /app/packages/redis/dist packages/redis/dist
COPY --from=build /app/packages/console/bundle packages/console/bundle
COPY --from=build /app/packages/console/dist/server packages/console/dist/server
COPY --from=build /app/examples/agents/dist examples/agents/dist
COPY --from=build --chown=node:node /app/data data

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATABASE_URL=sqlite:./data/parley.db
# Loopback of a container is reached by nobody, so it listens to all. The example agents ask nobody who they are: whoever starts
# the container has to say `-e A2A_ALLOW_ANONYMOUS=true`, knowing who can reach its port. Without it the server refuses to start.
ENV A2A_ALLOW_ANONYMOUS=false

# The user `node`, as a number: then Kubernetes can tell that it is not root.
USER 1000
VOLUME /app/data
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "examples/agents/dist/main.js"]
