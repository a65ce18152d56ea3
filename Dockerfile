# syntax=docker/dockerfile:1
# Versions are pinned by tag. Pin the digest, too, where your registry gives you one: node:24.21.0-bookworm@sha256:…

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/*.mjs scripts/
COPY scripts/prisma scripts/prisma
COPY prisma prisma
COPY src src
RUN npm run build

# The packages that run. The binaries of sharp are optional ones, so these are installed, and the embedded database, which is
# one as well, is removed. This image has a compiler, for argon2 with the vector instructions of processors since 2013;
# see deploy/entrypoint.sh for others. On arm64 the prebuilt binary is used.
FROM node:24.21.0-bookworm AS dependencies
ARG ARGON2_CFLAGS=-march=x86-64-v3
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --omit=dev --ignore-scripts --no-audit --no-fund
COPY scripts/build-argon2.mjs scripts/
COPY deploy/trim-dependencies.sh ./
RUN npm run --silent build:argon2 && ./trim-dependencies.sh

# Node.js without npm and the headers: nothing is installed or compiled here.
FROM debian:12.11-slim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# The commit of which the image was built, for `dure_build_info`.
ARG DURE_COMMIT=
# One arena of malloc: each would keep the memory of its last hash. Huge pages: a hash touches 4,864 small ones.
ENV NODE_ENV=production GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1 DATA_DIR=/data DURE_COMMIT=$DURE_COMMIT
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE deploy/entrypoint.sh ./
COPY assets assets
COPY prisma/migrations prisma/migrations
COPY deploy/dure.sh /usr/local/bin/dure
# Uploaded images, where there is no S3_BUCKET. Nothing else is written but temporary files in /tmp.
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
# By number, so that Kubernetes knows that it is not root.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Migrations are a command of their own: node dist/migrate.js
ENTRYPOINT ["/app/entrypoint.sh"]
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=100", "--enable-source-maps", "dist/server.js"]
